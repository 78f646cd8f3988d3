/* What makes a trace visible. */
#include "cli/load/load_manifest.h"

#include <string.h>
#include <time.h>

#include "traceloom/format.h"

static bool add_columns(tl_native_block *b, const char *const *name, const tl_native_type *type, uint32_t n)
{
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++)
        ok = tl_native_add(b, name[i], type[i]);
    return ok;
}

static void put_text(tl_native_block *b, uint32_t column, const char *text)
{
    static const uint8_t no = 0;
    const uint32_t length = (uint32_t)strlen(text);
    tl_native_put_text(b, column, &text, &length, &no, 1);
}

static int write_block(tl_servers *s, tl_native_block *b, const char *table, uint32_t rows, tl_error *e)
{
    int code, status = tl_native_end(b, rows, e);
    for (uint32_t i = 0; i < s->n && status == 0; i++)
        status = tl_shard_insert(&s->shard[i], table, "", NULL, b, &code, e);
    return status;
}

static int write_chunks(const tl_load_tables *t, tl_error *e)
{
    enum { TRACE, TBL, CHUNK, ROWS, DIGEST, COLUMNS };
    static const char *const name[COLUMNS] = {"trace", "tbl", "chunk", "nrows", "digest"};
    static const tl_native_type type[COLUMNS] = {TL_NATIVE_INT64, TL_NATIVE_TEXT, TL_NATIVE_UINT32, TL_NATIVE_UINT64,
                                                 TL_NATIVE_UINT64};
    tl_native_block b = {0};
    uint32_t rows = 0;
    const bool ok = add_columns(&b, name, type, COLUMNS);
    for (uint32_t i = 0; i < t->n && ok; i++)
        for (uint32_t k = 0; k < t->table[i].n; k++, rows++) {
            tl_native_put_same(&b, TRACE, (uint64_t)t->trace, 1);
            put_text(&b, TBL, t->table[i].name);
            tl_native_put_same(&b, CHUNK, k, 1);
            tl_native_put_same(&b, ROWS, t->table[i].expected[k].rows, 1);
            tl_native_put_same(&b, DIGEST, t->table[i].expected[k].sum, 1);
        }
    int status = ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a block of rows");
    if (status == 0 && rows > 0)
        status = write_block(t->servers, &b, "chunks", rows, e);
    tl_native_fini(&b);
    return status;
}

static int write_loaded(const tl_load_tables *t, const char *path, tl_error *e)
{
    enum { TRACE, TBL, CHUNKS, ROWS, PATH, WRITER, LOADED_AT, COLUMNS };
    static const char *const name[COLUMNS] = {"trace", "tbl", "chunks", "nrows", "path", "writer", "loaded_at"};
    static const tl_native_type type[COLUMNS] = {TL_NATIVE_INT64, TL_NATIVE_TEXT, TL_NATIVE_UINT32, TL_NATIVE_UINT64,
                                                 TL_NATIVE_TEXT,  TL_NATIVE_TEXT, TL_NATIVE_UINT32};
    tl_native_block b = {0};
    const bool ok = add_columns(&b, name, type, COLUMNS);
    for (uint32_t i = 0; i < t->n && ok; i++) {
        tl_native_put_same(&b, TRACE, (uint64_t)t->trace, 1);
        put_text(&b, TBL, t->table[i].name);
        tl_native_put_same(&b, CHUNKS, t->table[i].n, 1);
        tl_native_put_same(&b, ROWS, t->table[i].rows, 1);
        put_text(&b, PATH, path);
        put_text(&b, WRITER, tl_version());
        tl_native_put_same(&b, LOADED_AT, (uint64_t)time(NULL), 1);
    }
    const int status = ok ? write_block(t->servers, &b, "loaded", t->n, e)
                          : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a block of rows");
    tl_native_fini(&b);
    return status;
}

int tl_manifest_write(const tl_load_tables *t, const char *path, tl_error *e)
{
    const int status = write_chunks(t, e);
    return status == 0 ? write_loaded(t, path, e) : status;
}

static bool names_table(const char *reply, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = reply; *p; p += strcspn(p, "\n"), p += *p == '\n')
        if (strncmp(p, name, n) == 0 && p[n] == '\n')
            return true;
    return false;
}

int tl_manifest_has(const tl_load_tables *t, bool *has, tl_error *e)
{
    tl_pb sql = {0};
    tl_pb_text(&sql, "SELECT DISTINCT tbl FROM ");
    tl_server_put_name(&sql, t->servers->database);
    tl_pb_text(&sql, ".loaded WHERE trace = ");
    tl_pb_text_i64(&sql, t->trace);
    const int status = tl_servers_run_all(t->servers, &sql, e);
    tl_pb_fini(&sql);
    *has = status == 0;
    for (uint32_t i = 0; i < t->servers->n && *has; i++)
        for (uint32_t k = 0; k < t->n && *has; k++)
            *has = names_table((const char *)t->servers->shard[i].reply.data, t->table[k].name);
    return status;
}

/* The table that a line begins with; *text moves behind its name. NULL: none of ours. */
static tl_load_table *table_of(const tl_load_tables *t, const char **text)
{
    const size_t n = strcspn(*text, "\t\n");
    const char *name = *text;
    *text += n + (name[n] == '\t');
    for (uint32_t i = 0; i < t->n; i++)
        if (strncmp(t->table[i].name, name, n) == 0 && t->table[i].name[n] == '\0')
            return &t->table[i];
    return NULL;
}

/* What it says of chunks; *ok becomes false if those of a table are not numbered from 0 on. */
static int read_chunks(const tl_load_tables *t, bool *ok, tl_error *e)
{
    tl_shard *s = &t->servers->shard[0];
    tl_shard_sql(s,
                 "SELECT tbl, chunk, any(nrows), any(digest) FROM `%s`.chunks WHERE trace = %" PRId64
                 " GROUP BY tbl, chunk ORDER BY tbl, chunk",
                 s->database, t->trace);
    const int status = tl_shard_run(s, e);
    for (const char *p = status == 0 ? (const char *)s->reply.data : ""; *p && *ok;) {
        tl_load_table *table = table_of(t, &p);
        const uint64_t number = tl_reply_number(&p);
        tl_chunk_facts facts = {0};
        facts.rows = tl_reply_number(&p);
        facts.sum = tl_reply_number(&p);
        *ok = !table || number == table->n;
        if (table && !tl_load_table_expect(table, &facts))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of chunks");
    }
    return status;
}

int tl_manifest_is_whole(tl_load_tables *t, bool *whole, tl_error *e)
{
    int status = tl_manifest_has(t, whole, e);
    if (status < 0 || !*whole)
        return status;
    status = read_chunks(t, whole, e);
    if (status == 0 && *whole)
        status = tl_load_tables_ask(t, TL_ASK_VALUES, e);
    for (uint32_t i = 0; i < t->n; i++) {
        uint64_t missing, wrong;
        tl_load_table_judge(&t->table[i], &missing, &wrong);
        *whole = *whole && missing + wrong == 0;
        t->table[i].n = 0;
    }
    return status;
}

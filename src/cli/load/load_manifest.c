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
    tl_native_put_text(b, column, &text, &no, 1);
}

static int write_block(tl_servers *s, tl_native_block *b, const char *table, uint32_t rows, tl_error *e)
{
    int code, status = tl_native_end(b, rows, e);
    for (uint32_t i = 0; i < s->n && status == 0; i++)
        status = tl_servers_insert(s, i, table, "", NULL, b, &code, e);
    return status;
}

static int write_chunks(tl_servers *s, const tl_load_table *table, uint32_t n, tl_error *e)
{
    enum { TRACE, TBL, CHUNK, ROWS, DIGEST, COLUMNS };
    static const char *const name[COLUMNS] = {"trace", "tbl", "chunk", "nrows", "digest"};
    static const tl_native_type type[COLUMNS] = {TL_NATIVE_INT64, TL_NATIVE_TEXT, TL_NATIVE_UINT32, TL_NATIVE_UINT64,
                                                 TL_NATIVE_UINT64};
    tl_native_block b = {0};
    uint32_t rows = 0;
    const bool ok = add_columns(&b, name, type, COLUMNS);
    for (uint32_t i = 0; i < n && ok; i++)
        for (uint32_t k = 0; k < table[i].n; k++, rows++) {
            tl_native_put_same(&b, TRACE, (uint64_t)table[i].trace, 1);
            put_text(&b, TBL, table[i].name);
            tl_native_put_same(&b, CHUNK, k, 1);
            tl_native_put_same(&b, ROWS, table[i].expected[k].rows, 1);
            tl_native_put_same(&b, DIGEST, table[i].expected[k].sum, 1);
        }
    int status = ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a block of rows");
    if (status == 0 && rows > 0)
        status = write_block(s, &b, "chunks", rows, e);
    tl_native_fini(&b);
    return status;
}

static int write_loaded(tl_servers *s, const tl_load_table *table, uint32_t n, const char *path, tl_error *e)
{
    enum { TRACE, TBL, CHUNKS, ROWS, PATH, WRITER, LOADED_AT, COLUMNS };
    static const char *const name[COLUMNS] = {"trace", "tbl", "chunks", "nrows", "path", "writer", "loaded_at"};
    static const tl_native_type type[COLUMNS] = {TL_NATIVE_INT64, TL_NATIVE_TEXT, TL_NATIVE_UINT32, TL_NATIVE_UINT64,
                                                 TL_NATIVE_TEXT,  TL_NATIVE_TEXT, TL_NATIVE_UINT32};
    tl_native_block b = {0};
    const bool ok = add_columns(&b, name, type, COLUMNS);
    for (uint32_t i = 0; i < n && ok; i++) {
        tl_native_put_same(&b, TRACE, (uint64_t)table[i].trace, 1);
        put_text(&b, TBL, table[i].name);
        tl_native_put_same(&b, CHUNKS, table[i].n, 1);
        tl_native_put_same(&b, ROWS, table[i].rows, 1);
        put_text(&b, PATH, path);
        put_text(&b, WRITER, tl_version());
        tl_native_put_same(&b, LOADED_AT, (uint64_t)time(NULL), 1);
    }
    const int status =
        ok ? write_block(s, &b, "loaded", n, e) : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a block of rows");
    tl_native_fini(&b);
    return status;
}

int tl_manifest_write(tl_servers *s, const tl_load_table *table, uint32_t n, const char *path, tl_error *e)
{
    const int status = write_chunks(s, table, n, e);
    return status == 0 ? write_loaded(s, table, n, path, e) : status;
}

static bool names_table(const char *reply, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = reply; *p; p += strcspn(p, "\n"), p += *p == '\n')
        if (strncmp(p, name, n) == 0 && p[n] == '\n')
            return true;
    return false;
}

int tl_manifest_has(tl_servers *s, const tl_load_table *table, uint32_t n, bool *has, tl_error *e)
{
    *has = true;
    for (uint32_t i = 0; i < s->n && *has; i++) {
        tl_servers_sql(s, "SELECT DISTINCT tbl FROM `%s`.loaded WHERE trace = %" PRId64, s->database, table[0].trace);
        const int status = tl_servers_run(s, i, e);
        if (status < 0)
            return status;
        for (uint32_t k = 0; k < n; k++)
            *has = *has && names_table((const char *)s->reply.data, table[k].name);
    }
    return 0;
}

/* What it says of a table's chunks; false: they are not numbered from 0 on. */
static int read_chunks(tl_servers *s, tl_load_table *t, bool *ok, tl_error *e)
{
    tl_servers_sql(s,
                   "SELECT chunk, any(nrows), any(digest) FROM `%s`.chunks WHERE trace = %" PRId64
                   " AND tbl = '%s' GROUP BY chunk ORDER BY chunk",
                   s->database, t->trace, t->name);
    const int status = tl_servers_run(s, 0, e);
    t->n = 0;
    for (const char *p = status == 0 ? (const char *)s->reply.data : ""; *p && *ok;) {
        *ok = tl_servers_number(&p) == t->n;
        tl_chunk_facts facts = {0};
        facts.rows = tl_servers_number(&p);
        facts.sum = tl_servers_number(&p);
        if (!tl_load_table_expect(t, &facts))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of chunks");
    }
    return status;
}

int tl_manifest_is_whole(tl_servers *s, tl_load_table *table, uint32_t n, bool *whole, tl_error *e)
{
    int status = tl_manifest_has(s, table, n, whole, e);
    for (uint32_t i = 0; i < n && status == 0 && *whole; i++) {
        uint64_t missing = 0, wrong = 0;
        status = read_chunks(s, &table[i], whole, e);
        if (status == 0 && *whole)
            status = tl_load_table_ask(&table[i], e);
        tl_load_table_judge(&table[i], &missing, &wrong);
        *whole = *whole && missing + wrong == 0;
        table[i].n = 0;
    }
    return status;
}

/* Sessions and statements over SQLite. */
#ifdef TL_HAVE_SQLITE

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "isa/a64_disasm.h"
#include "query/query_control.h"
#include "query/query_impl.h"
#include "query/query_sharing.h"
#include "query/sql_type.h"
#include "query/sqlite/sqlite_functions.h"
#include "query/sqlite/sqlite_guard.h"
#include "query/sqlite/sqlite_plan.h"
#include "query/sqlite/sqlite_table.h"
#include "query/sqlite/sqlite_temporary.h"

struct tl_statement {
    tl_query *query;
    sqlite3_stmt *stmt;
    uint32_t ncolumn;
    tl_column_info *column;
    tl_arena names; /* of columns: SQLite drops its own when it prepares a statement again */
    tl_sql_value value;
    bool is_running;
};

static int open_engine(tl_query *q, tl_error *e)
{
    if (sqlite3_libversion_number() < 3038000)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "SQLite %s is too old: 3.38 is needed", sqlite3_libversion());
    const char *files = tl_sqlite_temporary();
    if (!files || sqlite3_open_v2(":memory:", &q->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, files) != SQLITE_OK)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for SQLite");
    int status = tl_sqlite_add_tables(q, e);
    if (status == 0)
        status = tl_sqlite_add_functions(q, e);
    return status == 0 ? tl_sqlite_guard(q, e) : status;
}

int tl_query_open(tl_query **out, tl_source *const *source, uint32_t n, const tl_query_options *options, tl_error *e)
{
    tl_query *q = calloc(1, sizeof *q);
    if (q)
        q->source = calloc((size_t)n + 1, sizeof *q->source);
    if (!q || !q->source) {
        free(q);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a session");
    }
    (void)pthread_mutex_init(&q->lock, NULL);
    atomic_init(&q->users, 1);
    memcpy(q->source, source, n * sizeof *source);
    q->memory_before = -1; /* no change */
    q->options = options ? *options : (tl_query_options){0};
    q->dataset = (tl_dataset){.source = q->source, .n = n, .select = q->options.select, .threads = q->options.threads};
    for (uint32_t i = 0; i < n; i++) {
        tl_source_hold(source[i]);
        source[i]->stop = tl_query_ends_passes;
        source[i]->stop_arg = q;
    }
    int status = tl_query_tables_init(q, e);
    if (status == 0)
        status = open_engine(q, e);
    if (status < 0) {
        tl_query_close(q);
        return status;
    }
    *out = q;
    return 0;
}

void tl_query_free(tl_query *q)
{
    sqlite3_close(q->db);
    if (q->db)
        sqlite3_hard_heap_limit64(q->memory_before);
    for (uint32_t i = 0; i < q->dataset.n; i++)
        if (q->source[i]->stop_arg == q)
            q->source[i]->stop = NULL;
    tl_query_tables_fini(q);
    a64_disasm_free(q->disasm);
    for (uint32_t i = 0; i < q->dataset.n; i++)
        tl_source_close(q->source[i]);
    (void)pthread_mutex_destroy(&q->lock);
    free(q->source);
    free(q);
}

void tl_query_interrupt(tl_query *q)
{
    atomic_store_explicit(&q->interrupted, true, memory_order_relaxed);
}

/* Is it what SQLite says of a statement that would change something? The authorizer is not asked about all of these. */
static bool is_of_writing(const char *message)
{
    static const struct {
        const char *begin, *end;
    } said[] = {{"table ", " may not be modified"},
                {"table ", " may not be altered"},
                {"table ", " may not be dropped"},
                {"table ", " may not be indexed"},
                {"virtual tables ", ""},
                {"cannot create triggers ", ""},
                {"cannot modify ", ""},
                {"not authorized", ""}};
    const size_t n = strlen(message);
    for (size_t i = 0; i < TL_COUNT(said); i++) {
        const size_t begin = strlen(said[i].begin), end = strlen(said[i].end);
        if (n >= begin + end && memcmp(message, said[i].begin, begin) == 0 &&
            strcmp(message + n - end, said[i].end) == 0)
            return true;
    }
    return false;
}

void tl_query_resume(tl_query *q)
{
    atomic_store_explicit(&q->interrupted, false, memory_order_relaxed);
}

/* The failure of a statement: our own, or what SQLite says. */
int tl_sqlite_fail(tl_query *q, tl_code usual, const char *sql, tl_error *e)
{
    const int code = sqlite3_errcode(q->db), at = sqlite3_error_offset(q->db);
    if (q->limit || code == SQLITE_INTERRUPT) {
        atomic_store(&q->interrupted, false);
        if (q->limit || !q->has_error)
            return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "%s", q->limit ? q->limit : "interrupted");
    }
    if (q->has_error) {
        if (e)
            *e = q->error;
        return q->error.code;
    }
    if (code == SQLITE_NOMEM)
        return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "it needs more memory than its limit");
    if (code == SQLITE_TOOBIG)
        return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "%s", sqlite3_errmsg(q->db));
    if (code == SQLITE_AUTH || (sql && is_of_writing(sqlite3_errmsg(q->db))))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s: statements can only read", sqlite3_errmsg(q->db));
    return tl_fail(e, usual, sql && at >= 0 ? (uint64_t)at : TL_NO_OFFSET, "%s", sqlite3_errmsg(q->db));
}

static int describe_columns(tl_statement *s, tl_error *e)
{
    s->ncolumn = (uint32_t)sqlite3_column_count(s->stmt);
    s->column = calloc((size_t)s->ncolumn + 1, sizeof *s->column);
    if (!s->column)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement");
    for (uint32_t i = 0; i < s->ncolumn; i++) {
        const char *name = sqlite3_column_name(s->stmt, (int)i), *type = sqlite3_column_decltype(s->stmt, (int)i);
        name = name ? tl_arena_strndup(&s->names, name, strlen(name)) : NULL;
        if (!name)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement");
        s->column[i] = (tl_column_info){name, name, TL_TEXT, TL_UNIT_NONE, ""};
        if (type)
            tl_sql_type_read(type, &s->column[i].type, &s->column[i].unit);
    }
    return 0;
}

int tl_query_limited(tl_query *q, tl_error *e)
{
    (void)tl_query_stopped(q);
    atomic_store(&q->interrupted, false);
    return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "%s", q->limit ? q->limit : "interrupted");
}

/* The passes over sources that the statement needs count as part of it. */
int tl_query_begin(tl_query *q, tl_error *e)
{
    tl_sqlite_start_clock(q);
    atomic_store(&q->pass_deadline, q->deadline);
    const int status = tl_query_make_rows(q, e);
    atomic_store(&q->pass_deadline, 0);
    return status == TL_ELIMIT ? tl_query_limited(q, e) : status;
}

static int prepare(tl_statement **out, tl_query *q, const char *sql, const char **rest, tl_error *e)
{
    const char *tail = NULL;
    tl_statement *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement");
    s->query = q;
    q->statements++;
    q->has_error = false;
    q->limit = NULL;
    q->wants_places = false;
    for (uint32_t i = 0; i < q->ntable; i++)
        q->table[i].is_used = q->table[i].wants_places = false;
    int status = 0;
    if (tl_sqlite_prepare(q, sql, &s->stmt, &tail) != SQLITE_OK)
        status = tl_sqlite_fail(q, TL_ESYNTAX, sql, e);
    if (status == 0 && s->stmt)
        status = describe_columns(s, e);
    if (status == 0)
        status = tl_query_begin(q, e);
    if (rest && status == 0)
        *rest = tail;
    if (status < 0 || !s->stmt) {
        tl_statement_free(s);
        s = NULL;
    }
    if (status == 0)
        *out = s;
    return status;
}

int tl_query_prepare(tl_statement **out, tl_query *q, const char *sql, const char **rest, tl_error *e)
{
    int status = tl_query_enter(q, e);
    if (status < 0)
        return status;
    status = prepare(out, q, sql, rest, e);
    tl_query_leave(q);
    return status;
}

void tl_statement_close(tl_statement *s)
{
    if (!s)
        return;
    tl_query *q = s->query;
    tl_query_wait(q);
    tl_statement_free(s);
    tl_query_leave(q);
}

tl_query *tl_statement_query(const tl_statement *s)
{
    return s->query;
}

const char *tl_statement_sql(const tl_statement *s)
{
    return sqlite3_sql(s->stmt);
}

void tl_statement_free(tl_statement *s)
{
    sqlite3_finalize(s->stmt);
    if (--s->query->statements == 0)
        tl_sqlite_drop_kept(s->query);
    free(s->column);
    tl_arena_fini(&s->names);
    free(s);
}

uint32_t tl_statement_parameters(const tl_statement *s)
{
    return (uint32_t)sqlite3_bind_parameter_count(s->stmt);
}

const char *tl_statement_parameter(const tl_statement *s, uint32_t i)
{
    const char *name = i < tl_statement_parameters(s) ? sqlite3_bind_parameter_name(s->stmt, (int)i + 1) : NULL;
    return name && name[0] != '?' ? name + 1 : NULL;
}

int tl_statement_bind(tl_statement *s, uint32_t i, const tl_sql_value *v, tl_error *e)
{
    const int at = (int)i + 1;
    int status = tl_query_enter(s->query, e);
    if (status < 0)
        return status;
    status = SQLITE_RANGE;
    if (i < tl_statement_parameters(s))
        switch (v->kind) {
        case TL_VALUE_NULL:
            status = sqlite3_bind_null(s->stmt, at);
            break;
        case TL_VALUE_INTEGER:
            status = sqlite3_bind_int64(s->stmt, at, v->i64);
            break;
        case TL_VALUE_REAL:
            status = sqlite3_bind_double(s->stmt, at, v->real);
            break;
        case TL_VALUE_TEXT:
            status = sqlite3_bind_text64(s->stmt, at, v->text, v->size, SQLITE_TRANSIENT, SQLITE_UTF8);
            break;
        case TL_VALUE_BLOB:
            status = sqlite3_bind_blob64(s->stmt, at, v->text, v->size, SQLITE_TRANSIENT);
            break;
        }
    tl_query_leave(s->query);
    if (status == SQLITE_OK)
        return 0;
    return tl_fail(e, status == SQLITE_NOMEM ? TL_ENOMEM : TL_EINVAL, TL_NO_OFFSET, "parameter %" PRIu32 ": %s", i + 1,
                   sqlite3_errstr(status));
}

int tl_statement_step(tl_statement *s, tl_error *e)
{
    if (!s->is_running) {
        s->query->has_error = false;
        tl_sqlite_start_clock(s->query);
    }
    s->is_running = true;
    const int status = sqlite3_step(s->stmt);
    if (status == SQLITE_ROW)
        return 1;
    s->is_running = false;
    const int result = status == SQLITE_DONE ? 0 : tl_sqlite_fail(s->query, TL_EINVAL, NULL, e);
    sqlite3_reset(s->stmt);
    return result;
}

uint32_t tl_statement_columns(const tl_statement *s)
{
    return s->ncolumn;
}

const tl_column_info *tl_statement_column(const tl_statement *s, uint32_t i)
{
    return i < s->ncolumn ? &s->column[i] : NULL;
}

const tl_sql_value *tl_statement_value(tl_statement *s, uint32_t i)
{
    const int at = (int)i;
    s->value = (tl_sql_value){.kind = TL_VALUE_NULL};
    switch (sqlite3_column_type(s->stmt, at)) {
    case SQLITE_INTEGER:
        s->value.kind = TL_VALUE_INTEGER;
        s->value.i64 = sqlite3_column_int64(s->stmt, at);
        break;
    case SQLITE_FLOAT:
        s->value.kind = TL_VALUE_REAL;
        s->value.real = sqlite3_column_double(s->stmt, at);
        break;
    case SQLITE_TEXT:
        s->value.kind = TL_VALUE_TEXT;
        s->value.text = (const char *)sqlite3_column_text(s->stmt, at);
        s->value.size = (size_t)sqlite3_column_bytes(s->stmt, at);
        break;
    case SQLITE_BLOB:
        s->value.kind = TL_VALUE_BLOB;
        s->value.text = sqlite3_column_blob(s->stmt, at);
        s->value.size = (size_t)sqlite3_column_bytes(s->stmt, at);
        break;
    default:
        break;
    }
    if (s->value.kind >= TL_VALUE_TEXT && !s->value.text)
        s->value = (tl_sql_value){.kind = s->value.kind, .text = ""};
    return &s->value;
}

#endif

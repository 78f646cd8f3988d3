/* Statements over SQLite. */
#ifdef TL_HAVE_SQLITE

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "query/query_engine.h"
#include "query/query_sharing.h"
#include "query/sql_type.h"
#include "query/sqlite/sqlite_functions.h"
#include "query/sqlite/sqlite_guard.h"
#include "query/sqlite/sqlite_plan.h"
#include "query/sqlite/sqlite_table.h"
#include "query/sqlite/sqlite_temporary.h"

typedef struct statement {
    tl_statement base;
    sqlite3_stmt *stmt;
} statement;

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

static void close_engine(tl_query *q)
{
    sqlite3_close(q->db);
    if (q->db)
        sqlite3_hard_heap_limit64(q->memory_before);
    free(q->functions);
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

static statement *own(const tl_statement *s)
{
    return (statement *)(void *)(uintptr_t)s;
}

static int describe_columns(statement *s, tl_error *e)
{
    int status = tl_statement_make_columns(&s->base, (uint32_t)sqlite3_column_count(s->stmt), e);
    for (uint32_t i = 0; status == 0 && i < s->base.ncolumn; i++) {
        const char *type = sqlite3_column_decltype(s->stmt, (int)i);
        /* SQLite drops its own names when it prepares a statement again. */
        status = tl_statement_name_column(&s->base, i, sqlite3_column_name(s->stmt, (int)i), e);
        if (status == 0 && type)
            tl_sql_type_read(type, &s->base.column[i].type, &s->base.column[i].unit);
    }
    return status;
}

static int prepare(tl_statement *base, const char *sql, const char **rest, bool *any, tl_error *e)
{
    statement *s = own(base);
    int status = 0;
    if (tl_sqlite_prepare(base->query, sql, &s->stmt, rest) != SQLITE_OK)
        status = tl_sqlite_fail(base->query, TL_ESYNTAX, sql, e);
    *any = s->stmt != NULL;
    if (status == 0 && s->stmt)
        status = describe_columns(s, e);
    return status == 0 && !base->query->only_plans ? tl_query_begin(base->query, e) : status;
}

static void close_statement(tl_statement *s)
{
    sqlite3_finalize(own(s)->stmt);
    if (s->query->statements == 0)
        tl_sqlite_drop_kept(s->query);
}

static const char *sql_of(const tl_statement *s)
{
    return sqlite3_sql(own(s)->stmt);
}

static uint32_t parameters(const tl_statement *s)
{
    return (uint32_t)sqlite3_bind_parameter_count(own(s)->stmt);
}

static const char *parameter(const tl_statement *s, uint32_t i)
{
    const char *name = sqlite3_bind_parameter_name(own(s)->stmt, (int)i + 1);
    return name && name[0] != '?' ? name + 1 : NULL;
}

static int bind(tl_statement *base, uint32_t i, const tl_sql_value *v, tl_error *e)
{
    sqlite3_stmt *stmt = own(base)->stmt;
    const int at = (int)i + 1;
    int status = SQLITE_RANGE;
    if (i < parameters(base))
        switch (v->kind) {
        case TL_VALUE_NULL:
            status = sqlite3_bind_null(stmt, at);
            break;
        case TL_VALUE_INTEGER:
            status = sqlite3_bind_int64(stmt, at, v->i64);
            break;
        case TL_VALUE_REAL:
            status = sqlite3_bind_double(stmt, at, v->real);
            break;
        case TL_VALUE_TEXT:
            status = sqlite3_bind_text64(stmt, at, v->text, v->size, SQLITE_TRANSIENT, SQLITE_UTF8);
            break;
        case TL_VALUE_BLOB:
            status = sqlite3_bind_blob64(stmt, at, v->text, v->size, SQLITE_TRANSIENT);
            break;
        }
    if (status == SQLITE_OK)
        return 0;
    return tl_fail(e, status == SQLITE_NOMEM ? TL_ENOMEM : TL_EINVAL, TL_NO_OFFSET, "parameter %" PRIu32 ": %s", i + 1,
                   sqlite3_errstr(status));
}

static int step(tl_statement *base, tl_error *e)
{
    statement *s = own(base);
    const int status = sqlite3_step(s->stmt);
    if (status == SQLITE_ROW)
        return 1;
    const int result = status == SQLITE_DONE ? 0 : tl_sqlite_fail(base->query, TL_EINVAL, NULL, e);
    sqlite3_reset(s->stmt);
    return result;
}

static void value(tl_statement *s, uint32_t i)
{
    sqlite3_stmt *stmt = own(s)->stmt;
    const int at = (int)i;
    switch (sqlite3_column_type(stmt, at)) {
    case SQLITE_INTEGER:
        s->value.kind = TL_VALUE_INTEGER;
        s->value.i64 = sqlite3_column_int64(stmt, at);
        break;
    case SQLITE_FLOAT:
        s->value.kind = TL_VALUE_REAL;
        s->value.real = sqlite3_column_double(stmt, at);
        break;
    case SQLITE_TEXT:
        s->value.kind = TL_VALUE_TEXT;
        s->value.text = (const char *)sqlite3_column_text(stmt, at);
        s->value.size = (size_t)sqlite3_column_bytes(stmt, at);
        break;
    case SQLITE_BLOB:
        s->value.kind = TL_VALUE_BLOB;
        s->value.text = sqlite3_column_blob(stmt, at);
        s->value.size = (size_t)sqlite3_column_bytes(stmt, at);
        break;
    default:
        break;
    }
}

const tl_engine tl_sqlite_engine = {.name = "sqlite",
                                    .size = sizeof(statement),
                                    .open = open_engine,
                                    .close = close_engine,
                                    .prepare = prepare,
                                    .close_statement = close_statement,
                                    .sql = sql_of,
                                    .parameters = parameters,
                                    .parameter = parameter,
                                    .bind = bind,
                                    .step = step,
                                    .value = value,
                                    .explain = tl_sqlite_explain};

#endif

/* The functions of sql_functions.def in SQLite. */
#ifdef TL_HAVE_SQLITE

#include "query/sqlite/sqlite_functions.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "query/sql_call.h"

/* What SQLite passes on to a function. */
typedef struct tl_sqlite_function {
    tl_query *query;
    const tl_sql_function *function;
} tl_sqlite_function;

static tl_sql_value value_of(sqlite3_value *v, bool as_text)
{
    tl_sql_value out = {.kind = TL_VALUE_NULL};
    switch (sqlite3_value_type(v)) {
    case SQLITE_INTEGER:
        out.kind = TL_VALUE_INTEGER;
        out.i64 = sqlite3_value_int64(v);
        break;
    case SQLITE_FLOAT:
        out.kind = TL_VALUE_REAL;
        out.real = sqlite3_value_double(v);
        break;
    case SQLITE_BLOB:
        out.kind = TL_VALUE_BLOB;
        out.text = as_text ? (const char *)sqlite3_value_text(v) : sqlite3_value_blob(v);
        out.size = (size_t)sqlite3_value_bytes(v);
        return out;
    case SQLITE_NULL:
        return out;
    default:
        out.kind = TL_VALUE_TEXT;
    }
    if (out.kind == TL_VALUE_TEXT || as_text) {
        out.kind = TL_VALUE_TEXT;
        out.text = (const char *)sqlite3_value_text(v);
        out.size = (size_t)sqlite3_value_bytes(v);
    }
    return out;
}

static tl_sql_call begin_call(sqlite3_context *context, int n, sqlite3_value **v, tl_sql_value *value)
{
    const tl_sqlite_function *f = sqlite3_user_data(context);
    n = n < (int)TL_SQL_ARGUMENTS ? n : (int)TL_SQL_ARGUMENTS;
    for (int i = 0; i < n; i++)
        value[i] = value_of(v[i], f->function->texts >> i & 1);
    return (tl_sql_call){.query = f->query, .argument = value, .n = (uint32_t)n};
}

static void end_call(sqlite3_context *context, tl_sql_call *c)
{
    const char *bytes = c->bytes.n ? (const char *)c->bytes.data : "";
    if (c->no_memory || c->bytes.failed)
        sqlite3_result_error_nomem(context);
    else if (c->is_error)
        sqlite3_result_error(context, bytes, (int)c->bytes.n);
    else if (c->kind == TL_VALUE_INTEGER)
        sqlite3_result_int64(context, c->i64);
    else if (c->kind == TL_VALUE_TEXT)
        sqlite3_result_text64(context, bytes, c->bytes.n, SQLITE_TRANSIENT, SQLITE_UTF8);
    else if (c->kind == TL_VALUE_BLOB)
        sqlite3_result_blob64(context, bytes, c->bytes.n, SQLITE_TRANSIENT);
    tl_sql_call_fini(c);
}

/* What a function keeps is SQLite's as long as its first argument is the same constant. */
static void call(sqlite3_context *context, int n, sqlite3_value **v)
{
    const tl_sqlite_function *f = sqlite3_user_data(context);
    tl_sql_value value[TL_SQL_ARGUMENTS];
    tl_sql_call c = begin_call(context, n, v, value);
    void *kept = c.kept = sqlite3_get_auxdata(context, 0);
    f->function->call(&c);
    end_call(context, &c);
    if (c.kept != kept)
        sqlite3_set_auxdata(context, 0, c.kept, c.drop);
}

static void add(sqlite3_context *context, int n, sqlite3_value **v)
{
    const tl_sqlite_function *f = sqlite3_user_data(context);
    tl_sql_value value[TL_SQL_ARGUMENTS];
    void *state = sqlite3_aggregate_context(context, (int)*f->function->size);
    if (!state)
        return;
    tl_sql_call c = begin_call(context, n, v, value);
    f->function->add(&c, state);
    if (tl_sql_failed(&c))
        end_call(context, &c);
    tl_sql_call_fini(&c);
}

static void give(sqlite3_context *context)
{
    const tl_sqlite_function *f = sqlite3_user_data(context);
    void *state = sqlite3_aggregate_context(context, 0);
    if (!state)
        return;
    tl_sql_call c = {.query = f->query};
    f->function->give(&c, state);
    f->function->drop(state);
    end_call(context, &c);
}

int tl_sqlite_add_functions(tl_query *q, tl_error *e)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    q->functions = calloc(tl_sql_nfunction, sizeof *q->functions);
    for (uint32_t i = 0; q->functions && i < tl_sql_nfunction; i++) {
        const tl_sql_function *f = &tl_sql_functions[i];
        q->functions[i] = (tl_sqlite_function){q, f};
        if (sqlite3_create_function_v2(q->db, f->name, f->arguments, flags, &q->functions[i], f->call ? call : NULL,
                                       f->add ? add : NULL, f->give ? give : NULL, NULL) != SQLITE_OK)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for functions");
    }
    return q->functions ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for functions");
}

#endif

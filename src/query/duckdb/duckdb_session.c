/* Statements over DuckDB. */
#ifdef TL_HAVE_SQLITE

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "query/duckdb/duckdb_impl.h"
#include "query/query_sharing.h"

#define NOT_READING "not authorized: statements can only read"
#define VALUE_BYTES (64u << 20) /* of a value: as of SQLite */

typedef struct statement {
    tl_statement base;
    tl_duckdb_text text;
    const char *copy; /* of the statement */
    duck_result result;
    bool has_result;
    duck_chunk *chunk; /* NULL: none */
    uint64_t row, rows;
    tl_duckdb_column *cell; /* [ncolumn] of the chunk */
    tl_pb *room;            /* [ncolumn] for text, which ends with NUL here */
} statement;

/* ---- statements ---- */

static statement *own(const tl_statement *s)
{
    return (statement *)(void *)(uintptr_t)s;
}

/* Do columns that need the places of traces occur in the plan of the statement? Also if it cannot be told. */
static bool plan_names_places(tl_query *q, const char *sql)
{
    const tl_duckdb_api *api = q->duckdb->api;
    tl_pb text = {0};
    duck_result r;
    bool names = false, is_read = false;
    tl_pb_text(&text, "EXPLAIN (FORMAT json) ");
    tl_pb_text(&text, sql);
    tl_pb_raw(&text, "", 1);
    if (!text.failed && api->query(q->duckdb->connection, (const char *)text.data, &r) == DUCK_OK) {
        duck_chunk *chunk = api->fetch_chunk(r);
        tl_duckdb_column c;
        if (chunk && api->data_chunk_get_column_count(chunk) == 2 &&
            tl_duckdb_column_of(api, api->data_chunk_get_vector(chunk, 1), &c)) {
            char room[TL_DUCKDB_DIGITS];
            tl_sql_value v;
            tl_duckdb_value(&c, 0, room, &v);
            tl_pb_clear(&text);
            tl_pb_raw(&text, v.text, v.size);
            tl_pb_raw(&text, "", 1);
            is_read = !text.failed && v.kind == TL_VALUE_TEXT;
            names = is_read && (strstr((const char *)text.data, "place_id") || strstr((const char *)text.data, "path"));
        }
        if (chunk)
            api->destroy_data_chunk(&chunk);
    }
    if (!text.failed)
        api->destroy_result(&r);
    tl_pb_fini(&text);
    return names || !is_read;
}

/* Which tables need more than they are asked for by name. */
static void note_places(tl_query *q, const char *sql)
{
    bool may = false;
    for (uint32_t i = 0; i < q->ntable; i++) {
        tl_sql_table *t = &q->table[i];
        t->wants_places = t->wants_places || (t->is_used && t->place == 0);
        may = may || (t->is_used && t->place != UINT32_MAX && t->place > 0);
    }
    const bool names = may && plan_names_places(q, sql);
    for (uint32_t i = 0; i < q->ntable; i++)
        q->table[i].wants_places =
            q->table[i].wants_places || (names && q->table[i].is_used && q->table[i].place != UINT32_MAX);
    q->wants_places = strcasestr(sql, "stack") != NULL; /* stack_text(), stack_contains(), stack() */
}

/* Units of columns are those that SQLite finds, if it takes the statement. */
static void take_units(tl_statement *s, const char *sql)
{
    tl_statement *other = calloc(1, tl_sqlite_engine.size);
    tl_query *q = s->query;
    const char *rest;
    bool any = false;
    tl_error ignored;
    if (!other)
        return;
    other->query = q;
    q->only_plans = true;
    if (tl_sqlite_engine.prepare(other, sql, &rest, &any, &ignored) == 0 && any && other->ncolumn == s->ncolumn)
        for (uint32_t i = 0; i < s->ncolumn; i++)
            if (strcmp(other->column[i].name, s->column[i].name) == 0) {
                s->column[i].type = other->column[i].type;
                s->column[i].unit = other->column[i].unit;
            }
    q->only_plans = false;
    tl_sqlite_engine.close_statement(other);
    free(other->column);
    tl_arena_fini(&other->names);
    free(other);
    q->has_error = false;
    q->limit = NULL;
}

static int describe_columns(statement *s, tl_error *e)
{
    const tl_duckdb_api *api = s->base.query->duckdb->api;
    const uint32_t n = (uint32_t)api->column_count(&s->result);
    int status = tl_statement_make_columns(&s->base, n, e);
    s->cell = calloc((size_t)n + 1, sizeof *s->cell);
    s->room = calloc((size_t)n + 1, sizeof *s->room);
    if (status == 0 && (!s->cell || !s->room))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement");
    for (uint32_t i = 0; status == 0 && i < n; i++)
        status = tl_statement_name_column(&s->base, i, api->column_name(&s->result, i), e);
    return status;
}

static int execute(statement *s, const char *sql, tl_error *e)
{
    tl_query *q = s->base.query;
    const tl_duckdb_api *api = q->duckdb->api;
    duck_prepared *p = NULL;
    tl_query_start_clock(q);
    tl_duckdb_begin_work(q);
    int status = 0;
    if (api->prepare(q->duckdb->connection, sql, &p) != DUCK_OK)
        status = tl_duckdb_fail(q, TL_ESYNTAX, api->prepare_error(p), e);
    else if (api->prepared_statement_type(p) != (q->explains ? DUCK_EXPLAIN : DUCK_SELECT))
        status = tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, NOT_READING);
    else if (api->nparams(p) > 0)
        status = tl_fail(e, TL_ESYNTAX, TL_NO_OFFSET, "parameters are written :name, not by numbers");
    if (status == 0 && !q->explains)
        note_places(q, sql);
    tl_duckdb_end_work(q);
    if (status == 0 && !q->explains)
        status = tl_query_begin(q, e);
    if (status == 0) {
        tl_duckdb_begin_work(q);
        s->has_result = true;
        if (api->execute_prepared_streaming(p, &s->result) != DUCK_OK)
            status = tl_duckdb_fail(q, TL_EINVAL, api->result_error(&s->result), e);
        tl_duckdb_end_work(q);
    }
    api->destroy_prepare(&p);
    return status;
}

static void drop_result(statement *s)
{
    const tl_duckdb_api *api = s->base.query->duckdb->api;
    if (s->chunk)
        api->destroy_data_chunk(&s->chunk);
    s->chunk = NULL;
    if (s->has_result)
        api->destroy_result(&s->result);
    s->has_result = false;
    s->row = s->rows = 0;
}

/* Begins the statement, which all values are known of. */
static int begin(statement *s, tl_error *e)
{
    tl_pb sql = {0};
    tl_duckdb_text_put(&s->text, &sql);
    tl_pb_raw(&sql, "", 1);
    drop_result(s);
    int status = sql.failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement")
                            : execute(s, (const char *)sql.data, e);
    if (status == 0 && !s->base.column) {
        status = describe_columns(s, e);
        if (status == 0)
            take_units(&s->base, (const char *)sql.data);
    }
    tl_pb_fini(&sql);
    return status;
}

static int prepare(tl_statement *base, const char *sql, const char **rest, bool *any, tl_error *e)
{
    statement *s = own(base);
    if (strlen(sql) > TL_SQL_LENGTH_MAX)
        return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "string or blob too big");
    if (!tl_duckdb_text_read(&s->text, sql, rest))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement");
    *any = s->text.end > s->text.sql;
    s->copy = tl_arena_strndup(&s->text.arena, sql, (size_t)(s->text.end - sql));
    if (!s->copy)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement");
    s->text.end = s->copy + (s->text.end - sql);
    s->text.sql = s->copy;
    if (*any && s->text.writes)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, NOT_READING);
    if (s->text.refused)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "not authorized to use function: %.100s: statements can only read", s->text.refused);
    return *any && s->text.n == 0 ? begin(s, e) : 0;
}

static void close_statement(tl_statement *base)
{
    statement *s = own(base);
    drop_result(s);
    for (uint32_t i = 0; s->room && i < base->ncolumn; i++)
        tl_pb_fini(&s->room[i]);
    free(s->room);
    free(s->cell);
    tl_duckdb_text_fini(&s->text);
}

static const char *sql_of(const tl_statement *s)
{
    return own(s)->copy;
}

static uint32_t parameters(const tl_statement *s)
{
    return own(s)->text.n;
}

static const char *parameter(const tl_statement *s, uint32_t i)
{
    const char *name = own(s)->text.name[i];
    return name[0] ? name : NULL;
}

/* The last value begins the statement: tables depend on them. */
static int bind(tl_statement *base, uint32_t i, const tl_sql_value *v, tl_error *e)
{
    statement *s = own(base);
    tl_duckdb_text *t = &s->text;
    if (i >= t->n)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "parameter %" PRIu32 ": there is none", i + 1);
    t->value[i] = *v;
    if (v->kind >= TL_VALUE_TEXT && !(t->value[i].text = tl_arena_strndup(&t->arena, v->text, v->size)))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a parameter");
    t->nbound += !t->is_bound[i];
    t->is_bound[i] = true;
    return t->nbound == t->n ? begin(s, e) : 0;
}

static bool is_too_big(const statement *s)
{
    bool is = false;
    for (uint32_t i = 0; i < s->base.ncolumn; i++) {
        const tl_duckdb_column *c = &s->cell[i];
        for (uint64_t k = 0; (c->type == DUCK_VARCHAR || c->type == DUCK_BLOB) && k < s->rows; k++)
            is = is || ((!c->validity || c->validity[k / 64] >> k % 64 & 1) &&
                        ((const duck_string *)c->data)[k].n > VALUE_BYTES);
    }
    return is;
}

static int read_chunk(statement *s, tl_error *e)
{
    tl_query *q = s->base.query;
    const tl_duckdb_api *api = q->duckdb->api;
    if (s->chunk)
        api->destroy_data_chunk(&s->chunk);
    s->row = s->rows = 0;
    tl_duckdb_begin_work(q);
    s->chunk = api->fetch_chunk(s->result);
    tl_duckdb_end_work(q);
    if (!s->chunk) {
        const char *message = api->result_error(&s->result);
        return q->has_error || (message && *message) ? tl_duckdb_fail(q, TL_EINVAL, message, e) : 0;
    }
    s->rows = api->data_chunk_get_size(s->chunk);
    for (uint32_t i = 0; i < s->base.ncolumn; i++)
        if (!tl_duckdb_column_of(api, api->data_chunk_get_vector(s->chunk, i), &s->cell[i]))
            return tl_fail(e, TL_EINVAL, TL_NO_OFFSET,
                           "column %s has a type that is not written: CAST(... AS VARCHAR) makes text of it",
                           s->base.column[i].name);
    if (is_too_big(s)) {
        s->rows = 0;
        return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "string or blob too big");
    }
    return 1;
}

static int step(tl_statement *base, tl_error *e)
{
    statement *s = own(base);
    int status = s->has_result ? 1 : begin(s, e) == 0 ? 1 : -1;
    if (status < 0)
        return e ? e->code : TL_EINVAL;
    s->row++;
    while (status > 0 && s->row >= s->rows) {
        status = read_chunk(s, e);
    }
    if (status <= 0)
        drop_result(s);
    return status;
}

static void value(tl_statement *base, uint32_t i)
{
    statement *s = own(base);
    char digits[TL_DUCKDB_DIGITS];
    tl_sql_value *v = &base->value;
    if (!s->chunk || i >= base->ncolumn)
        return;
    tl_duckdb_value(&s->cell[i], s->row, digits, v);
    if (v->kind < TL_VALUE_TEXT)
        return;
    tl_pb *room = &s->room[i];
    tl_pb_clear(room);
    tl_pb_raw(room, v->text, v->size);
    tl_pb_raw(room, "", 1);
    v->text = room->failed ? NULL : (const char *)room->data;
}

/* DuckDB's own account of it, of a statement whose parameters are null. */
static int explain(tl_query *q, const char *sql, const char **rest, void (*line)(void *arg, const char *text),
                   void *arg, tl_error *e)
{
    tl_statement *s = NULL;
    tl_pb text = {0};
    tl_duckdb_text one = {0};
    int status = tl_duckdb_text_read(&one, sql, rest) ? 0 : TL_ENOMEM;
    const bool any = status == 0 && one.end > one.sql;
    tl_pb_text(&text, "EXPLAIN ");
    if (any)
        tl_duckdb_text_put(&one, &text);
    tl_pb_raw(&text, "", 1);
    tl_duckdb_text_fini(&one);
    if (status < 0 || text.failed)
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement");
    q->explains = true;
    if (status == 0 && any)
        status = tl_query_prepare(&s, q, (const char *)text.data, NULL, e);
    q->explains = false;
    while (status == 0 && s && (status = tl_statement_step(s, e)) > 0) {
        char *copy = strdup(tl_statement_value(s, 1)->text), *next = copy;
        for (char *one_line; copy && (one_line = strsep(&next, "\n"));)
            line(arg, one_line);
        free(copy);
        status = 0;
    }
    tl_statement_close(s);
    tl_pb_fini(&text);
    return status;
}

const tl_engine tl_duckdb_engine = {.name = "duckdb",
                                    .size = sizeof(statement),
                                    .open = tl_duckdb_open,
                                    .close = tl_duckdb_close,
                                    .prepare = prepare,
                                    .close_statement = close_statement,
                                    .sql = sql_of,
                                    .parameters = parameters,
                                    .parameter = parameter,
                                    .bind = bind,
                                    .step = step,
                                    .value = value,
                                    .explain = explain};

#endif

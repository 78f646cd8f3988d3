/* The tables of a session as one table function of DuckDB, tl_table(name, argument, argument). A name that DuckDB does
 * not know is looked up among them; tables with arguments are macros, which may leave some out. */
#ifdef TL_HAVE_SQLITE

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "query/duckdb/duckdb_impl.h"

#define FUNCTION "tl_table"

/* A table of a statement. */
typedef struct bound {
    tl_sql_table *table;
    tl_cell argument[TL_MADE_ARGUMENTS];
    tl_arena arena;
} bound;

/* What threads that read it share. */
typedef struct reading {
    const bound *of;
    uint8_t *used;    /* [columns of the table] */
    uint32_t *column; /* [ncolumn] of the table; UINT32_MAX: none */
    uint32_t ncolumn;
    tl_scan_part *part; /* [nparts] heaviest first */
    uint32_t nparts, next;
    uint64_t share; /* of a thread in the weight of all: heavier parts are decoded ahead */
    bool is_whole;  /* without parts: one scan, begun once */
} reading;

/* One of these threads. */
typedef struct reader {
    tl_query *query;
    reading *of;
    tl_scan *scan;
    tl_block block;
    uint32_t at; /* in there */
} reader;

static void keep_error(tl_query *q, const tl_error *e)
{
    if (!q->has_error && !(e->code == TL_ELIMIT && tl_query_ends_passes(q))) {
        q->error = *e;
        q->has_error = true;
    }
}

static tl_sql_table *find_table(const tl_query *q, const char *name)
{
    for (uint32_t i = 0; i < q->ntable; i++)
        if (strcasecmp(q->table[i].table->info.name, name) == 0)
            return &q->table[i];
    return NULL;
}

/* ---- planning ---- */

static void drop_bound(void *data)
{
    bound *b = data;
    tl_arena_fini(&b->arena);
    free(b);
}

/* The value of an argument; what it cannot be is TL_CELL_ROWS. False when memory runs out. */
static bool take_argument(const tl_duckdb_api *api, tl_arena *arena, const tl_column_info *c, duck_value *v,
                          tl_cell *out)
{
    *out = (tl_cell){.kind = TL_CELL_NULL};
    if (!v || api->is_null_value(v))
        return true;
    const int type = api->get_type_id(api->get_value_type(v));
    if (type == DUCK_BLOB) {
        duck_blob blob = api->get_blob(v);
        const bool ok = tl_duckdb_blob_argument(arena, c, blob.data, (size_t)blob.n, out);
        api->free(blob.data);
        return ok;
    }
    if (type == DUCK_VARCHAR) {
        char *text = api->get_varchar(v);
        out->kind = c->unit == TL_UNIT_BLOB ? TL_CELL_ROWS : TL_CELL_TEXT;
        out->text = text ? tl_arena_strndup(arena, text, strlen(text)) : NULL;
        api->free(text);
        return out->text != NULL;
    }
    if ((type >= DUCK_TINYINT && type <= DUCK_UBIGINT) || type == DUCK_HUGEINT)
        *out = (tl_cell){.kind = TL_CELL_INT, .i64 = api->get_int64(v)};
    else if (type == DUCK_DOUBLE || type == DUCK_FLOAT || type == DUCK_DECIMAL)
        *out = (tl_cell){.kind = TL_CELL_REAL, .real = api->get_double(v)};
    else
        out->kind = TL_CELL_ROWS;
    return true;
}

static bool take_arguments(const tl_duckdb_api *api, duck_info *info, bound *b)
{
    const tl_scan_table *t = b->table->table;
    bool ok = true;
    for (uint32_t i = 0; i < t->nargument && i < TL_MADE_ARGUMENTS; i++) {
        duck_value *v = api->bind_get_parameter(info, i + 1);
        ok = ok && take_argument(api, &b->arena, &t->column[t->ncolumn - t->nargument + i], v, &b->argument[i]);
        api->destroy_value(&v);
    }
    return ok;
}

static void add_columns(const tl_duckdb_api *api, duck_info *info, const tl_scan_table *t)
{
    for (uint32_t i = 0; i < t->ncolumn - t->nargument; i++) {
        duck_type *type = api->create_logical_type(tl_duckdb_type_of(&t->column[i]));
        api->bind_add_result_column(info, t->column[i].name, type);
        api->destroy_logical_type(&type);
    }
}

/* Does it need the places of traces, as far as its arguments say? */
static bool wants_places(const bound *b)
{
    const tl_made_kind *kind = b->table->origin == TL_TABLE_MADE ? b->table->made.kind : NULL;
    const bool has_text = b->argument[0].kind == TL_CELL_TEXT;
    return kind &&
           (kind->of_places || (kind->word_of_places && has_text && strstr(b->argument[0].text, kind->word_of_places)));
}

static void bind(duck_info *info)
{
    const tl_duckdb_api *api = tl_duckdb_load(NULL);
    tl_query *q = api->bind_get_extra_info(info);
    tl_error e = {0};
    duck_value *v = api->bind_get_parameter(info, 0);
    char *name = v ? api->get_varchar(v) : NULL;
    tl_sql_table *t = name ? find_table(q, name) : NULL;
    api->free(name);
    api->destroy_value(&v);
    bound *b = calloc(1, sizeof *b);
    if (!t || !b) {
        api->bind_set_error(info, t ? "no memory for a table" : "there is no such table");
        free(b);
        return;
    }
    b->table = t;
    api->bind_set_bind_data(info, b, drop_bound);
    if (tl_query_table_open(t, &e) < 0) {
        keep_error(q, &e);
        api->bind_set_error(info, e.message);
        return;
    }
    if (!take_arguments(api, info, b)) {
        api->bind_set_error(info, "no memory for a table");
        return;
    }
    t->is_used = true;
    t->wants_places = t->wants_places || wants_places(b);
    add_columns(api, info, t->table);
    api->bind_set_cardinality(info, t->table->rows, false);
}

/* ---- reading ---- */

static void drop_reading(void *data)
{
    reading *r = data;
    free(r->used);
    free(r->column);
    free(r->part);
    free(r);
}

static int heavier(const void *a, const void *b)
{
    const uint64_t x = ((const tl_scan_part *)a)->weight, y = ((const tl_scan_part *)b)->weight;
    return x > y ? -1 : x < y;
}

/* False when memory runs out. */
static bool make_parts(reading *r, const tl_query *q, const tl_scan_table *t)
{
    const uint32_t n = t->parts ? t->parts(t, &q->dataset, NULL, 0) : 0;
    r->is_whole = n < 2;
    r->part = tl_alloc((size_t)n + 1, sizeof *r->part);
    if (!r->part || r->is_whole)
        return r->part != NULL;
    r->nparts = t->parts(t, &q->dataset, r->part, n);
    qsort(r->part, r->nparts, sizeof *r->part, heavier);
    uint64_t weight = 0;
    for (uint32_t i = 0; i < r->nparts; i++)
        weight += r->part[i].weight;
    r->share = weight / tl_duckdb_threads(q);
    return true;
}

static void begin(duck_info *info)
{
    const tl_duckdb_api *api = tl_duckdb_load(NULL);
    const bound *b = api->init_get_bind_data(info);
    const tl_query *q = b->table->query;
    const tl_scan_table *t = b->table->table;
    reading *r = calloc(1, sizeof *r);
    bool ok = r != NULL;
    if (ok) {
        r->of = b;
        r->ncolumn = (uint32_t)api->init_get_column_count(info);
        r->used = calloc((size_t)t->ncolumn + 1, 1);
        r->column = tl_alloc((size_t)r->ncolumn + 1, sizeof *r->column);
        ok = r->used && r->column && make_parts(r, q, t);
    }
    for (uint32_t i = 0; ok && i < r->ncolumn; i++) {
        const duck_size column = api->init_get_column_index(info, i);
        r->column[i] = column < t->ncolumn ? (uint32_t)column : UINT32_MAX; /* DuckDB's number of a row */
        if (column < t->ncolumn)
            r->used[column] = 1;
        if (column < t->ncolumn && column >= b->table->place && !q->has_places)
            api->init_set_error(info, "the places of the traces were not made");
    }
    if (!ok) {
        if (r)
            drop_reading(r);
        api->init_set_error(info, "no memory for a table");
        return;
    }
    api->init_set_init_data(info, r, drop_reading);
    api->init_set_max_threads(info, r->nparts > 1 ? r->nparts : 1);
}

static void close_scan(reader *r)
{
    pthread_mutex_lock(&r->query->duckdb->lock); /* results of tables with arguments are counted */
    tl_scan_close(r->scan);
    pthread_mutex_unlock(&r->query->duckdb->lock);
    r->scan = NULL;
}

static void drop_reader(void *data)
{
    reader *r = data;
    close_scan(r);
    free(r);
}

static void begin_thread(duck_info *info)
{
    const tl_duckdb_api *api = tl_duckdb_load(NULL);
    const bound *b = api->init_get_bind_data(info);
    reader *r = calloc(1, sizeof *r);
    if (!r) {
        api->init_set_error(info, "no memory for a table");
        return;
    }
    r->query = b->table->query;
    api->init_set_init_data(info, r, drop_reader);
}

/* 1: a scan of the next part is open; 0: there is none. */
static int open_next(reader *r, reading *all, tl_error *e)
{
    const bound *b = all->of;
    tl_query *q = r->query;
    tl_scan_ask ask = {.used = all->used, .argument = b->argument, .stop = tl_query_ends_passes, .stop_arg = q};
    pthread_mutex_lock(&q->duckdb->lock);
    int status = 0;
    if (all->next < (all->is_whole ? 1 : all->nparts)) {
        ask.part = all->is_whole ? NULL : &all->part[all->next];
        ask.alone = ask.part && ask.part->weight <= all->share;
        all->next++;
        status = b->table->origin == TL_TABLE_ROWS ? tl_rows_table_make(&b->table->rows, e) : 0;
        if (status == 0)
            status = tl_scan_open(&r->scan, b->table->table, &q->dataset, &ask, e);
        status = status == 0 ? 1 : status;
    }
    pthread_mutex_unlock(&q->duckdb->lock);
    return status;
}

/* Parts of tables are read at the same time, all else one after another. */
static int read_block(reader *r, const reading *all, tl_error *e)
{
    r->at = 0;
    if (!all->is_whole)
        return tl_scan_next(r->scan, &r->block, e);
    pthread_mutex_lock(&r->query->duckdb->lock);
    const int status = tl_scan_next(r->scan, &r->block, e);
    pthread_mutex_unlock(&r->query->duckdb->lock);
    return status;
}

static void read_chunk(duck_info *info, duck_chunk *out)
{
    const tl_duckdb_api *api = tl_duckdb_load(NULL);
    reading *all = api->function_get_init_data(info);
    reader *r = api->function_get_local_init_data(info);
    const tl_scan_table *t = all->of->table->table;
    tl_error e = {0};
    int status = 1;
    while (status > 0 && r->at == r->block.rows) {
        r->block.rows = r->at = 0;
        if (!r->scan && (status = open_next(r, all, &e)) <= 0)
            break;
        status =
            tl_query_ends_passes(r->query) ? tl_fail(&e, TL_ELIMIT, TL_NO_OFFSET, "stopped") : read_block(r, all, &e);
        if (status > 0)
            continue;
        r->block.rows = 0;
        close_scan(r);
        status = status == 0 ? 1 : status;
    }
    const uint32_t left = r->block.rows - r->at, n = left < DUCK_VECTOR_ROWS ? left : DUCK_VECTOR_ROWS;
    bool ok = true;
    for (uint32_t i = 0; status > 0 && ok && i < all->ncolumn; i++) {
        duck_vector *v = api->data_chunk_get_vector(out, i);
        const uint32_t column = all->column[i];
        if (column == UINT32_MAX)
            memset(api->vector_get_data(v), 0, n * sizeof(int64_t));
        else
            ok = tl_duckdb_put(api, v, &t->column[column], &r->block.column[column], r->at, n, 0);
    }
    if (!ok)
        status = tl_fail(&e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows");
    if (status < 0) {
        pthread_mutex_lock(&r->query->duckdb->lock);
        keep_error(r->query, &e);
        pthread_mutex_unlock(&r->query->duckdb->lock);
        api->function_set_error(info, e.message);
    }
    r->at += status > 0 ? n : 0;
    api->data_chunk_set_size(out, status > 0 ? n : 0);
}

/* ---- names ---- */

static void replace(duck_info *info, const char *name, void *query)
{
    const tl_duckdb_api *api = tl_duckdb_load(NULL);
    const tl_sql_table *t = find_table(query, name);
    if (!t)
        return;
    api->replacement_scan_set_function_name(info, FUNCTION);
    duck_value *v = api->create_varchar(t->table->info.name);
    api->replacement_scan_add_parameter(info, v);
    api->destroy_value(&v);
    for (uint32_t i = 0; i < TL_MADE_ARGUMENTS; i++) {
        duck_value *null = api->create_null_value();
        api->replacement_scan_add_parameter(info, null);
        api->destroy_value(&null);
    }
}

/* CREATE MACRO x(a) AS TABLE (...), (a, b) AS TABLE (...) */
static void put_macro(tl_pb *sql, const tl_scan_table *t, bool is_list)
{
    static const char *const parameters[] = {"(a)", "(a, b)"}, *const arguments[] = {"a, NULL", "a, b"};
    tl_pb_text(sql, "CREATE MACRO ");
    tl_pb_text(sql, t->info.name);
    for (uint32_t i = 0; i < t->nargument; i++) {
        tl_pb_text(sql, i > 0 ? ", " : "");
        tl_pb_text(sql, parameters[i]);
        tl_pb_text(sql, is_list ? " AS TABLE (SELECT unnest(tl_" : " AS TABLE (SELECT * FROM " FUNCTION "('");
        tl_pb_text(sql, t->info.name);
        tl_pb_text(sql, is_list ? "(" : "', ");
        tl_pb_text(sql, arguments[i]);
        tl_pb_text(sql, is_list ? "), recursive := true))" : "))");
    }
    tl_pb_raw(sql, "", 1);
}

static int add_macros(tl_query *q, tl_error *e)
{
    const tl_duckdb *d = q->duckdb;
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < q->ntable; i++) {
        const tl_scan_table *t = q->table[i].table;
        duck_result r;
        tl_pb sql = {0};
        if (t->nargument == 0)
            continue;
        const bool is_list = tl_duckdb_is_list(&q->table[i]);
        if (is_list)
            status = tl_duckdb_add_list(&q->table[i], e);
        put_macro(&sql, t, is_list);
        if (status == 0 && sql.failed)
            status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for tables");
        if (status == 0) {
            if (d->api->query(d->connection, (const char *)sql.data, &r) != DUCK_OK)
                status = tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "libduckdb does not take the table %s: %.200s",
                                 t->info.name, d->api->result_error(&r));
            d->api->destroy_result(&r);
        }
        tl_pb_fini(&sql);
    }
    return status;
}

int tl_duckdb_add_tables(tl_query *q, tl_error *e)
{
    const tl_duckdb *d = q->duckdb;
    const tl_duckdb_api *api = d->api;
    duck_table_function *f = api->create_table_function();
    duck_type *text = api->create_logical_type(DUCK_VARCHAR), *any = api->create_logical_type(DUCK_ANY);
    api->table_function_set_name(f, FUNCTION);
    api->table_function_add_parameter(f, text);
    for (uint32_t i = 0; i < TL_MADE_ARGUMENTS; i++)
        api->table_function_add_parameter(f, any);
    api->table_function_set_extra_info(f, q, NULL);
    api->table_function_set_bind(f, bind);
    api->table_function_set_init(f, begin);
    api->table_function_set_local_init(f, begin_thread);
    api->table_function_set_function(f, read_chunk);
    api->table_function_supports_projection_pushdown(f, true);
    const bool ok = api->register_table_function(d->connection, f) == DUCK_OK;
    api->destroy_table_function(&f);
    api->destroy_logical_type(&text);
    api->destroy_logical_type(&any);
    if (!ok)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "libduckdb does not take tables");
    api->add_replacement_scan(d->db, replace, q, NULL);
    return add_macros(q, e);
}

#endif

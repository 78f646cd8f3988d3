/* Tables whose arguments may be columns of another table, "places AS p, hist_buckets(p.hist)": table functions of C
 * take only constants, so these are functions whose value is a list of rows, which is taken apart. */
#ifdef TL_HAVE_SQLITE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "query/duckdb/duckdb_impl.h"

#define ARGUMENT_BYTES ((size_t)16 << 20) /* of one that is a blob */

bool tl_duckdb_is_list(const tl_sql_table *t)
{
    return t->origin == TL_TABLE_MADE && (t->made.kind == &tl_hist_buckets_kind || t->made.kind == &tl_stack_kind);
}

bool tl_duckdb_blob_argument(tl_arena *a, const tl_column_info *c, const void *data, size_t n, tl_cell *out)
{
    static const char digit[] = "0123456789abcdef";
    const uint8_t *bytes = data;
    *out = (tl_cell){.kind = TL_CELL_ROWS};
    if (c->unit != TL_UNIT_BLOB || n > ARGUMENT_BYTES)
        return true;
    char *text = tl_arena_alloc(a, 2 * n + 1);
    if (!text)
        return false;
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digit[bytes[i] >> 4];
        text[2 * i + 1] = digit[bytes[i] & 15];
    }
    text[2 * n] = '\0';
    *out = (tl_cell){.kind = TL_CELL_TEXT, .text = text};
    return true;
}

static bool take_argument(tl_arena *a, const tl_column_info *c, const tl_sql_value *v, tl_cell *out)
{
    *out = (tl_cell){.kind = TL_CELL_NULL};
    switch (v->kind) {
    case TL_VALUE_INTEGER:
        *out = (tl_cell){.kind = TL_CELL_INT, .i64 = v->i64};
        return true;
    case TL_VALUE_REAL:
        *out = (tl_cell){.kind = TL_CELL_REAL, .real = v->real};
        return true;
    case TL_VALUE_TEXT:
        out->kind = c->unit == TL_UNIT_BLOB ? TL_CELL_ROWS : TL_CELL_TEXT;
        out->text = tl_arena_strndup(a, v->text, v->size);
        return out->text != NULL;
    case TL_VALUE_BLOB:
        return tl_duckdb_blob_argument(a, c, v->text, v->size, out);
    default:
        return true;
    }
}

/* Appends the rows for these arguments; *n: in the list so far. */
static int add_rows(const tl_sql_table *t, const tl_cell *argument, duck_vector *list, duck_size *n, tl_error *e)
{
    const tl_duckdb_api *api = t->query->duckdb->api;
    const tl_scan_ask ask = {.argument = argument, .stop = tl_query_ends_passes, .stop_arg = t->query};
    const uint32_t ncolumn = t->table->ncolumn - t->table->nargument;
    tl_scan *scan = NULL;
    tl_block block;
    int status = tl_scan_open(&scan, t->table, &t->query->dataset, &ask, e);
    while (status >= 0 && (status = tl_scan_next(scan, &block, e)) > 0) {
        if (api->list_vector_reserve(list, *n + block.rows) != DUCK_OK) {
            status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows");
            break;
        }
        duck_vector *rows = api->list_vector_get_child(list);
        for (uint32_t i = 0; i < ncolumn; i++)
            if (!tl_duckdb_put(api, api->struct_vector_get_child(rows, i), &t->table->column[i], &block.column[i], 0,
                               block.rows, *n))
                status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows");
        *n += block.rows;
        api->list_vector_set_size(list, *n);
    }
    tl_scan_close(scan);
    return status < 0 ? status : 0;
}

static void call(duck_info *info, duck_chunk *in, duck_vector *out)
{
    typedef struct entry {
        uint64_t first, n;
    } entry;
    const tl_duckdb_api *api = tl_duckdb_load(NULL);
    const tl_sql_table *t = api->scalar_function_get_extra_info(info);
    const tl_scan_table *table = t->table;
    tl_duckdb *d = t->query->duckdb;
    tl_duckdb_column column[TL_MADE_ARGUMENTS];
    tl_error e = {0};
    int status = 0;
    entry *list = api->vector_get_data(out);
    for (uint32_t i = 0; i < TL_MADE_ARGUMENTS; i++)
        if (!tl_duckdb_column_of(api, api->data_chunk_get_vector(in, i), &column[i]))
            status = tl_fail(&e, TL_EINVAL, TL_NO_OFFSET, "%s: an argument has a type that SQLite has not",
                             table->info.name);
    const duck_size rows = api->data_chunk_get_size(in);
    duck_size n = api->list_vector_get_size(out);
    pthread_mutex_lock(&d->lock);
    for (duck_size row = 0; status == 0 && row < rows; row++) {
        tl_cell argument[TL_MADE_ARGUMENTS] = {{0}};
        tl_arena arena = {0};
        char room[TL_DUCKDB_DIGITS];
        for (uint32_t i = 0; i < table->nargument && status == 0; i++) {
            tl_sql_value v;
            tl_duckdb_value(&column[i], row, room, &v);
            if (!take_argument(&arena, &table->column[table->ncolumn - table->nargument + i], &v, &argument[i]))
                status = tl_fail(&e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table");
        }
        const duck_size first = n;
        if (status == 0)
            status = add_rows(t, argument, out, &n, &e);
        list[row] = (entry){first, n - first};
        tl_arena_fini(&arena);
    }
    pthread_mutex_unlock(&d->lock);
    if (status < 0)
        api->scalar_function_set_error(info, e.message);
}

int tl_duckdb_add_list(tl_sql_table *t, tl_error *e)
{
    enum { COLUMNS = 16 };
    const tl_duckdb *d = t->query->duckdb;
    const tl_duckdb_api *api = d->api;
    const uint32_t n = t->table->ncolumn - t->table->nargument;
    const char *name[COLUMNS];
    char function[64];
    duck_type *type[COLUMNS];
    if (n > COLUMNS)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s has too many columns", t->table->info.name);
    for (uint32_t i = 0; i < n; i++) {
        name[i] = t->table->column[i].name;
        type[i] = api->create_logical_type(tl_duckdb_type_of(&t->table->column[i]));
    }
    duck_type *row = api->create_struct_type(type, name, n), *rows = api->create_list_type(row);
    duck_type *any = api->create_logical_type(DUCK_ANY);
    duck_scalar_function *f = api->create_scalar_function();
    snprintf(function, sizeof function, "tl_%s", t->table->info.name);
    api->scalar_function_set_name(f, function);
    for (uint32_t i = 0; i < TL_MADE_ARGUMENTS; i++)
        api->scalar_function_add_parameter(f, any);
    api->scalar_function_set_return_type(f, rows);
    api->scalar_function_set_special_handling(f);
    api->scalar_function_set_volatile(f); /* not while a statement is planned: places are made after that */
    api->scalar_function_set_extra_info(f, t, NULL);
    api->scalar_function_set_function(f, call);
    const bool ok = api->register_scalar_function(d->connection, f) == DUCK_OK;
    api->destroy_scalar_function(&f);
    for (uint32_t i = 0; i < n; i++)
        api->destroy_logical_type(&type[i]);
    api->destroy_logical_type(&row);
    api->destroy_logical_type(&rows);
    api->destroy_logical_type(&any);
    return ok ? 0
              : tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "libduckdb does not take the table %s", t->table->info.name);
}

#endif

/* The functions of sql_functions.def in DuckDB. */
#ifdef TL_HAVE_SQLITE

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "query/duckdb/duckdb_impl.h"

/* The arguments of a chunk of rows, and memory for their texts, which are NUL-terminated here. */
typedef struct arguments {
    const tl_duckdb_api *api;
    const tl_sql_function *function;
    uint32_t n;
    tl_duckdb_column column[TL_SQL_ARGUMENTS];
    tl_pb text[TL_SQL_ARGUMENTS];
    tl_sql_value value[TL_SQL_ARGUMENTS];
    tl_pb constant; /* the first argument of the call before: what a function keeps is of that */
    bool no_memory;
} arguments;

/* False: an argument has a type that SQLite has not. */
static bool begin(arguments *a, const tl_duckdb_function *f, duck_chunk *in)
{
    *a = (arguments){.api = f->query->duckdb->api, .function = f->function};
    a->n = (uint32_t)a->api->data_chunk_get_column_count(in);
    bool ok = a->n <= TL_SQL_ARGUMENTS;
    for (uint32_t i = 0; ok && i < a->n; i++)
        ok = tl_duckdb_column_of(a->api, a->api->data_chunk_get_vector(in, i), &a->column[i]);
    return ok;
}

static void end(arguments *a)
{
    for (uint32_t i = 0; i < TL_SQL_ARGUMENTS; i++)
        tl_pb_fini(&a->text[i]);
    tl_pb_fini(&a->constant);
}

static void read_row(arguments *a, duck_size row)
{
    char room[TL_DUCKDB_DIGITS];
    for (uint32_t i = 0; i < a->n; i++) {
        tl_sql_value *v = &a->value[i];
        tl_pb *text = &a->text[i];
        tl_duckdb_value(&a->column[i], row, room, v);
        tl_pb_clear(text);
        const bool as_text = a->function->texts >> i & 1;
        if (as_text && v->kind == TL_VALUE_INTEGER) {
            tl_pb_text_i64(text, v->i64);
        } else if (as_text && v->kind == TL_VALUE_REAL) {
            char number[40];
            snprintf(number, sizeof number, "%.15g", v->real);
            tl_pb_text(text, number);
        } else if (v->kind == TL_VALUE_TEXT || v->kind == TL_VALUE_BLOB) {
            tl_pb_raw(text, v->text, v->size);
        } else {
            continue;
        }
        v->kind = v->kind == TL_VALUE_BLOB ? TL_VALUE_BLOB : TL_VALUE_TEXT;
        v->size = text->n;
        tl_pb_raw(text, "", 1);
        v->text = (const char *)text->data;
        a->no_memory = a->no_memory || text->failed;
    }
}

static tl_sql_call call_of(const tl_duckdb_function *f, const arguments *a)
{
    return (tl_sql_call){.query = f->query, .argument = a->value, .n = a->n};
}

/* The message of a call that failed; NUL-terminated. */
static const char *message_of(tl_sql_call *c)
{
    tl_pb_raw(&c->bytes, "", 1);
    return c->no_memory || c->bytes.failed ? "no memory for a function" : (const char *)c->bytes.data;
}

static void give(const tl_duckdb_api *api, const tl_sql_call *c, duck_vector *out, duck_size row)
{
    if (c->kind == TL_VALUE_NULL) {
        api->vector_ensure_validity_writable(out);
        api->vector_get_validity(out)[row / 64] &= ~(UINT64_C(1) << row % 64);
    } else if (c->kind == TL_VALUE_INTEGER) {
        ((int64_t *)api->vector_get_data(out))[row] = c->i64;
    } else {
        api->vector_assign_string_element_len(out, row, c->bytes.n ? (const char *)c->bytes.data : "", c->bytes.n);
    }
}

/* What a function keeps is of the first argument. */
static void forget_other(tl_sql_call *c, arguments *a)
{
    const tl_sql_value *v = &a->value[0];
    if (!c->kept ||
        (v->kind == TL_VALUE_TEXT && v->size == a->constant.n && memcmp(v->text, a->constant.data, v->size) == 0))
        return;
    c->drop(c->kept);
    c->kept = NULL;
}

static void note_constant(const tl_sql_call *c, arguments *a)
{
    if (!c->kept)
        return;
    tl_pb_clear(&a->constant);
    tl_pb_raw(&a->constant, a->value[0].text, a->value[0].size);
    a->no_memory = a->no_memory || a->constant.failed;
}

static void call_scalar(duck_info *info, duck_chunk *in, duck_vector *out)
{
    const tl_duckdb_api *api = tl_duckdb_load(NULL);
    const tl_duckdb_function *f = api->scalar_function_get_extra_info(info);
    tl_duckdb *d = f->query->duckdb;
    const bool alone = strcmp(f->function->name, "disassemble") == 0;
    arguments a;
    if (!begin(&a, f, in)) {
        api->scalar_function_set_error(info, "a function has an argument of a type that SQLite has not: CAST it");
        end(&a);
        return;
    }
    tl_sql_call c = call_of(f, &a);
    if (alone)
        pthread_mutex_lock(&d->lock);
    const duck_size n = api->data_chunk_get_size(in);
    for (duck_size row = 0; row < n; row++) {
        read_row(&a, row);
        forget_other(&c, &a);
        f->function->call(&c);
        note_constant(&c, &a);
        c.no_memory = c.no_memory || a.no_memory;
        if (tl_sql_failed(&c)) {
            api->scalar_function_set_error(info, message_of(&c));
            break;
        }
        give(api, &c, out, row);
        tl_sql_call_again(&c);
    }
    if (alone)
        pthread_mutex_unlock(&d->lock);
    if (c.kept)
        c.drop(c.kept);
    tl_sql_call_fini(&c);
    end(&a);
}

/* ---- over the rows of a group ---- */

static duck_size state_size(duck_info *info)
{
    const tl_duckdb_function *f = tl_duckdb_load(NULL)->aggregate_function_get_extra_info(info);
    return *f->function->size + sizeof(tl_sql_function *);
}

/* The destructor is told nothing else: the state begins with its function. */
static void *state_of(void *state)
{
    return (char *)state + sizeof(tl_sql_function *);
}

static void init_state(duck_info *info, void *state)
{
    const tl_duckdb_function *f = tl_duckdb_load(NULL)->aggregate_function_get_extra_info(info);
    memset(state, 0, *f->function->size + sizeof(tl_sql_function *));
    memcpy(state, &f->function, sizeof f->function);
}

static void drop_states(void **state, duck_size n)
{
    for (duck_size i = 0; i < n; i++) {
        const tl_sql_function *f;
        memcpy(&f, state[i], sizeof f);
        f->drop(state_of(state[i]));
        memset(state_of(state[i]), 0, *f->size);
    }
}

static void update(duck_info *info, duck_chunk *in, void **state)
{
    const tl_duckdb_api *api = tl_duckdb_load(NULL);
    const tl_duckdb_function *f = api->aggregate_function_get_extra_info(info);
    arguments a;
    const bool ok = begin(&a, f, in);
    tl_sql_call c = call_of(f, &a);
    const duck_size n = ok ? api->data_chunk_get_size(in) : 0;
    if (!ok)
        api->aggregate_function_set_error(info, "a function has an argument of a type that SQLite has not: CAST it");
    for (duck_size row = 0; row < n; row++) {
        read_row(&a, row);
        f->function->add(&c, state_of(state[row]));
        c.no_memory = c.no_memory || a.no_memory;
        if (tl_sql_failed(&c)) {
            api->aggregate_function_set_error(info, message_of(&c));
            break;
        }
    }
    tl_sql_call_fini(&c);
    end(&a);
}

static void combine(duck_info *info, void **from, void **into, duck_size n)
{
    const tl_duckdb_api *api = tl_duckdb_load(NULL);
    const tl_duckdb_function *f = api->aggregate_function_get_extra_info(info);
    tl_sql_call c = {.query = f->query};
    for (duck_size i = 0; i < n; i++) {
        f->function->merge(&c, state_of(into[i]), state_of(from[i]));
        if (tl_sql_failed(&c)) {
            api->aggregate_function_set_error(info, message_of(&c));
            break;
        }
    }
    tl_sql_call_fini(&c);
}

static void finalize(duck_info *info, void **state, duck_vector *out, duck_size n, duck_size at)
{
    const tl_duckdb_api *api = tl_duckdb_load(NULL);
    const tl_duckdb_function *f = api->aggregate_function_get_extra_info(info);
    tl_sql_call c = {.query = f->query};
    for (duck_size i = 0; i < n; i++) {
        f->function->give(&c, state_of(state[i]));
        if (tl_sql_failed(&c)) {
            api->aggregate_function_set_error(info, message_of(&c));
            break;
        }
        give(api, &c, out, at + i);
        tl_sql_call_again(&c);
    }
    tl_sql_call_fini(&c);
}

/* ---- making them known ---- */

static int type_of(tl_value_kind kind)
{
    return kind == TL_VALUE_INTEGER ? DUCK_BIGINT : kind == TL_VALUE_BLOB ? DUCK_BLOB : DUCK_VARCHAR;
}

/* With n arguments of any type. */
static bool add_scalar(const tl_duckdb_api *api, duck_scalar_set *set, tl_duckdb_function *f, int n)
{
    duck_scalar_function *s = api->create_scalar_function();
    duck_type *any = api->create_logical_type(DUCK_ANY),
              *type = api->create_logical_type(type_of(f->function->returns));
    api->scalar_function_set_name(s, f->function->name);
    for (int i = 0; i < n; i++)
        api->scalar_function_add_parameter(s, any);
    api->scalar_function_set_return_type(s, type);
    api->scalar_function_set_special_handling(s); /* null is a value like others */
    api->scalar_function_set_extra_info(s, f, NULL);
    api->scalar_function_set_function(s, call_scalar);
    const bool ok = api->add_scalar_function_to_set(set, s) == DUCK_OK;
    api->destroy_scalar_function(&s);
    api->destroy_logical_type(&any);
    api->destroy_logical_type(&type);
    return ok;
}

static bool register_scalar(tl_duckdb *d, tl_duckdb_function *f)
{
    const tl_duckdb_api *api = d->api;
    duck_scalar_set *set = api->create_scalar_function_set(f->function->name);
    const int n = f->function->arguments;
    const bool ok = (n >= 0 ? add_scalar(api, set, f, n) : add_scalar(api, set, f, 1) && add_scalar(api, set, f, 2)) &&
                    api->register_scalar_function_set(d->connection, set) == DUCK_OK;
    api->destroy_scalar_function_set(&set);
    return ok;
}

static bool register_aggregate(tl_duckdb *d, tl_duckdb_function *f)
{
    const tl_duckdb_api *api = d->api;
    duck_aggregate *a = api->create_aggregate_function();
    duck_type *any = api->create_logical_type(DUCK_ANY),
              *type = api->create_logical_type(type_of(f->function->returns));
    api->aggregate_function_set_name(a, f->function->name);
    for (int i = 0; i < f->function->arguments; i++)
        api->aggregate_function_add_parameter(a, any);
    api->aggregate_function_set_return_type(a, type);
    api->aggregate_function_set_special_handling(a);
    api->aggregate_function_set_extra_info(a, f, NULL);
    api->aggregate_function_set_functions(a, state_size, init_state, update, combine, finalize);
    api->aggregate_function_set_destructor(a, drop_states);
    const bool ok = api->register_aggregate_function(d->connection, a) == DUCK_OK;
    api->destroy_aggregate_function(&a);
    api->destroy_logical_type(&any);
    api->destroy_logical_type(&type);
    return ok;
}

int tl_duckdb_add_functions(tl_query *q, tl_error *e)
{
    tl_duckdb *d = q->duckdb;
    d->functions = calloc(tl_sql_nfunction, sizeof *d->functions);
    if (!d->functions)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for functions");
    for (uint32_t i = 0; i < tl_sql_nfunction; i++) {
        tl_duckdb_function *f = &d->functions[i];
        *f = (tl_duckdb_function){q, &tl_sql_functions[i]};
        if (!(f->function->call ? register_scalar(d, f) : register_aggregate(d, f)))
            return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "libduckdb does not take the function %s",
                           f->function->name);
    }
    return 0;
}

#endif

/* Sums of compilations, by method and by thread. */
#include "analysis/runtime/jit_table.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/runtime/jit_input.h"
#include "base/grow.h"

static int on_event(void *arg, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    tl_jit_input *in = arg;
    switch (ev->cls->role) {
    case TL_ROLE_FUNCTION_NAME:
        return tl_names_set(&in->names, &in->out->strings, ev->field[TL_FIELD_FUNCTION], ev->field[TL_FIELD_NAME], e);
    case TL_ROLE_CODE:
        return tl_jit_code_event(in, ev, e);
    default:
        if (ev->cls->kind == TL_BEGIN)
            return tl_jit_begin(in, r, ev, e);
        return ev->cls->kind == TL_END ? tl_jit_end(in, r, ev, e) : 0;
    }
}

static void add_up(tl_jit_method *to, const tl_jit_method *m)
{
    to->has_id = to->has_id && m->has_id && to->id == m->id;
    to->has_function = to->has_function && m->has_function && to->function == m->function;
    to->compiled += m->compiled;
    to->searched += m->searched;
    to->failed += m->failed;
    tl_sum_join(&to->total, m->total);
    to->max = m->max > to->max ? m->max : to->max;
    to->code_bytes = m->code_bytes;
}

static int add_method(tl_jit *t, const tl_jit_method *m, tl_error *e)
{
    const uint64_t key = (uint64_t)(uintptr_t)m->name; /* interned */
    const bool by_name = t->by_name && m->name;
    const uint32_t known = by_name ? tl_hash_get(&t->methods, key) : TL_HASH_NONE;
    if (known != TL_HASH_NONE) {
        add_up(&t->method[known], m);
        return 0;
    }
    if (!TL_GROW(t->method, t->n, 1, t->capacity) || (by_name && !tl_hash_put(&t->methods, key, t->n)))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of compilations");
    t->method[t->n++] = *m;
    return 0;
}

int tl_jit_read(void *table, tl_source *s, const tl_select *select, tl_error *e)
{
    tl_jit *t = table;
    static const tl_runtime_visitor visitor = {.roles = 1u << TL_ROLE_COMPILATION | 1u << TL_ROLE_CODE_SEARCH |
                                                        1u << TL_ROLE_CODE | 1u << TL_ROLE_FUNCTION_NAME,
                                               .event = on_event};
    tl_jit_input in = {.out = t};
    tl_runtime r;
    int status = tl_begins_init(&in.begins, tl_trace_classes(tl_source_trace(s)), e);
    if (status == 0)
        status = tl_runtime_read(&r, s, select, &visitor, &in, e);
    if (status == 0)
        status = tl_jit_settle(&in, e);
    for (uint32_t i = 0; status == 0 && i < in.nmethod; i++) {
        tl_jit_method *m = &in.method[i];
        m->name = m->has_function ? tl_names_get(&in.names, m->function) : NULL;
        status = add_method(t, m, e);
    }
    if (status == 0 && r.has_span)
        t->span += tl_runtime_time(&r, r.last) - tl_runtime_time(&r, r.first);
    tl_jit_input_fini(&in);
    return status;
}

/* < 0: the larger number comes first. */
static int descending(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

static int by_id(const void *left, const void *right)
{
    const tl_jit_method *a = left, *b = right;
    const uint64_t ids[] = {a->has_id ? a->id : 0, b->has_id ? b->id : 0},
                   functions[] = {a->has_function ? a->function : 0, b->has_function ? b->function : 0};
    const int ids_order = descending(ids[1], ids[0]), order = descending(functions[1], functions[0]);
    return ids_order ? ids_order : order ? order : descending(b->order, a->order);
}

static int by_total(const void *left, const void *right)
{
    const tl_jit_method *a = left, *b = right;
    const int order = tl_sum_compare(b->total, a->total), size = tl_sum_compare(b->code_bytes, a->code_bytes);
    return order ? order : size ? size : by_id(left, right);
}

static int by_calls(const void *left, const void *right)
{
    const tl_jit_method *a = left, *b = right;
    const int order = descending(a->compiled + a->searched, b->compiled + b->searched);
    return order ? order : by_total(left, right);
}

static int by_max(const void *left, const void *right)
{
    const tl_jit_method *a = left, *b = right;
    const int order = descending(a->max, b->max);
    return order ? order : by_total(left, right);
}

static int by_name(const void *left, const void *right)
{
    const tl_jit_method *a = left, *b = right;
    const int order = a->name && b->name ? strcmp(a->name, b->name) : !a->name - !b->name; /* without a name: last */
    return order ? order : by_id(left, right);
}

static int thread_by_total(const void *left, const void *right)
{
    const tl_jit_thread *a = left, *b = right;
    const int order = tl_sum_compare(b->total, a->total),
              count = descending(a->compiled + a->searched, b->compiled + b->searched);
    return order ? order : count ? count : strcmp(a->name, b->name);
}

void tl_jit_sort(tl_jit *t, tl_jit_order order)
{
    int (*const compare[])(const void *, const void *) = {
        [TL_JIT_BY_ID] = by_id,   [TL_JIT_BY_TOTAL] = by_total, [TL_JIT_BY_CALLS] = by_calls,
        [TL_JIT_BY_MAX] = by_max, [TL_JIT_BY_NAME] = by_name,
    };
    tl_hash_fini(&t->methods); /* indexes change */
    tl_hash_fini(&t->threads);
    if (t->n)
        qsort(t->method, t->n, sizeof *t->method, compare[order]);
    if (t->nthread)
        qsort(t->thread, t->nthread, sizeof *t->thread, thread_by_total);
}

void tl_jit_fini(void *table)
{
    tl_jit *t = table;
    free(t->method);
    free(t->thread);
    tl_quantile_set_fini(&t->compile);
    tl_strings_fini(&t->strings);
    tl_hash_fini(&t->methods);
    tl_hash_fini(&t->threads);
    *t = (tl_jit){0};
}

/* Rows of types: found by number, merged by name, sorted. */
#include "analysis/runtime/type_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static int new_row(tl_type_rows *t, tl_error *e)
{
    if (!TL_GROW(t->row, t->n, 1, t->capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of types");
    t->row[t->n] = (tl_type_row){.order = t->n};
    return 0;
}

int tl_type_rows_get(tl_type_rows *t, const tl_value *type, tl_type_row **out, tl_error *e)
{
    const bool has_type = tl_value_is_number(type);
    const uint32_t known = has_type ? tl_hash_get(&t->index, type->as.u) : t->no_type ? t->no_type - 1 : TL_HASH_NONE;
    if (known != TL_HASH_NONE) {
        *out = &t->row[known];
        return 0;
    }
    int status = new_row(t, e);
    if (status == 0 && has_type && !tl_hash_put(&t->index, type->as.u, t->n))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of types");
    if (status < 0)
        return status;
    *out = &t->row[t->n++];
    (*out)->has_type = has_type;
    (*out)->type = tl_value_number(type);
    if (!has_type)
        t->no_type = t->n;
    return 0;
}

void tl_type_rows_clear(tl_type_rows *t)
{
    tl_hash_fini(&t->index);
    tl_hash_fini(&t->by_name);
    t->n = 0;
    t->no_type = 0;
}

void tl_type_rows_name(tl_type_rows *t, const tl_names *names)
{
    for (uint32_t i = 0; i < t->n; i++)
        t->row[i].name = t->row[i].has_type ? tl_names_get(names, t->row[i].type) : NULL;
}

static int merge_row(tl_type_rows *into, const tl_type_row *from, tl_error *e)
{
    const uint64_t key = (uint64_t)(uintptr_t)from->name;
    const uint32_t known = from->name ? tl_hash_get(&into->by_name, key) : TL_HASH_NONE;
    if (known != TL_HASH_NONE) {
        tl_type_row *to = &into->row[known];
        to->has_type = to->has_type && from->has_type && to->type == from->type;
        tl_sum_join(&to->count, from->count);
        tl_sum_join(&to->bytes, from->bytes);
        return 0;
    }
    int status = new_row(into, e);
    if (status == 0 && from->name && !tl_hash_put(&into->by_name, key, into->n))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of types");
    if (status < 0)
        return status;
    const uint32_t order = into->n;
    into->row[into->n] = *from;
    into->row[into->n++].order = order;
    return 0;
}

int tl_type_rows_merge(tl_type_rows *into, const tl_type_rows *from, tl_error *e)
{
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < from->n; i++)
        status = merge_row(into, &from->row[i], e);
    return status;
}

static int by_number(const tl_type_row *a, const tl_type_row *b)
{
    const uint64_t one = a->has_type ? a->type : 0, two = b->has_type ? b->type : 0;
    if (one != two)
        return one < two ? -1 : 1;
    return TL_COMPARE(a->order, b->order);
}

static int by_bytes(const void *left, const void *right)
{
    const tl_type_row *a = left, *b = right;
    const int order = tl_sum_compare(b->bytes, a->bytes);
    return order ? order : by_number(a, b);
}

static int by_count(const void *left, const void *right)
{
    const tl_type_row *a = left, *b = right;
    const int order = tl_sum_compare(b->count, a->count);
    return order ? order : by_bytes(a, b);
}

static int by_name(const void *left, const void *right)
{
    const tl_type_row *a = left, *b = right;
    const int order = a->name && b->name ? strcmp(a->name, b->name) : !a->name - !b->name; /* without a name: last */
    return order ? order : by_number(a, b);
}

/* a grew more than b if a's now and b's before are more than b's now and a's before. */
static int by_growth(const void *left, const void *right)
{
    const tl_type_row *a = left, *b = right;
    tl_sum one = a->bytes, two = b->bytes;
    tl_sum_join(&one, b->bytes_before);
    tl_sum_join(&two, a->bytes_before);
    const int order = tl_sum_compare(two, one);
    return order ? order : by_number(a, b);
}

void tl_type_rows_sort(tl_type_rows *t, tl_type_order order)
{
    int (*const compare[])(const void *, const void *) = {[TL_TYPES_BY_BYTES] = by_bytes,
                                                          [TL_TYPES_BY_COUNT] = by_count,
                                                          [TL_TYPES_BY_NAME] = by_name,
                                                          [TL_TYPES_BY_GROWTH] = by_growth};
    tl_hash_fini(&t->index);
    tl_hash_fini(&t->by_name);
    if (t->n)
        qsort(t->row, t->n, sizeof *t->row, compare[order]);
}

void tl_type_rows_total(const tl_type_rows *t, tl_sum *count, tl_sum *bytes)
{
    *count = *bytes = tl_sum_of(0);
    for (uint32_t i = 0; i < t->n; i++) {
        tl_sum_join(count, t->row[i].count);
        tl_sum_join(bytes, t->row[i].bytes);
    }
}

void tl_type_rows_fini(tl_type_rows *t)
{
    tl_type_rows_clear(t);
    free(t->row);
    *t = (tl_type_rows){0};
}

/* Snapshots of the heap. */
#include "analysis/runtime/heap_table.h"

#include <stdlib.h>

#include "base/grow.h"

typedef struct heap_input {
    tl_heap *out;
    tl_names names;
    tl_type_rows first, last; /* types in the first and the last snapshot */
} heap_input;

static int add_snapshot(heap_input *in, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    tl_heap *h = in->out;
    tl_type_rows *rows = h->n == 0 ? &in->first : &in->last;
    if (!TL_GROW(h->snapshot, h->n, 1, h->capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for snapshots of the heap");
    tl_snapshot *made = &h->snapshot[h->n];
    *made = (tl_snapshot){.ts = tl_runtime_time(r, ev->ts)};
    tl_type_rows_clear(rows);
    for (tl_runtime_items i = tl_runtime_items_of(ev); tl_runtime_items_next(&i);) {
        const uint64_t count = tl_value_number(i.field[TL_FIELD_COUNT]),
                       bytes = tl_value_number(i.field[TL_FIELD_BYTES]);
        tl_type_row *row;
        int status = tl_type_rows_get(rows, i.field[TL_FIELD_TYPE], &row, e);
        if (status < 0)
            return status;
        tl_sum_add(&row->count, count);
        tl_sum_add(&row->bytes, bytes);
        tl_sum_add(&made->count, count);
        tl_sum_add(&made->bytes, bytes);
    }
    h->n++;
    return 0;
}

static int on_event(void *arg, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    heap_input *in = arg;
    if (ev->cls->role == TL_ROLE_TYPE_NAME)
        return tl_names_set(&in->names, &in->out->strings, ev->field[TL_FIELD_TYPE], ev->field[TL_FIELD_NAME], e);
    return ev->chosen ? add_snapshot(in, r, ev, e) : 0;
}

/* The rows of the last snapshot, compared with the first. */
static int compare(heap_input *in, tl_error *e)
{
    tl_type_rows *to = &in->out->types;
    if (in->out->n < 2) {
        *to = in->first;
        in->first = (tl_type_rows){0};
        return 0;
    }
    *to = in->last;
    in->last = (tl_type_rows){0};
    for (uint32_t i = 0; i < in->first.n; i++) {
        const tl_type_row *from = &in->first.row[i];
        const tl_value type = {.type = from->has_type ? TL_HEX : TL_NULL, .as.u = from->type};
        tl_type_row *row;
        int status = tl_type_rows_get(to, &type, &row, e);
        if (status < 0)
            return status;
        row->count_before = from->count;
        row->bytes_before = from->bytes;
    }
    return 0;
}

int tl_heap_read(void *table, tl_source *s, const tl_select *select, tl_error *e)
{
    tl_heap *h = table;
    static const tl_runtime_visitor visitor = {.roles = 1u << TL_ROLE_LIVE_OBJECTS | 1u << TL_ROLE_TYPE_NAME,
                                               .event = on_event};
    heap_input in = {.out = h};
    tl_runtime r;
    int status = tl_runtime_read(&r, s, select, &visitor, &in, e);
    if (status == 0)
        status = compare(&in, e);
    if (status == 0) {
        tl_type_rows_name(&h->types, &in.names);
        tl_type_rows_sort(&h->types, TL_TYPES_BY_GROWTH);
    }
    tl_type_rows_fini(&in.first);
    tl_type_rows_fini(&in.last);
    tl_names_fini(&in.names);
    return status;
}

void tl_heap_fini(void *table)
{
    tl_heap *h = table;
    free(h->snapshot);
    tl_type_rows_fini(&h->types);
    tl_strings_fini(&h->strings);
    *h = (tl_heap){0};
}

/* Adds up allocations. */
#include "analysis/runtime/alloc_table.h"

#include "model/trace_impl.h"

typedef struct alloc_input {
    tl_alloc *out;
    tl_type_rows types; /* of several inputs: of this one */
    tl_names type_names, function_names;
    tl_alloc_sites sites;
} alloc_input;

/* Adds a list of objects to sums by type. */
static int add_objects(tl_type_rows *rows, const tl_runtime_event *ev, tl_error *e)
{
    for (tl_runtime_items i = tl_runtime_items_of(ev); tl_runtime_items_next(&i);) {
        tl_type_row *row;
        int status = tl_type_rows_get(rows, i.field[TL_FIELD_TYPE], &row, e);
        if (status < 0)
            return status;
        tl_sum_add(&row->count, tl_value_number(i.field[TL_FIELD_COUNT]));
        tl_sum_add(&row->bytes, tl_value_number(i.field[TL_FIELD_BYTES]));
    }
    return 0;
}

static int add_allocation(alloc_input *in, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    const bool counts = ev->cls->key != TL_KEY_WEIGHT || tl_weight_ticks(ev->key);
    if (!ev->chosen || !counts)
        return 0;
    tl_sum sum = {0};
    int status = add_objects(&in->types, ev, e);
    for (tl_runtime_items i = tl_runtime_items_of(ev); status == 0 && tl_runtime_items_next(&i);) {
        const uint64_t bytes = tl_value_number(i.field[TL_FIELD_BYTES]);
        tl_sum_add(&sum, bytes);
        status = tl_alloc_sites_add(&in->sites, ev->track, i.field[TL_FIELD_IP],
                                    tl_value_number(i.field[TL_FIELD_COUNT]), bytes, e);
    }
    tl_over_time_add(&in->out->over_time, tl_runtime_time(r, ev->ts), tl_sum_double(sum));
    return status;
}

static int add_live(alloc_input *in, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    tl_alloc *a = in->out;
    if (!ev->chosen || a->several)
        return 0;
    tl_type_rows_clear(&a->live);
    a->has_live = true;
    a->live_ts = tl_runtime_time(r, ev->ts);
    return add_objects(&a->live, ev, e);
}

static int on_event(void *arg, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    alloc_input *in = arg;
    tl_strings *strings = &in->out->strings;
    switch (ev->cls->role) {
    case TL_ROLE_TYPE_NAME:
        return tl_names_set(&in->type_names, strings, ev->field[TL_FIELD_TYPE], ev->field[TL_FIELD_NAME], e);
    case TL_ROLE_FUNCTION_NAME:
        return tl_names_set(&in->function_names, strings, ev->field[TL_FIELD_FUNCTION], ev->field[TL_FIELD_NAME], e);
    case TL_ROLE_ALLOCATION:
        return add_allocation(in, r, ev, e);
    case TL_ROLE_LIVE_OBJECTS:
        return add_live(in, r, ev, e);
    default:
        return ev->cls->kind == TL_SAMPLE ? tl_alloc_sites_sample(&in->sites, ev, e) : 0;
    }
}

static void on_batch_end(void *arg)
{
    alloc_input *in = arg;
    tl_alloc_sites_batch_end(&in->sites);
}

static void note_span(tl_alloc *a, const tl_runtime *r)
{
    if (!r->has_span)
        return;
    const uint64_t first = tl_runtime_time(r, r->first), last = tl_runtime_time(r, r->last);
    a->first = !a->has_span || first < a->first ? first : a->first;
    a->last = !a->has_span || last > a->last ? last : a->last;
    a->has_span = true;
}

static void note_sampling(tl_alloc *a, const tl_trace *t)
{
    const uint64_t sampling = tl_trace_allocation_sampling(t);
    a->sampling = sampling > a->sampling ? sampling : a->sampling;
}

int tl_alloc_read(void *table, tl_source *s, const tl_select *select, tl_error *e)
{
    tl_alloc *a = table;
    static const tl_runtime_visitor visitor = {.roles = 1u << TL_ROLE_ALLOCATION | 1u << TL_ROLE_LIVE_OBJECTS |
                                                        1u << TL_ROLE_TYPE_NAME | 1u << TL_ROLE_FUNCTION_NAME,
                                               .samples = true,
                                               .event = on_event,
                                               .batch_end = on_batch_end};
    alloc_input in = {.out = a};
    tl_sum count, bytes;
    tl_runtime r;
    int status = tl_runtime_read(&r, s, select, &visitor, &in, e);
    if (status == 0) {
        tl_type_rows_name(&in.types, &in.type_names);
        tl_type_rows_name(&a->live, &in.type_names);
        tl_type_rows_total(&in.types, &count, &bytes);
        tl_sum_join(&a->count, count);
        tl_sum_join(&a->bytes, bytes);
        note_span(a, &r);
        note_sampling(a, r.trace);
        status = tl_alloc_places_add(&a->places, &in.sites, &r, &in.function_names, e);
    }
    if (status == 0 && a->several) {
        status = tl_type_rows_merge(&a->types, &in.types, e);
    } else if (status == 0) {
        tl_type_rows_fini(&a->types);
        a->types = in.types;
        in.types = (tl_type_rows){0};
    }
    tl_type_rows_fini(&in.types);
    tl_names_fini(&in.type_names);
    tl_names_fini(&in.function_names);
    tl_alloc_sites_fini(&in.sites);
    return status;
}

void tl_alloc_sort(tl_alloc *a, tl_type_order order)
{
    tl_type_rows_sort(&a->types, order);
    tl_type_rows_sort(&a->live, TL_TYPES_BY_BYTES);
    tl_alloc_places_sort(&a->places);
}

void tl_alloc_fini(void *table)
{
    tl_alloc *a = table;
    tl_type_rows_fini(&a->types);
    tl_type_rows_fini(&a->live);
    tl_alloc_places_fini(&a->places);
    tl_strings_fini(&a->strings);
}

/* Self time by row of the tree and slice of time. */
#include <stdlib.h>

#include "base/grow.h"
#include "view/page/page_time.h"

enum { AXIS, GAP, SELF, CALLS, COLUMNS };

/* A slot and the row of the tree that it counts for: twice its number, and 1 if it is of those below it. */
typedef struct target {
    uint32_t key, slot;
} target;

static int compare(const void *a, const void *b)
{
    const target *x = a, *y = b;
    return x->key != y->key ? TL_COMPARE(x->key, y->key) : TL_COMPARE(x->slot, y->slot);
}

static target *find_targets(const tl_html_data *d, const tl_html_time *t)
{
    target *list = tl_alloc(2 * (size_t)t->nsliced + 1, sizeof *list);
    for (uint32_t i = 0; list && i < t->nsliced; i++) {
        const uint32_t place = t->sliced[i], keeper = d->keeper[place], row = d->row[keeper];
        list[2 * i] = (target){2 * row + (keeper != place), 2 * i};
        list[2 * i + 1] = (target){2 * row + 1, 2 * i + 1};
    }
    if (list)
        qsort(list, 2 * (size_t)t->nsliced, sizeof *list, compare);
    return list;
}

/* The sums of n slots in each slice, of which `part` become one. */
static void put_row(tl_columns *c, const tl_self_slices *s, const target *list, size_t n, uint32_t part, uint64_t *last,
                    uint32_t *cells)
{
    const uint32_t slices = (s->axis.n + part - 1) / part;
    for (uint32_t i = 0; i < slices; i++) {
        tl_slice_cell sum = {0};
        for (size_t k = 0; k < n; k++)
            for (uint32_t slice = i * part; slice < s->axis.n && slice < (i + 1) * part; slice++) {
                const tl_slice_cell cell = tl_self_slices_get(s, list[k].slot, slice);
                sum.self = tl_add_saturated(sum.self, cell.self);
                sum.calls = tl_add_saturated(sum.calls, cell.calls);
            }
        if (!sum.self && !sum.calls)
            continue;
        const uint64_t cell = (uint64_t)list->key * slices + i;
        tl_pb_varint(&c->column[GAP], cell - *last);
        tl_pb_varint(&c->column[SELF], sum.self);
        tl_pb_varint(&c->column[CALLS], sum.calls);
        *last = cell;
        ++*cells;
    }
}

int tl_html_put_slices(tl_html_data *d, const tl_html_time *t, const tl_html_limits *limits, tl_error *e)
{
    const tl_self_slices *s = &t->data.slices;
    tl_columns c = {0};
    uint64_t last = 0;
    uint32_t cells = 0;
    target *list = find_targets(d, t);
    if (!tl_columns_init(&c, COLUMNS) || !list) {
        tl_columns_fini(&c);
        free(list);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the slices of the page");
    }
    const size_t all = 2 * (size_t)t->nsliced;
    tl_pb_varint(&c.column[AXIS], (s->axis.n + limits->slices - 1) / limits->slices);
    tl_pb_varint(&c.column[AXIS], s->axis.width * limits->slices);
    for (size_t i = 0, n; i < all; i += n) {
        for (n = 1; i + n < all && list[i + n].key == list[i].key; n++)
            ;
        put_row(&c, s, list + i, n, limits->slices, &last, &cells);
    }
    d->section[TL_HTML_SLICES].n = cells;
    const int status = tl_columns_pack(&c, &d->section[TL_HTML_SLICES].text, e);
    tl_columns_fini(&c);
    free(list);
    return status;
}

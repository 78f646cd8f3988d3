/* Durations over time, and calls that are worth a look. */
#include <stdlib.h>

#include "base/grow.h"
#include "view/page/page_time.h"

enum { HEAT_AXIS, HEAT_FUNCTION, HEAT_CELLS, HEAT_GAP, HEAT_CALLS, HEAT_COLUMNS };
enum { SLOW_FUNCTION, SLOW_KIND, SLOW_ROW, SLOW_THREAD, SLOW_BEGIN, SLOW_TICKS, SLOW_COLUMNS };

static void put_heat_row(tl_columns *c, const tl_heat *h, uint32_t row)
{
    uint64_t last = 0;
    uint32_t cells = 0;
    for (uint32_t column = 0; column < h->axis.n; column++)
        for (uint32_t bucket = 0; bucket < TL_HEAT_BUCKETS; bucket++) {
            const uint64_t calls = tl_heat_get(h, row, column, bucket);
            const uint64_t cell = (uint64_t)column * TL_HEAT_BUCKETS + bucket;
            if (!calls)
                continue;
            tl_pb_varint(&c->column[HEAT_GAP], cell - last);
            tl_pb_varint(&c->column[HEAT_CALLS], calls);
            last = cell;
            cells++;
        }
    tl_pb_varint(&c->column[HEAT_CELLS], cells);
}

int tl_html_put_heat(tl_html_data *d, const tl_html_time *t, tl_html_names *names, const tl_html_limits *limits,
                     tl_error *e)
{
    const tl_heat *h = &t->data.heat;
    const uint32_t most = TL_HTML_HEAT_MAX / limits->part, n = t->nheat < most ? t->nheat : most;
    tl_columns c = {0};
    if (n == 0 || !h->block)
        return 0;
    if (!tl_columns_init(&c, HEAT_COLUMNS))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the durations of the page");
    tl_pb_varint(&c.column[HEAT_AXIS], h->axis.n);
    tl_pb_varint(&c.column[HEAT_AXIS], h->axis.width);
    tl_pb_varint(&c.column[HEAT_AXIS], TL_HEAT_SUB_BITS);
    for (uint32_t i = 0; i < n; i++) {
        tl_pb_varint(&c.column[HEAT_FUNCTION], tl_html_function(names, t->heat[i]));
        put_heat_row(&c, h, i);
    }
    d->section[TL_HTML_HEAT].n = n;
    const int status = tl_columns_pack(&c, &d->section[TL_HTML_HEAT].text, e);
    tl_columns_fini(&c);
    return status;
}

/* ---- exemplars ---- */

typedef struct slow {
    uint32_t function, kind, row, thread;
    uint64_t begin, ticks;
} slow;

typedef struct slow_list {
    slow *list;
    size_t n;
} slow_list;

static int compare(const void *a, const void *b)
{
    const slow *x = a, *y = b;
    int order = TL_COMPARE(x->function, y->function);
    order = order ? order : TL_COMPARE(x->kind, y->kind);
    order = order ? order : TL_COMPARE(y->ticks, x->ticks);
    order = order ? order : TL_COMPARE(x->thread, y->thread);
    order = order ? order : TL_COMPARE(x->begin, y->begin);
    return order ? order : TL_COMPARE(x->row, y->row);
}

static void add(slow_list *l, const tl_html_data *d, const tl_html_time *t, tl_html_names *names, uint32_t function,
                uint32_t kind, const tl_exemplar *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        l->list[l->n++] = (slow){.function = function,
                                 .kind = kind,
                                 .row = d->row[d->keeper[t->page_place[x[i].place]]],
                                 .thread = tl_html_trace_thread(names, x[i].track),
                                 .begin = x[i].begin > t->begin ? x[i].begin - t->begin : 0,
                                 .ticks = x[i].ticks};
}

int tl_html_put_slow(tl_html_data *d, const tl_html_time *t, tl_html_names *names, const tl_html_limits *limits,
                     tl_error *e)
{
    tl_columns c = {0};
    slow_list l = {.list = tl_alloc(TL_HTML_SLOW_MAX, sizeof *l.list)};
    const uint32_t n = limits->slow && t->data.slow ? t->nslow / limits->part : 0;
    d->slow_out = t->functions_not_slow + t->nslow - n;
    if (!tl_columns_init(&c, SLOW_COLUMNS) || !l.list) {
        tl_columns_fini(&c);
        free(l.list);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the slowest calls of the page");
    }
    for (uint32_t i = 0; i < n; i++) {
        const tl_exemplar_row *r = &t->data.slow[i];
        const uint32_t function = tl_html_function(names, t->slow[i]);
        add(&l, d, t, names, function, 0, r->longest, r->nlongest);
        for (uint32_t k = 0; k < TL_EXEMPLAR_NEAR; k++)
            add(&l, d, t, names, function, k + 1, r->around[k], r->nnear[k]);
    }
    if (l.n)
        qsort(l.list, l.n, sizeof *l.list, compare);
    for (size_t i = 0; i < l.n; i++) {
        const slow *x = &l.list[i];
        const uint64_t value[SLOW_COLUMNS] = {x->function, x->kind, x->row, x->thread, x->begin, x->ticks};
        for (unsigned k = 0; k < SLOW_COLUMNS; k++)
            tl_pb_varint(&c.column[k], value[k]);
    }
    d->section[TL_HTML_SLOW].n = (uint32_t)l.n;
    const int status = l.n ? tl_columns_pack(&c, &d->section[TL_HTML_SLOW].text, e) : 0;
    tl_columns_fini(&c);
    free(l.list);
    return status;
}

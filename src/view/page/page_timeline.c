/* The timeline of a page: single calls, and what covers each column of time. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "view/page/page_time.h"

enum { LANE_THREAD, LANE_DEPTH, LANE_SPANS, LANE_OUT, LANE_TICKS_OUT, LANE_ALL_FROM, BEGIN, TICKS, FUNCTION, FLAGS };
enum { SPAN_COLUMNS = FLAGS + 1 };
enum { GRID_AXIS, ROW_THREAD, ROW_DEPTH, ROW_RUNS, LENGTH, COVERED_BY, SHARE, CALLS, GRID_COLUMNS };

/* A lane, by its thread's number in the page. */
typedef struct lane {
    uint32_t thread;
    const tl_lane *of;
} lane;

static int compare(const void *a, const void *b)
{
    const lane *x = a, *y = b;
    return x->thread != y->thread ? TL_COMPARE(x->thread, y->thread) : TL_COMPARE(x->of->depth, y->of->depth);
}

static lane *sort_lanes(const tl_lanes *l, tl_html_names *names)
{
    lane *list = tl_alloc((size_t)l->n + 1, sizeof *list);
    for (uint32_t i = 0; list && i < l->n; i++)
        list[i] = (lane){tl_html_trace_thread(names, l->lane[i].track), &l->lane[i]};
    if (list && l->n)
        qsort(list, l->n, sizeof *list, compare);
    return list;
}

/* ---- single calls ---- */

static bool is_before(const tl_long_call *c, const tl_lane *l)
{
    return c->track != l->track ? c->track < l->track : c->depth < l->depth;
}

/* The first call of a lane. */
static uint32_t find_calls(const tl_long_calls *list, const tl_lane *l)
{
    uint32_t low = 0, high = list->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (is_before(&list->call[middle], l))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void put_calls(tl_columns *c, const tl_html_time *t, tl_html_names *names, const tl_long_result *r,
                      const lane *at, uint64_t *put)
{
    const tl_lane *l = at->of;
    uint64_t last = t->begin, ticks = 0;
    uint32_t n = 0;
    for (uint32_t i = find_calls(&r->calls, l); i < r->calls.n; i++, n++) {
        const tl_long_call *x = &r->calls.call[i];
        if (x->track != l->track || x->depth != l->depth)
            break;
        const uint64_t begin = x->begin > last ? x->begin : last; /* only before the begin of the trace */
        tl_pb_varint(&c->column[BEGIN], begin - last);
        tl_pb_varint(&c->column[TICKS], x->ticks);
        tl_pb_varint(&c->column[FUNCTION], tl_html_function(names, t->function[x->function]));
        tl_pb_varint(&c->column[FLAGS], x->is_open);
        last = begin;
        ticks = tl_add_saturated(ticks, x->ticks);
    }
    tl_pb_varint(&c->column[LANE_THREAD], at->thread);
    tl_pb_varint(&c->column[LANE_DEPTH], l->depth);
    tl_pb_varint(&c->column[LANE_SPANS], n);
    tl_pb_varint(&c->column[LANE_OUT], l->calls - n);
    tl_pb_varint(&c->column[LANE_TICKS_OUT], l->ticks > ticks ? l->ticks - ticks : 0);
    tl_pb_varint(&c->column[LANE_ALL_FROM], l->calls == n ? 0 : r->all_from);
    *put += n;
}

static int put_spans(tl_html_data *d, const tl_html_time *t, tl_html_names *names, const tl_html_limits *limits,
                     tl_error *e)
{
    tl_long_result fewer = {0};
    const tl_long_result *r = &t->data.longest;
    const tl_lanes *l = &t->data.lanes;
    tl_columns c = {0};
    lane *list = sort_lanes(l, names);
    bool ok = list && tl_columns_init(&c, SPAN_COLUMNS);
    if (ok && limits->spans < TL_HTML_SPANS_MAX) {
        ok = tl_longest_fewer(r, &fewer, limits->spans, t->trace->ntrack, t->begin, t->end + 1);
        r = &fewer;
    }
    uint64_t put = 0;
    for (uint32_t i = 0; ok && i < l->n; i++)
        put_calls(&c, t, names, r, &list[i], &put);
    d->spans_out = r->calls.n + r->left_out - put;
    d->spans_all_from = r->all_from;
    d->section[TL_HTML_SPANS].n = l->n;
    const int status = ok ? tl_columns_pack(&c, &d->section[TL_HTML_SPANS].text, e)
                          : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the calls of the page");
    tl_columns_fini(&c);
    tl_long_result_fini(&fewer);
    free(list);
    return status;
}

/* ---- columns of time ---- */

static uint8_t share_of(const tl_grid *g, const tl_grid_cell *cell, uint32_t column)
{
    const uint64_t left = g->axis.to - tl_time_axis_begin(&g->axis, column);
    const uint64_t width = left < g->axis.width ? left : g->axis.width;
    if (cell->covered >= width)
        return 255;
    const unsigned shift = width >> 56 ? 8 : 0; /* for the product */
    const uint64_t share = (cell->covered >> shift) * 255 / (width >> shift);
    return cell->covered == 0 ? 0 : share == 0 ? 1 : (uint8_t)(share < 254 ? share : 254);
}

static void put_runs(tl_columns *c, const tl_html_time *t, tl_html_names *names, const lane *at)
{
    const tl_grid *g = &t->data.grid;
    const tl_grid_cell *cell = g->cell[at->of->row];
    uint32_t runs = 0;
    for (uint32_t i = 0, n; i < g->axis.n; i += n, runs++) {
        const uint8_t share = share_of(g, &cell[i], i);
        uint64_t calls = cell[i].calls;
        for (n = 1;
             i + n < g->axis.n && cell[i + n].function == cell[i].function && share_of(g, &cell[i + n], i + n) == share;
             n++)
            calls += cell[i + n].calls;
        tl_pb_varint(&c->column[LENGTH], n);
        tl_pb_varint(&c->column[COVERED_BY],
                     cell[i].function ? (uint64_t)tl_html_function(names, t->function[cell[i].function - 1]) + 1 : 0);
        tl_pb_raw(&c->column[SHARE], &share, 1);
        tl_pb_varint(&c->column[CALLS], calls);
    }
    tl_pb_varint(&c->column[ROW_THREAD], at->thread);
    tl_pb_varint(&c->column[ROW_DEPTH], at->of->depth);
    tl_pb_varint(&c->column[ROW_RUNS], runs);
}

static int by_depth(const void *a, const void *b)
{
    const tl_lane *x = ((const lane *)a)->of, *y = ((const lane *)b)->of;
    return x->depth != y->depth ? TL_COMPARE(x->depth, y->depth) : TL_COMPARE(x->track, y->track);
}

/* Of fewer lanes those that a smaller grid would have. */
static uint32_t keep_first(lane *list, uint32_t n, uint32_t most)
{
    if (n <= most)
        return n;
    qsort(list, n, sizeof *list, by_depth);
    qsort(list, most, sizeof *list, compare);
    return most;
}

static int put_grid(tl_html_data *d, const tl_html_time *t, tl_html_names *names, const tl_html_limits *limits,
                    tl_error *e)
{
    const tl_grid *g = &t->data.grid;
    tl_columns c = {0};
    lane *list = sort_lanes(&g->lanes, names);
    if (!list || !tl_columns_init(&c, GRID_COLUMNS)) {
        free(list);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the timeline of the page");
    }
    const uint32_t n = keep_first(list, g->lanes.n, TL_HTML_GRID_LANES_MAX / limits->part);
    tl_pb_varint(&c.column[GRID_AXIS], g->axis.n);
    tl_pb_varint(&c.column[GRID_AXIS], g->axis.width);
    for (uint32_t i = 0; i < n; i++)
        put_runs(&c, t, names, &list[i]);
    d->grid_out = t->data.lanes.n > n ? t->data.lanes.n - n : 0;
    d->section[TL_HTML_GRID].n = n;
    const int status = tl_columns_pack(&c, &d->section[TL_HTML_GRID].text, e);
    tl_columns_fini(&c);
    free(list);
    return status;
}

int tl_html_put_timeline(tl_html_data *d, const tl_html_time *t, tl_html_names *names, const tl_html_limits *limits,
                         tl_error *e)
{
    if (t->data.lanes.n == 0)
        return 0;
    const int status = put_grid(d, t, names, limits, e);
    return status < 0 ? status : put_spans(d, t, names, limits, e);
}

/* Sums of places as rows, and their percentiles. */
#include "analysis/function/table_rows.h"

#include <inttypes.h>
#include <stdlib.h>

int tl_row_sums_init(tl_row_sums *r, const tl_profile *p, uint32_t capacity, tl_error *e)
{
    *r = (tl_row_sums){.capacity = capacity};
    r->row = calloc((size_t)capacity + 1, sizeof *r->row);
    r->first = calloc((size_t)capacity + 1, sizeof *r->first);
    r->next = calloc(p->nplace, sizeof *r->next);
    if (r->row && r->first && r->next)
        return 0;
    tl_row_sums_fini(r);
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of %" PRIu32 " rows", capacity);
}

uint32_t tl_row_sums_add(tl_row_sums *r, uint32_t function, uint32_t caller, uint32_t track)
{
    r->row[r->n] = (tl_row){.stat.min = UINT64_MAX, .function = function, .caller = caller, .track = track};
    return r->n++;
}

void tl_row_sums_add_nested(tl_row_sums *r, const tl_profile *p, uint32_t row, uint32_t place, bool outermost)
{
    const tl_place_stat *s = &p->stat[place];
    tl_row_sums_add_place(r, p, row, place, outermost || !p->nweight ? s->calls : 0, outermost ? s->total : 0);
}

void tl_row_sums_add_place(tl_row_sums *r, const tl_profile *p, uint32_t row, uint32_t place, uint64_t calls,
                           uint64_t total)
{
    const tl_place_stat *s = &p->stat[place];
    tl_stat *sum = &r->row[row].stat;
    sum->calls = tl_add_saturated(sum->calls, calls);
    sum->total = tl_add_saturated(sum->total, total);
    sum->self = tl_add_saturated(sum->self, s->self);
    r->row[row].unwound = tl_add_saturated(r->row[row].unwound, tl_profile_place_unwound(p, place));
    sum->min = s->min < sum->min ? s->min : sum->min;
    sum->max = s->max > sum->max ? s->max : sum->max;
    r->next[place] = r->first[row];
    r->first[row] = place;
}

static void set_percentiles(tl_row *row, const tl_hist *h)
{
    row->p50 = tl_hist_percentile(h, 500, row->stat.min, row->stat.max);
    row->p90 = tl_hist_percentile(h, 900, row->stat.min, row->stat.max);
    row->p99 = tl_hist_percentile(h, 990, row->stat.min, row->stat.max);
}

/* Percentiles of one row from the histograms of its places. */
static void finish_row(const tl_row_sums *r, const tl_profile *p, tl_row *row, uint32_t first)
{
    row->untimed = row->stat.min > row->stat.max;
    if (!p->has_histogram || row->stat.calls == 0 || row->untimed) {
        row->stat.min = row->stat.max = 0;
        return;
    }
    if (!r->next[first]) {
        set_percentiles(row, &p->stat[first].hist);
        return;
    }
    tl_hist_total sum;
    tl_hist_total_start(&sum, row->stat.min, row->stat.max);
    for (uint32_t i = first; i; i = r->next[i])
        tl_hist_total_add(&sum, &p->stat[i].hist);
    set_percentiles(row, &sum.hist);
}

void tl_row_sums_take(tl_row_sums *r, const tl_profile *p, tl_row_order column, tl_table *out)
{
    tl_table t = {.row = r->row};
    for (uint32_t i = 0; i < r->n; i++) {
        tl_row *row = &t.row[t.n];
        *row = r->row[i];
        if (!row->stat.calls && !row->stat.total)
            continue;
        finish_row(r, p, row, r->first[i]);
        row->position = t.n++;
    }
    tl_table_sort(&t, p, column, 0);
    for (uint32_t i = 0; i < t.n; i++)
        t.row[i].position = i;
    r->row = NULL;
    *out = t;
}

void tl_row_sums_fini(tl_row_sums *r)
{
    free(r->row);
    free(r->first);
    free(r->next);
    *r = (tl_row_sums){0};
}

void tl_row_set_place(tl_row *row, const tl_profile *p, uint32_t place)
{
    row->unwound = tl_profile_place_unwound(p, place);
    tl_profile_stat(p, place, &row->stat);
    row->untimed = p->stat[place].min > p->stat[place].max;
    if (p->has_histogram)
        set_percentiles(row, &p->stat[place].hist);
}

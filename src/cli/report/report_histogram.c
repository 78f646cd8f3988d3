/* `report --by hist` as text: how long the calls of a function take, as a histogram in the terminal.
 *
 * The buckets of a profile are far too fine to be read: they are put together to at most ROWS_MAX ranges, by whichever
 * series of limits suits the spread: ten, five or three in each power of ten, one, or steps of equal width. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"
#include "view/text_table.h"

#define ROWS_MAX      24u
#define ROWS_FEW      8u /* fewer than that from the finest series: steps of equal width are tried */
#define TOP_FUNCTIONS 3u /* without -F */

typedef struct range_list {
    uint64_t edge[ROWS_MAX + 1]; /* range i is edge[i] .. edge[i+1]-1, in the profile's unit */
    uint64_t calls[ROWS_MAX];
    uint32_t n;
} range_list;

void tl_report_histogram(const tl_profile *p, const tl_row *row, tl_hist_total *out)
{
    tl_hist_total_start(out, row->stat.min, row->stat.max);
    for (uint32_t place = p->same_first[row->function]; place; place = p->same_next[place])
        tl_hist_total_add(out, &p->stat[place].hist);
}

/* Limits within a power of ten, in hundredths. */
typedef struct series {
    unsigned n;
    unsigned limit[10];
} series;

static const series all_series[] = {{10, {100, 125, 160, 200, 250, 320, 400, 500, 630, 800}},
                                    {5, {100, 160, 250, 400, 630}},
                                    {3, {100, 200, 500}},
                                    {1, {100}}};

/* Fills r with the limits of a series around low .. high; false if these are too many. */
static bool try_series(range_list *r, const series *s, uint64_t low, uint64_t high)
{
    uint64_t power = 1, last = 0;
    r->n = 0;
    r->edge[0] = 0;
    for (;;) {
        for (unsigned i = 0; i < s->n; i++) {
            /* In two parts: power * limit may be too large for 64 bits where the result is not. */
            uint64_t whole = power / 100 * s->limit[i], rest = power % 100 * s->limit[i] / 100;
            if (power > UINT64_MAX / 100 && power / 100 > (UINT64_MAX - rest) / s->limit[i])
                whole = UINT64_MAX - rest;
            uint64_t edge = whole + rest;
            if (edge == last)
                continue;
            last = edge;
            if (edge <= low) {
                r->edge[0] = edge;
                continue;
            }
            if (r->n == ROWS_MAX)
                return false;
            r->edge[++r->n] = edge;
            if (edge > high || edge == UINT64_MAX)
                return true;
        }
        if (power > UINT64_MAX / 10) {
            if (r->n == ROWS_MAX)
                return false;
            r->edge[++r->n] = UINT64_MAX;
            return true;
        }
        power *= 10;
    }
}

/* Steps of equal width: 1, 2 or 5 times a power of ten; at least as wide as a bucket of the profile there. */
static bool try_steps(range_list *r, uint64_t low, uint64_t high)
{
    static const unsigned factor[] = {1, 2, 5};
    uint64_t power = 1;
    for (unsigned i = 0;; i++) {
        if (i == TL_COUNT(factor)) {
            i = 0;
            if (power > UINT64_MAX / 100)
                return false;
            power *= 10;
        }
        uint64_t step = power * factor[i], first = low - low % step;
        if (step < high / TL_HIST_SUB || (high - first) / step + 1 > ROWS_MAX)
            continue;
        r->n = 0;
        r->edge[0] = first;
        while (r->edge[r->n] <= high && r->n < ROWS_MAX) {
            if (r->edge[r->n] > UINT64_MAX - step)
                return false;
            r->edge[r->n + 1] = r->edge[r->n] + step;
            r->n++;
        }
        return true;
    }
}

static void choose_ranges(range_list *r, uint64_t low, uint64_t high)
{
    unsigned i = 0;
    while (i + 1 < TL_COUNT(all_series) && !try_series(r, &all_series[i], low, high))
        i++;
    if (i + 1 == TL_COUNT(all_series))
        (void)try_series(r, &all_series[i], low, high);
    range_list steps = {.n = 0};
    if (r->n < ROWS_FEW && try_steps(&steps, low, high) && steps.n > r->n)
        *r = steps;
}

static uint32_t range_of(const range_list *r, uint64_t value)
{
    uint32_t i = 0;
    while (i + 1 < r->n && value >= r->edge[i + 1])
        i++;
    return i;
}

/* Which of the percentiles lie in a range: "p50 p90". */
static const char *marks_of(const tl_profile *p, const range_list *r, const tl_row *row, uint32_t i, char *buf,
                            size_t size)
{
    const struct {
        const char *name;
        uint64_t ticks;
    } mark[] = {{"p50", row->p50}, {"p90", row->p90}, {"p99", row->p99}};
    size_t used = 0;
    buf[0] = 0;
    for (size_t k = 0; k < TL_COUNT(mark); k++)
        if (range_of(r, tl_profile_time(p, mark[k].ticks)) == i)
            used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? " " : "", mark[k].name);
    return buf;
}

/* False if memory ran out. */
static bool print_ranges(const tl_report *r, const range_list *g, const tl_row *row, tl_output *out)
{
    static const tl_text_column column[] = {{"from", 0}, {"below", 1}, {"calls", 0}, {"share", 0}};
    tl_text_table text = {.column = column, .ncolumn = 4, .name_title = "", .bar_after = 3, .name_wish = 11};
    const tl_profile *p = r->profile;
    const bool is_ns = tl_profile_clock(p)->hz != 0;
    uint64_t most = 1;
    for (uint32_t i = 0; i < g->n; i++)
        most = g->calls[i] > most ? g->calls[i] : most;
    for (uint32_t i = 0; i < g->n; i++) {
        char buf[64];
        tl_text_row *line = tl_text_table_add(&text);
        line->cell[0] = tl_text_table_keep_raw(&text, tl_human_time(buf, sizeof buf, g->edge[i], is_ns));
        line->cell[1] = tl_text_table_keep_raw(&text, tl_human_time(buf, sizeof buf, g->edge[i + 1], is_ns));
        line->cell[2] = tl_text_table_keep_raw(&text, tl_human_grouped(buf, sizeof buf, g->calls[i]));
        line->cell[3] = tl_text_table_keep_raw(
            &text, tl_report_share(buf, sizeof buf, (double)g->calls[i] / (double)row->stat.calls));
        line->share = (double)g->calls[i] / (double)most;
        line->name = tl_text_table_keep_raw(&text, marks_of(p, g, row, i, buf, sizeof buf));
    }
    const bool whole = !text.failed;
    tl_text_table_print(&text, r->terminal, out);
    tl_text_table_fini(&text);
    return whole;
}

/* False if memory ran out. */
static bool print_function(const tl_report *r, const tl_row *row, tl_hist_total *total, tl_output *out)
{
    const tl_profile *p = r->profile;
    const tl_function *f = tl_profile_get_function(p, row->function);
    char number[24], self[32], source[256], a[32], b[32], c[32], d[32], e[32], g[32];
    range_list ranges = {.n = 0};
    tl_report_histogram(p, row, total);
    choose_ranges(&ranges, tl_profile_time(p, row->stat.min), tl_profile_time(p, row->stat.max));
    tl_hist_pair pair;
    for (uint32_t at = 0; tl_hist_each(&total->hist, &at, &pair);) {
        uint64_t ticks = tl_hist_middle(pair.bucket);
        ticks = ticks < row->stat.min ? row->stat.min : ticks > row->stat.max ? row->stat.max : ticks;
        ranges.calls[range_of(&ranges, tl_profile_time(p, ticks))] += pair.count;
    }
    tl_report_source(source, sizeof source, f);
    tl_output_puts(out, tl_style_on(r->terminal, TL_STRONG));
    tl_text_put_clean(out, tl_function_label(f, number));
    tl_output_puts(out, tl_style_on(r->terminal, TL_PLAIN_TEXT));
    if (*source) {
        tl_output_puts(out, "  ");
        tl_text_put_clean(out, source);
    }
    tl_output_printf(out, "\n%s %s, self %s; min %s, p50 %s, p90 %s, p99 %s, max %s\n",
                     tl_human_grouped(a, sizeof a, row->stat.calls), row->stat.calls == 1 ? "call" : "calls",
                     tl_report_time(r, self, sizeof self, row->stat.self),
                     tl_report_time(r, b, sizeof b, row->stat.min), tl_report_time(r, c, sizeof c, row->p50),
                     tl_report_time(r, d, sizeof d, row->p90), tl_report_time(r, e, sizeof e, row->p99),
                     tl_report_time(r, g, sizeof g, row->stat.max));
    return print_ranges(r, &ranges, row, out);
}

int tl_report_text_histograms(const tl_report *r, tl_output *out, tl_error *e)
{
    const tl_arguments *a = r->cli->args;
    tl_table t = {0};
    if (!tl_profile_has_histogram(r->profile))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "this profile holds sums of calls and no single durations: it has no histograms");
    int status = tl_table_functions(&t, r->profile, e);
    tl_hist_total *total = malloc(sizeof *total);
    if (status == 0 && !total)
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a histogram");
    if (status == 0) {
        tl_report_sort(r, &t, 0);
        uint32_t n = a->func.n || a->has_top || t.n < TOP_FUNCTIONS ? t.n : TOP_FUNCTIONS, shown = 0;
        for (uint32_t i = 0; i < n && status == 0; i++)
            if (t.row[i].stat.calls) {
                tl_output_puts(out, shown++ ? "\n" : "");
                if (!print_function(r, &t.row[i], total, out))
                    status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of durations");
            }
        tl_output_puts(out, shown ? "" : "no calls\n");
    }
    free(total);
    tl_table_free(&t);
    return status;
}

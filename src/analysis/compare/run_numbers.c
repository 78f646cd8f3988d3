/* The numbers of one function or path in one run. */
#include <math.h>
#include <string.h>

#include "analysis/compare/compare_impl.h"

#define MILLION      1000000u
#define LEVELS_SHOWN 64u /* of a path: texts of very deep stacks would fill the memory */

/* Sums over places of one run. */
typedef struct sums {
    double calls, total, self;
    double durations; /* of all calls, inner ones too */
    uint64_t min, max;
    uint32_t first;
    const uint32_t *next;
} sums;

static sums add_up(const tl_side *s, uint32_t run, tl_item item)
{
    const tl_profile *p = s->run[run].profile;
    const tl_run_index *x = &s->index[run];
    const bool of_path = item.path != TL_NO_SUBJECT;
    sums sum = {.min = UINT64_MAX};
    sum.first = of_path ? x->path_first[item.path] : x->subject_first[item.subject];
    sum.next = of_path ? x->path_next : x->subject_next;
    for (uint32_t i = sum.first; i; i = sum.next[i]) {
        const tl_place_stat *stat = &p->stat[i];
        sum.calls += (double)(p->nweight && !of_path ? p->outer_calls[i] : stat->calls);
        sum.total += (double)(of_path ? stat->total : stat->outer);
        sum.durations += (double)stat->total;
        sum.self += (double)stat->self;
        sum.min = stat->min < sum.min ? stat->min : sum.min;
        sum.max = stat->max > sum.max ? stat->max : sum.max;
    }
    sum.self += (double)(of_path ? x->path_extra[item.path] : x->subject_extra[item.subject]);
    return sum;
}

/* Percentiles of places added up: the only part that takes time. */
static void percentiles(const tl_compare *c, const tl_profile *p, const sums *s, const tl_metric *metric, size_t n,
                        double *out)
{
    tl_hist_total total;
    const tl_hist *h = &p->stat[s->first].hist;
    if (s->next[s->first]) {
        tl_hist_total_start(&total, s->min, s->max);
        for (uint32_t i = s->first; i; i = s->next[i])
            tl_hist_total_add(&total, &p->stat[i].hist);
        h = &total.hist;
    }
    uint32_t ppm[TL_METRICS_MOST];
    uint64_t value[TL_METRICS_MOST];
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (metric[i].kind == TL_METRIC_PERCENTILE)
            ppm[kept++] = metric[i].ppm;
    tl_hist_quantiles(h, ppm, kept, MILLION, s->min, s->max, value);
    for (size_t i = n; i-- > 0;)
        if (metric[i].kind == TL_METRIC_PERCENTILE)
            out[i] = c->ns_per_tick * (double)value[--kept];
}

static double plain(const tl_compare *c, const tl_side *side, uint32_t run, const sums *s, tl_metric m)
{
    const double root = side->index[run].root, ns = c->ns_per_tick;
    switch (m.kind) {
    case TL_METRIC_CALLS:
        return s->calls;
    case TL_METRIC_TOTAL:
        return ns * s->total;
    case TL_METRIC_SELF:
        return ns * s->self;
    case TL_METRIC_PERCALL:
        return s->calls > 0 ? ns * s->total / s->calls : (double)NAN;
    case TL_METRIC_MEAN:
        return s->calls > 0 ? ns * s->durations / s->calls : (double)NAN;
    case TL_METRIC_SHARE:
        return root > 0 ? s->total / root : (double)NAN;
    case TL_METRIC_SELF_SHARE:
        return root > 0 ? s->self / root : (double)NAN;
    case TL_METRIC_SHORTEST:
        return s->min <= s->max ? ns * (double)s->min : (double)NAN;
    case TL_METRIC_LONGEST:
        return s->min <= s->max ? ns * (double)s->max : (double)NAN;
    case TL_METRIC_PERCENTILE:
        break;
    }
    return (double)NAN;
}

void tl_measure(const tl_compare *c, int side, uint32_t run, tl_item item, const tl_metric *metric, size_t n,
                double *out)
{
    const tl_side *s = &c->side[side];
    const sums sum = add_up(s, run, item);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        out[i] = plain(c, s, run, &sum, metric[i]);
        any = any || metric[i].kind == TL_METRIC_PERCENTILE;
    }
    if (any && c->has_durations && sum.first && sum.min <= sum.max)
        percentiles(c, s->run[run].profile, &sum, metric, n, out);
}

double tl_item_share(const tl_compare *c, int side, tl_item item)
{
    double total = 0, root = 0;
    for (uint32_t run = 0; run < c->side[side].n; run++) {
        total += add_up(&c->side[side], run, item).total;
        root += c->side[side].index[run].root;
    }
    return root > 0 ? total / root : 0;
}

static uint32_t runs_with_calls(const tl_compare *c, int side, tl_item item)
{
    uint32_t n = 0;
    for (uint32_t run = 0; run < c->side[side].n; run++) {
        const sums s = add_up(&c->side[side], run, item);
        n += s.calls > 0 || s.total > 0;
    }
    return n;
}

bool tl_item_is_missing(const tl_compare *c, int side, tl_item item)
{
    return runs_with_calls(c, side, item) == 0;
}

bool tl_item_is_always(const tl_compare *c, int side, tl_item item)
{
    return runs_with_calls(c, side, item) == c->side[side].n;
}

const char *tl_subject_name(const tl_compare *c, uint32_t subject, int side)
{
    const uint32_t f = c->subject[subject].function[side];
    return f == TL_NO_SUBJECT ? NULL : c->side[side].function[f].name;
}

const char *tl_subject_shown(const tl_compare *c, uint32_t subject)
{
    const char *name = tl_subject_name(c, subject, 1);
    return name ? name : tl_subject_name(c, subject, 0);
}

const char *tl_path_shown(tl_compare *c, uint32_t path)
{
    static const char more[] = "...;"; /* callers of a deep stack that are left out */
    size_t n = 1;
    uint32_t levels = 0, i = path;
    for (; i != TL_NO_SUBJECT && levels < LEVELS_SHOWN; i = tl_path_caller(c, i), levels++)
        n += strlen(tl_subject_shown(c, tl_path_subject(c, i))) + 1;
    const size_t before = i == TL_NO_SUBJECT ? 0 : sizeof more - 1;
    char *text = tl_arena_alloc(&c->arena, n + before), *end = text + n + before - 1;
    if (!text)
        return NULL;
    *--end = 0; /* in place of the last separator */
    for (i = path; levels > 0; i = tl_path_caller(c, i), levels--) {
        const char *name = tl_subject_shown(c, tl_path_subject(c, i));
        const size_t length = strlen(name);
        end -= length;
        memcpy(end, name, length);
        if (levels > 1)
            *--end = ';';
    }
    memcpy(text, more, before);
    return text;
}

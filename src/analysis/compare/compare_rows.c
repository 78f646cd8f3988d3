/* Rows of a comparison: changes of the asked metrics of all functions or paths that matter, and their verdicts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/compare_impl.h"
#include "analysis/compare/multiple.h"
#include "base/grow.h"

/* The metrics of the rows: few, so that adjusting for all of them costs little. */
static uint32_t metrics_of(const tl_compare *c, tl_metric out[static TL_METRICS_MOST])
{
    static const tl_metric call[] = {{TL_METRIC_PERCALL, 0},
                                     {TL_METRIC_PERCENTILE, 10000},
                                     {TL_METRIC_PERCENTILE, 500000},
                                     {TL_METRIC_PERCENTILE, 990000},
                                     {TL_METRIC_CALLS, 0}};
    static const tl_metric run[] = {{TL_METRIC_TOTAL, 0}, {TL_METRIC_SELF, 0}, {TL_METRIC_CALLS, 0}};
    static const tl_metric share[] = {{TL_METRIC_SHARE, 0}, {TL_METRIC_SELF_SHARE, 0}, {TL_METRIC_CALLS, 0}};
    tl_compare_per per = c->options.per;
    if (per == TL_PER_DEFAULT)
        per = c->has_durations ? TL_PER_CALL : TL_PER_RUN;
    const tl_metric *of = per == TL_PER_CALL ? call : per == TL_PER_RUN ? run : share;
    const uint32_t n = per == TL_PER_CALL ? TL_COUNT(call) : TL_COUNT(run);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (c->has_durations || !tl_metric_needs_durations(of[i]))
            out[kept++] = of[i];
    return kept;
}

/* What is the same in all rows of an item; false without memory. */
static bool describe(tl_compare *c, tl_item item, tl_compare_row *row)
{
    const tl_subject *s = &c->subject[item.subject];
    const char *old = tl_subject_name(c, item.subject, 0), *newer = tl_subject_name(c, item.subject, 1);
    *row = (tl_compare_row){.function = tl_subject_shown(c, item.subject),
                            .was = old && newer && strcmp(old, newer) != 0 ? old : NULL,
                            .maybe_renamed = s->maybe_renamed,
                            .inlined_into = s->inlined == TL_NO_SUBJECT ? NULL : tl_subject_shown(c, s->inlined),
                            .base_median = (double)NAN,
                            .new_median = (double)NAN,
                            .change = (double)NAN,
                            .low = (double)NAN,
                            .high = (double)NAN,
                            .p = (double)NAN,
                            .q = (double)NAN};
    if (item.path != TL_NO_SUBJECT)
        row->path = tl_path_shown(c, item.path);
    return item.path == TL_NO_SUBJECT || row->path;
}

/* A row under construction, until q is known. */
typedef struct pending {
    tl_change change;
    tl_metric metric;
    bool one_sided;
} pending;

typedef struct builder {
    tl_compare *c;
    pending *pending; /* [c->nrow] */
    size_t capacity;
    tl_metric metric[TL_METRICS_MOST];
    uint32_t nmetric;
    double *values; /* [runs of both sides][metrics], of one item */
} builder;

static double *keep_values(builder *b, int side, uint32_t metric)
{
    const uint32_t n = b->c->side[side].n, from = side ? b->c->side[0].n : 0;
    double *out = tl_arena_alloc(&b->c->arena, n * sizeof *out);
    for (uint32_t i = 0; out && i < n; i++)
        out[i] = b->values[(size_t)(from + i) * b->nmetric + metric];
    return out;
}

static int add_row(builder *b, const tl_compare_row *like, uint32_t metric, bool one_sided, tl_error *e)
{
    tl_compare *c = b->c;
    char name[TL_METRIC_NAME];
    const tl_metric m = b->metric[metric];
    if (!TL_GROW(c->row, c->nrow, 1, c->row_capacity) || !TL_GROW(b->pending, c->nrow, 1, b->capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the rows of a comparison");
    tl_compare_row *r = &c->row[c->nrow];
    pending *p = &b->pending[c->nrow];
    *r = *like;
    *p = (pending){.metric = m, .one_sided = one_sided};
    tl_metric_name(m, name);
    r->metric = tl_strings_get(&c->strings, name, strlen(name));
    r->is_time = tl_metric_is_time(m);
    r->is_share = tl_metric_is_share(m);
    const double *base = keep_values(b, 0, metric), *newer = keep_values(b, 1, metric);
    if (!r->metric || !base || !newer)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the rows of a comparison");
    r->base = base;
    r->newer = newer;
    c->nrow++;
    return tl_change_of(&p->change, &c->room, base, c->side[0].n, newer, c->side[1].n, TL_SCALE_RELATIVE, e);
}

/* Has a function one call a run at most? Then its percentiles are the time per call. */
static bool is_single(const builder *b)
{
    const uint32_t runs = b->c->side[0].n + b->c->side[1].n;
    for (uint32_t m = 0; m < b->nmetric; m++)
        for (uint32_t i = 0; i < runs && b->metric[m].kind == TL_METRIC_CALLS; i++)
            if (b->values[(size_t)i * b->nmetric + m] > 1)
                return false;
    return true;
}

/* Does the number of calls change by more than the noise? Percentiles may then be of calls of another kind. */
static bool calls_change(const builder *b, size_t first)
{
    for (size_t i = first; i < b->c->nrow; i++) {
        const tl_change *c = &b->pending[i].change;
        if (b->pending[i].metric.kind == TL_METRIC_CALLS)
            return fabs(tl_change_relative(c, c->estimate)) > b->c->options.noise ||
                   isnan(tl_change_relative(c, c->estimate));
    }
    return false;
}

static int add_item(builder *b, tl_item item, tl_error *e)
{
    tl_compare *c = b->c;
    const bool in_base = !tl_item_is_missing(c, 0, item), in_new = !tl_item_is_missing(c, 1, item);
    const bool one_sided = in_base != in_new;
    if (!(in_base || in_new) ||
        (tl_item_share(c, 0, item) < c->options.min_share && tl_item_share(c, 1, item) < c->options.min_share))
        return 0;
    tl_compare_row like;
    if (!describe(c, item, &like))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the rows of a comparison");
    const size_t first = c->nrow;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < c->side[side].n; i++)
            tl_measure(c, side, i, item, b->metric, b->nmetric,
                       &b->values[(size_t)((side ? c->side[0].n : 0) + i) * b->nmetric]);
    const bool single = is_single(b);
    int status = 0;
    for (uint32_t m = 0; m < b->nmetric && status == 0; m++)
        if (one_sided ? b->metric[m].kind == TL_METRIC_CALLS : !(single && b->metric[m].kind == TL_METRIC_PERCENTILE))
            status = add_row(b, &like, m, one_sided, e);
    const bool mix = status == 0 && !one_sided && calls_change(b, first);
    for (size_t i = first; i < c->nrow; i++)
        c->row[i].mix_changed = mix && (b->pending[i].metric.kind == TL_METRIC_PERCENTILE ||
                                        b->pending[i].metric.kind == TL_METRIC_PERCALL);
    if (one_sided && status == 0 && tl_item_is_always(c, in_new, item))
        c->row[first].verdict = in_new ? TL_VERDICT_NEW : TL_VERDICT_GONE;
    else if (one_sided && status == 0)
        b->pending[first].one_sided = false; /* only in some of the runs: compared as any number */
    return status;
}

/* Is there a test whose p counts? */
static bool is_tested(const pending *p)
{
    return !p->one_sided && p->change.has_interval && !(p->metric.kind == TL_METRIC_CALLS && p->change.exact);
}

static int set_q(builder *b, tl_error *e)
{
    tl_compare *c = b->c;
    double *p = tl_alloc(c->nrow + 1, sizeof *p);
    uint32_t n = 0;
    if (!p)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the rows of a comparison");
    for (size_t i = 0; i < c->nrow; i++)
        if (is_tested(&b->pending[i]))
            p[n++] = b->pending[i].change.p;
    const int status = tl_adjust(TL_ADJUST_FALSE_SHARE, p, p, n, e);
    n = 0;
    for (size_t i = 0; i < c->nrow && status == 0; i++)
        if (is_tested(&b->pending[i])) {
            c->row[i].p = b->pending[i].change.p;
            c->row[i].q = p[n++];
        }
    free(p);
    return status;
}

static void judge(const tl_compare *c, const pending *p, tl_compare_row *r)
{
    const tl_change *change = &p->change;
    r->base_median = change->base_median;
    r->new_median = change->new_median;
    r->exact =
        p->metric.kind == TL_METRIC_CALLS && change->exact && (change->equal || (change->n > 1 && change->m > 1));
    if (p->one_sided)
        return;
    if (change->n && change->m)
        r->change = tl_change_relative(change, change->estimate);
    if (r->exact && change->base_median > 0)
        r->change = change->new_median / change->base_median - 1;
    if (change->has_interval && !r->exact) {
        r->low = tl_change_relative(change, change->low);
        r->high = tl_change_relative(change, change->high);
    }
    r->verdict = tl_change_verdict(change, p->metric.kind == TL_METRIC_CALLS, c->options.noise, r->q);
    r->runs = r->verdict == TL_VERDICT_UNCLEAR ? tl_change_runs(change, c->options.noise) : 0;
}

/* What is shown first. */
static int importance(tl_verdict v)
{
    static const int rank[] = {[TL_VERDICT_MORE] = 0,          [TL_VERDICT_NEW] = 1,           [TL_VERDICT_GONE] = 2,
                               [TL_VERDICT_LESS] = 3,          [TL_VERDICT_A_LITTLE_MORE] = 4, [TL_VERDICT_DIFFERS] = 5,
                               [TL_VERDICT_A_LITTLE_LESS] = 6, [TL_VERDICT_UNCLEAR] = 7,       [TL_VERDICT_SAME] = 8,
                               [TL_VERDICT_EXACT] = 9};
    return rank[v];
}

/* In millionths: what is behind depends on the processor. */
static double weight(const tl_compare_row *r)
{
    return isnan(r->change) ? 0 : rint(1e6 * fabs(log1p(r->change > -1 ? r->change : -0.999999)));
}

static int compare_rows(const void *a, const void *b)
{
    const tl_compare_row *x = a, *y = b;
    const int rank = TL_COMPARE(importance(x->verdict), importance(y->verdict));
    const int larger = TL_COMPARE(weight(y), weight(x));
    if (rank || larger)
        return rank ? rank : larger;
    const int name = strcmp(x->path ? x->path : x->function, y->path ? y->path : y->function);
    return name ? name : strcmp(x->metric, y->metric);
}

int tl_compare_make_rows(tl_compare *c, tl_error *e)
{
    builder b = {.c = c};
    b.nmetric = metrics_of(c, b.metric);
    b.values = tl_alloc((size_t)(c->side[0].n + c->side[1].n) * TL_METRICS_MOST, sizeof *b.values);
    int status = b.values ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the rows of a comparison");
    const uint32_t n = tl_compare_items(c, c->options.paths);
    for (uint32_t i = 0; i < n && status == 0; i++)
        status = add_item(&b, tl_compare_item(c, c->options.paths, i), e);
    if (status == 0)
        status = set_q(&b, e);
    for (size_t i = 0; i < c->nrow && status == 0; i++)
        judge(c, &b.pending[i], &c->row[i]);
    if (status == 0 && c->nrow)
        qsort(c->row, c->nrow, sizeof *c->row, compare_rows);
    free(b.values);
    free(b.pending);
    return status;
}

const char *tl_compare_verdict_text(const tl_compare_row *r)
{
    static const char *const text[] = {
        [TL_VERDICT_EXACT] = "exact", [TL_VERDICT_NEW] = "new",         [TL_VERDICT_GONE] = "gone",
        [TL_VERDICT_SAME] = "same",   [TL_VERDICT_UNCLEAR] = "unclear", [TL_VERDICT_DIFFERS] = "differs in these runs"};
    static const char *const direction[3][4] = {{"slower", "faster", "slightly slower", "slightly faster"},
                                                {"more", "fewer", "slightly more", "slightly fewer"},
                                                {"larger", "smaller", "slightly larger", "slightly smaller"}};
    const char *const *words = direction[r->is_time ? 0 : r->is_share ? 2 : 1];
    switch (r->verdict) {
    case TL_VERDICT_MORE:
        return words[0];
    case TL_VERDICT_LESS:
        return words[1];
    case TL_VERDICT_A_LITTLE_MORE:
        return words[2];
    case TL_VERDICT_A_LITTLE_LESS:
        return words[3];
    default:
        return text[r->verdict];
    }
}

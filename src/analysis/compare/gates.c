/* Tests gates: which functions or paths they are about, and whether the change of each is beyond the amount. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/gate_text.h"
#include "analysis/compare/multiple.h"
#include "base/grow.h"
#include "base/text/glob.h"

#define ROUNDING 1e-9 /* of changes: 1100 calls in place of 1000 are not more than +10% */

/* A case under construction. */
typedef struct tested {
    tl_gate_case item;
    double p;      /* that the true change is not beyond the amount; two-sided, as the interval */
    double beyond; /* how far the estimate is beyond it, for the order */
    bool above, exact, has_interval;
} tested;

typedef struct judge {
    tl_compare *c;
    tl_gate_when when;
    tested *tested;
    uint32_t n, capacity;
    double *values; /* of both sides */
    bool any_guess; /* a function that may be renamed would have matched */
    bool any_half;  /* one that is on one side only would have */
} judge;

/* Do patterns match the last functions of a path? They are cut at ';'. */
static bool matches_path(const tl_compare *c, const char *target, uint32_t path)
{
    char copy[TL_GATE_TEXT_MAX + 1];
    strcpy(copy, target); /* no longer than the text */
    for (char *cut = copy + strlen(copy); cut > copy;) {
        if (path == TL_NO_SUBJECT)
            return false;
        char *last = strrchr(copy, ';');
        const uint32_t subject = tl_path_subject(c, path);
        const char *old = tl_subject_name(c, subject, 0), *newer = tl_subject_name(c, subject, 1);
        const char *pattern = last ? last + 1 : copy;
        if (!(old && tl_glob(pattern, old)) && !(newer && tl_glob(pattern, newer)))
            return false;
        cut = last ? last : copy;
        *cut = 0;
        path = tl_path_caller(c, path);
    }
    return true;
}

static bool matches(const tl_compare *c, const tl_gate_term *t, tl_item item)
{
    if (t->is_all)
        return tl_item_share(c, 0, item) >= c->options.min_share || tl_item_share(c, 1, item) >= c->options.min_share;
    if (t->is_path)
        return matches_path(c, t->target, item.path);
    const char *old = tl_subject_name(c, item.subject, 0), *newer = tl_subject_name(c, item.subject, 1);
    return (old && tl_glob(t->target, old)) || (newer && tl_glob(t->target, newer));
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a gate");
}

/* P(at most k heads of n coins). */
static double coins(uint32_t k, uint32_t n)
{
    double ways = 1, sum = 0, all = 1;
    for (uint32_t i = 0; i <= n; i++) {
        sum += i <= k ? ways : 0;
        ways = ways * (n - i) / (i + 1);
    }
    for (uint32_t i = 0; i < n; i++)
        all *= 2;
    return sum / all;
}

/* The number of NEW alone against a limit: its median, with the interval of order statistics. */
static void test_limit(const judge *j, const tl_gate_term *t, double *value, uint32_t n, tested *out)
{
    uint32_t kept = 0, within = 0, k = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(value[i]))
            value[kept++] = value[i];
    if (kept == 0)
        return;
    qsort(value, kept, sizeof *value, tl_compare_double);
    for (uint32_t i = 0; i < kept; i++)
        within += t->above ? value[i] <= t->amount : value[i] >= t->amount;
    while (coins(k, kept) <= TL_SHIFT_TAIL)
        k++;
    k = k ? k - 1 : 0; /* too few for 95 %: all of them */
    out->item.estimate = tl_sorted_median(value, kept);
    out->item.low = value[k];
    out->item.high = value[kept - 1 - k];
    out->has_interval = kept >= TL_RUNS_FOR_INTERVAL;
    out->exact = t->metric.kind == TL_METRIC_CALLS && j->c->side[1].n > 1 && value[0] >= value[kept - 1];
    out->p = fmin(1, 2 * coins(within, kept));
}

static int test_change(const judge *j, const tl_gate_term *t, tested *out, tl_error *e)
{
    tl_compare *c = j->c;
    const uint32_t n = c->side[0].n, m = c->side[1].n;
    const bool relative = t->kind == TL_AMOUNT_CHANGE;
    tl_change d;
    const int status =
        tl_change_of(&d, &c->room, j->values, n, j->values + n, m, relative ? TL_SCALE_RELATIVE : TL_SCALE_PLAIN, e);
    if (status < 0 || !d.n || !d.m)
        return status;
    const double limit = relative ? tl_change_scaled(&d, t->amount) : t->amount;
    out->item.estimate = relative ? tl_change_relative(&d, d.estimate) : d.estimate;
    out->item.low = relative ? tl_change_relative(&d, d.low) : d.low;
    out->item.high = relative ? tl_change_relative(&d, d.high) : d.high;
    out->has_interval = d.has_interval;
    out->exact = t->metric.kind == TL_METRIC_CALLS && d.exact && (d.equal || (d.n > 1 && d.m > 1));
    out->p = isnan(limit) ? 1 : tl_change_p(&d, &c->room, limit);
    if (isnan(out->item.estimate)) { /* from 0: any growth is beyond any percentage */
        const double infinite = d.estimate > 0 ? (double)INFINITY : -(double)INFINITY;
        out->item.estimate = infinite;
        out->item.low = d.low > 0 ? (double)INFINITY : 0;
        out->item.high = d.high > 0 ? (double)INFINITY : 0;
    }
    return 0;
}

static int add_case(judge *j, const tl_gate_term *t, tl_item item, tl_error *e)
{
    tl_compare *c = j->c;
    char name[TL_METRIC_NAME];
    tested x = {.p = 1, .above = t->above};
    tl_metric_name(t->metric, name);
    x.item = (tl_gate_case){.function = tl_subject_shown(c, item.subject),
                            .path = item.path == TL_NO_SUBJECT ? NULL : tl_path_shown(c, item.path),
                            .metric = tl_strings_get(&c->strings, name, strlen(name)),
                            .is_time = tl_metric_is_time(t->metric),
                            .is_share = tl_metric_is_share(t->metric),
                            .of_change = t->kind == TL_AMOUNT_CHANGE,
                            .amount = t->amount,
                            .estimate = (double)NAN};
    if (!x.item.metric || (item.path != TL_NO_SUBJECT && !x.item.path))
        return no_memory(e);
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < c->side[side].n; i++)
            tl_measure(c, side, i, item, &t->metric, 1, &j->values[(side ? c->side[0].n : 0) + i]);
    int status = 0;
    if (t->kind == TL_AMOUNT_LIMIT)
        test_limit(j, t, j->values + c->side[0].n, c->side[1].n, &x);
    else
        status = test_change(j, t, &x, e);
    if (status < 0 || isnan(x.item.estimate))
        return status;
    x.beyond = t->above ? x.item.estimate - t->amount : t->amount - x.item.estimate;
    if (!x.has_interval)
        x.item.low = x.item.high = (double)NAN;
    if (x.exact)
        x.item.low = x.item.high = x.item.estimate;
    if (!TL_GROW(j->tested, j->n, 1, j->capacity))
        return no_memory(e);
    j->tested[j->n++] = x;
    return 0;
}

/* The functions or paths of a term. */
static int add_term(judge *j, const tl_gate_term *t, tl_error *e)
{
    const tl_compare *c = j->c;
    const uint32_t n = tl_compare_items(c, t->is_path);
    int status = 0;
    for (uint32_t i = 0; i < n && status == 0; i++) {
        const tl_item item = tl_compare_item(c, t->is_path, i);
        const bool limit = t->kind == TL_AMOUNT_LIMIT;
        if (!matches(c, t, item))
            continue;
        if (tl_item_is_missing(c, 1, item) || (!limit && tl_item_is_missing(c, 0, item)))
            j->any_half = true;
        else if (!limit && c->subject[item.subject].maybe_renamed)
            j->any_guess = true;
        else
            status = add_case(j, t, item, e);
    }
    return status;
}

static tl_gate_status judge_case(const judge *j, const tested *t, double p)
{
    const double low = t->item.low, high = t->item.high, amount = t->item.amount;
    const bool certain = t->exact || t->has_interval;
    const double e = t->item.of_change ? ROUNDING : 0;
    if (j->when == TL_GATE_ESTIMATE || (!certain && j->c->options.one_run))
        return t->beyond > e ? TL_GATE_FAILED : TL_GATE_PASSED;
    const bool within = certain && (t->above ? high <= amount + e : low >= amount - e);
    const bool beyond = certain && (t->above ? low > amount + e : high < amount - e);
    if (within)
        return TL_GATE_PASSED;
    if (j->when == TL_GATE_UNCLEAR || (beyond && (t->exact || j->n == 1 || p <= TL_SIGNIFICANT)))
        return TL_GATE_FAILED;
    return TL_GATE_NOT_SHOWN;
}

static int compare_tested(const void *a, const void *b)
{
    const tested *x = a, *y = b;
    if (x->item.status != y->item.status)
        return x->item.status > y->item.status ? -1 : 1;
    if (x->beyond > y->beyond || x->beyond < y->beyond)
        return x->beyond > y->beyond ? -1 : 1;
    return strcmp(x->item.function, y->item.function);
}

static int judge_all(judge *j, tl_gate *g, tl_error *e)
{
    double *p = tl_alloc((size_t)j->n + 1, sizeof *p);
    tl_gate_case *item = tl_arena_alloc(&j->c->arena, j->n * sizeof *item);
    if (!p || !item) {
        free(p);
        return no_memory(e);
    }
    for (uint32_t i = 0; i < j->n; i++)
        p[i] = j->tested[i].beyond > 0 ? j->tested[i].p : 1;
    const int status = tl_adjust(TL_ADJUST_ANY_FALSE, p, p, j->n, e);
    for (uint32_t i = 0; i < j->n; i++)
        j->tested[i].item.status = judge_case(j, &j->tested[i], p[i]);
    free(p);
    qsort(j->tested, j->n, sizeof *j->tested, compare_tested);
    for (uint32_t i = 0; i < j->n; i++)
        item[i] = j->tested[i].item;
    g->item = item;
    g->n = j->n;
    g->status = item[0].status;
    return status;
}

static int check_term(const tl_compare *c, const tl_gate_term *t, tl_error *e)
{
    const bool in_ns = strcmp(tl_compare_unit(c), "ns") == 0;
    if (tl_metric_needs_durations(t->metric) && !c->has_durations)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "these profiles have no durations of single calls");
    if (tl_metric_is_time(t->metric) && t->kind != TL_AMOUNT_CHANGE && t->is_time != in_ns)
        return tl_fail(e, TL_ESYNTAX, t->at,
                       in_ns ? "expected a time with its unit, such as 4us" : "expected a number of %s",
                       tl_compare_unit(c));
    return 0;
}

static int say_no_match(const judge *j, tl_error *e)
{
    if (j->any_guess)
        return tl_fail(e, TL_ENOMATCH, TL_NO_OFFSET,
                       "the function may have been renamed, which is a guess: --map OLD=NEW confirms it");
    if (j->any_half)
        return tl_fail(e, TL_ENOMATCH, TL_NO_OFFSET, "matches only functions that are new or gone");
    return tl_fail(e, TL_ENOMATCH, TL_NO_OFFSET, "matches no function");
}

static int test_gate(judge *j, const tl_gate_text *text, tl_gate *g, tl_error *e)
{
    const tl_compare *c = j->c;
    int status = 0;
    if ((c->side[0].n < TL_RUNS_FOR_INTERVAL || c->side[1].n < TL_RUNS_FOR_INTERVAL) && !c->options.one_run)
        return tl_fail(
            e, TL_EUNSUPPORTED, TL_NO_OFFSET,
            "a gate needs %u runs a side, 10 are better: traceloom record --runs 10; --one-run tests the numbers "
            "of these runs",
            TL_RUNS_FOR_INTERVAL);
    j->values = tl_alloc((size_t)c->side[0].n + c->side[1].n, sizeof *j->values);
    if (!j->values)
        return no_memory(e);
    for (uint32_t i = 0; i < text->n && status == 0; i++) {
        const uint32_t before = j->n;
        status = check_term(c, &text->term[i], e);
        if (status == 0)
            status = add_term(j, &text->term[i], e);
        if (status == 0 && j->n == before)
            status = say_no_match(j, e);
    }
    return status < 0 ? status : judge_all(j, g, e);
}

int tl_compare_gate(tl_compare *c, const char *text, tl_gate_when when, const tl_gate **gate, tl_error *e)
{
    tl_gate_text parsed;
    judge j = {.c = c, .when = when};
    int status = tl_gate_parse(&parsed, &c->arena, text, e);
    if (status < 0)
        return status;
    tl_gate *g = tl_arena_zalloc(&c->arena, sizeof *g);
    if (!g || !(g->text = tl_strings_get(&c->strings, text, strlen(text))))
        return no_memory(e);
    status = test_gate(&j, &parsed, g, e);
    free(j.tested);
    free(j.values);
    if (status == 0)
        *gate = g;
    return status;
}

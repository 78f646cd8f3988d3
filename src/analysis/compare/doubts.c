/* What makes a comparison doubtful, in one line each. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/compare_impl.h"
#include "base/grow.h"

#define ADVISED_RUNS 5u  /* a side: fewer give wide intervals */
#define SPREAD       0.2 /* of the whole time of a run, around the median of its side */
#define DRIFT        0.9 /* rank correlation of the whole time with the time of recording, with ... */
#define DRIFT_RUNS   6u  /* ... at least so many runs: chance is below 2 % */
#define SAME_NAMES   0.5 /* of the time in functions that both sides have */
#define TEXT         200u

static const char *const side_name[] = {"BASE", "NEW"};

TL_PRINTF(2, 3) static bool warn(tl_compare *c, const char *format, ...)
{
    char text[TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *kept = tl_strings_get(&c->strings, text, strlen(text));
    if (!kept || !TL_GROW(c->warning, c->nwarning, 1, c->warning_capacity))
        return false;
    c->warning[c->nwarning++] = kept;
    return true;
}

/* The share of a side's time in functions that the other has, too. */
static double shared_time(const tl_compare *c, int side)
{
    const tl_side *s = &c->side[side];
    double shared = 0, all = 0;
    for (uint32_t i = 0; i < s->nfunction; i++) {
        const tl_subject *subject = &c->subject[s->function[i].subject];
        all += s->function[i].self;
        if (!subject->maybe_renamed && subject->function[!side] != TL_NO_SUBJECT)
            shared += s->function[i].self;
    }
    return all > 0 ? shared / all : 1;
}

static bool doubt_names(tl_compare *c)
{
    const double base = shared_time(c, 0), newer = shared_time(c, 1), less = base < newer ? base : newer;
    bool unnamed = false;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < c->side[side].nfunction; i++)
            unnamed = unnamed || (c->side[side].function[i].unnamed && c->side[side].function[i].calls > 0);
    if (unnamed && !warn(c, "some functions have no names: they are matched by their numbers, within one build only"))
        return false;
    return less >= SAME_NAMES ||
           warn(c,
                "the sides look like different programs: only %.0f %% of the time of %s is in functions that both have",
                100 * less, side_name[newer < base]);
}

static bool has_losses(const tl_side *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->run[i].profile->lost_events || s->run[i].profile->damaged_bytes)
            return true;
    return false;
}

static bool doubt_losses(tl_compare *c)
{
    const bool base = has_losses(&c->side[0]), newer = has_losses(&c->side[1]);
    return base == newer || warn(c, "only %s has runs that lost events or are damaged", side_name[newer]);
}

static bool doubt_durations(tl_compare *c)
{
    uint32_t with[2] = {0};
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < c->side[side].n; i++)
            with[side] += c->side[side].run[i].profile->has_histogram;
    return c->has_durations || with[0] + with[1] == 0 ||
           warn(c, "some runs have no durations of single calls: percentiles are not compared");
}

static int compare_run_time(const void *a, const void *b)
{
    const tl_compare_run *const *x = a, *const *y = b;
    return TL_COMPARE((*x)->utc_ns, (*y)->utc_ns);
}

/* A side's runs by their whole time, and in the order of recording if that is known. */
typedef struct timed {
    double root[TL_COMPARE_RUNS_MAX], sorted[TL_COMPARE_RUNS_MAX];
    const tl_compare_run *by_time[TL_COMPARE_RUNS_MAX];
    bool has_utc;
} timed;

static void take_times(const tl_side *s, timed *t)
{
    t->has_utc = true;
    for (uint32_t i = 0; i < s->n; i++) {
        t->by_time[i] = &s->run[i];
        t->has_utc = t->has_utc && s->run[i].has_utc;
    }
    if (t->has_utc)
        qsort(t->by_time, s->n, sizeof *t->by_time, compare_run_time);
    for (uint32_t i = 0; i < s->n; i++)
        t->root[i] = t->sorted[i] = s->index[t->by_time[i] - s->run].root;
    qsort(t->sorted, s->n, sizeof *t->sorted, tl_compare_double);
}

/* Kendall's: how often a later run took longer, less how often it took less time, of all pairs. */
static double correlation(const timed *t, uint32_t n)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            sum += TL_COMPARE(t->root[k], t->root[i]);
    return n > 1 ? (double)sum / ((double)n * (n - 1) / 2) : 0;
}

static bool doubt_side(tl_compare *c, int side, const timed *t)
{
    const uint32_t n = c->side[side].n;
    const double median = tl_sorted_median(t->sorted, n), spread = (t->sorted[n - 1 - n / 4] - t->sorted[n / 4]) / 2;
    if (n >= ADVISED_RUNS && median > 0 && spread > SPREAD * median &&
        !warn(c, "the runs of %s differ: half of them are more than %.0f %% away from the median", side_name[side],
              100 * spread / median))
        return false;
    const double drift = t->has_utc && n >= DRIFT_RUNS ? correlation(t, n) : 0;
    return fabs(drift) < DRIFT || warn(c, "the runs of %s became %s one after another: the machine changed",
                                       side_name[side], drift > 0 ? "slower" : "faster");
}

static bool doubt_order(tl_compare *c, const timed *t)
{
    const uint32_t n = c->side[0].n, m = c->side[1].n;
    if (!t[0].has_utc || !t[1].has_utc || n < 2 || m < 2)
        return true;
    const bool base_first = t[0].by_time[n - 1]->utc_ns < t[1].by_time[0]->utc_ns;
    const bool new_first = t[1].by_time[m - 1]->utc_ns < t[0].by_time[0]->utc_ns;
    return !(base_first || new_first) ||
           warn(c,
                "all runs of %s were recorded before those of %s: what changed in between counts as a difference; "
                "traceloom record --turns takes turns",
                side_name[new_first], side_name[!new_first]);
}

int tl_compare_doubt(tl_compare *c, tl_error *e)
{
    timed *t = calloc(2, sizeof *t);
    const uint32_t fewer = c->side[0].n < c->side[1].n ? c->side[0].n : c->side[1].n;
    bool ok = t != NULL;
    if (ok && fewer < TL_RUNS_FOR_INTERVAL)
        ok = warn(c, "fewer than %u runs a side: these numbers say nothing about the next run", TL_RUNS_FOR_INTERVAL);
    else if (ok && fewer < ADVISED_RUNS)
        ok = warn(c, "fewer than %u runs a side: only large differences can be told", ADVISED_RUNS);
    ok = ok && doubt_names(c) && doubt_losses(c) && doubt_durations(c);
    for (int side = 0; side < 2 && ok; side++) {
        take_times(&c->side[side], &t[side]);
        ok = doubt_side(c, side, &t[side]);
    }
    ok = ok && doubt_order(c, t);
    free(t);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to compare profiles");
}

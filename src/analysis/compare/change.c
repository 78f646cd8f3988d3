/* Changes of numbers: their scale, their interval, and the verdict. */
#include "analysis/compare/change.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define RUNS_FACTOR 1.43 /* the half interval at which a change of d is told with about 80 % is d / 1.43 */
#define RUNS_MOST   1e6  /* more is no advice */

int tl_change_room_init(tl_change_room *r, uint32_t n, uint32_t m, tl_error *e)
{
    *r = (tl_change_room){.n = n, .m = m};
    r->base = tl_alloc(n, sizeof *r->base);
    r->newer = tl_alloc(m, sizeof *r->newer);
    r->differences = tl_alloc(2 * (size_t)n * m, sizeof *r->differences);
    return r->base && r->newer && r->differences
               ? 0
               : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to compare %" PRIu32 " and %" PRIu32 " runs", n, m);
}

void tl_change_room_fini(tl_change_room *r)
{
    for (uint32_t i = 0; i < r->nlaw; i++)
        tl_rank_law_fini(&r->law[i]);
    free(r->law);
    free(r->base);
    free(r->newer);
    free(r->differences);
    *r = (tl_change_room){0};
}

static const tl_rank_law *law_of(const tl_change_room *r, uint32_t n, uint32_t m)
{
    for (uint32_t i = 0; i < r->nlaw; i++)
        if (r->law[i].n == n && r->law[i].m == m)
            return &r->law[i];
    return NULL;
}

static int need_law(tl_change_room *r, uint32_t n, uint32_t m, tl_error *e)
{
    tl_rank_law law;
    if (law_of(r, n, m))
        return 0;
    int status = tl_rank_law_init(&law, n, m, e);
    if (status == 0 && !TL_GROW(r->law, r->nlaw, 1, r->law_capacity))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to compare runs");
    if (status < 0)
        tl_rank_law_fini(&law);
    else
        r->law[r->nlaw++] = law;
    return status;
}

/* Sorted, without what is no number; returns how many. */
static uint32_t take(double *to, const double *from, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(from[i]))
            to[kept++] = from[i];
    qsort(to, kept, sizeof *to, tl_compare_double);
    return kept;
}

/* Puts sorted numbers on the scale of the change. */
static void scale(double *value, uint32_t n, const tl_change *c)
{
    for (uint32_t i = 0; i < n; i++)
        value[i] = c->logs ? log(value[i]) : value[i] / c->unit;
}

int tl_change_of(tl_change *c, tl_change_room *r, const double *base, uint32_t n, const double *newer, uint32_t m,
                 tl_change_scale how, tl_error *e)
{
    *c = (tl_change){.n = take(r->base, base, n), .m = take(r->newer, newer, m), .unit = 1, .p = 1};
    c->base_median = c->n ? tl_sorted_median(r->base, c->n) : (double)NAN;
    c->new_median = c->m ? tl_sorted_median(r->newer, c->m) : (double)NAN;
    if (!c->n || !c->m)
        return 0;
    c->exact = r->base[0] >= r->base[c->n - 1] && r->newer[0] >= r->newer[c->m - 1];
    c->equal = c->n == c->m && memcmp(r->base, r->newer, c->n * sizeof *r->base) == 0;
    c->logs = how == TL_SCALE_RELATIVE && r->base[0] > 0 && r->newer[0] > 0;
    const double larger = fmax(c->base_median, c->new_median), most = fmax(r->base[c->n - 1], r->newer[c->m - 1]);
    if (how == TL_SCALE_RELATIVE && !c->logs)
        c->unit = larger > 0 ? larger : most > 0 ? most : 1;
    scale(r->base, c->n, c);
    scale(r->newer, c->m, c);
    const int status = need_law(r, c->n, c->m, e);
    if (status < 0)
        return status;
    tl_shift s;
    tl_shift_of(&s, law_of(r, c->n, c->m), r->base, r->newer, r->differences);
    c->estimate = s.estimate;
    c->low = s.low;
    c->high = s.high;
    c->has_interval = s.has_interval;
    c->p = s.p;
    return 0;
}

double tl_change_p(const tl_change *c, const tl_change_room *r, double by)
{
    return tl_shift_p(law_of(r, c->n, c->m), r->base, r->newer, by);
}

double tl_change_scaled(const tl_change *c, double relative)
{
    return c->logs ? log1p(relative) : relative * c->base_median / c->unit;
}

double tl_change_relative(const tl_change *c, double scaled)
{
    if (c->logs)
        return expm1(scaled);
    return c->base_median > 0 ? scaled * c->unit / c->base_median : scaled == 0 ? 0 : (double)NAN;
}

/* The noise on the scale of the change: as far down as up, so that exchanged sides get mirrored verdicts. */
static double band_of(const tl_change *c, double noise)
{
    return c->logs ? log1p(noise) : noise;
}

static tl_verdict direction(double d, bool a_little)
{
    if (a_little)
        return d > 0 ? TL_VERDICT_A_LITTLE_MORE : TL_VERDICT_A_LITTLE_LESS;
    return d > 0 ? TL_VERDICT_MORE : TL_VERDICT_LESS;
}

tl_verdict tl_change_verdict(const tl_change *c, bool counts, double noise, double q)
{
    const double band = band_of(c, noise);
    if (!c->n || !c->m)
        return TL_VERDICT_UNCLEAR;
    if (counts && c->exact && (c->equal || (c->n > 1 && c->m > 1)))
        return c->estimate == 0 ? TL_VERDICT_EXACT : direction(c->estimate, fabs(c->estimate) <= band);
    if (c->has_interval && c->low >= -band && c->high <= band)
        return TL_VERDICT_SAME;
    if (c->equal)
        return TL_VERDICT_EXACT;
    if (!c->has_interval)
        return c->n < TL_RUNS_FOR_INTERVAL && c->m < TL_RUNS_FOR_INTERVAL ? TL_VERDICT_DIFFERS : TL_VERDICT_UNCLEAR;
    if (q < TL_SIGNIFICANT && fabs(c->estimate) > 0)
        return direction(c->estimate, c->low <= band && c->high >= -band);
    return TL_VERDICT_UNCLEAR;
}

uint32_t tl_change_runs(const tl_change *c, double noise)
{
    const uint32_t n = c->n > c->m ? c->n : c->m;
    const double half = (c->high - c->low) / 2, d = fmax(fabs(c->estimate), band_of(c, noise));
    if (!c->has_interval || d <= 0)
        return 0;
    const double ratio = RUNS_FACTOR * half / d, runs = ceil(n * ratio * ratio);
    return runs > RUNS_MOST ? 0 : runs > n ? (uint32_t)runs : n + 1;
}

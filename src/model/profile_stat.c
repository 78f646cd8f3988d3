/* Numbers of a profile: of places and functions, percentiles, and sums for sources that know only self times. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "model/profile_impl.h"

/* Completes the public numbers of a sum: without calls, or without timed ones, there is no shortest and no longest. */
static void present(const tl_profile *p, tl_stat *s)
{
    if (!p->has_histogram || s->calls == 0 || s->min > s->max)
        s->min = s->max = 0;
}

void tl_profile_stat(const tl_profile *p, uint32_t place, tl_stat *out)
{
    const tl_place_stat *s = &p->stat[place];
    *out = (tl_stat){.calls = s->calls, .total = s->total, .self = s->self, .min = s->min, .max = s->max};
    present(p, out);
}

void tl_profile_function_stat(const tl_profile *p, uint32_t function, tl_stat *out)
{
    tl_stat sum = {.min = UINT64_MAX};
    for (uint32_t i = p->same_first[function]; i; i = p->same_next[i]) {
        const tl_place_stat *s = &p->stat[i];
        sum.calls = tl_add_saturated(sum.calls, p->nweight ? p->outer_calls[i] : s->calls);
        sum.total = tl_add_saturated(sum.total, s->outer);
        sum.self = tl_add_saturated(sum.self, s->self);
        sum.min = s->min < sum.min ? s->min : sum.min;
        sum.max = s->max > sum.max ? s->max : sum.max;
    }
    present(p, &sum);
    *out = sum;
}

uint64_t tl_profile_unwound(const tl_profile *p)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->nplace; i++)
        sum = tl_add_saturated(sum, tl_profile_place_unwound(p, i));
    return sum;
}

uint64_t tl_profile_place_unwound(const tl_profile *p, uint32_t place)
{
    return p->unwound ? p->unwound[place] : 0;
}

uint64_t tl_profile_function_unwound(const tl_profile *p, uint32_t function)
{
    uint64_t sum = 0;
    for (uint32_t i = p->same_first[function]; i; i = p->same_next[i])
        sum = tl_add_saturated(sum, tl_profile_place_unwound(p, i));
    return sum;
}

uint64_t tl_profile_percentile(const tl_profile *p, uint32_t place, unsigned permille)
{
    const tl_place_stat *s = &p->stat[place];
    return p->has_histogram ? tl_hist_percentile(&s->hist, permille, s->min, s->max) : 0;
}

uint64_t tl_profile_function_percentile(const tl_profile *p, uint32_t function, unsigned permille)
{
    uint32_t first = p->same_first[function];
    if (!p->has_histogram || !first)
        return 0;
    if (!p->same_next[first])
        return tl_profile_percentile(p, first, permille);
    tl_stat stat;
    tl_profile_function_stat(p, function, &stat);
    tl_hist_total sum;
    tl_hist_total_start(&sum, stat.min, stat.max);
    for (uint32_t i = first; i; i = p->same_next[i])
        tl_hist_total_add(&sum, &p->stat[i].hist);
    return tl_hist_percentile(&sum.hist, permille, stat.min, stat.max);
}

/* A place whose calls never ended does not cover its function's calls below it. */
static bool hides(const tl_profile *p, uint32_t place)
{
    return p->place[place].function != TL_NO_FUNCTION && (p->stat[place].calls || p->stat[place].total);
}

/* A depth-first walk finds, for every place, whether its function is already on the stack. */
int tl_profile_set_outer(tl_profile *p, tl_error *e)
{
    int status = TL_ENOMEM;
    uint32_t *order = tl_alloc(p->nplace, sizeof *order);
    uint32_t *active = calloc((size_t)p->nfunction + 1, sizeof *active); /* frames of each function on the stack */
    if (!order || !active) {
        tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to sum up %" PRIu32 " places", p->nplace);
        goto out;
    }
    uint32_t *sorted = order; /* any order of siblings will do */
    for (uint32_t i = 1; i < p->nplace; i++)
        sorted[i - 1] = i;
    status = tl_profile_depth_first(p, sorted, order, e);
    if (status < 0)
        goto out;
    for (uint32_t i = 1, last = 0; i < p->nplace; last = order[i++]) {
        const uint32_t place = order[i];
        const tl_place *at = &p->place[place];
        for (; last != at->parent; last = p->place[last].parent)
            if (hides(p, last))
                active[p->place[last].function]--;
        if (at->function == TL_NO_FUNCTION)
            continue;
        const bool inner = active[at->function] > 0;
        p->stat[place].outer = inner ? 0 : p->stat[place].total;
        if (p->nweight)
            p->outer_calls[place] = inner ? 0 : p->stat[place].calls;
        active[at->function] += hides(p, place);
    }
out:
    free(order);
    free(active);
    return status;
}

int tl_profile_sum_up(tl_profile *p, tl_error *e)
{
    for (uint32_t i = 1; i < p->nplace; i++)
        p->stat[i].total = p->stat[i].self;
    for (uint32_t i = p->nplace - 1; i > 0; i--) { /* children come after their parents */
        uint32_t parent = p->place[i].parent;
        if (p->place[parent].function != TL_NO_FUNCTION)
            p->stat[parent].total = tl_add_saturated(p->stat[parent].total, p->stat[i].total);
    }
    p->has_histogram = false;
    return tl_profile_set_outer(p, e);
}

/* Weights of profiles made of samples, and the choice of the one shown. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/profile_impl.h"
#include "model/trace_impl.h"

static const char TIME[] = "time", NANOSECONDS[] = "nanoseconds", COUNT[] = "count", BYTES[] = "bytes";
static const char SAMPLES[] = "samples", ALLOCATIONS[] = "alloc_objects";

const tl_weight tl_sample_weight[TL_SAMPLE_WEIGHTS] = {
    [TL_WEIGHT_SAMPLES] = {SAMPLES, COUNT},
    [TL_WEIGHT_TIME] = {TIME, NANOSECONDS},
    [TL_WEIGHT_ALLOC_SPACE] = {"alloc_space", BYTES},
    [TL_WEIGHT_ALLOC_OBJECTS] = {ALLOCATIONS, COUNT},
};

int tl_profile_make_sampled(tl_profile *p, const tl_weight *kind, uint32_t n, tl_error *e)
{
    p->weight_self = calloc((size_t)p->place_capacity * n + 1, sizeof *p->weight_self);
    p->outer_calls = calloc(p->place_capacity, sizeof *p->outer_calls);
    if (!p->weight_self || !p->outer_calls) {
        free(p->weight_self);
        free(p->outer_calls);
        p->weight_self = p->outer_calls = NULL;
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a profile of samples");
    }
    p->kind = kind;
    p->nweight = n;
    p->weight = 0;
    p->has_histogram = false;
    return 0;
}

/* Index of a weight; nweight if no weight has this name. */
static uint32_t find_weight(const tl_profile *p, const char *name)
{
    uint32_t i = 0;
    while (i < p->nweight && strcmp(p->kind[i].name, name) != 0)
        i++;
    return i;
}

static bool is_time(const tl_profile *p, uint32_t index)
{
    return index >= p->nweight || strcmp(p->kind[index].unit, NANOSECONDS) == 0;
}

uint32_t tl_profile_counting_weight(const tl_profile *p)
{
    const bool of_allocations = strncmp(p->kind[p->weight].name, "alloc", 5) == 0;
    uint32_t i = find_weight(p, of_allocations ? ALLOCATIONS : SAMPLES);
    if (i < p->nweight)
        return i;
    for (i = 0; i < p->nweight; i++)
        if (strcmp(p->kind[i].unit, COUNT) == 0)
            return i;
    return p->weight;
}

/* Sums along the tree: children come after their parents. */
static int sum_up(tl_profile *p, tl_error *e)
{
    const uint32_t counting = tl_profile_counting_weight(p);
    for (uint32_t i = 0; i < p->nplace; i++) {
        const uint64_t *self = p->weight_self + (size_t)i * p->nweight;
        const bool real = p->place[i].function != TL_NO_FUNCTION;
        p->stat[i] = (tl_place_stat){.min = UINT64_MAX};
        p->outer_calls[i] = 0;
        if (real) {
            p->stat[i].calls = self[counting];
            p->stat[i].total = p->stat[i].self = self[p->weight];
        }
    }
    for (uint32_t i = p->nplace; i-- > 1;) {
        const uint32_t parent = p->place[i].parent;
        if (p->place[parent].function == TL_NO_FUNCTION)
            continue;
        p->stat[parent].calls = tl_add_saturated(p->stat[parent].calls, p->stat[i].calls);
        p->stat[parent].total = tl_add_saturated(p->stat[parent].total, p->stat[i].total);
    }
    return tl_profile_set_outer(p, e);
}

int tl_profile_choose_weight(tl_profile *p, const char *name, tl_error *e)
{
    if (!p->nweight) {
        if (!name || strcmp(name, TIME) == 0)
            return 0;
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "calls are weighted by time alone; other weights are of samples");
    }
    uint32_t index = find_weight(p, name ? name : TIME);
    if (index == p->nweight && name)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "the profile has no weight \"%s\"", name);
    p->weight = index == p->nweight ? 0 : index;
    return sum_up(p, e);
}

/* Functions identified by number alone get their last name in the trace. */
static int take_last_names(tl_profile *p, tl_error *e)
{
    for (uint32_t i = 0; i < p->nfunction; i++) {
        tl_function *f = &p->function[i];
        f->name = f->renamed ? f->renamed : f->name;
        f->renamed = NULL;
    }
    return tl_profile_index_functions(p) ? 0
                                         : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for functions of a profile");
}

int tl_profile_become_calls(tl_profile *p, bool flat, tl_error *e)
{
    int status = 0;
    if (p->samples.counted) {
        tl_place_stat *const calls = p->stat, *samples = tl_alloc(p->place_capacity, sizeof *samples);
        if (!samples)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a profile of samples");
        p->stat = samples;
        status = tl_profile_choose_weight(p, TIME, e);
        p->stat = calls;
        for (uint32_t i = 0; status == 0 && i < p->nplace; i++) {
            samples[i].calls = flat ? p->outer_calls[i] : samples[i].calls;
            tl_profile_add_sums(&calls[i], &samples[i]);
        }
        free(samples);
    } else if (flat) {
        status = take_last_names(p, e);
    }
    free(p->weight_self);
    free(p->outer_calls);
    p->weight_self = p->outer_calls = NULL;
    p->kind = NULL;
    p->nweight = p->weight = 0;
    p->of_stacks = p->has_histogram = true;
    return status;
}

uint64_t tl_profile_weight_value(const tl_profile *p, uint32_t index, uint64_t amount)
{
    return is_time(p, index) ? tl_scale_ns(&p->scale, amount) : amount;
}

uint64_t tl_profile_weight_sum(const tl_profile *p, uint32_t index)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->nplace; i++)
        sum = tl_add_saturated(sum, tl_profile_weight_self(p, i, index));
    return sum;
}

/* ---- public functions ---- */

uint32_t tl_profile_weights(const tl_profile *p)
{
    return p->nweight;
}

const tl_weight *tl_profile_weight(const tl_profile *p, uint32_t index)
{
    return index < p->nweight ? &p->kind[index] : NULL;
}

uint32_t tl_profile_chosen_weight(const tl_profile *p)
{
    return p->weight;
}

uint64_t tl_profile_weight_self(const tl_profile *p, uint32_t place, uint32_t index)
{
    return place < p->nplace && index < p->nweight ? p->weight_self[(size_t)place * p->nweight + index] : 0;
}

tl_sample_counts tl_profile_samples(const tl_profile *p)
{
    return p->samples;
}

uint64_t tl_profile_time(const tl_profile *p, uint64_t ticks)
{
    return tl_profile_weight_value(p, p->weight, ticks);
}

const char *tl_profile_unit(const tl_profile *p)
{
    if (is_time(p, p->weight))
        return tl_clock_unit(&p->clock);
    const tl_weight *w = &p->kind[p->weight];
    if (strcmp(w->name, ALLOCATIONS) == 0)
        return "allocations";
    return strcmp(w->unit, BYTES) == 0 ? BYTES : SAMPLES;
}

/* Another clock for a profile, so that those of different machines can be added up. Every number is rounded by itself:
 * a sum of the new clock is that of the old one rounded once, not a sum of rounded durations. docs/format/profile.md
 * has the rule. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/number.h"
#include "model/profile_impl.h"

typedef struct ratio {
    uint64_t to, from; /* ticks a second */
} ratio;

/* A number at the limit was cut, or says that there is none: it stays. */
static uint64_t scaled(ratio r, uint64_t v)
{
    return v == UINT64_MAX ? v : tl_scale_exactly(v, r.to, r.from);
}

/* The new used buckets, ascending. */
typedef struct bucket_list {
    tl_hist_pair *pair; /* [TL_HIST_BUCKETS] */
    uint32_t n;
} bucket_list;

/* Buckets come in ascending order. */
static void put(bucket_list *l, uint64_t value, uint64_t count)
{
    const uint32_t bucket = tl_hist_bucket(value);
    if (count == 0)
        return;
    if (l->n && l->pair[l->n - 1].bucket == bucket)
        l->pair[l->n - 1].count = tl_add_saturated(l->pair[l->n - 1].count, count);
    else
        l->pair[l->n++] = (tl_hist_pair){.count = count, .bucket = bucket};
}

/* The shortest and the longest call are known exactly, all others by the middle of their bucket, which lies between. */
static bool rescale_hist(tl_place_stat *s, ratio r, bucket_list *l)
{
    const uint32_t first = tl_hist_bucket(s->min), last = tl_hist_bucket(s->max);
    tl_hist hist = {0};
    tl_hist_pair p;
    l->n = 0;
    put(l, scaled(r, s->min), 1);
    for (uint32_t at = 0; tl_hist_each(&s->hist, &at, &p);) {
        const uint64_t middle = tl_hist_middle(p.bucket);
        const uint64_t ends = (p.bucket == first ? 1u : 0u) + (p.bucket == last ? 1u : 0u);
        const uint64_t value = middle < s->min ? s->min : middle > s->max ? s->max : middle;
        put(l, scaled(r, value), p.count > ends ? p.count - ends : 0);
    }
    if (s->calls > 1)
        put(l, scaled(r, s->max), 1);
    if (!tl_hist_assign(&hist, l->pair, l->n))
        return false;
    tl_hist_fini(&s->hist);
    s->hist = hist;
    return true;
}

static bool rescale_calls(tl_profile *p, ratio r)
{
    bucket_list list = {.pair = tl_alloc(TL_HIST_BUCKETS, sizeof *list.pair)};
    bool ok = list.pair != NULL;
    for (uint32_t i = 0; ok && i < p->nplace; i++) {
        tl_place_stat *s = &p->stat[i];
        ok = !p->has_histogram || s->calls == 0 || rescale_hist(s, r, &list);
        s->total = scaled(r, s->total);
        s->self = scaled(r, s->self);
        s->outer = scaled(r, s->outer);
        s->min = scaled(r, s->min);
        s->max = scaled(r, s->max);
    }
    free(list.pair);
    return ok;
}

static int rescale_samples(tl_profile *p, ratio r, tl_error *e)
{
    for (uint32_t k = 0; k < p->nweight; k++)
        for (uint32_t i = 0; strcmp(p->kind[k].unit, "nanoseconds") == 0 && i < p->nplace; i++) {
            uint64_t *self = &p->weight_self[(size_t)i * p->nweight + k];
            *self = scaled(r, *self);
        }
    if (p->has_span) {
        p->begin = scaled(r, p->begin);
        p->end = scaled(r, p->end);
    }
    return tl_profile_choose_weight(p, p->kind[p->weight].name, e);
}

int tl_profile_rescale(tl_profile *p, uint64_t hz, tl_error *e)
{
    const ratio r = {.to = hz, .from = p->clock.hz};
    if (hz == 0)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "a clock of 0 Hz");
    if (r.from == 0)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "the frequency of the profile's clock is not known");
    const char *name = tl_profile_intern(p, TL_RESCALED_CLOCK);
    int status = name ? 0 : TL_ENOMEM;
    if (status == 0 && r.from != r.to) {
        p->rescaled = true;
        if (p->nweight)
            status = rescale_samples(p, r, e);
        else
            status = rescale_calls(p, r) ? 0 : TL_ENOMEM;
    }
    if (status == TL_ENOMEM)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to rescale a profile of %" PRIu32 " places", p->nplace);
    if (status < 0)
        return status;
    p->clock.name = name;
    p->clock.hz = hz;
    tl_scale_init(&p->scale, hz);
    return 0;
}

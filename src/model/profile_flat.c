/* Removes the tree from a profile: tables of functions need the sums of all places of each, and with one place per
 * function, adding profiles takes a fraction of the time. */
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile_impl.h"

enum { BITS = 64, WORDS = TL_HIST_BUCKETS / BITS };

/* Counts by bucket, and a bit for each used bucket: adding the histograms of many places takes time for their entries
 * only, however many the sum has. */
typedef struct hist_sum {
    uint64_t count[TL_HIST_BUCKETS], used[WORDS];
    tl_hist_pair pair[TL_HIST_BUCKETS]; /* scratch */
} hist_sum;

static void sum_add(hist_sum *s, const tl_hist *h)
{
    tl_hist_pair p;
    for (uint32_t at = 0; tl_hist_each(h, &at, &p);) {
        s->used[p.bucket / BITS] |= (uint64_t)1 << p.bucket % BITS;
        s->count[p.bucket] = tl_add_saturated(s->count[p.bucket], p.count);
    }
}

/* Takes the sum as a histogram, and starts again. False when memory runs out. */
static bool sum_take(hist_sum *s, tl_hist *out)
{
    uint32_t n = 0;
    for (uint32_t word = 0; word < WORDS; word++) {
        for (uint64_t bits = s->used[word]; bits; bits &= bits - 1) {
            const uint32_t bucket = word * BITS + (uint32_t)__builtin_ctzll(bits);
            s->pair[n++] = (tl_hist_pair){.count = s->count[bucket], .bucket = bucket};
            s->count[bucket] = 0;
        }
        s->used[word] = 0;
    }
    return tl_hist_assign(out, s->pair, n);
}

/* Adds up the places of a function. False when memory runs out. */
static bool sum_places(const tl_profile *p, uint32_t function, hist_sum *sum, tl_profile *flat, uint32_t place)
{
    tl_place_stat *out = &flat->stat[place];
    *out = (tl_place_stat){.min = UINT64_MAX};
    for (uint32_t at = p->same_first[function]; at; at = p->same_next[at]) {
        tl_profile_add_sums(out, &p->stat[at]);
        sum_add(sum, &p->stat[at].hist);
    }
    return sum_take(sum, &out->hist) &&
           (!p->unwound || tl_profile_add_unwound(flat, place, tl_profile_function_unwound(p, function)));
}

/* Makes a place in `flat` for each function with places in p. */
static bool add_places(tl_profile *flat, tl_profile *p, hist_sum *sum)
{
    uint32_t most = 1;
    for (uint32_t f = 0; f < p->nfunction; f++)
        most += p->same_first[f] != 0;
    bool ok = tl_profile_reserve(flat, most, 0);
    for (uint32_t f = 0; ok && f < p->nfunction; f++) {
        if (!p->same_first[f])
            continue;
        const uint32_t place = flat->nplace++;
        flat->place[place] = (tl_place){.function = f, .track = TL_NO_TRACK};
        flat->same_next[place] = 0;
        ok = sum_places(p, f, sum, flat, place);
        p->same_first[f] = place;
    }
    return ok;
}

int tl_profile_flatten(tl_profile *p, tl_error *e)
{
    assert(!p->nweight && !p->per_thread);
    tl_profile *flat = NULL;
    int status = tl_profile_new(&flat, &p->clock, e);
    if (status < 0)
        return status;
    hist_sum *sum = malloc(sizeof *sum);
    if (sum)
        memset(sum, 0, offsetof(hist_sum, pair));
    if (sum && add_places(flat, p, sum)) {
        const tl_profile before = *p;
        p->place = flat->place;
        p->stat = flat->stat;
        p->same_next = flat->same_next;
        p->unwound = flat->unwound;
        p->nplace = flat->nplace;
        p->place_capacity = flat->place_capacity;
        flat->place = before.place;
        flat->stat = before.stat;
        flat->same_next = before.same_next;
        flat->unwound = before.unwound;
        flat->nplace = before.nplace;
        tl_place_index_fini(&p->child);
        p->indexed = 0;
    } else {
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to add up a profile of %" PRIu32 " places", p->nplace);
    }
    free(sum);
    tl_profile_free(flat);
    return status;
}

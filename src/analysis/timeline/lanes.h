/* Lanes of a picture of calls: the calls of one track at one depth. Of more than fit, those of the lowest depths are
 * kept, and of one depth the first tracks, in whatever order they come. */
#ifndef TL_ANALYSIS_LANES_H
#define TL_ANALYSIS_LANES_H

#include "base/hash.h"

typedef struct tl_lane {
    uint32_t track, depth; /* depth 1: outermost */
    uint32_t row;          /* a number that no other lane has: below tl_lanes_rows() */
    uint64_t calls, ticks; /* for the caller */
} tl_lane;

typedef struct tl_lanes {
    tl_lane *lane; /* [n] */
    uint32_t n, most;
    tl_hash index;  /* depth << 32 | track -> lane */
    bool full;      /* some were dropped: */
    uint64_t limit; /* ... none from this key on is added any more */
    uint32_t *free; /* [nfree] rows of those that were dropped */
    uint32_t nfree;
} tl_lanes;

/* False when memory runs out. tl_lanes_fini() in any case. */
bool tl_lanes_init(tl_lanes *l, uint32_t most);
void tl_lanes_fini(tl_lanes *l);
/* How many rows may be in use at once. */
uint32_t tl_lanes_rows(uint32_t most);
/* The lane, made if needed: *fresh. NULL if it is none of those kept, or memory ran out: then *failed. Valid until the
 * next call. */
tl_lane *tl_lanes_add_slow(tl_lanes *l, uint64_t key, bool *fresh, bool *failed);
/* Drops all but the first `most`, and sorts them by track, then depth. */
void tl_lanes_finish(tl_lanes *l);

TL_ALWAYS_INLINE tl_lane *tl_lanes_get(tl_lanes *l, uint32_t track, uint32_t depth, bool *fresh, bool *failed)
{
    const uint64_t key = (uint64_t)depth << 32 | track;
    *fresh = false;
    if (TL_UNLIKELY(l->full && key >= l->limit))
        return NULL;
    const uint32_t at = tl_hash_get(&l->index, key);
    return TL_LIKELY(at != TL_HASH_NONE) ? &l->lane[at] : tl_lanes_add_slow(l, key, fresh, failed);
}

#endif

/* A cache with LRU replacement in each set: which lines are in it, and which of them were written.
 *
 * The ways of a set are in the order of their use, the latest first: nothing else must be stored, and most uses
 * are of the first. Memory: 8 bytes per line. */
#ifndef TL_ANALYSIS_CACHE_LEVEL_H
#define TL_ANALYSIS_CACHE_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define TL_CACHE_WRITTEN UINT64_C(2) /* in an entry, which is line << 2 | TL_CACHE_USED; 0: free */
#define TL_CACHE_USED    UINT64_C(1)

/* Zeroed, it is not a cache. */
typedef struct tl_cache_level {
    uint64_t *entry; /* [sets * ways] */
    uint64_t mask;   /* sets - 1 */
    uint32_t ways;
    unsigned shift; /* 1 << shift bytes a line */
} tl_cache_level;

/* The number of sets must be a power of two, lines below 2^62. False when memory runs out. */
bool tl_cache_level_init(tl_cache_level *c, uint32_t sets, uint32_t ways, unsigned shift);
void tl_cache_level_reset(tl_cache_level *c); /* empties it */
void tl_cache_level_fini(tl_cache_level *c);

/* The ways after the first, see tl_cache_touch(): they are moved during the search. */
static inline bool tl_cache_touch_rest(uint64_t *set, uint32_t ways, uint64_t want, uint64_t written, uint64_t *victim)
{
    uint64_t before = set[0];
    for (uint32_t i = 1; i < ways; i++) {
        const uint64_t entry = set[i];
        set[i] = before;
        if ((entry | TL_CACHE_WRITTEN) == (want | TL_CACHE_WRITTEN)) {
            set[0] = entry | written;
            return true;
        }
        before = entry;
    }
    *victim = before;
    set[0] = want | written;
    return false;
}

/* Uses a line; written: TL_CACHE_WRITTEN or 0. True if it was in the cache. Otherwise it replaces the entry *victim (0:
 * the place was free). */
TL_ALWAYS_INLINE bool tl_cache_touch(tl_cache_level *c, uint64_t line, uint64_t written, uint64_t *victim)
{
    uint64_t *set = c->entry + (line & c->mask) * c->ways;
    const uint64_t want = line << 2 | TL_CACHE_USED, entry = set[0];
    if (TL_LIKELY((entry | TL_CACHE_WRITTEN) == (want | TL_CACHE_WRITTEN))) {
        set[0] = entry | written;
        return true;
    }
    return tl_cache_touch_rest(set, c->ways, want, written, victim);
}

#endif

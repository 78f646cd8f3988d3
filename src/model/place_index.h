/* Finds places by parent and function: an open hash table of place numbers alone. The keys are in the places, which a
 * walk down a stack reads next anyway, so the table of a large tree stays small. */
#ifndef TL_MODEL_PLACE_INDEX_H
#define TL_MODEL_PLACE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/hash.h"

typedef struct tl_place {
    uint32_t parent, function;
    uint32_t last_child; /* the child looked up last, 0: none */
    uint32_t track;      /* of a per-thread root: index into `track`; else TL_NO_TRACK */
} tl_place;

typedef struct tl_place_index {
    uint32_t *slot; /* 0: free */
    uint64_t seed;  /* as in tl_hash */
    uint32_t mask, n;
} tl_place_index;

TL_ALWAYS_INLINE uint32_t tl_place_index_start(const tl_place_index *x, uint32_t parent, uint32_t function)
{
    return tl_hash_place((uint64_t)parent << 32 | function, x->seed) & x->mask;
}

/* The place, or 0. */
TL_ALWAYS_INLINE uint32_t tl_place_index_get(const tl_place_index *x, const tl_place *place, uint32_t parent,
                                             uint32_t function)
{
    if (!x->slot)
        return 0;
    for (uint32_t i = tl_place_index_start(x, parent, function);; i = (i + 1) & x->mask) {
        const uint32_t found = x->slot[i];
        if (!found || (place[found].parent == parent && place[found].function == function))
            return found;
    }
}

/* Adds a place that is not in it. False when memory runs out. */
bool tl_place_index_add(tl_place_index *x, const tl_place *place, uint32_t number);
void tl_place_index_fini(tl_place_index *x);

#endif

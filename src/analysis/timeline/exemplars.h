/* Calls of a function that are worth a look: the longest, and those nearest to some durations, such as its median. */
#ifndef TL_ANALYSIS_EXEMPLARS_H
#define TL_ANALYSIS_EXEMPLARS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define TL_EXEMPLAR_NEAR    3u  /* durations */
#define TL_EXEMPLAR_LONGEST 16u /* calls */
#define TL_EXEMPLAR_EACH    4u  /* calls near a duration */

typedef struct tl_exemplar {
    uint64_t begin, ticks;
    uint32_t track, depth, place; /* place: a number that the caller chose */
} tl_exemplar;

typedef struct tl_exemplar_row {
    uint64_t near[TL_EXEMPLAR_NEAR]; /* the durations */
    uint32_t nlongest, nnear[TL_EXEMPLAR_NEAR];
    uint64_t least;                           /* shorter ones are not among the longest ... */
    uint64_t farthest[TL_EXEMPLAR_NEAR];      /* ... and those farther away than that are not near. Before that 0 and
                                                 UINT64_MAX */
    tl_exemplar longest[TL_EXEMPLAR_LONGEST]; /* the longest first; of equal ones the first track's first */
    tl_exemplar around[TL_EXEMPLAR_NEAR][TL_EXEMPLAR_EACH]; /* the nearest first */
} tl_exemplar_row;

/* After zeroing and setting `near`. */
void tl_exemplars_init(tl_exemplar_row *r);
void tl_exemplars_add(tl_exemplar_row *r, const tl_exemplar *x);
/* Adds those of another row with the same durations. */
void tl_exemplars_merge(tl_exemplar_row *r, const tl_exemplar_row *from);

/* May a call of so many ticks be one of them? */
TL_ALWAYS_INLINE bool tl_exemplars_want(const tl_exemplar_row *r, uint64_t ticks)
{
    bool any = ticks >= r->least;
    for (unsigned i = 0; i < TL_EXEMPLAR_NEAR; i++)
        any |= (ticks > r->near[i] ? ticks - r->near[i] : r->near[i] - ticks) <= r->farthest[i];
    return any;
}

#endif

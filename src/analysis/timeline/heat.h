/* How many calls of a function took how long, over time. */
#ifndef TL_ANALYSIS_HEAT_H
#define TL_ANALYSIS_HEAT_H

#include "analysis/timeline/time_axis.h"
#include "model/histogram.h"

#define TL_HEAT_SUB_BITS 3u
#define TL_HEAT_BUCKETS  512u /* more than there are; 8 for each power of two: */
#define TL_HEAT_BLOCK    (1u << TL_HEAT_SUB_BITS)
#define TL_HEAT_BLOCKS   (TL_HEAT_BUCKETS / TL_HEAT_BLOCK)

typedef struct tl_heat {
    tl_time_axis axis;
    uint32_t rows;
    uint32_t *block; /* by row, column and power of two: 1 + its place in `calls`; 0: all zero */
    uint64_t *calls;
    uint32_t nblock, capacity; /* of 8 buckets */
} tl_heat;

/* False when memory runs out, as below. tl_heat_fini() in any case. */
bool tl_heat_init(tl_heat *h, const tl_time_axis *axis, uint32_t rows);
void tl_heat_fini(tl_heat *h);
/* A call is in the column of its begin. */
bool tl_heat_add(tl_heat *h, uint32_t row, uint64_t begin, uint64_t ticks);
/* The first use of a block. */
bool tl_heat_add_block(tl_heat *h, uint32_t *block);
/* Adds all of another one with the same axis and rows. */
bool tl_heat_merge(tl_heat *h, const tl_heat *from);
/* Calls in a bucket. */
uint64_t tl_heat_get(const tl_heat *h, uint32_t row, uint32_t column, uint32_t bucket);

TL_ALWAYS_INLINE uint32_t tl_heat_bucket(uint64_t ticks)
{
    const unsigned exponent = 63u - (unsigned)__builtin_clzll(ticks | TL_HEAT_BLOCK) - TL_HEAT_SUB_BITS;
    return (exponent << TL_HEAT_SUB_BITS) + (uint32_t)(ticks >> exponent);
}

TL_ALWAYS_INLINE bool tl_heat_put(tl_heat *h, uint32_t row, uint32_t column, uint32_t bucket, uint64_t calls)
{
    uint32_t *block = &h->block[((size_t)row * h->axis.n + column) * TL_HEAT_BLOCKS + bucket / TL_HEAT_BLOCK];
    if (TL_UNLIKELY(*block == 0) && !tl_heat_add_block(h, block))
        return false;
    uint64_t *sum = &h->calls[(size_t)(*block - 1) * TL_HEAT_BLOCK + bucket % TL_HEAT_BLOCK];
    *sum = tl_add_saturated(*sum, calls);
    return true;
}

#endif

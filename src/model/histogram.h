/* Log-linear histogram of u64 values: exact below 128, then 64 buckets for each power of two, so that a bucket's middle
 * is within 0.8 % of every value in it. Adding and merging are exact sums of counts: any order gives the same
 * histogram.
 *
 * Buckets are kept as one window of 32-bit counts from the first to the last used, grown in steps of 16. */
#ifndef TL_MODEL_HISTOGRAM_H
#define TL_MODEL_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define TL_HIST_SUB_BITS 6
#define TL_HIST_SUB      (1u << TL_HIST_SUB_BITS)                               /* buckets for each power of two */
#define TL_HIST_BUCKETS  ((64u - TL_HIST_SUB_BITS) * TL_HIST_SUB + TL_HIST_SUB) /* 3776 */

typedef struct tl_hist {
    uint32_t *count; /* [n], bucket first + i; NULL: empty */
    uint16_t first, n;
    bool wide; /* counts are uint64_t: some bucket exceeded 32 bits */
} tl_hist;

/* Bucket of a value: v itself below 128. */
TL_ALWAYS_INLINE uint32_t tl_hist_bucket(uint64_t v)
{
    if (v < 2 * TL_HIST_SUB)
        return (uint32_t)v;
    unsigned exponent = 63u - (unsigned)__builtin_clzll(v) - TL_HIST_SUB_BITS; /* >= 1 */
    return (exponent << TL_HIST_SUB_BITS) + (uint32_t)(v >> exponent);
}

/* Smallest and largest value of a bucket, and the value that stands for it (the middle, rounded down). */
uint64_t tl_hist_low(uint32_t bucket);
uint64_t tl_hist_high(uint32_t bucket);
uint64_t tl_hist_middle(uint32_t bucket);

/* Adds n to the count of a bucket; false when memory runs out. */
bool tl_hist_add_slow(tl_hist *h, uint32_t bucket, uint64_t n);

TL_ALWAYS_INLINE bool tl_hist_add(tl_hist *h, uint64_t value)
{
    uint32_t bucket = tl_hist_bucket(value), at = bucket - h->first;
    if (TL_LIKELY(at < h->n && !h->wide && h->count[at] != UINT32_MAX)) {
        h->count[at]++;
        return true;
    }
    return tl_hist_add_slow(h, bucket, 1);
}

bool tl_hist_merge(tl_hist *into, const tl_hist *from);
void tl_hist_fini(tl_hist *h);

uint64_t tl_hist_get(const tl_hist *h, uint32_t bucket);
uint64_t tl_hist_sum(const tl_hist *h);
/* The first used bucket >= from, or TL_HIST_BUCKETS. */
uint32_t tl_hist_next(const tl_hist *h, uint32_t from);
/* Value at rank ceil(permille * sum / 1000), from 1: the middle of its bucket, held within [min, max]. 0 if empty. */
uint64_t tl_hist_percentile(const tl_hist *h, unsigned permille, uint64_t min, uint64_t max);

#endif

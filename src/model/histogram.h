/* Log-linear histogram of u64 values: exact below 512, then 256 buckets for each power of two, so that a bucket's
 * middle is within 0.2 % of every value in it. Adding and merging are exact sums of counts: any order gives the same
 * histogram.
 *
 * Counts have one of two representations, whichever is smaller, invisible from outside:
 *
 *   list    (bucket, count) of the used buckets, ascending. A call that lasted a million times longer than the others
 *           costs one more entry instead of a thousand empty buckets. A list of one is in the struct itself: most
 *           places of a large tree have no others, and take no other memory.
 *   window  32-bit counts of all buckets from the first to the last used, grown in steps of 16; 64-bit ones ("wide")
 *           once a count needs it. For histograms that are dense, or so busy that the fast path below pays. */
#ifndef TL_MODEL_HISTOGRAM_H
#define TL_MODEL_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "model/hist_layout.h"

typedef struct tl_hist_pair {
    uint64_t count; /* not 0 */
    uint32_t bucket;
} tl_hist_pair;

/* A zeroed tl_hist is empty. */
typedef struct tl_hist {
    union {
        uint32_t *count;    /* window: [n], of bucket first + i */
        tl_hist_pair *pair; /* list: [used] */
        uint64_t alone;     /* a list without memory of its own: the count of bucket `first` */
    };
    uint16_t first, n;     /* n 0: there is no window */
    uint16_t used;         /* 0: there is no list */
    uint8_t capacity_log2; /* of the list; 0: no memory of its own, and room for one */
    bool wide;             /* the window's counts are uint64_t */
} tl_hist;

/* For tl_hist_each(): an entry of a list or a count of a window. */
TL_ALWAYS_INLINE tl_hist_pair tl_hist_list_entry(const tl_hist *h, uint32_t at)
{
    return h->capacity_log2 ? h->pair[at] : (tl_hist_pair){.count = h->alone, .bucket = h->first};
}

TL_ALWAYS_INLINE uint64_t tl_hist_window_count(const tl_hist *h, uint32_t at)
{
    return h->wide ? ((const uint64_t *)(const void *)h->count)[at] : h->count[at];
}

/* a + b, saturating. */
TL_ALWAYS_INLINE uint64_t tl_add_saturated(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;
    return sum < a ? UINT64_MAX : sum;
}

/* Bucket of a value: v itself below 512. */
TL_ALWAYS_INLINE uint32_t tl_hist_bucket(uint64_t v)
{
    return tl_hist_bucket_of(v);
}

/* Smallest and largest value of a bucket, and the value that represents it (the middle, rounded down). */
uint64_t tl_hist_low(uint32_t bucket);
uint64_t tl_hist_high(uint32_t bucket);
uint64_t tl_hist_middle(uint32_t bucket);

/* Adds n to the count of a bucket; false when memory runs out. Counts stop at UINT64_MAX. */
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

/* Sets an empty histogram from its used buckets, ascending. Takes memory proportional to n, whatever the buckets. */
bool tl_hist_assign(tl_hist *h, const tl_hist_pair *pair, uint32_t n);
/* Adds the counts of `from`, which may be `into` itself. False, with nothing changed, when memory runs out. */
bool tl_hist_merge(tl_hist *into, const tl_hist *from);
/* The same in two steps: makes room for `from`, which may fail; then, while neither has changed, adds, which cannot. */
bool tl_hist_reserve(tl_hist *into, const tl_hist *from);
void tl_hist_add_all(tl_hist *into, const tl_hist *from);
void tl_hist_fini(tl_hist *h);

/* The memory that it takes besides the struct. */
size_t tl_hist_bytes(const tl_hist *h);
uint64_t tl_hist_get(const tl_hist *h, uint32_t bucket);
uint64_t tl_hist_sum(const tl_hist *h);
/* The used buckets, ascending: false at the end. *at is 0 at first. */
TL_ALWAYS_INLINE bool tl_hist_each(const tl_hist *h, uint32_t *at, tl_hist_pair *out)
{
    if (!h->n) {
        if (*at == h->used)
            return false;
        *out = tl_hist_list_entry(h, (*at)++);
        return true;
    }
    for (; *at < h->n; ++*at) {
        const uint64_t count = tl_hist_window_count(h, *at);
        if (count) {
            *out = (tl_hist_pair){.count = count, .bucket = h->first + (*at)++};
            return true;
        }
    }
    return false;
}
/* The first used bucket >= from, or TL_HIST_BUCKETS. */
uint32_t tl_hist_next(const tl_hist *h, uint32_t from);
/* Value at rank ceil(permille * sum / 1000), from 1: min at the first rank, max at the last, otherwise the middle of
 * its bucket, clamped to [min, max]. 0 if empty. */
uint64_t tl_hist_percentile(const tl_hist *h, unsigned permille, uint64_t min, uint64_t max);
/* The same of part / whole, for finer ones; part <= whole, whole > 0. */
uint64_t tl_hist_quantile(const tl_hist *h, uint32_t part, uint32_t whole, uint64_t min, uint64_t max);
/* The same for n parts, ascending. */
void tl_hist_quantiles(const tl_hist *h, const uint32_t *part, size_t n, uint32_t whole, uint64_t min, uint64_t max,
                       uint64_t *out);

/* The sum of many histograms whose values are all in [min, max]; needs no memory of its own. */
typedef struct tl_hist_total {
    tl_hist hist; /* a wide window on `count`: read it with the functions above, do not change it */
    uint64_t min, max;
    uint64_t count[TL_HIST_BUCKETS];
} tl_hist_total;

void tl_hist_total_start(tl_hist_total *s, uint64_t min, uint64_t max);
void tl_hist_total_add(tl_hist_total *s, const tl_hist *h);

#endif

/* What hand-written programs add up and print for each function: calls, times, and percentiles of a histogram. */
#ifndef LIMIT_TABLE_H
#define LIMIT_TABLE_H

#include "limit_file.h"

#include <inttypes.h>

/* A histogram has 256 buckets for each power of two, like the one it is compared with. */
enum { MAX_FUNCTIONS = 1 << 16, SUB_BITS = 8, SUB = 1 << SUB_BITS, BUCKETS = 57 * SUB };

struct function {
    uint64_t calls, total, self, min, max;
    uint32_t active; /* frames on the stack, in the current thread */
    uint32_t *histogram;
};

static struct function functions[MAX_FUNCTIONS];

static inline uint32_t bucket_of(uint64_t v)
{
    if (v < 2 * SUB)
        return (uint32_t)v;
    const unsigned shift = 63u - (unsigned)__builtin_clzll(v) - SUB_BITS;
    return (shift << SUB_BITS) + (uint32_t)(v >> shift);
}

static inline uint64_t bucket_middle(uint32_t bucket)
{
    if (bucket < 2 * SUB)
        return bucket;
    const unsigned shift = (bucket >> SUB_BITS) - 1;
    return ((uint64_t)(bucket - (shift << SUB_BITS)) << shift) + ((1ull << shift) - 1) / 2;
}

/* Room for a function's durations, when the first one comes. */
static inline void first_duration(struct function *f, uint64_t duration)
{
    f->histogram = calloc(BUCKETS, sizeof(uint32_t));
    if (f->histogram == NULL)
        exit(1);
    f->min = duration;
}

static inline uint64_t percentile(const struct function *f, unsigned permille)
{
    const uint64_t rank = (f->calls * permille + 999) / 1000;
    uint64_t seen = 0;
    if (rank <= 1)
        return f->min;
    for (uint32_t i = 0; i < BUCKETS && rank < f->calls; i++) {
        seen += f->histogram[i];
        if (seen >= rank) {
            const uint64_t middle = bucket_middle(i);
            return middle < f->min ? f->min : middle > f->max ? f->max : middle;
        }
    }
    return f->max;
}

/* id, calls, total, self of each function that was called; and min, p50, p90, p99, max if known. */
static inline void print_table(void)
{
    for (uint32_t id = 0; id < MAX_FUNCTIONS; id++) {
        const struct function *f = &functions[id];
        if (f->calls == 0)
            continue;
        printf("%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, id, f->calls, f->total, f->self);
        if (f->histogram != NULL)
            printf("\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, f->min, percentile(f, 500),
                   percentile(f, 900), percentile(f, 990), f->max);
        putchar('\n');
    }
}

#endif

/* What C17 lacks: branch hints, forced inlining, and the build's own attributes. */
#ifndef TL_BASE_COMPILER_H
#define TL_BASE_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#define TL_LIKELY(x)           __builtin_expect(!!(x), 1)
#define TL_UNLIKELY(x)         __builtin_expect(!!(x), 0)
#define TL_ALWAYS_INLINE       static inline __attribute__((always_inline))
#define TL_NOINLINE            __attribute__((noinline))
#define TL_COLD                __attribute__((cold, noinline))
#define TL_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define TL_UNUSED              __attribute__((unused))
#define TL_COUNT(array)        (sizeof(array) / sizeof((array)[0]))

/* Compares two numbers as qsort() expects: -1, 0 or 1. Evaluates its arguments twice. */
#define TL_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* For qsort() of numbers. */
static inline int tl_compare_u32(const void *a, const void *b)
{
    return TL_COMPARE(*(const uint32_t *)a, *(const uint32_t *)b);
}

static inline int tl_compare_u64(const void *a, const void *b)
{
    return TL_COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

#endif

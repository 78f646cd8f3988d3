/* Exact sums of 64-bit numbers: 128 bits in two halves, since not every host's compiler has such a type. Room for 2^64
 * numbers before they wrap. */
#ifndef TL_BASE_WIDE_SUM_H
#define TL_BASE_WIDE_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

typedef struct tl_sum {
    uint64_t high, low;
} tl_sum;

#define TL_SUM_TEXT 40u /* bytes of the longest text, with NUL */

static inline void tl_sum_add(tl_sum *s, uint64_t v)
{
    s->low += v;
    s->high += s->low < v;
}

static inline void tl_sum_join(tl_sum *s, tl_sum v)
{
    tl_sum_add(s, v.low);
    s->high += v.high;
}

/* < 0, 0 or > 0: a is less than, equal to or greater than b. */
static inline int tl_sum_compare(tl_sum a, tl_sum b)
{
    if (a.high != b.high)
        return a.high < b.high ? -1 : 1;
    return TL_COMPARE(a.low, b.low);
}

/* a - b; a must not be less than b. */
static inline tl_sum tl_sum_minus(tl_sum a, tl_sum b)
{
    return (tl_sum){a.high - b.high - (a.low < b.low), a.low - b.low};
}

static inline tl_sum tl_sum_of(uint64_t v)
{
    return (tl_sum){0, v};
}

tl_sum tl_sum_times(uint64_t a, uint32_t b);

/* Saturated, for people and pictures. */
static inline uint64_t tl_sum_u64(tl_sum s)
{
    return s.high ? UINT64_MAX : s.low;
}

static inline double tl_sum_double(tl_sum s)
{
    return (double)s.high * 18446744073709551616.0 + (double)s.low;
}

/* Decimal, terminated. Returns buf. */
char *tl_sum_text(char buf[TL_SUM_TEXT], tl_sum s);

#endif

/* 128-bit signed integers, for offsets of clocks: they must be exact, and not all hosts have the type. */
#ifndef TL_FORMAT_CTF_WIDE_H
#define TL_FORMAT_CTF_WIDE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ctf_wide {
    uint64_t high, low; /* two's complement */
} ctf_wide;

static inline ctf_wide ctf_wide_of(int64_t v)
{
    return (ctf_wide){v < 0 ? UINT64_MAX : 0, (uint64_t)v};
}

static inline ctf_wide ctf_wide_add(ctf_wide a, ctf_wide b)
{
    const uint64_t low = a.low + b.low;
    return (ctf_wide){a.high + b.high + (low < a.low), low};
}

static inline ctf_wide ctf_wide_negate(ctf_wide a)
{
    return (ctf_wide){~a.high + (a.low == 0), 0 - a.low};
}

static inline ctf_wide ctf_wide_subtract(ctf_wide a, ctf_wide b)
{
    return ctf_wide_add(a, ctf_wide_negate(b));
}

/* a * b; exact, as |a * b| is less than 2^127. */
static inline ctf_wide ctf_wide_multiply(int64_t a, uint64_t b)
{
    const uint64_t m = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
    const uint64_t a0 = (uint32_t)m, a1 = m >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    const ctf_wide product = {a1 * b1 + (middle >> 32) + (other >> 32), m * b};
    return a < 0 ? ctf_wide_negate(product) : product;
}

static inline bool ctf_wide_less(ctf_wide a, ctf_wide b)
{
    const uint64_t sign = UINT64_C(1) << 63;
    return a.high != b.high ? (a.high ^ sign) < (b.high ^ sign) : a.low < b.low;
}

/* Whether it fits an int64_t: that of `low`. */
static inline bool ctf_wide_fits(ctf_wide a)
{
    return a.high == (a.low >> 63 ? UINT64_MAX : 0);
}

#endif

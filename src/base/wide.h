/* 128-bit products; not every target's compiler has 128-bit integers. */
#ifndef TL_BASE_WIDE_H
#define TL_BASE_WIDE_H

#include <stdint.h>

#include "base/compiler.h"

typedef struct tl_wide {
    uint64_t high, low;
} tl_wide;

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 tl_uint128;
#endif

TL_ALWAYS_INLINE tl_wide tl_multiply(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    const tl_uint128 product = (tl_uint128)a * b;
    return (tl_wide){(uint64_t)(product >> 64), (uint64_t)product};
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, cross = a1 * b0 + (low >> 32), middle = a0 * b1 + (uint32_t)cross;
    return (tl_wide){a1 * b1 + (cross >> 32) + (middle >> 32), middle << 32 | (uint32_t)low};
#endif
}

#endif

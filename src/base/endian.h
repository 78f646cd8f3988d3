/* Loads and stores of numbers at any address in either byte order. Pass a constant as `big`, so that the choice costs
 * nothing. */
#ifndef TL_BASE_ENDIAN_H
#define TL_BASE_ENDIAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TL_HOST_BIG true
#else
#define TL_HOST_BIG false
#endif

TL_ALWAYS_INLINE uint16_t tl_load16(const void *p, bool big)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return big == TL_HOST_BIG ? v : __builtin_bswap16(v);
}

TL_ALWAYS_INLINE uint32_t tl_load32(const void *p, bool big)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return big == TL_HOST_BIG ? v : __builtin_bswap32(v);
}

TL_ALWAYS_INLINE uint64_t tl_load64(const void *p, bool big)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return big == TL_HOST_BIG ? v : __builtin_bswap64(v);
}

TL_ALWAYS_INLINE void tl_store16(void *p, uint16_t v, bool big)
{
    if (big != TL_HOST_BIG)
        v = __builtin_bswap16(v);
    memcpy(p, &v, sizeof v);
}

TL_ALWAYS_INLINE void tl_store32(void *p, uint32_t v, bool big)
{
    if (big != TL_HOST_BIG)
        v = __builtin_bswap32(v);
    memcpy(p, &v, sizeof v);
}

TL_ALWAYS_INLINE void tl_store64(void *p, uint64_t v, bool big)
{
    if (big != TL_HOST_BIG)
        v = __builtin_bswap64(v);
    memcpy(p, &v, sizeof v);
}

#endif

/* Reads varints: seven bits a byte, lowest first, the high bit set in all but the last byte. Every number has one form:
 * the shortest. base/protobuf.h writes them. */
#ifndef TL_BASE_VARINT_H
#define TL_BASE_VARINT_H

#include <stdint.h>

#include "base/compiler.h"

typedef enum tl_varint_fault {
    TL_VARINT_FINE,
    TL_VARINT_ENDED,       /* the bytes end inside it */
    TL_VARINT_TOO_LARGE,   /* it has more than 64 bits */
    TL_VARINT_SUPERFLUOUS, /* it ends in a zero byte */
} tl_varint_fault;

tl_varint_fault tl_varint_read_long(const uint8_t **at, const uint8_t *end, uint64_t *v);

/* *at moves behind the number; with a fault nothing changes. */
TL_ALWAYS_INLINE tl_varint_fault tl_varint_read(const uint8_t **at, const uint8_t *end, uint64_t *v)
{
    if (TL_UNLIKELY(*at == end || **at >= 0x80))
        return tl_varint_read_long(at, end, v);
    *v = *(*at)++;
    return TL_VARINT_FINE;
}

#endif

/* Varints of several bytes, and malformed ones. */
#include "base/varint.h"

tl_varint_fault tl_varint_read_long(const uint8_t **at, const uint8_t *end, uint64_t *v)
{
    const uint8_t *p = *at;
    uint64_t n = 0;
    if (end - p >= 2 && p[0] >= 0x80 && p[1] - 1u < 0x7f) { /* the most likely ones */
        *v = (uint64_t)p[1] << 7 | (p[0] & 0x7f);
        *at = p + 2;
        return TL_VARINT_FINE;
    }
    for (unsigned shift = 0; p < end; shift += 7) {
        const uint8_t byte = *p++;
        if (shift == 63 && byte > 1)
            return TL_VARINT_TOO_LARGE;
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (byte >= 0x80)
            continue;
        if (byte == 0 && shift > 0)
            return TL_VARINT_SUPERFLUOUS;
        *v = n;
        *at = p;
        return TL_VARINT_FINE;
    }
    return TL_VARINT_ENDED;
}

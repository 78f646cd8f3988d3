/* Numbers of a line, eight characters at a time.
 *
 * Every reader here gets a pointer to the first character of a number and returns one to the first that is not part of
 * it, or NULL. Lines end in '\n', and at least 16 bytes behind the last one may be read. */
#ifndef TL_FORMAT_TRACELOG_ITEMS_H
#define TL_FORMAT_TRACELOG_ITEMS_H

#include "base/endian.h"

#define TRACELOG_BYTES(x) (UINT64_C(0x0101010101010101) * (x)) /* eight bytes of the same value */

/* How many of the eight characters, from the first on, are marked in the high bits of their bytes. */
TL_ALWAYS_INLINE unsigned tracelog_marked(uint64_t marks)
{
    const uint64_t others = ~marks & TRACELOG_BYTES(0x80);
    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* The leading hexadecimal digits of eight characters: their number, and their value. */
TL_ALWAYS_INLINE unsigned tracelog_hex8(const uint8_t *p, uint32_t *value)
{
    const uint64_t x = tl_load64(p, false), low = x & TRACELOG_BYTES(0x7f), lower = low | TRACELOG_BYTES(0x20);
    /* Added to a byte, 0x80 - c sets its high bit if it is c or more. */
    const uint64_t digit = (low + TRACELOG_BYTES(0x80 - '0')) & ~(low + TRACELOG_BYTES(0x7f - '9'));
    const uint64_t letter = (lower + TRACELOG_BYTES(0x80 - 'a')) & ~(lower + TRACELOG_BYTES(0x7f - 'f')) & ~digit & ~x &
                            TRACELOG_BYTES(0x80);
    const unsigned n = tracelog_marked((digit | letter) & ~x);
    /* Nibbles, then pairs of them, then fours, the first character in the highest. What is no digit goes below. */
    uint64_t v = (x & TRACELOG_BYTES(0x0f)) + (letter >> 7) * 9;
    v = (v << 4 | v >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    v = (v << 8 | v >> 16) & UINT64_C(0x0000ffff0000ffff);
    v = (v << 16 | v >> 32) & UINT32_MAX;
    *value = n ? (uint32_t)v >> (32 - 4 * n) : 0;
    return n;
}

/* Hexadecimal digits beyond the first sixteen. */
const uint8_t *tracelog_hex_long(const uint8_t *p, uint64_t *value, unsigned *digits);
/* Decimal digits, any number of them. */
const uint8_t *tracelog_dec_long(const uint8_t *p, uint64_t *value);

/* Hexadecimal digits, at least one; *digits is their number, 0 for more than 16. */
TL_ALWAYS_INLINE const uint8_t *tracelog_hex(const uint8_t *p, uint64_t *value, unsigned *digits)
{
    uint32_t high, low;
    const unsigned n = tracelog_hex8(p, &high);
    *value = high;
    *digits = n;
    if (TL_LIKELY(n < 8))
        return n ? p + n : NULL;
    const unsigned m = tracelog_hex8(p + 8, &low);
    *value = (uint64_t)high << (4 * m) | low;
    *digits = n + m;
    if (TL_LIKELY(m < 8 || p[16] == ' ' || p[16] == ':' || p[16] == '\n'))
        return p + 8 + m;
    return tracelog_hex_long(p, value, digits);
}

/* The same behind 0x. */
TL_ALWAYS_INLINE const uint8_t *tracelog_0x(const uint8_t *p, uint64_t *value, unsigned *digits)
{
    return TL_LIKELY(p[0] == '0' && p[1] == 'x') ? tracelog_hex(p + 2, value, digits) : NULL;
}

/* A decimal number up to `most`. */
TL_ALWAYS_INLINE const uint8_t *tracelog_dec(const uint8_t *p, uint64_t most, uint64_t *value)
{
    const uint64_t x = tl_load64(p, false), low = x & TRACELOG_BYTES(0x7f);
    const uint64_t digit = (low + TRACELOG_BYTES(0x80 - '0')) & ~(low + TRACELOG_BYTES(0x7f - '9')) & ~x;
    const unsigned n = tracelog_marked(digit);
    if (TL_UNLIKELY(n == 0))
        return NULL;
    if (TL_UNLIKELY(n == 8)) {
        p = tracelog_dec_long(p, value);
    } else {
        /* Digits to the high end, zeros before them; then pairs, fours, and all eight. */
        uint64_t v = (x & TRACELOG_BYTES(0x0f)) << (64 - 8 * n);
        v = (v * 10 + (v >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
        v = (v * 100 + (v >> 16)) & UINT64_C(0x0000ffff0000ffff);
        *value = (v * 10000 + (v >> 32)) & UINT32_MAX;
        p += n;
    }
    return TL_LIKELY(p && *value <= most) ? p : NULL;
}

/* Does a line end here? Then *next is where the next one begins. */
TL_ALWAYS_INLINE bool tracelog_at_end(const uint8_t *p, const uint8_t **next)
{
    if (TL_LIKELY(*p == '\n')) {
        *next = p + 1;
        return true;
    }
    *next = p + 2;
    return p[0] == '\r' && p[1] == '\n';
}

#endif

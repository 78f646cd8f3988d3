/* Numbers of a line, eight or sixteen characters at a time.
 *
 * Every reader here takes a pointer to the first character of a number and returns one past its last, or NULL. Lines
 * end in '\n', and at least 32 bytes after the last one are readable. */
#ifndef TL_FORMAT_TRACELOG_ITEMS_H
#define TL_FORMAT_TRACELOG_ITEMS_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/endian.h"

#define TRACELOG_BYTES(x) (UINT64_C(0x0101010101010101) * (x)) /* eight bytes of the same value */

/* The length of the run of marked characters (high bit set) among eight, from the first on. */
TL_ALWAYS_INLINE unsigned tracelog_marked(uint64_t marks)
{
    const uint64_t others = ~marks & TRACELOG_BYTES(0x80);
    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

#ifdef __SSE2__

/* The leading hexadecimal digits of sixteen characters: their number, and their value. */
TL_ALWAYS_INLINE unsigned tracelog_hex16(const uint8_t *p, uint64_t *value)
{
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p), lower = _mm_or_si128(x, _mm_set1_epi8(0x20));
    /* Shifted to the begin of the signed range, a range check is one comparison. */
    const __m128i digit = _mm_cmplt_epi8(_mm_add_epi8(x, _mm_set1_epi8((char)(128 - '0'))), _mm_set1_epi8(-128 + 10));
    const __m128i letter =
        _mm_cmplt_epi8(_mm_add_epi8(lower, _mm_set1_epi8((char)(128 - 'a'))), _mm_set1_epi8(-128 + 6));
    const unsigned others = ~(unsigned)_mm_movemask_epi8(_mm_or_si128(digit, letter));
    const unsigned n = (unsigned)__builtin_ctz(others | 0x10000u);
    /* Nibbles, then pairs, the first character in the highest. Characters after the digits are shifted out. */
    const __m128i nibble = _mm_add_epi8(_mm_and_si128(x, _mm_set1_epi8(0x0f)), _mm_and_si128(letter, _mm_set1_epi8(9)));
    const __m128i pair =
        _mm_and_si128(_mm_or_si128(_mm_slli_epi16(nibble, 4), _mm_srli_epi16(nibble, 8)), _mm_set1_epi16(0xff));
    uint64_t v;
    _mm_storel_epi64((__m128i *)(void *)&v, _mm_packus_epi16(pair, pair));
    *value = n ? __builtin_bswap64(v) >> (64 - 4 * n) : 0;
    return n;
}

#else

/* The leading hexadecimal digits of eight characters: their number, and their value. */
TL_ALWAYS_INLINE unsigned tracelog_hex8(const uint8_t *p, uint32_t *value)
{
    const uint64_t x = tl_load64(p, false), low = x & TRACELOG_BYTES(0x7f), lower = low | TRACELOG_BYTES(0x20);
    /* Added to a byte, 0x80 - c sets its high bit if it is c or more. */
    const uint64_t digit = (low + TRACELOG_BYTES(0x80 - '0')) & ~(low + TRACELOG_BYTES(0x7f - '9'));
    const uint64_t letter = (lower + TRACELOG_BYTES(0x80 - 'a')) & ~(lower + TRACELOG_BYTES(0x7f - 'f')) & ~digit & ~x &
                            TRACELOG_BYTES(0x80);
    const unsigned n = tracelog_marked((digit | letter) & ~x);
    /* Nibbles, then pairs, then fours, the first character in the highest. What follows the digits is shifted out. */
    uint64_t v = (x & TRACELOG_BYTES(0x0f)) + (letter >> 7) * 9;
    v = (v << 4 | v >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    v = (v << 8 | v >> 16) & UINT64_C(0x0000ffff0000ffff);
    v = (v << 16 | v >> 32) & UINT32_MAX;
    *value = n ? (uint32_t)v >> (32 - 4 * n) : 0;
    return n;
}

TL_ALWAYS_INLINE unsigned tracelog_hex16(const uint8_t *p, uint64_t *value)
{
    uint32_t high, low;
    const unsigned n = tracelog_hex8(p, &high);
    *value = high;
    if (TL_LIKELY(n < 8))
        return n;
    const unsigned m = tracelog_hex8(p + 8, &low);
    *value = (uint64_t)high << (4 * m) | low;
    return 8 + m;
}

#endif

/* Advances past n characters, usually `expected`. If so, the branch gives the place of the next item, and the processor
 * need not wait for these characters. */
TL_ALWAYS_INLINE const uint8_t *tracelog_behind(const uint8_t *p, unsigned n, unsigned expected)
{
    if (TL_UNLIKELY(n != expected))
        return p + n;
    p += expected;
    __asm__("" : "+r"(p)); /* otherwise the compiler merges both ways */
    return p;
}

/* Hexadecimal digits beyond the first sixteen. */
const uint8_t *tracelog_hex_long(const uint8_t *p, uint64_t *value, unsigned *digits);
/* Decimal digits, any number of them. */
const uint8_t *tracelog_dec_long(const uint8_t *p, uint64_t *value);

/* Hexadecimal digits, at least one, mostly `expected`; *digits is their number, 0 for more than 16. */
TL_ALWAYS_INLINE const uint8_t *tracelog_hex(const uint8_t *p, unsigned expected, uint64_t *value, unsigned *digits)
{
    const unsigned n = tracelog_hex16(p, value);
    *digits = n;
    if (TL_LIKELY(n < 16 || p[16] == ' ' || p[16] == ':' || p[16] == '\n'))
        return TL_LIKELY(n) ? tracelog_behind(p, n, expected) : NULL;
    return tracelog_hex_long(p, value, digits);
}

/* The same after 0x. */
TL_ALWAYS_INLINE const uint8_t *tracelog_0x(const uint8_t *p, unsigned expected, uint64_t *value, unsigned *digits)
{
    return TL_LIKELY(p[0] == '0' && p[1] == 'x') ? tracelog_hex(p + 2, expected, value, digits) : NULL;
}

/* A decimal number up to `most`, usually with *expected digits, which is updated. */
TL_ALWAYS_INLINE const uint8_t *tracelog_dec_like(const uint8_t *p, uint64_t most, unsigned *expected, uint64_t *value)
{
    const uint64_t x = tl_load64(p, false), low = x & TRACELOG_BYTES(0x7f);
    const uint64_t digit = (low + TRACELOG_BYTES(0x80 - '0')) & ~(low + TRACELOG_BYTES(0x7f - '9')) & ~x;
    const unsigned n = tracelog_marked(digit);
    if (TL_UNLIKELY(n == 0))
        return NULL;
    if (TL_UNLIKELY(n == 8)) {
        p = tracelog_dec_long(p, value);
    } else {
        /* Digits to the high end, preceded by zeros; then pairs, fours, and all eight. */
        uint64_t v = (x & TRACELOG_BYTES(0x0f)) << (64 - 8 * n);
        v = (v * 10 + (v >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
        v = (v * 100 + (v >> 16)) & UINT64_C(0x0000ffff0000ffff);
        *value = (v * 10000 + (v >> 32)) & UINT32_MAX;
        p = tracelog_behind(p, n, *expected);
        *expected = n;
    }
    return TL_LIKELY(p && *value <= most) ? p : NULL;
}

TL_ALWAYS_INLINE const uint8_t *tracelog_dec(const uint8_t *p, uint64_t most, uint64_t *value)
{
    unsigned any = 0;
    return tracelog_dec_like(p, most, &any, value);
}

/* The same for numbers with usually one or two digits, `expected` of them. */
TL_ALWAYS_INLINE const uint8_t *tracelog_dec_short(const uint8_t *p, uint64_t most, unsigned expected, uint64_t *value)
{
    const unsigned first = p[0] - (unsigned)'0', second = p[1] - (unsigned)'0';
    if (TL_UNLIKELY(first > 9 || (second <= 9 && p[2] - (unsigned)'0' <= 9)))
        return tracelog_dec(p, most, value);
    *value = second <= 9 ? first * 10 + second : first;
    return tracelog_behind(p, 1 + (second <= 9), expected);
}

/* Does a line end here? If so, *next is the begin of the next one. */
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

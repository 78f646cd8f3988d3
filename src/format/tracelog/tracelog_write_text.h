/* Numbers and text of a written line. */
#ifndef TL_FORMAT_TRACELOG_WRITE_TEXT_H
#define TL_FORMAT_TRACELOG_WRITE_TEXT_H

#include "base/text/number.h"
#include "base/text/text_writer.h"

/* Room for a number, its separator, and bytes written beyond it. */
#define TRACELOG_NUMBER_ROOM ((size_t)40)

/* Digits of numbers that are not from the source. */
enum { TRACELOG_IID_DIGITS = 8, TRACELOG_POINTER_DIGITS = 16, TRACELOG_DIGITS_MAX = 16 };

/* From the character after '9' to the letter of ten. */
enum tracelog_letters { TRACELOG_UPPER = 'A' - '9' - 1, TRACELOG_LOWER = 'a' - '9' - 1 };

/* Eight hexadecimal digits. */
TL_ALWAYS_INLINE void tracelog_put_eight(char *p, uint32_t v, enum tracelog_letters letters)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t x = v; /* a digit for each byte */
    x = (x << 16 | x) & 0x0000ffff0000ffffu;
    x = (x << 8 | x) & 0x00ff00ff00ff00ffu;
    x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0fu;
    const uint64_t above_nine = (x + ones * 6) >> 4 & ones;
    tl_store64(p, x + ones * '0' + above_nine * letters, true);
}

/* 0x and at least `least` digits (at most 16). Needs room for 18 bytes. */
TL_ALWAYS_INLINE char *tracelog_put_hex(char *p, uint64_t v, unsigned least, enum tracelog_letters letters)
{
    const unsigned needed = (67 - (unsigned)__builtin_clzll(v | 1)) / 4, digits = needed > least ? needed : least;
    p[0] = '0';
    p[1] = 'x';
    v <<= 64 - 4 * digits;
    tracelog_put_eight(p + 2, (uint32_t)(v >> 32), letters);
    if (digits > 8)
        tracelog_put_eight(p + 10, (uint32_t)v, letters);
    return p + 2 + digits;
}

/* An iid as in a list. */
TL_ALWAYS_INLINE char *tracelog_put_short(char *p, uint64_t v)
{
    return tracelog_put_hex(p, v, 1, TRACELOG_LOWER);
}

/* Text of a line: line breaks would end it, and become spaces, which *breaks counts. */
void tracelog_put_text(tl_text_writer *tw, const char *s, size_t n, uint64_t *breaks);

/* The same in quotes, for a name from another source (NULL: empty). Bytes that are not UTF-8 are repaired as by
 * readers, and counted. False when memory runs out. */
bool tracelog_put_name(tl_text_writer *tw, const char *name, tl_pb *scratch, uint64_t *breaks, uint64_t *bad);

#endif

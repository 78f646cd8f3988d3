/* A pen: text written in place into an output or a growing buffer, with checks of room in steps rather than for each
 * byte.
 *
 * While a pen is open nothing else may write to what it writes to. Copy `p` to a local variable in hot code: the
 * compiler cannot know that the bytes written are not the pen itself. */
#ifndef TL_BASE_PEN_H
#define TL_BASE_PEN_H

#include <string.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "base/io/output.h"
#include "base/protobuf.h"

/* Most bytes that can be asked for at once. */
#define TL_PEN_ROOM 4096u

typedef struct tl_pen {
    char *p, *end;  /* the room at hand */
    tl_output *out; /* where it goes: either this ... */
    tl_pb *buffer;  /* ... or behind what this holds */
} tl_pen;

void tl_pen_open(tl_pen *pen, tl_output *out);
/* False when memory runs out: then there is nothing to close. If it runs out later, buffer->failed is set, and the
 * contents are lost. */
bool tl_pen_open_buffer(tl_pen *pen, tl_pb *buffer);
/* Hands over what was written. The pen can be opened again. */
void tl_pen_close(tl_pen *pen);

void tl_pen_refill(tl_pen *pen);
void tl_pen_raw_slow(tl_pen *pen, const void *data, size_t n);

/* Makes room for n bytes at pen->p; n <= TL_PEN_ROOM. */
TL_ALWAYS_INLINE void tl_pen_room(tl_pen *pen, size_t n)
{
    if (TL_UNLIKELY((size_t)(pen->end - pen->p) < n))
        tl_pen_refill(pen);
}

/* Any number of bytes. */
TL_ALWAYS_INLINE void tl_pen_raw(tl_pen *pen, const void *data, size_t n)
{
    if (TL_UNLIKELY((size_t)(pen->end - pen->p) < n)) {
        tl_pen_raw_slow(pen, data, n);
        return;
    }
    if (n > 0)
        memcpy(pen->p, data, n);
    pen->p += n;
}

TL_ALWAYS_INLINE void tl_pen_char(tl_pen *pen, char c)
{
    tl_pen_room(pen, 1);
    *pen->p++ = c;
}

/* A string constant, short. */
#define TL_PEN_PUT(pen, text)  (tl_pen_room(pen, sizeof(text) - 1), TL_PEN_COPY(pen, text))
#define TL_PEN_COPY(pen, text) ((void)memcpy((pen)->p, (text), sizeof(text) - 1), (void)((pen)->p += sizeof(text) - 1))

/* Text that is copied often is kept with so many readable bytes behind it, so that short pieces of it can be copied by
 * a fixed number of instructions. */
#define TL_PEN_PADDING 32u

/* Copies a piece of such text. There must be room for n + TL_PEN_PADDING bytes. Returns the end. */
TL_ALWAYS_INLINE char *tl_put_padded(char *p, const char *text, size_t n)
{
    if (TL_LIKELY(n <= TL_PEN_PADDING))
        memcpy(p, text, TL_PEN_PADDING);
    else
        memcpy(p, text, n);
    return p + n;
}

/* Nine decimal digits of v < 10^9, with leading zeros. */
TL_ALWAYS_INLINE char *tl_put_nine(char *p, uint32_t v)
{
    /* Eight digits at once, in the bytes of a word: halves of four, then pairs, then single ones, each by a
     * multiplication that divides all parts. */
    uint32_t low = v % 100000000;
    uint64_t fours = low / 10000 | (uint64_t)(low % 10000) << 32;
    uint64_t hundreds = (fours * 10486 >> 20) & 0x7f0000007f;
    uint64_t pairs = hundreds | (fours - hundreds * 100) << 16;
    uint64_t tens = (pairs * 103 >> 10) & 0x000f000f000f000f;
    uint64_t digits = tens | (pairs - tens * 10) << 8;
    p[0] = (char)('0' + v / 100000000);
    tl_store64((uint8_t *)p + 1, digits | 0x3030303030303030, false);
    return p + 9;
}

/* Bytes in a word of eight: nonzero if one of them is below n (n <= 128), or is c. Exact as a whole; which byte it was
 * cannot be told. */
TL_ALWAYS_INLINE uint64_t tl_any_below(uint64_t word, uint8_t n)
{
    return (word - 0x0101010101010101u * n) & ~word & 0x8080808080808080u;
}

TL_ALWAYS_INLINE uint64_t tl_any_is(uint64_t word, char c)
{
    return tl_any_below(word ^ 0x0101010101010101u * (uint8_t)c, 1);
}

#endif

/* A text writer: writes text in place into an output or a growing buffer, and checks for room in steps, not for each
 * byte.
 *
 * While one is open nothing else may write to its target. Copy `p` to a local variable in hot code: the
 * compiler cannot know that the bytes written are not the writer itself. */
#ifndef TL_BASE_TEXT_WRITER_H
#define TL_BASE_TEXT_WRITER_H

#include <string.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "base/io/output.h"
#include "base/protobuf.h"

/* Most bytes to ask for at once. */
#define TL_TEXT_ROOM 4096u

typedef struct tl_text_writer {
    char *p, *end;  /* the current room */
    tl_output *out; /* its target: either this ... */
    tl_pb *buffer;  /* ... or the end of this */
} tl_text_writer;

void tl_text_open(tl_text_writer *tw, tl_output *out);
/* False when memory runs out: then there is nothing to close. If it runs out later, buffer->failed is set, and the
 * contents are lost. */
bool tl_text_open_buffer(tl_text_writer *tw, tl_pb *buffer);
/* Hands over the text. The writer can be opened again. */
void tl_text_close(tl_text_writer *tw);

void tl_text_refill(tl_text_writer *tw);
void tl_text_raw_slow(tl_text_writer *tw, const void *data, size_t n);

/* Makes room for n bytes at tw->p; n <= TL_TEXT_ROOM. */
TL_ALWAYS_INLINE void tl_text_room(tl_text_writer *tw, size_t n)
{
    if (TL_UNLIKELY((size_t)(tw->end - tw->p) < n))
        tl_text_refill(tw);
}

/* Any number of bytes. */
TL_ALWAYS_INLINE void tl_text_raw(tl_text_writer *tw, const void *data, size_t n)
{
    if (TL_UNLIKELY((size_t)(tw->end - tw->p) < n)) {
        tl_text_raw_slow(tw, data, n);
        return;
    }
    if (n > 0)
        memcpy(tw->p, data, n);
    tw->p += n;
}

/* n bytes as pairs of hex digits. */
void tl_text_hex(tl_text_writer *tw, const uint8_t *from, size_t n);

TL_ALWAYS_INLINE void tl_text_char(tl_text_writer *tw, char c)
{
    tl_text_room(tw, 1);
    *tw->p++ = c;
}

/* A short string constant. */
#define TL_TEXT_PUT(tw, text)  (tl_text_room(tw, sizeof(text) - 1), TL_TEXT_COPY(tw, text))
#define TL_TEXT_COPY(tw, text) ((void)memcpy((tw)->p, (text), sizeof(text) - 1), (void)((tw)->p += sizeof(text) - 1))

/* Frequently copied text has this many readable bytes after it, so that a fixed number of instructions can copy short
 * pieces. */
#define TL_TEXT_PADDING 32u

/* Copies a piece of such text. There must be room for n + TL_TEXT_PADDING bytes. Returns the end. */
TL_ALWAYS_INLINE char *tl_put_padded(char *p, const char *text, size_t n)
{
    if (TL_LIKELY(n <= TL_TEXT_PADDING))
        memcpy(p, text, TL_TEXT_PADDING);
    else
        memcpy(p, text, n);
    return p + n;
}

/* Nine decimal digits of v < 10^9, with leading zeros. */
TL_ALWAYS_INLINE char *tl_put_nine(char *p, uint32_t v)
{
    /* Eight digits at once, in the bytes of a word: halves of four, then pairs, then single digits, each by one
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

/* Tests the eight bytes of a word: nonzero if one of them is below n (n <= 128), or is c. Exact for the whole word, but
 * not for which byte it was. */
TL_ALWAYS_INLINE uint64_t tl_any_below(uint64_t word, uint8_t n)
{
    return (word - 0x0101010101010101u * n) & ~word & 0x8080808080808080u;
}

TL_ALWAYS_INLINE uint64_t tl_any_is(uint64_t word, char c)
{
    return tl_any_below(word ^ 0x0101010101010101u * (uint8_t)c, 1);
}

#endif

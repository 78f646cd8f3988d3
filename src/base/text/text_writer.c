/* Text writers: how they get new room. */
#include "base/text/text_writer.h"

#include <assert.h>

#include "base/grow.h"

void tl_text_open(tl_text_writer *tw, tl_output *out)
{
    tw->out = out;
    tw->buffer = NULL;
    tw->p = tl_output_reserve(out, TL_OUTPUT_ROOM);
    tw->end = tw->p + TL_OUTPUT_ROOM;
}

/* Ensures capacity for TL_TEXT_ROOM bytes after the n in the buffer. */
static bool grow(tl_pb *b)
{
    b->failed |= !TL_GROW(b->data, b->n, TL_TEXT_ROOM, b->capacity);
    return !b->failed;
}

bool tl_text_open_buffer(tl_text_writer *tw, tl_pb *buffer)
{
    if (buffer->failed || !grow(buffer))
        return false;
    tw->out = NULL;
    tw->buffer = buffer;
    tw->p = (char *)buffer->data + buffer->n;
    tw->end = (char *)buffer->data + buffer->capacity;
    return true;
}

void tl_text_close(tl_text_writer *tw)
{
    if (tw->out)
        tl_output_commit(tw->out, tw->p);
    else
        tw->buffer->n = (size_t)(tw->p - (char *)tw->buffer->data);
    tw->p = tw->end = NULL;
}

TL_NOINLINE void tl_text_refill(tl_text_writer *tw)
{
    if (tw->out) {
        tl_output *out = tw->out;
        tl_text_close(tw);
        tl_text_open(tw, out);
        return;
    }
    tl_pb *b = tw->buffer;
    b->n = b->failed ? 0 : (size_t)(tw->p - (char *)b->data);
    if (b->failed || !grow(b))
        b->n = 0; /* from now on overwrites the beginning, which is not used */
    tw->p = (char *)b->data + b->n;
    tw->end = (char *)b->data + b->capacity;
    assert((size_t)(tw->end - tw->p) >= TL_TEXT_ROOM);
}

void tl_text_raw_slow(tl_text_writer *tw, const void *data, size_t n)
{
    const char *from = data;
    while (n > 0) {
        tl_text_room(tw, 1);
        size_t room = (size_t)(tw->end - tw->p), part = n < room ? n : room;
        memcpy(tw->p, from, part);
        tw->p += part;
        from += part;
        n -= part;
    }
}

void tl_text_hex(tl_text_writer *tw, const uint8_t *from, size_t n)
{
    static const char digit[] = "0123456789abcdef";
    while (n > 0) {
        const size_t length = n < TL_TEXT_ROOM / 2 ? n : TL_TEXT_ROOM / 2;
        tl_text_room(tw, 2 * length);
        char *p = tw->p;
        for (size_t i = 0; i < length; i++) {
            *p++ = digit[from[i] >> 4];
            *p++ = digit[from[i] & 15];
        }
        tw->p = p;
        from += length;
        n -= length;
    }
}

/* Pens: where new room comes from. */
#include "base/text/text_writer.h"

#include <assert.h>
#include <stdlib.h>

void tl_pen_open(tl_pen *pen, tl_output *out)
{
    pen->out = out;
    pen->buffer = NULL;
    pen->p = tl_output_reserve(out, TL_OUTPUT_ROOM);
    pen->end = pen->p + TL_OUTPUT_ROOM;
}

/* Capacity for TL_PEN_ROOM bytes behind the n that the buffer holds. */
static bool grow(tl_pb *b)
{
    if (b->capacity - b->n >= TL_PEN_ROOM)
        return true;
    size_t capacity = b->capacity < TL_PEN_ROOM ? (size_t)2 * TL_PEN_ROOM : b->capacity;
    while (capacity - b->n < TL_PEN_ROOM && capacity <= SIZE_MAX / 4)
        capacity *= 2;
    uint8_t *data = capacity - b->n < TL_PEN_ROOM ? NULL : realloc(b->data, capacity);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->capacity = capacity;
    return true;
}

bool tl_pen_open_buffer(tl_pen *pen, tl_pb *buffer)
{
    if (buffer->failed || !grow(buffer))
        return false;
    pen->out = NULL;
    pen->buffer = buffer;
    pen->p = (char *)buffer->data + buffer->n;
    pen->end = (char *)buffer->data + buffer->capacity;
    return true;
}

void tl_pen_close(tl_pen *pen)
{
    if (pen->out)
        tl_output_commit(pen->out, pen->p);
    else
        pen->buffer->n = (size_t)(pen->p - (char *)pen->buffer->data);
    pen->p = pen->end = NULL;
}

TL_NOINLINE void tl_pen_refill(tl_pen *pen)
{
    if (pen->out) {
        tl_output *out = pen->out;
        tl_pen_close(pen);
        tl_pen_open(pen, out);
        return;
    }
    tl_pb *b = pen->buffer;
    b->n = b->failed ? 0 : (size_t)(pen->p - (char *)b->data);
    if (b->failed || !grow(b))
        b->n = 0; /* from here on the beginning is written again and again: nobody will look at it */
    pen->p = (char *)b->data + b->n;
    pen->end = (char *)b->data + b->capacity;
    assert((size_t)(pen->end - pen->p) >= TL_PEN_ROOM);
}

void tl_pen_raw_slow(tl_pen *pen, const void *data, size_t n)
{
    const char *from = data;
    while (n > 0) {
        tl_pen_room(pen, 1);
        size_t room = (size_t)(pen->end - pen->p), part = n < room ? n : room;
        memcpy(pen->p, from, part);
        pen->p += part;
        from += part;
        n -= part;
    }
}

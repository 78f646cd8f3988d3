/* Protocol buffer wire format: every field is a varint (number << 3 | type) and its content.
 *
 *   type 0   varint: seven bits a byte, lowest first, the high bit set in all but the last byte
 *   type 1   eight bytes, little-endian
 *   type 2   varint length, then that many bytes: a string, a packed array, or a message */
#include "base/protobuf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "base/grow.h"
#include "base/text/number.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2, VARINT_MOST = 10 };

static inline bool room(tl_pb *b, size_t n)
{
    if (TL_LIKELY(!b->failed && TL_GROW(b->data, b->n, n, b->capacity)))
        return true;
    b->failed = true;
    return false;
}

static inline uint8_t *put_varint(uint8_t *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

static size_t varint_size(uint64_t v)
{
    size_t n = 1;
    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

void tl_pb_fini(tl_pb *b)
{
    free(b->data);
    *b = (tl_pb){0};
}

void tl_pb_clear(tl_pb *b)
{
    b->n = 0;
    b->failed = false;
}

void tl_pb_raw(tl_pb *b, const void *data, size_t n)
{
    if (n == 0 || !room(b, n))
        return;
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

uint8_t *tl_pb_space(tl_pb *b, size_t n)
{
    if (!room(b, n))
        return NULL;
    b->n += n;
    return b->data + (b->n - n);
}

void tl_pb_text(tl_pb *b, const char *s)
{
    tl_pb_raw(b, s, strlen(s));
}

void tl_pb_text_u64(tl_pb *b, uint64_t v)
{
    char text[24];
    tl_pb_raw(b, text, (size_t)(tl_put_u64(text, v) - text));
}

void tl_pb_text_i64(tl_pb *b, int64_t v)
{
    char text[24];
    tl_pb_raw(b, text, (size_t)(tl_put_i64(text, v) - text));
}

void tl_pb_varint(tl_pb *b, uint64_t v)
{
    if (room(b, VARINT_MOST))
        b->n = (size_t)(put_varint(b->data + b->n, v) - b->data);
}

static void put_tag(tl_pb *b, unsigned field, unsigned wire)
{
    assert(field > 0 && field < 1u << 29);
    tl_pb_varint(b, (uint64_t)field << 3 | wire);
}

void tl_pb_u64(tl_pb *b, unsigned field, uint64_t v)
{
    put_tag(b, field, WIRE_VARINT);
    tl_pb_varint(b, v);
}

void tl_pb_fixed64(tl_pb *b, unsigned field, uint64_t v)
{
    uint8_t bytes[8];
    tl_store64(bytes, v, false);
    put_tag(b, field, WIRE_FIXED64);
    tl_pb_raw(b, bytes, sizeof bytes);
}

void tl_pb_bytes(tl_pb *b, unsigned field, const void *data, size_t n)
{
    put_tag(b, field, WIRE_LENGTH);
    tl_pb_varint(b, n);
    tl_pb_raw(b, data, n);
}

void tl_pb_string(tl_pb *b, unsigned field, const char *s)
{
    tl_pb_bytes(b, field, s, strlen(s));
}

/* An empty array is not written at all, as the format requires. */
void tl_pb_packed(tl_pb *b, unsigned field, const uint64_t *v, size_t n)
{
    if (n == 0)
        return;
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += varint_size(v[i]);
    put_tag(b, field, WIRE_LENGTH);
    tl_pb_varint(b, size);
    if (!room(b, size))
        return;
    uint8_t *p = b->data + b->n;
    for (size_t i = 0; i < n; i++)
        p = put_varint(p, v[i]);
    b->n += size;
}

/* One byte is reserved for the length, which suffices for most messages; otherwise tl_pb_end() moves the content. */
size_t tl_pb_begin(tl_pb *b, unsigned field)
{
    put_tag(b, field, WIRE_LENGTH);
    tl_pb_varint(b, 0);
    return b->n;
}

void tl_pb_end(tl_pb *b, size_t at)
{
    if (b->failed)
        return;
    assert(at > 0 && at <= b->n);
    size_t n = b->n - at, more = varint_size(n) - 1;
    if (more > 0) {
        if (!room(b, more))
            return;
        memmove(b->data + at + more, b->data + at, n);
        b->n += more;
    }
    put_varint(b->data + at - 1, n);
}

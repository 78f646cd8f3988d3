/* FlatBuffers: all numbers little-endian, at multiples of their size from the begin of the buffer.
 *
 *   table    i32 distance back to its list; its fields
 *   list of  u16 bytes of itself; u16 bytes of the table; of each field u16 where it is in the table, 0: not there
 *   fields
 *   refers   u32 distance to what is meant, which comes later
 *   text     u32 bytes; the bytes; NUL
 *   vector   u32 elements; these */
#include "base/columnar/flat_write.h"

#include <string.h>

#include "base/endian.h"

static void put_u32(tl_pb *b, uint32_t v)
{
    uint8_t bytes[4];
    tl_store32(bytes, v, false);
    tl_pb_raw(b, bytes, sizeof bytes);
}

void tl_flat_put_u64(tl_pb *b, uint64_t v)
{
    uint8_t bytes[8];
    tl_store64(bytes, v, false);
    tl_pb_raw(b, bytes, sizeof bytes);
}

void tl_flat_align(tl_pb *b, size_t unit)
{
    static const uint8_t zeros[8];
    const size_t more = (unit - b->n % unit) % unit;
    tl_pb_raw(b, zeros, more);
}

tl_flat_table tl_flat_put_table(tl_pb *b, size_t from, const tl_flat_field *field, unsigned n)
{
    uint8_t list[4 + 2 * TL_FLAT_FIELDS];
    const size_t list_size = 4 + 2 * (size_t)n;
    tl_flat_table t = {0};
    tl_flat_align(b, 4);
    const size_t begin = b->n;
    t.at = (begin + list_size + 3) / 4 * 4;
    size_t end = t.at + 4;
    for (unsigned i = 0; i < n; i++) {
        if (field[i].size == 0)
            continue;
        end = (end + field[i].size - 1) / field[i].size * field[i].size;
        t.field[i] = end;
        end += field[i].size;
    }
    tl_store16(list, (uint16_t)list_size, false);
    tl_store16(list + 2, (uint16_t)(end - t.at), false);
    for (unsigned i = 0; i < n; i++)
        tl_store16(list + 4 + 2 * i, (uint16_t)(t.field[i] ? t.field[i] - t.at : 0), false);
    tl_pb_raw(b, list, list_size);
    tl_flat_align(b, 4);
    put_u32(b, (uint32_t)(t.at - begin));
    for (unsigned i = 0; i < n; i++) {
        uint8_t bytes[8];
        if (field[i].size == 0)
            continue;
        tl_flat_align(b, field[i].size);
        tl_store64(bytes, field[i].value, false);
        tl_pb_raw(b, bytes, field[i].size);
    }
    if (!b->failed) /* to the table, which comes after its list */
        tl_store32(b->data + from, (uint32_t)(t.at - from), false);
    return t;
}

/* The reference is to what is put next. */
static void refer(tl_pb *b, size_t from)
{
    tl_flat_align(b, 4);
    if (!b->failed)
        tl_store32(b->data + from, (uint32_t)(b->n - from), false);
}

void tl_flat_put_text(tl_pb *b, size_t from, const char *s)
{
    const size_t n = strlen(s);
    refer(b, from);
    put_u32(b, (uint32_t)n);
    tl_pb_raw(b, s, n + 1);
}

size_t tl_flat_put_list(tl_pb *b, size_t from, uint32_t n)
{
    refer(b, from);
    put_u32(b, n);
    const size_t first = b->n;
    for (uint32_t i = 0; i < n; i++)
        put_u32(b, 0);
    return first;
}

void tl_flat_put_pairs(tl_pb *b, size_t from, uint32_t n)
{
    tl_flat_align(b, 8);
    put_u32(b, 0); /* so that the pairs begin at a multiple of 8 */
    refer(b, from);
    put_u32(b, n);
}

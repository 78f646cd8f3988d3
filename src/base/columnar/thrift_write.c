/* Thrift's compact protocol. */
#include "base/columnar/thrift_write.h"

#include <string.h>

enum { TRUE = 1, FALSE = 2, BYTE = 3, LIST = 9 };

static void put_byte(tl_thrift *t, unsigned byte)
{
    const uint8_t b = (uint8_t)byte;
    tl_pb_raw(t->out, &b, 1);
}

static void put_field(tl_thrift *t, unsigned field, unsigned type)
{
    const unsigned step = field - t->last[t->depth]; /* at most 15, in all structs of Parquet */
    put_byte(t, step << 4 | type);
    t->last[t->depth] = field;
}

void tl_thrift_bool(tl_thrift *t, unsigned field, bool v)
{
    put_field(t, field, v ? TRUE : FALSE);
}

void tl_thrift_byte(tl_thrift *t, unsigned field, uint8_t v)
{
    put_field(t, field, BYTE);
    put_byte(t, v);
}

void tl_thrift_i32(tl_thrift *t, unsigned field, int32_t v)
{
    put_field(t, field, TL_THRIFT_I32);
    tl_thrift_item_i32(t, v);
}

void tl_thrift_i64(tl_thrift *t, unsigned field, int64_t v)
{
    put_field(t, field, TL_THRIFT_I64);
    tl_pb_varint(t->out, tl_zigzag(v));
}

void tl_thrift_binary(tl_thrift *t, unsigned field, const void *data, size_t n)
{
    put_field(t, field, TL_THRIFT_BINARY);
    tl_pb_varint(t->out, n);
    tl_pb_raw(t->out, data, n);
}

void tl_thrift_text(tl_thrift *t, unsigned field, const char *s)
{
    tl_thrift_binary(t, field, s, strlen(s));
}

void tl_thrift_begin(tl_thrift *t, unsigned field)
{
    put_field(t, field, TL_THRIFT_STRUCT);
    tl_thrift_item(t);
}

void tl_thrift_list(tl_thrift *t, unsigned field, unsigned type, uint32_t n)
{
    enum { SHORT = 15 };
    put_field(t, field, LIST);
    put_byte(t, (n < SHORT ? n : SHORT) << 4 | type);
    if (n >= SHORT)
        tl_pb_varint(t->out, n);
}

void tl_thrift_item(tl_thrift *t)
{
    t->last[++t->depth] = 0;
}

void tl_thrift_item_i32(tl_thrift *t, int32_t v)
{
    tl_pb_varint(t->out, tl_zigzag(v));
}

void tl_thrift_item_text(tl_thrift *t, const char *s)
{
    const size_t n = strlen(s);
    tl_pb_varint(t->out, n);
    tl_pb_raw(t->out, s, n);
}

void tl_thrift_stop(tl_thrift *t)
{
    put_byte(t, 0);
}

void tl_thrift_end(tl_thrift *t)
{
    tl_thrift_stop(t);
    t->depth--;
}

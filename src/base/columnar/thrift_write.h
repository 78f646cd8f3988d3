/* Thrift's compact protocol, writing only, as far as Parquet needs it. A field is its number as the difference to the
 * one before, its type and its content; numbers are zigzag varints.
 *
 *     tl_thrift t = {.out = &bytes};
 *     tl_thrift_i32(&t, 1, 42);
 *     tl_thrift_begin(&t, 2);          a struct: its fields, then tl_thrift_end()
 *     tl_thrift_list(&t, 3, TL_THRIFT_STRUCT, 2);          two structs, each tl_thrift_item() .. tl_thrift_end()
 *     tl_thrift_stop(&t);              the end of the outermost */
#ifndef TL_BASE_THRIFT_WRITE_H
#define TL_BASE_THRIFT_WRITE_H

#include "base/protobuf.h"

enum { TL_THRIFT_I32 = 5, TL_THRIFT_I64 = 6, TL_THRIFT_BINARY = 8, TL_THRIFT_STRUCT = 12 };

#define TL_THRIFT_DEPTH 8u /* structs inside of each other: Parquet has fewer */

typedef struct tl_thrift {
    tl_pb *out;
    unsigned last[TL_THRIFT_DEPTH], depth; /* the field before, of each struct that is open */
} tl_thrift;

/* The bits of a number, small ones of either sign as small ones without. */
static inline uint64_t tl_zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

void tl_thrift_bool(tl_thrift *t, unsigned field, bool v);
void tl_thrift_byte(tl_thrift *t, unsigned field, uint8_t v);
void tl_thrift_i32(tl_thrift *t, unsigned field, int32_t v);
void tl_thrift_i64(tl_thrift *t, unsigned field, int64_t v);
void tl_thrift_binary(tl_thrift *t, unsigned field, const void *data, size_t n);
void tl_thrift_text(tl_thrift *t, unsigned field, const char *s);
void tl_thrift_begin(tl_thrift *t, unsigned field);
/* n elements follow: structs, or those below. */
void tl_thrift_list(tl_thrift *t, unsigned field, unsigned type, uint32_t n);
void tl_thrift_item(tl_thrift *t);
void tl_thrift_item_i32(tl_thrift *t, int32_t v);
void tl_thrift_item_text(tl_thrift *t, const char *s);
void tl_thrift_end(tl_thrift *t);
void tl_thrift_stop(tl_thrift *t);

#endif

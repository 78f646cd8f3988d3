/* FlatBuffers, writing only, from front to back, as far as Arrow needs it. A table is preceded by a list of where its
 * fields are; text, lists and other tables follow the table that refers to them.
 *
 *     tl_flat_table t = tl_flat_put_table(b, root, field, 3);     numbers are in place, references are 0
 *     tl_flat_put_text(b, t.field[2], "name");                    the third refers to this */
#ifndef TL_BASE_FLAT_WRITE_H
#define TL_BASE_FLAT_WRITE_H

#include "base/protobuf.h"

typedef struct tl_flat_field {
    unsigned size; /* bytes: 1, 2, 4 or 8; 0: it is not there */
    uint64_t value;
} tl_flat_field;

#define TL_FLAT_REFERENCE ((tl_flat_field){4, 0})
#define TL_FLAT_FIELDS    8u

/* Where the fields of a table are. */
typedef struct tl_flat_table {
    size_t at;
    size_t field[TL_FLAT_FIELDS];
} tl_flat_table;

/* Zeros up to a multiple of `unit` bytes. */
void tl_flat_align(tl_pb *b, size_t unit);
/* Each of these is what the reference at `from`, a place in b, is to. */
tl_flat_table tl_flat_put_table(tl_pb *b, size_t from, const tl_flat_field *field, unsigned n);
void tl_flat_put_text(tl_pb *b, size_t from, const char *s);
/* n references: the place of the first. */
size_t tl_flat_put_list(tl_pb *b, size_t from, uint32_t n);
/* n pairs of 64-bit numbers, which the caller puts next. */
void tl_flat_put_pairs(tl_pb *b, size_t from, uint32_t n);
void tl_flat_put_u64(tl_pb *b, uint64_t v);

#endif

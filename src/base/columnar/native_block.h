/* A block of rows in ClickHouse's format Native: a count of columns and of rows, then each column as its name, its type
 * and its values. A server takes a block as a whole or not at all. Knows nothing of traces.
 *
 *     numbers    little-endian, whatever the host is
 *     text       each value its length as a varint, then its bytes
 *     nullable   a byte for each row, 1: null, before the values, which have something there, too */
#ifndef TL_BASE_NATIVE_BLOCK_H
#define TL_BASE_NATIVE_BLOCK_H

#include "base/protobuf.h"
#include "traceloom/error.h"

typedef enum tl_native_type {
    TL_NATIVE_UINT32,
    TL_NATIVE_UINT64,
    TL_NATIVE_INT64,
    TL_NATIVE_TEXT,
    TL_NATIVE_MAYBE_INT64, /* nullable */
    TL_NATIVE_MAYBE_FLOAT64,
    TL_NATIVE_MAYBE_TEXT
} tl_native_type;

/* "Nullable(Int64)": the type as servers write it. Static. */
const char *tl_native_type_name(tl_native_type type);

typedef struct tl_native_column {
    const char *name; /* borrowed */
    tl_native_type type;
    tl_pb head, null, data;
} tl_native_column;

typedef struct tl_native_block {
    tl_native_column *column; /* [n], and the memory of more */
    uint32_t n, room;
    tl_pb head;
} tl_native_block;

/* Columns are numbered in the order in which they are added; fini is needed in any case. False: no memory. */
bool tl_native_add(tl_native_block *b, const char *name, tl_native_type type);
void tl_native_fini(tl_native_block *b);
/* Forgets the columns, and keeps their memory for others, unless it is more than `most` bytes. */
void tl_native_restart(tl_native_block *b, size_t most);

/* Values of n rows; is_null [n] of nullable columns, else ignored. Text: length [n] in bytes, 0 where is_null is set.
 */
void tl_native_put_int(tl_native_block *b, uint32_t column, const int64_t *v, const uint8_t *is_null, uint32_t n);
void tl_native_put_real(tl_native_block *b, uint32_t column, const double *v, const uint8_t *is_null, uint32_t n);
void tl_native_put_text(tl_native_block *b, uint32_t column, const char *const *v, const uint32_t *length,
                        const uint8_t *is_null, uint32_t n);
/* The same number in n rows, or n numbers from `first` on. */
void tl_native_put_same(tl_native_block *b, uint32_t column, uint64_t v, uint32_t n);
void tl_native_put_count(tl_native_block *b, uint32_t column, uint64_t first, uint32_t n);

/* Bytes that a text takes. */
size_t tl_native_text_size(size_t n);

/* Ends a block in which every column has `rows` values. 0, or TL_ENOMEM if some could not be put. */
int tl_native_end(tl_native_block *b, uint32_t rows, tl_error *e);
/* Bytes of the block. */
uint64_t tl_native_size(const tl_native_block *b);
/* Copies up to n of them, from byte `at` on; returns how many: 0 at the end. */
size_t tl_native_read(const tl_native_block *b, uint64_t at, void *to, size_t n);

#endif

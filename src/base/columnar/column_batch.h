/* Rows that are collected as columns, in the arrays that Apache Arrow has in memory: a page of Parquet and a batch of
 * Arrow are made of them. Knows nothing of traces.
 *
 *     column     a slot of 64 bits for each row, also where it is null, or of text the bytes of all rows and where
 *                each begins; and a bit for each row that is not null */
#ifndef TL_BASE_COLUMN_BATCH_H
#define TL_BASE_COLUMN_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "traceloom/error.h"

#define TL_COLUMN_ROWS  65536u      /* rows of a full batch */
#define TL_COLUMN_BYTES (16u << 20) /* bytes after which it is full with fewer */

typedef enum tl_store {
    TL_STORE_INT,  /* signed, 64 bits */
    TL_STORE_REAL, /* a double's bits */
    TL_STORE_BOOL, /* 0 or 1 */
    TL_STORE_TEXT, /* UTF-8 */
    TL_STORE_BLOB
} tl_store;

/* What a column is. Names are borrowed. */
typedef struct tl_stored_as {
    const char *name; /* UTF-8; no two columns of a file have the same */
    tl_store store;
    bool is_utc;      /* TL_STORE_INT: ns since 1970 */
    bool is_json;     /* TL_STORE_TEXT */
    bool is_required; /* never null */
    const char *unit; /* a word for the file's description, or NULL */
} tl_stored_as;

typedef struct tl_column_data {
    uint64_t *word;  /* [rows] of numbers, in the order of the host; 0 where null */
    int32_t *offset; /* [rows + 1] of text: where each begins; NULL before the first row */
    uint8_t *bytes;  /* [size] of text */
    uint8_t *valid;  /* [(rows + 7) / 8] bits, the first row's is the lowest: it is not null */
    /* [alikes] for text: the first row known to have the same text as this one, or this one. Rows are counted without
     * nulls. */
    uint32_t *alike;
    uint32_t alikes, alike_room;
    uint32_t rows, nulls;
    uint32_t words_room, offsets_room, valid_room;
    size_t size, bytes_room;
} tl_column_data;

typedef struct tl_column_batch {
    const tl_stored_as *as; /* [n], borrowed */
    tl_column_data *column; /* [n] */
    uint32_t n, rows;
    uint32_t full_rows; /* when it is full: TL_COLUMN_ROWS, TL_COLUMN_BYTES, unless the caller wants more or fewer */
    size_t full_size;
    size_t size;      /* bytes of all columns */
    bool failed;      /* memory ran out */
    bool is_too_long; /* a value has more bytes than a batch can have */
} tl_column_batch;

/* n >= 0 columns, with no rows. fini is needed in any case. */
int tl_column_batch_init(tl_column_batch *b, const tl_stored_as *as, uint32_t n, tl_error *e);
void tl_column_batch_fini(tl_column_batch *b);
/* Forgets the rows, and keeps the memory. */
void tl_column_batch_clear(tl_column_batch *b);
void tl_column_data_fini(tl_column_data *c);

static inline bool tl_column_batch_is_full(const tl_column_batch *b)
{
    return b->rows >= b->full_rows || b->size >= b->full_size;
}

static inline bool tl_column_is_text(tl_store s)
{
    return s >= TL_STORE_TEXT;
}

static inline bool tl_column_is_valid(const tl_column_data *c, uint32_t row)
{
    return c->valid[row / 8] >> row % 8 & 1;
}

/* Text of a row, and its bytes. */
static inline const uint8_t *tl_column_text(const tl_column_data *c, uint32_t row, uint32_t *n)
{
    *n = (uint32_t)(c->offset[row + 1] - c->offset[row]);
    return *n ? c->bytes + c->offset[row] : c->bytes; /* which may be NULL */
}

/* A row is put column by column, each once; then tl_column_row_done(). */
void tl_column_put_word(tl_column_batch *b, uint32_t column, uint64_t word);
void tl_column_put_bytes(tl_column_batch *b, uint32_t column, const void *bytes, size_t n);
/* The same for text that may not be UTF-8: then it is repaired as in JSON lines. */
void tl_column_put_text(tl_column_batch *b, uint32_t column, const char *text, size_t n);
void tl_column_put_null(tl_column_batch *b, uint32_t column);
/* 0; or < 0, errors: TL_ENOMEM, TL_ELIMIT (2 GiB of one column in a batch). */
int tl_column_row_done(tl_column_batch *b, tl_error *e);

/* The same for many rows: n values of each column, of which those that are null are 0 or NULL; then
 * tl_column_rows_done(). Texts end with NUL, may not be UTF-8, and stay as they are until all are put. */
void tl_column_put_words(tl_column_batch *b, uint32_t column, const uint64_t *word, const uint8_t *is_null, uint32_t n);
void tl_column_put_texts(tl_column_batch *b, uint32_t column, const char *const *text, const uint8_t *is_null,
                         uint32_t n);
int tl_column_rows_done(tl_column_batch *b, uint32_t n, tl_error *e);

static inline void tl_column_put_int(tl_column_batch *b, uint32_t column, int64_t v)
{
    tl_column_put_word(b, column, (uint64_t)v);
}

#endif

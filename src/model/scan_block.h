/* The block of rows that a scan fills: arrays of the columns that are looked at, and the text of one block. */
#ifndef TL_MODEL_SCAN_BLOCK_H
#define TL_MODEL_SCAN_BLOCK_H

#include "base/arena.h"
#include "base/protobuf.h"
#include "traceloom/relation.h"

/* A column that is filled. All NULL: nobody looks at it. */
typedef struct tl_scan_array {
    int64_t *i64;
    double *real;
    const char **text;
    uint8_t *is_null;
} tl_scan_array;

typedef struct tl_scan_block {
    tl_scan_array *array;    /* [ncolumn] */
    tl_block_column *column; /* [ncolumn] the same, for readers */
    uint32_t ncolumn;
    tl_arena arena; /* text of the block */
    tl_pb json;     /* for one value */
    bool failed;    /* memory ran out */
} tl_scan_block;

/* After zeroing; fini is needed in any case. used: as in tl_scan_ask. */
int tl_scan_block_init(tl_scan_block *b, const tl_column_info *column, uint32_t ncolumn, const uint8_t *used,
                       tl_error *e);
/* The same for blocks that have at most so many rows. */
int tl_scan_block_init_rows(tl_scan_block *b, const tl_column_info *column, uint32_t ncolumn, const uint8_t *used,
                            uint32_t rows, tl_error *e);
void tl_scan_block_fini(tl_scan_block *b);

#define TL_BLOCK_TEXT_ENOUGH ((size_t)4 << 20) /* bytes of text after which a block ends */
#define TL_BLOCK_TEXTS       16u               /* rows with texts of any length that are made at once */

/* Before the rows of a block. */
void tl_scan_block_begin(tl_scan_block *b);
/* Does the block end here, after some rows? A row may have megabytes of text. */
static inline bool tl_scan_block_is_full(const tl_scan_block *b, uint32_t rows)
{
    return rows == TL_BLOCK_ROWS || (rows > 0 && b->arena.total > TL_BLOCK_TEXT_ENOUGH);
}

static inline bool tl_scan_has(const tl_scan_block *b, uint32_t column)
{
    return b->array[column].is_null != NULL;
}

static inline void tl_scan_put_int(tl_scan_block *b, uint32_t column, uint32_t row, int64_t v)
{
    b->array[column].i64[row] = v;
    b->array[column].is_null[row] = 0;
}

static inline void tl_scan_put_real(tl_scan_block *b, uint32_t column, uint32_t row, double v)
{
    b->array[column].real[row] = v;
    b->array[column].is_null[row] = 0;
}

/* Text that lives as long as the block, or NULL. */
static inline void tl_scan_put_text(tl_scan_block *b, uint32_t column, uint32_t row, const char *text)
{
    b->array[column].text[row] = text;
    b->array[column].is_null[row] = !text;
}

static inline void tl_scan_put_null(tl_scan_block *b, uint32_t column, uint32_t row)
{
    const tl_scan_array *a = &b->array[column];
    if (a->i64)
        a->i64[row] = 0;
    if (a->text)
        a->text[row] = NULL;
    if (a->real)
        a->real[row] = 0;
    a->is_null[row] = 1;
}

/* Puts a value, if somebody looks at the column. */
static inline void tl_list_int(tl_scan_block *b, uint32_t column, uint32_t row, bool has, int64_t v)
{
    if (!tl_scan_has(b, column))
        return;
    if (has)
        tl_scan_put_int(b, column, row, v);
    else
        tl_scan_put_null(b, column, row);
}

/* Text that lives as long as the dataset; NULL: null. */
static inline void tl_list_text(tl_scan_block *b, uint32_t column, uint32_t row, const char *text)
{
    if (tl_scan_has(b, column))
        tl_scan_put_text(b, column, row, text);
}

/* A copy of n bytes; those that are not UTF-8, and NUL, are escaped as in JSON lines. */
void tl_scan_put_copy(tl_scan_block *b, uint32_t column, uint32_t row, const char *text, size_t n);
/* What was written to b->json, without changes; empties it. */
void tl_scan_put_json(tl_scan_block *b, uint32_t column, uint32_t row);
/* Bytes, of TL_UNIT_BLOB. */
void tl_scan_put_blob(tl_scan_block *b, uint32_t column, uint32_t row, const uint8_t *bytes, size_t n);

/* The end of a block of `rows`: 1, or an error if memory ran out. */
int tl_scan_block_done(tl_scan_block *b, uint32_t rows, tl_block *out, tl_error *e);

#endif

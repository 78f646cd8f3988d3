/* A column of a row group of Parquet: its pages, encoded and compressed, in memory. */
#ifndef TL_BASE_PARQUET_CHUNK_H
#define TL_BASE_PARQUET_CHUNK_H

#include <string.h>

#include "base/columnar/page_pack.h"
#include "base/columnar/parquet_dictionary.h"

/* Numbers of the format. */
enum {
    TL_PARQUET_BOOLEAN = 0,
    TL_PARQUET_INT64 = 2,
    TL_PARQUET_DOUBLE = 5,
    TL_PARQUET_BYTE_ARRAY = 6,
    TL_PARQUET_PLAIN = 0,
    TL_PARQUET_RLE = 3,
    TL_PARQUET_DELTA = 5,
    TL_PARQUET_RLE_DICTIONARY = 8
};

/* Longer texts are not in statistics. */
#define TL_PARQUET_BOUND 64u

typedef struct tl_parquet_bounds {
    uint32_t n; /* bytes of each, which are those of PLAIN, of text without its length */
    uint32_t n_high;
    uint8_t low[TL_PARQUET_BOUND], high[TL_PARQUET_BOUND];
    bool is_there;  /* there was a value */
    bool is_absent; /* there was one that is too long */
} tl_parquet_bounds;

typedef struct tl_parquet_chunk {
    tl_store store;
    bool is_required;    /* no row is null: there are no levels */
    tl_pb pages;         /* with their headers */
    uint64_t plain_size; /* of the pages, without compression */
    uint64_t values;     /* with nulls */
    uint64_t nulls;
    uint32_t used; /* bits: the encodings of its pages */
    tl_parquet_bounds bounds;
    tl_dictionary dictionary;
    bool has_dictionary;   /* pages refer to it */
    bool is_decided;       /* a page had values */
    bool takes_dictionary; /* further pages may refer to it */
    bool descends;         /* not each row has at least the number of the row before, or it is null */
    uint64_t last;         /* the number of the last row */
} tl_parquet_chunk;

/* What pages are made with. */
typedef struct tl_parquet_room {
    tl_page_packer *packer;
    tl_pb page, trial, header, packed;
    uint64_t *word;  /* [TL_COLUMN_ROWS] values that are not null */
    uint32_t *index; /* [TL_COLUMN_ROWS] */
} tl_parquet_room;

/* fini is needed in any case. */
int tl_parquet_room_init(tl_parquet_room *r, unsigned level, tl_error *e);
void tl_parquet_room_fini(tl_parquet_room *r);

/* Adds a page with the rows of a column. `most`: values that its dictionary may have. Errors: TL_ENOMEM,
 * TL_EINVAL (a null in a column that has none). */
int tl_parquet_chunk_add(tl_parquet_chunk *c, tl_parquet_room *r, const tl_column_data *d, uint32_t most, tl_error *e);
/* Whole numbers, ascending from the first row to the last, and not all the same. */
static inline bool tl_parquet_chunk_is_sorted(const tl_parquet_chunk *c)
{
    return c->store == TL_STORE_INT && !c->descends && c->bounds.is_there &&
           memcmp(c->bounds.low, c->bounds.high, c->bounds.n) != 0;
}
/* The page of its dictionary, which comes before the others, and which it may not have, in r->packed after r->header.
 */
int tl_parquet_chunk_dictionary(tl_parquet_chunk *c, tl_parquet_room *r, tl_error *e);
/* Forgets the pages. */
void tl_parquet_chunk_clear(tl_parquet_chunk *c);
void tl_parquet_chunk_fini(tl_parquet_chunk *c);

#endif

/* Relations: everything that the library can say about traces, as rows with named, typed columns.
 *
 * tl_tables() lists the relations: functions with their percentiles, callers, collections, cache misses and so on.
 * tl_rows_open() computes one of them over open sources; tl_rows_next() hands it out in blocks of columns:
 *
 *     tl_rows *rows;
 *     if (tl_rows_open(&rows, "func", &source, 1, NULL, &error) < 0) ...
 *     for (tl_block b; (status = tl_rows_next(rows, &b, &error)) > 0;)
 *         for (uint32_t i = 0; i < b.rows; i++)
 *             printf("%s %" PRId64 "\n", b.column[NAME].text[i], b.column[CALLS].i64[i]);
 *     tl_rows_close(rows);
 *
 * Columns are described in docs/tables.md. Thread rule: a tl_rows belongs to one thread at a time; different ones
 * are independent. Only tl_rows_open() uses the sources, and nothing else may use them meanwhile. tl_tables() and
 * tl_table_at() are for any thread. */
#ifndef TRACELOOM_RELATION_H
#define TRACELOOM_RELATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <traceloom/error.h>
#include <traceloom/profile.h>
#include <traceloom/source.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum tl_column_type { TL_INTEGER, TL_REAL, TL_TEXT } tl_column_type;

/* What the numbers, or the text, of a column are. */
typedef enum tl_column_unit {
    TL_UNIT_NONE,  /* a number without a unit (a process id), or plain text */
    TL_UNIT_COUNT, /* of calls, samples, objects ... */
    TL_UNIT_TIME,  /* in tl_rows_unit(): nanoseconds, unless the trace's clock has no frequency */
    TL_UNIT_BYTES,
    TL_UNIT_SHARE, /* 0 .. 1 */
    TL_UNIT_HEX,   /* an address or another number that is written in hexadecimal */
    TL_UNIT_BOOL,  /* 0 or 1 */
    TL_UNIT_JSON,  /* JSON text: a list or an object */
    TL_UNIT_UTC,   /* nanoseconds since 1970 */
    TL_UNIT_BLOB   /* bytes: in SQL a BLOB, elsewhere text, two hexadecimal digits each */
} tl_column_unit;

typedef struct tl_column_info {
    const char *name;  /* "end_ts": the name in every output for programs */
    const char *title; /* "end": the title on a terminal; NULL: not shown there */
    tl_column_type type;
    tl_column_unit unit;
    const char *what; /* one sentence */
} tl_column_info;

/* A relation. */
typedef struct tl_table_info {
    const char *name;    /* "gc": the word after `report --by` */
    const char *summary; /* "garbage collections and their pauses" */
    const char *needs;   /* its source: "calls or samples" */
} tl_table_info;

/* How many relations there are. */
size_t tl_tables(void);
/* One of them, in the order of the documentation. Static; NULL past the end. */
const tl_table_info *tl_table_at(size_t i);

typedef struct tl_rows_options {
    const tl_select *select; /* what counts, or NULL: all */
    const char *sort;        /* as --sort; NULL: the relation's own order */
    uint32_t top;            /* the first rows only; 0: all */
    unsigned threads;        /* worker threads; 0: as many as there are processors */
    const char *weight;      /* of samples, see tl_profile_options; NULL: "time" */
    /* Arguments of some relations: the options of `report` with these names; zero or NULL: the default. TL_EINVAL if
     * the relation has no such option. */
    uint64_t interval, sample;
    uint32_t line_size;
    const char *cache, *predictor;
    bool calls;
} tl_rows_options;

typedef struct tl_rows tl_rows;

/* Computes a relation of one trace, or of several added up. Reads the sources one after the other, which must have no
 * open cursors, and does not use them after the call; tl_want needs no fields.
 * options may be NULL (all zero). *out belongs to the caller: tl_rows_close(). A trace that happens to have nothing to
 * tell (a runtime that never collected) gives no rows. Errors: TL_EINVAL (no such relation, option or order; traces
 * that cannot be added up), TL_EUNSUPPORTED (one of the traces cannot have what this relation is made from: the message
 * says what it has, and which relations it has), TL_ENOMEM, and those of reading. */
int tl_rows_open(tl_rows **out, const char *table, tl_source *const *source, size_t nsource,
                 const tl_rows_options *options, tl_error *e);
/* Some answers are several relations: the classes of events, and the pairs of classes. How many there are; at least 1.
 */
uint32_t tl_rows_parts(const tl_rows *rows);
/* The name of one of them ("classes"; "facts": one row with what is said of the whole). NULL past the end. */
const char *tl_rows_part(const tl_rows *rows, uint32_t part);
/* Chooses the one that the functions below are about, and begins with its first row; before the first call it is the
 * one that docs/tables.md describes. Columns and blocks of the one before are no longer valid. 0; or < 0, errors:
 * TL_EINVAL (no such part). */
int tl_rows_choose(tl_rows *rows, uint32_t part, tl_error *e);
/* How many columns a row has. */
uint32_t tl_rows_columns(const tl_rows *rows);
/* One of them; `column` below tl_rows_columns() is not checked. Borrowed as long as the rows; never NULL. */
const tl_column_info *tl_rows_column(const tl_rows *rows, uint32_t column);
/* How many rows there are. */
uint64_t tl_rows_count(const tl_rows *rows);
/* The unit of TL_UNIT_TIME: "ns", "ticks", "instructions"; with another weight "bytes", "samples" and so on. Borrowed
 * as long as the rows; never NULL. */
const char *tl_rows_unit(const tl_rows *rows);

/* One column of a block. Exactly one of the arrays, chosen by the type, is not NULL. */
typedef struct tl_block_column {
    /* TL_INTEGER. Of TL_UNIT_HEX and TL_UNIT_NONE (addresses, ids) these are the 64 bits of the number, negative from
     * 2^63 on: cast them to uint64_t. Others are amounts: INT64_MAX is also any larger one, INT64_MIN any smaller one.
     */
    const int64_t *i64;
    const double *real;      /* TL_REAL */
    const char *const *text; /* TL_TEXT; NULL where is_null is set */
    const uint8_t *is_null;  /* 1: the row has no value here */
} tl_block_column;

/* Rows of a relation. Belongs to the tl_rows; valid until the next call. */
typedef struct tl_block {
    uint32_t rows;                 /* at most TL_BLOCK_ROWS */
    const tl_block_column *column; /* [tl_rows_columns()] */
} tl_block;
#define TL_BLOCK_ROWS 2048u

/* Fills *block with the next rows, borrowed until the next call or tl_rows_close(). 1: rows; 0: end; < 0: error:
 * TL_ENOMEM. */
int tl_rows_next(tl_rows *rows, tl_block *block, tl_error *e);
/* Frees the rows. NULL is fine. */
void tl_rows_close(tl_rows *rows);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif

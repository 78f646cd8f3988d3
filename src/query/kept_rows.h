/* Rows of a table in memory: for an inner loop of a join, which reads them again and again and finds them by a column,
 * and for GROUP BY and ORDER BY, which want them sorted by one.
 *
 * A lookup by `ts < ? AND end_ts > ?`, what overlaps an interval, passes over rows that end too early: a tree over the
 * order of ts has the latest end in each part of it. */
#ifndef TL_QUERY_KEPT_ROWS_H
#define TL_QUERY_KEPT_ROWS_H

#include "base/hash.h"
#include "model/scan_block.h"
#include "op/scan/scan.h"

typedef struct tl_kept_rows {
    const tl_scan_table *table;
    tl_scan_array *array;    /* [ncolumn], of the columns that are looked at */
    tl_block_column *column; /* [ncolumn] the same, for readers */
    uint32_t n, capacity;
    bool is_sorted;  /* by the key; else as they came */
    uint32_t key;    /* the column */
    int64_t *latest; /* [2 * leaves] a binary tree, its root is 1: the greatest `end` of 16 rows, ...; or NULL */
    uint32_t leaves; /* a power of two */
    uint32_t end;    /* the column */
    tl_strings text;
    uint64_t bytes, most;
} tl_kept_rows;

/* Asked while rows are read and ordered: stop with TL_ELIMIT? */
typedef struct tl_kept_stop {
    bool (*stop)(void *arg); /* NULL: never */
    void *arg;
} tl_kept_stop;

/* Reads a scan to its end; most: bytes that rows may take. After zeroing; fini is needed in any case. Errors: TL_ELIMIT
 * (more than that), and those of reading. */
int tl_kept_rows_read(tl_kept_rows *k, const tl_scan_table *t, const uint8_t *used, tl_scan *scan, uint64_t most,
                      tl_kept_stop stop, tl_error *e);
/* Orders the rows by a column: null first, then ascending; equal ones as they came. After an error they are of no
 * use. */
int tl_kept_rows_order(tl_kept_rows *k, uint32_t column, tl_kept_stop stop, tl_error *e);
/* Prepares lookups by terms on these columns and with these operators. */
int tl_kept_rows_sort(tl_kept_rows *k, const tl_term *term, uint32_t nterm, tl_kept_stop stop, tl_error *e);
void tl_kept_rows_fini(tl_kept_rows *k);

/* Rows that may fulfil terms: from `at` to before `to`. */
typedef struct tl_kept_range {
    uint32_t at, to;
    int64_t late; /* those between that end before it do not; INT64_MIN: no such bound */
} tl_kept_range;

tl_kept_range tl_kept_rows_find(const tl_kept_rows *k, const tl_term *term, uint32_t nterm);
/* Sorts what was found by a column: a lookup gives rows in the order of its key, which need not be the one that was
 * promised. is_read_so: the scan gave all rows in that order. *row: [*n] the rows, which the caller frees; NULL: their
 * order is that already. */
int tl_kept_rows_arrange(const tl_kept_rows *k, const tl_kept_range *range, uint32_t column, bool is_read_so,
                         uint32_t **row, uint32_t *n, tl_kept_stop stop, tl_error *e);
/* The first row from `at` on, and before `to`, that does not end before `late`; `to`: there is none. */
uint32_t tl_kept_rows_late(const tl_kept_rows *k, uint32_t at, uint32_t to, int64_t late);

#endif

/* Tables whose rows are in memory already: classes, fields, functions. */
#ifndef TL_OP_LIST_SCAN_H
#define TL_OP_LIST_SCAN_H

#include "model/scan_block.h"
#include "op/scan/scan.h"

/* Puts row i of a source into row `row` of the block, every column that somebody looks at. */
typedef void tl_list_put(const void *arg, uint32_t source, uint64_t i, tl_scan_block *b, uint32_t row);

/* Where a scan of lists within lists is; zero before the first row of a source. Row i is item i - first of the list
 * that `outer` and `inner` number. */
typedef struct tl_list_at {
    uint32_t outer;
    uint64_t first;
} tl_list_at;

/* The same for rows that come one after another: moves *at to row i, which is never before it. */
typedef void tl_list_put_at(const void *arg, uint32_t source, uint64_t i, tl_list_at *at, tl_scan_block *b,
                            uint32_t row);

/* What such a table is; tl_scan_table.arg. */
typedef struct tl_list {
    uint64_t (*count)(const void *arg, uint32_t source); /* rows of a source */
    tl_list_put *put;
    const void *arg;        /* of all three */
    tl_list_put_at *put_at; /* in place of `put`, or NULL */
} tl_list;

/* keeps and open of the table. */
double tl_list_scan_keeps(const tl_scan_table *t, uint32_t column, tl_term_op op);
int tl_list_scan_open(tl_scan **out, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask, tl_error *e);

#endif

/* Shared by the tables of functions, tree, callers and threads. */
#ifndef TL_ANALYSIS_FUNCTION_TABLE_ROWS_H
#define TL_ANALYSIS_FUNCTION_TABLE_ROWS_H

#include "analysis/function/tables.h"

/* Rows under construction, each with a list of places. */
typedef struct tl_row_sums {
    tl_row *row; /* [n] */
    uint32_t n, capacity;
    uint32_t *first; /* [capacity] a place of each row, 0: none; continues in next */
    uint32_t *next;  /* [nplace] another place of the same row, 0: none */
} tl_row_sums;

int tl_row_sums_init(tl_row_sums *r, const tl_profile *p, uint32_t capacity, tl_error *e);
/* A new row without numbers; its index. There must be capacity. */
uint32_t tl_row_sums_add(tl_row_sums *r, uint32_t function, uint32_t caller, uint32_t track);
/* Adds self, min and max of a place to a row, and the given parts of its calls and total. */
void tl_row_sums_add_place(tl_row_sums *r, const tl_profile *p, uint32_t row, uint32_t place, uint64_t calls,
                           uint64_t total);
/* The same for one of several places of a row on a stack: only the outermost counts for total and, for samples, for
 * calls, since a stack counts once. */
void tl_row_sums_add_nested(tl_row_sums *r, const tl_profile *p, uint32_t row, uint32_t place, bool outermost);
/* Computes percentiles, drops rows without calls and total, and returns the rows, sorted. */
void tl_row_sums_take(tl_row_sums *r, const tl_profile *p, tl_row_order column, tl_table *out);
void tl_row_sums_fini(tl_row_sums *r);

/* Fills a row with the numbers of a single place. */
void tl_row_set_place(tl_row *row, const tl_profile *p, uint32_t place);

#endif

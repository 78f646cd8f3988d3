/* What reading kept rows and ordering them share. */
#ifndef TL_QUERY_KEPT_ORDER_H
#define TL_QUERY_KEPT_ORDER_H

#include "query/kept_rows.h"

/* Rows that are looked at between two questions whether to stop. */
#define TL_KEPT_ROWS_AT_ONCE 0x10000u

static inline bool tl_kept_stopped(tl_kept_stop stop, uint32_t row)
{
    return row % TL_KEPT_ROWS_AT_ONCE == 0 && stop.stop && stop.stop(stop.arg);
}

/* A number that values of a column have in common only if they are equal. */
static inline uint64_t tl_kept_value(const tl_kept_rows *k, uint32_t column, uint32_t row)
{
    const tl_scan_array *a = &k->array[column];
    return a->i64 ? (uint64_t)a->i64[row] : (uintptr_t)a->text[row];
}

/* Shows readers the arrays as they are now. */
void tl_kept_rows_show(tl_kept_rows *k);

/* The error of a status of the functions here; 0 for 0. */
int tl_kept_rows_fail(int status, tl_error *e);

#endif

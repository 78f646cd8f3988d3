/* Tables made from a profile: functions, tree, callers, threads. Rows are in the profile's ticks. */
#ifndef TL_ANALYSIS_FUNCTION_TABLES_H
#define TL_ANALYSIS_FUNCTION_TABLES_H

#include "model/profile_impl.h"

typedef enum tl_row_order {
    TL_BY_SELF,
    TL_BY_TOTAL,
    TL_BY_CALLS,
    TL_BY_MIN,
    TL_BY_P50,
    TL_BY_P90,
    TL_BY_P99,
    TL_BY_MAX,
    TL_BY_NAME,
    TL_BY_ID
} tl_row_order;

/* A row of numbers, with percentiles. */
typedef struct tl_row {
    tl_stat stat;
    uint64_t p50, p90, p99;
    uint64_t unwound;  /* calls closed by the exit of an outer one, on which durations depend */
    uint32_t function; /* index into the profile's functions, or TL_NO_FUNCTION */
    uint32_t place;    /* of a tree row */
    uint32_t caller;   /* of a callers row: function index, TL_NO_FUNCTION for none */
    uint32_t track;    /* of a thread row, or of a tree row with one tree per thread; else TL_NO_TRACK */
    bool untimed;      /* only samples: no shortest and no longest */
    uint32_t position; /* in default order, from 0; breaks ties of sorting */
} tl_row;

typedef struct tl_table {
    tl_row *row;
    uint32_t n, left_out;
} tl_table;

/* Each makes rows with calls or total != 0, in default order: functions by self descending (for samples then by total)
 * then id; the others as stated. For samples each stack counts once for the calls of a row.
 * Rows that are equal in this are in the profile's canonical order: the same profile gives the same table. The table
 * belongs to the caller: tl_table_free(). Errors: TL_ENOMEM. min, max and percentiles are 0 without a histogram. */
int tl_function_rows(tl_table *out, const tl_profile *p, tl_error *e);
/* Places in depth-first order, children by total descending; threads of a per-thread profile are not merged. */
int tl_tree_rows(tl_table *out, const tl_profile *p, tl_error *e);
/* One row for each pair caller -> callee, with the callee's calls from there; by total descending. If calls between the
 * same two functions are nested, only the outermost count for total. */
int tl_caller_rows(tl_table *out, const tl_profile *p, tl_error *e);
/* One row for each thread of a per-thread profile: calls, self sum, total = time in outermost calls; by total
 * descending. No rows for other profiles. */
int tl_thread_rows(tl_table *out, const tl_profile *p, tl_error *e);
/* Sorts rows by a column, descending (names and ids ascending), ties by function id, then by position; keeps the first
 * `top` (0: all). In thread rows, name and id are the thread's. */
void tl_table_sort(tl_table *t, const tl_profile *p, tl_row_order column, uint32_t top);
void tl_table_free(tl_table *t);

#endif

/* The relation `callees`: the functions that each function calls, and their shares of its time. */
#include <stdlib.h>

#include "analysis/function/profile_answer.h"

/* A share of the caller's time or, for calls without a caller, of the total time of these. */
static void get_share(const tl_at *at, tl_cell *out)
{
    const tl_row *row = at->row;
    const uint64_t *whole = at->part->detail;
    const tl_profile *p = ((const tl_profile_table *)at->table)->profile;
    const uint32_t caller = row->caller == TL_NO_FUNCTION ? tl_profile_functions(p) : row->caller;
    tl_cell_share(out, (double)row->stat.total, (double)whole[caller]);
}

static const tl_column columns[] = {
    TL_PAIR,
    {TL_COL("share", "share", REAL, SHARE, "the part of the caller's total time"), .get = get_share,
     .flags = TL_WITH_BAR, .place = 2},
    TL_CALLS(4, 1),
    TL_TICKS("total", stat.total, 1, 0, "time in the calls; of nested ones only the outermost counts"),
    TL_TICKS("self", stat.self, 3, 2, "time in the callee alone"),
    TL_DURATIONS,
    TL_PAIR_NAME,
};

/* Sorts callers by time; within a caller, rows are ordered by total. */
static int by_caller(const void *left, const void *right, void *argument)
{
    const tl_row *a = left, *b = right;
    const uint64_t *whole = argument;
    if (a->caller == b->caller)
        return TL_COMPARE(a->position, b->position);
    const uint64_t wa = a->caller == TL_NO_FUNCTION ? UINT64_MAX : whole[a->caller],
                   wb = b->caller == TL_NO_FUNCTION ? UINT64_MAX : whole[b->caller];
    if (wa != wb)
        return wa > wb ? -1 : 1;
    return a->caller == TL_NO_FUNCTION || (b->caller != TL_NO_FUNCTION && a->caller < b->caller) ? -1 : 1;
}

/* Total times by function, and that of calls without a caller. Owned by the answer; NULL: memory ran out. */
static uint64_t *sum_callers(tl_answer *a, const tl_profile *p, const tl_table *rows)
{
    const uint32_t n = tl_profile_functions(p);
    uint64_t *whole = tl_answer_alloc(a, (size_t)n + 1, sizeof *whole);
    for (uint32_t i = 0; whole && i < n; i++) {
        tl_stat stat;
        tl_profile_function_stat(p, i, &stat);
        whole[i] = stat.total;
    }
    for (uint32_t i = 0; whole && i < rows->n; i++)
        if (rows->row[i].caller == TL_NO_FUNCTION)
            whole[n] = tl_add_saturated(whole[n], rows->row[i].stat.total);
    return whole;
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_profile_table *t = table;
    tl_table rows = {0};
    const int status = tl_caller_rows(&rows, t->profile, e);
    if (status < 0)
        return status;
    const uint64_t *whole = sum_callers(a, t->profile, &rows);
    if (!whole) {
        tl_table_free(&rows);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table");
    }
    const uint32_t all = rows.n, most = tl_ask_rows(ask, all, TL_PROFILE_ROWS, 0);
    if (ask->sort)
        tl_profile_sort(&rows, t->profile, ask, TL_BY_TOTAL);
    else if (all > 1)
        qsort_r(rows.row, all, sizeof *rows.row, by_caller, (void *)(uintptr_t)whole);
    rows.n = most;
    rows.left_out = all - most;
    const tl_column *c = tl_profile_columns(a, columns, TL_COUNT(columns), &rows);
    tl_profile_add(a, ask, "edges", c, TL_COUNT(columns), &rows, "pairs", 40)->detail = (void *)(uintptr_t)whole;
    return 0;
}

const tl_table_kind tl_table_callees = {.info = {"callees", "functions that each function calls", TL_NEEDS_STACKS},
                                        .sql = "callee_stats",
                                        .sorts = TL_PROFILE_SORTS,
                                        .profile = TL_PROFILE_TREE,
                                        .answer = answer,
                                        TL_TABLE_COLUMNS(columns)};

/* The relation `callers`: pairs of caller and callee, and the cost of these calls. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/function/profile_answer.h"

static const tl_function *caller_of(const tl_at *at)
{
    const uint32_t caller = ((const tl_row *)at->row)->caller;
    const tl_profile_table *t = at->table;
    return caller == TL_NO_FUNCTION ? NULL : tl_profile_get_function(t->profile, caller);
}

void tl_get_caller(const tl_at *at, tl_cell *out)
{
    const tl_function *f = caller_of(at);
    if (f)
        tl_cell_function(at, f, out);
}

void tl_get_caller_id(const tl_at *at, tl_cell *out)
{
    const tl_function *f = caller_of(at);
    if (f)
        tl_cell_function_id(f, out);
}

void tl_get_pair(const tl_at *at, tl_cell *out)
{
    const tl_function *caller = caller_of(at);
    char a[24], b[24];
    tl_cell_printf(at, out, "%s%s%s", caller ? tl_function_label(caller, a) : "(start)",
                   at->part->answer->unicode ? " → " : " -> ", tl_function_label(tl_row_function(at), b));
}

static const tl_column columns[] = {
    TL_PAIR,
    TL_CALLS(4, 1),
    TL_TICKS("total", stat.total, 1, 0, "time in the calls; of nested ones only the outermost counts"),
    TL_TICKS("self", stat.self, 3, 2, "time in the callee alone"),
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(U64, tl_row, stat.total), .flags = TL_WITH_BAR, .place = 2},
    TL_DURATIONS,
    TL_PAIR_NAME,
};

/* The time of all calls that are not within another call of the table: shares of pairs are of this. A caller without a
 * row of its own was not selected, or is where the trace begins. */
static int sum_outermost(const tl_profile *p, const tl_table *t, double *sum, tl_error *e)
{
    bool *called = calloc((size_t)p->nfunction + 1, sizeof *called);
    uint64_t largest = 0;
    if (!called)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of %" PRIu32 " pairs", t->n);
    for (uint32_t i = 0; i < t->n; i++)
        called[t->row[i].function] = true;
    for (uint32_t i = 0; i < t->n; i++) {
        const tl_row *row = &t->row[i];
        largest = row->stat.total > largest ? row->stat.total : largest;
        if (row->caller == TL_NO_FUNCTION || !called[row->caller])
            *sum += (double)row->stat.total;
    }
    if (*sum == 0) /* all of them call each other */
        *sum = (double)largest;
    free(called);
    return 0;
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    tl_profile_table *t = table;
    tl_table rows = {0};
    int status = tl_caller_rows(&rows, t->profile, e);
    if (status == 0)
        status = sum_outermost(t->profile, &rows, &a->whole, e);
    if (status < 0) {
        tl_table_free(&rows);
        return status;
    }
    tl_profile_sort(&rows, t->profile, ask, TL_BY_TOTAL);
    const tl_column *c = tl_profile_columns(a, columns, TL_COUNT(columns), &rows);
    tl_profile_add(a, ask, "edges", c, TL_COUNT(columns), &rows, "pairs", ask->width * 2 / 3);
    return 0;
}

const tl_table_kind tl_table_callers = {.info = {"callers", "pairs of caller and callee", TL_NEEDS_STACKS},
                                        .sql = "caller_stats",
                                        .sorts = TL_PROFILE_SORTS,
                                        .profile = TL_PROFILE_TREE,
                                        .answer = answer,
                                        TL_TABLE_COLUMNS(columns)};

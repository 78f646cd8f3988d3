/* The relation `functions`: the cost of each function. */
#include "analysis/function/profile_answer.h"

static const tl_column columns[] = {
    {TL_COL("function_id", NULL, INTEGER, NONE, "the number that the trace knows it by"), "id",
     .get = tl_get_function_id},
    {TL_COL("name", "function", TEXT, NONE, "the function"), .get = tl_get_function, .role = TL_ROLE_NAME},
    {TL_COL("file", NULL, TEXT, NONE, "where it is defined"), .get = tl_get_file},
    {TL_COL("line", NULL, INTEGER, NONE, "the line there"), .get = tl_get_line},
    {TL_COL(NULL, "source", TEXT, NONE, NULL), .get = tl_get_source, .role = TL_ROLE_SUFFIX},
    TL_CALLS(4, 3),
    TL_TICKS("total", stat.total, 3, 2, "time in it and in what it called; recursion counts once"),
    TL_TICKS("self", stat.self, 1, 0, "time in it alone"),
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(U64, tl_row, stat.self), .flags = TL_WITH_BAR, .place = 2},
    TL_DURATIONS,
};

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    tl_profile_table *t = table;
    const tl_profile *p = t->profile;
    tl_table rows = {0};
    const int status = tl_function_rows(&rows, p, e);
    if (status < 0)
        return status;
    for (uint32_t i = 0; i < rows.n; i++)
        a->whole += (double)rows.row[i].stat.self;
    tl_profile_sort(&rows, p, ask, TL_BY_SELF);
    const tl_column *c = tl_profile_columns(a, columns, TL_COUNT(columns), &rows);
    tl_profile_add(a, ask, "functions", c, TL_COUNT(columns), &rows, "functions", ask->width / 2);
    tl_profile_add_unmatched(a, ask);
    if (tl_profile_weights(p) || p->of_stacks)
        tl_profile_add_samples(a, ask);
    return 0;
}

const tl_table_kind tl_table_func = {.info = {"func", "functions: time, calls, percentiles", TL_NEEDS_STACKS},
                                     .sql = "function_stats",
                                     .sorts = TL_PROFILE_SORTS,
                                     .profile = TL_PROFILE_FLAT,
                                     .answer = answer,
                                     TL_TABLE_COLUMNS(columns)};

/* Made of the tree, because recursion over functions of one name counts once, too. */
const tl_table_kind tl_table_name = {.info = {"name", "the same, added up by name over builds", TL_NEEDS_STACKS},
                                     .sorts = TL_PROFILE_SORTS,
                                     .profile = TL_PROFILE_TREE | TL_PROFILE_NAMES,
                                     .answer = answer,
                                     TL_TABLE_COLUMNS(columns)};

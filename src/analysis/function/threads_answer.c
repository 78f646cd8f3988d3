/* The relation `threads`: how busy each thread of the program was. */
#include "analysis/function/profile_answer.h"

static const tl_track *track_of(const tl_at *at)
{
    const tl_profile *p = tl_at_profile(at);
    const uint32_t track = ((const tl_row *)at->row)->track;
    return track < p->ntrack ? &p->track[track] : NULL;
}

static void get_name(const tl_at *at, tl_cell *out)
{
    const tl_track *track = track_of(at);
    tl_cell_text(out, track ? track->name : at->part->for_people ? "(unknown)" : NULL);
}

static void get_pid(const tl_at *at, tl_cell *out)
{
    const tl_track *track = track_of(at);
    if (track && track->has_pid)
        tl_cell_i64(out, track->pid);
}

static void get_tid(const tl_at *at, tl_cell *out)
{
    const tl_track *track = track_of(at);
    if (track && track->has_tid)
        tl_cell_i64(out, track->tid);
}

static const tl_column columns[] = {
    {TL_COL("thread", "thread", TEXT, NONE, "the thread"), "name", .get = get_name, .role = TL_ROLE_NAME},
    {TL_COL("pid", "pid", INTEGER, NONE, "its process"), .get = get_pid, .flags = TL_BLANK, .place = 4, .drop = 2},
    {TL_COL("tid", NULL, INTEGER, NONE, "its number"), .get = get_tid},
    TL_CALLS(3, 1),
    TL_TICKS("total", stat.total, 1, 0, "time in its outermost calls"),
    {TL_COL("self", NULL, INTEGER, TIME, "sum of the self times of its functions"), .get = tl_get_ticks,
     .which = offsetof(tl_row, stat.self)},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(U64, tl_row, stat.total), .flags = TL_WITH_BAR, .place = 2},
};

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    enum { CALLS = 3, TOTAL = 4 };
    tl_profile_table *t = table;
    tl_table rows = {0};
    uint32_t ncolumn = TL_COUNT(columns);
    tl_column *c = tl_answer_columns(a, columns, &ncolumn, 0);
    const int status = tl_thread_rows(&rows, t->profile, e);
    if (status < 0 || !c)
        return status;
    c[CALLS].info.title = tl_profile_calls(t->profile);
    if (!tl_profile_weights(t->profile))
        c[TOTAL].info.title = "busy";
    for (uint32_t i = 0; i < rows.n; i++)
        a->whole += (double)rows.row[i].stat.total;
    tl_profile_sort(&rows, t->profile, ask, TL_BY_TOTAL);
    tl_profile_add(a, ask, "threads", c, TL_COUNT(columns), &rows, "threads", 28);
    return 0;
}

const tl_table_kind tl_table_thread = {.info = {"thread", "threads: how busy each was", TL_NEEDS_STACKS},
                                       .sql = "thread_stats",
                                       .sorts = "total calls name",
                                       .profile = TL_PROFILE_TREE | TL_PROFILE_PER_THREAD,
                                       .answer = answer,
                                       TL_TABLE_COLUMNS(columns)};

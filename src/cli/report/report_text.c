/* `report` as text: the tables of functions, callers and threads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"
#include "view/text_table.h"

/* Cells of one row, by what they show. */
static void put_cell(tl_text_table *t, tl_text_row *row, unsigned *column, const char *text)
{
    row->cell[(*column)++] = tl_text_table_keep_raw(t, text);
}

static void put_time(const tl_report *r, tl_text_table *t, tl_text_row *row, unsigned *column, uint64_t ticks)
{
    char text[32];
    put_cell(t, row, column, tl_report_time(r, text, sizeof text, ticks));
}

static void put_share(tl_text_table *t, tl_text_row *row, unsigned *column, uint64_t part, uint64_t whole)
{
    char text[32];
    row->share = whole ? (double)part / (double)whole : 0;
    put_cell(t, row, column, tl_report_share(text, sizeof text, row->share));
}

static void put_count(tl_text_table *t, tl_text_row *row, unsigned *column, uint64_t n)
{
    char text[32];
    put_cell(t, row, column, tl_human_grouped(text, sizeof text, n));
}

/* min p50 p90 p99 max, "-" without calls; and how many were unwound, where that is shown. */
static void put_latencies(const tl_report *r, tl_text_table *t, tl_text_row *row, unsigned *column, const tl_row *from)
{
    const uint64_t ticks[] = {from->stat.min, from->p50, from->p90, from->p99, from->stat.max};
    char text[32];
    for (size_t i = 0; i < TL_COUNT(ticks); i++)
        if (from->stat.calls)
            put_cell(t, row, column, tl_report_duration(r, text, sizeof text, ticks[i], from->unwound));
        else
            put_cell(t, row, column, "-");
    if (t->ncolumn > *column)
        put_count(t, row, column, from->unwound);
}

static const char *function_name(const tl_report *r, tl_text_table *t, uint32_t function)
{
    char number[24];
    if (function == TL_NO_FUNCTION)
        return "(start)";
    return tl_text_table_keep(t, tl_function_label(tl_profile_get_function(r->profile, function), number));
}

static bool any_unwound(const tl_table *rows)
{
    for (uint32_t i = 0; i < rows->n; i++)
        if (rows->row[i].unwound)
            return true;
    return false;
}

/* The columns of a table: behind `ncommon` (the last of which counts calls) come five of durations, which are left out
 * without them, and one of unwound calls, if there are any; and where counts are all there is, they are not shown
 * twice. */
static void set_columns(const tl_report *r, tl_text_table *t, tl_text_column *column, unsigned ncommon,
                        const tl_table *rows)
{
    column[ncommon - 1].title = tl_report_calls(r);
    t->column = column;
    t->ncolumn = tl_profile_has_histogram(r->profile) ? ncommon + 5 + any_unwound(rows) : ncommon;
    if (tl_report_measure(r) == TL_MEASURE_COUNT)
        t->ncolumn = ncommon - 1;
}

static uint64_t sum_of(const tl_table *t, bool self)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->n; i++)
        sum += self ? t->row[i].stat.self : t->row[i].stat.total;
    return sum;
}

/* The time of all calls that no other call of the table is around: what the shares of pairs are of. A caller without a
 * row of its own was left out by a selection, or is where the trace begins. */
static int sum_outermost(const tl_profile *p, const tl_table *t, uint64_t *sum, tl_error *e)
{
    bool *called = calloc((size_t)p->nfunction + 1, sizeof *called);
    uint64_t largest = 0;
    if (!called)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of %" PRIu32 " pairs", t->n);
    for (uint32_t i = 0; i < t->n; i++)
        called[t->row[i].function] = true;
    *sum = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const tl_row *row = &t->row[i];
        largest = row->stat.total > largest ? row->stat.total : largest;
        if (row->caller == TL_NO_FUNCTION || !called[row->caller])
            *sum = tl_add_saturated(*sum, row->stat.total);
    }
    if (*sum == 0) /* all of them are called by each other */
        *sum = largest;
    free(called);
    return 0;
}

static int print_functions(const tl_report *r, tl_output *out, tl_error *e)
{
    tl_text_column column[] = {{"self", 0}, {"share", 0}, {"total", 2}, {"calls", 3}, {"min", 8},
                               {"p50", 4},  {"p90", 7},   {"p99", 5},   {"max", 6},   {"unwound", 3}};
    tl_text_table text = {.name_title = "function",
                          .none = tl_profile_weights(r->profile) ? "no samples" : "no calls",
                          .bar_after = 1,
                          .name_wish = 28};
    tl_table t = {0};
    int status = tl_table_functions(&t, r->profile, e);
    if (status < 0)
        return status;
    set_columns(r, &text, column, 4, &t);
    const uint64_t whole = sum_of(&t, true);
    const uint32_t all = tl_report_sort(r, &t, TL_REPORT_ROWS);
    for (uint32_t i = 0; i < t.n; i++) {
        const tl_row *from = &t.row[i];
        tl_text_row *row = tl_text_table_add(&text);
        unsigned at = 0;
        char source[256];
        put_time(r, &text, row, &at, from->stat.self);
        put_share(&text, row, &at, from->stat.self, whole);
        put_time(r, &text, row, &at, from->stat.total);
        if (text.ncolumn > at)
            put_count(&text, row, &at, from->stat.calls);
        if (text.ncolumn > at)
            put_latencies(r, &text, row, &at, from);
        row->name = function_name(r, &text, from->function);
        row->suffix = tl_text_table_keep(
            &text, tl_report_source(source, sizeof source, tl_profile_get_function(r->profile, from->function)));
    }
    tl_text_table_print(&text, r->terminal, out);
    tl_report_more(r, out, all - t.n, "functions");
    if (text.failed)
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of %" PRIu32 " functions", t.n);
    tl_text_table_fini(&text);
    tl_table_free(&t);
    return status;
}

static int print_callers(const tl_report *r, tl_output *out, tl_error *e)
{
    tl_text_column column[] = {{"total", 0}, {"share", 0}, {"self", 2}, {"calls", 1}, {"min", 8},
                               {"p50", 4},   {"p90", 7},   {"p99", 5},  {"max", 6},   {"unwound", 3}};
    tl_text_table text = {.name_title = "caller and callee",
                          .none = tl_profile_weights(r->profile) ? "no samples" : "no calls",
                          .bar_after = 1,
                          .name_wish = 40};
    tl_table t = {0};
    uint64_t whole = 0;
    int status = tl_table_callers(&t, r->profile, e);
    if (status == 0)
        status = sum_outermost(r->profile, &t, &whole, e);
    if (status < 0) {
        tl_table_free(&t);
        return status;
    }
    set_columns(r, &text, column, 4, &t);
    const uint32_t all = tl_report_sort(r, &t, TL_REPORT_ROWS);
    for (uint32_t i = 0; i < t.n; i++) {
        const tl_row *from = &t.row[i];
        tl_text_row *row = tl_text_table_add(&text);
        unsigned at = 0;
        put_time(r, &text, row, &at, from->stat.total);
        put_share(&text, row, &at, from->stat.total, whole);
        put_time(r, &text, row, &at, from->stat.self);
        if (text.ncolumn > at)
            put_count(&text, row, &at, from->stat.calls);
        if (text.ncolumn > at)
            put_latencies(r, &text, row, &at, from);
        row->name = tl_text_table_join(&text, function_name(r, &text, from->caller),
                                       r->terminal->unicode ? " → " : " -> ", function_name(r, &text, from->function));
    }
    tl_text_table_print(&text, r->terminal, out);
    tl_report_more(r, out, all - t.n, "pairs");
    if (text.failed)
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of %" PRIu32 " pairs", t.n);
    tl_text_table_fini(&text);
    tl_table_free(&t);
    return status;
}

static int print_threads(const tl_report *r, tl_output *out, tl_error *e)
{
    const tl_text_column column[] = {
        {tl_profile_weights(r->profile) ? "total" : "busy", 0}, {"share", 0}, {tl_report_calls(r), 1}, {"pid", 2}};
    tl_text_table text = {.column = column,
                          .ncolumn = TL_COUNT(column),
                          .name_title = "thread",
                          .none = tl_profile_weights(r->profile) ? "no samples" : "no calls",
                          .bar_after = 1,
                          .name_wish = 28};
    const tl_profile *p = r->profile;
    tl_table t = {0};
    int status = tl_table_threads(&t, p, e);
    if (status < 0)
        return status;
    const uint64_t whole = sum_of(&t, false);
    const uint32_t all = tl_report_sort(r, &t, TL_REPORT_ROWS);
    for (uint32_t i = 0; i < t.n; i++) {
        const tl_row *from = &t.row[i];
        const tl_track *track = from->track < p->ntrack ? &p->track[from->track] : NULL;
        tl_text_row *row = tl_text_table_add(&text);
        unsigned at = 0;
        char pid[24] = "";
        put_time(r, &text, row, &at, from->stat.total);
        put_share(&text, row, &at, from->stat.total, whole);
        put_count(&text, row, &at, from->stat.calls);
        if (track && track->has_pid)
            snprintf(pid, sizeof pid, "%" PRId64, track->pid);
        put_cell(&text, row, &at, pid);
        row->name = track ? tl_text_table_keep(&text, track->name) : "(unknown)";
    }
    tl_text_table_print(&text, r->terminal, out);
    tl_report_more(r, out, all - t.n, "threads");
    if (text.failed)
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of %" PRIu32 " threads", t.n);
    tl_text_table_fini(&text);
    tl_table_free(&t);
    return status;
}

int tl_report_text(const tl_report *r, tl_output *out, tl_error *e)
{
    tl_report_text_head(r, out);
    switch (r->cli->args->by) {
    case TL_REPORT_TREE:
        return tl_report_text_tree(r, out, e);
    case TL_REPORT_CALLERS:
        return print_callers(r, out, e);
    case TL_REPORT_HIST:
        return tl_report_text_histograms(r, out, e);
    case TL_REPORT_THREAD:
        return print_threads(r, out, e);
    case TL_REPORT_LINE:
        return tl_report_text_lines(r, out, e);
    case TL_REPORT_MODULE:
        return tl_report_text_modules(r, out, e);
    default:
        return print_functions(r, out, e);
    }
}

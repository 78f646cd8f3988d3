/* The tables `compilations`, `cpu_usage` and `pauses`: what a managed runtime did, one by one. */
#include <stdlib.h>
#include <string.h>

#include "analysis/runtime/compilation_rows.h"
#include "analysis/runtime/cpu_table.h"
#include "model/event_parts.h"
#include "query/analysis_kinds.h"

#define TRACE_COLUMN                                                                                                   \
    {                                                                                                                  \
        "trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"                                  \
    }

static int64_t signed_time(uint64_t t)
{
    return t > INT64_MAX ? INT64_MAX : (int64_t)t;
}

/* ts, end_ts and dur of an interval. */
static void put_interval(tl_scan_block *b, uint32_t ts, uint32_t row, bool has_begin, int64_t begin, bool has_end,
                         int64_t end)
{
    tl_list_int(b, ts, row, has_begin, begin);
    tl_list_int(b, ts + 1, row, has_end, end);
    tl_list_int(b, ts + 2, row, has_begin && has_end, has_begin && has_end ? end - begin : 0);
}

static int too_many(const tl_made_table *t, tl_error *e)
{
    return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "%s: too many for the memory of a query: see --memory",
                   t->kind->info.name);
}

static bool has_role(const tl_made_table *t, uint32_t source, tl_role role)
{
    const tl_trace *trace = tl_source_trace(t->dataset->source[source]);
    for (uint32_t i = 0; i < tl_trace_classes(trace); i++)
        if (tl_trace_class(trace, i)->role == role)
            return true;
    return false;
}

/* ---- compilations ---- */

enum { J_TRACE, J_TS, J_END, J_DUR, J_TRACK, J_THREAD, J_CODE, J_FUNCTION, J_NAME, J_KIND, J_FAILED, J_COLUMNS };

static const tl_column_info compilation_columns[J_COLUMNS] = {
    [J_TRACE] = TRACE_COLUMN,
    [J_TS] = {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "when it began, from the begin of the trace"},
    [J_END] = {"end_ts", "end_ts", TL_INTEGER, TL_UNIT_TIME, "when it ended; null: it did not"},
    [J_DUR] = {"dur", "dur", TL_INTEGER, TL_UNIT_TIME, "how long it took"},
    [J_TRACK] = {"track_id", "track_id", TL_INTEGER, TL_UNIT_NONE, "the number of its track, from 0"},
    [J_THREAD] = {"thread", "thread", TL_TEXT, TL_UNIT_NONE, "the thread that compiled"},
    [J_CODE] = {"code_id", "code_id", TL_INTEGER, TL_UNIT_HEX, "the runtime's id of the code; null: not known"},
    [J_FUNCTION] = {"function_id", "function_id", TL_INTEGER, TL_UNIT_HEX, "the function that got it; null: not known"},
    [J_NAME] = {"function_name", "function_name", TL_TEXT, TL_UNIT_NONE, "its name; null: not known"},
    [J_KIND] = {"kind", "kind", TL_TEXT, TL_UNIT_NONE, "compile, or search: for code that was compiled before"},
    [J_FAILED] = {"is_failed", "is_failed", TL_INTEGER, TL_UNIT_BOOL, "it failed; null: it did not end"},
};

static void free_compilations(void *rows)
{
    tl_compilations_fini(rows);
    free(rows);
}

static int make_compilations(void **out, const tl_made_table *t, uint32_t source, const tl_cell *argument, tl_error *e)
{
    (void)argument;
    if (!has_role(t, source, TL_ROLE_COMPILATION))
        return 0;
    tl_compilations *c = calloc(1, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of compilations");
    int status = tl_compilations_read(c, t->dataset->source[source], t->dataset->select, e);
    if (status == 0 && c->n > t->memory / sizeof *c->row)
        status = too_many(t, e);
    if (status < 0) {
        free_compilations(c);
        return status;
    }
    *out = c;
    return 0;
}

static uint64_t count_compilations(const void *rows)
{
    return ((const tl_compilations *)rows)->n;
}

static void put_compilation(const tl_made_table *t, const void *rows, uint32_t source, uint64_t i, tl_scan_block *b,
                            uint32_t row)
{
    const tl_compilations *all = rows;
    const tl_compilation *c = &all->row[i];
    const tl_trace *trace = tl_source_trace(t->dataset->source[source]);
    const tl_track *track = tl_trace_track(trace, c->track);
    uint64_t begin = 0, end;
    if (!trace->clock.from_zero)
        tl_trace_range(trace, &begin, &end);
    tl_list_int(b, J_TRACE, row, true, source + 1);
    put_interval(b, J_TS, row, true, tl_event_ts(trace, begin, c->begin), c->ended, tl_event_ts(trace, begin, c->end));
    tl_list_int(b, J_TRACK, row, true, c->track);
    tl_list_text(b, J_THREAD, row, track ? track->name : NULL);
    tl_list_int(b, J_CODE, row, c->has_code, (int64_t)c->code);
    tl_list_int(b, J_FUNCTION, row, c->has_function, (int64_t)c->function);
    tl_list_text(b, J_NAME, row, c->has_function ? tl_names_get(&all->names, c->function) : NULL);
    tl_list_text(b, J_KIND, row, c->is_search ? "search" : "compile");
    tl_list_int(b, J_FAILED, row, c->ended, c->is_failed);
}

const tl_made_kind tl_compilations_kind = {
    .info = {"compilations", "compilations of functions, each from its begin to its end", TL_NEEDS_RUNTIME},
    .column = compilation_columns,
    .ncolumn = J_COLUMNS,
    .make = make_compilations,
    .free_rows = free_compilations,
    .count = count_compilations,
    .put = put_compilation};

/* ---- processor time, and pauses of the recording ---- */

enum { C_TRACE, C_TS, C_END, C_DUR, C_THREAD, C_USED, C_COLUMNS };
enum { P_TRACE, P_TS, P_END, P_DUR, P_COLUMNS };

static const tl_column_info cpu_columns[C_COLUMNS] = {
    [C_TRACE] = TRACE_COLUMN,
    [C_TS] = {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "when measuring began; null: not known"},
    [C_END] = {"end_ts", "end_ts", TL_INTEGER, TL_UNIT_TIME, "when it ended"},
    [C_DUR] = {"dur", "dur", TL_INTEGER, TL_UNIT_TIME, "how long that is"},
    [C_THREAD] = {"thread", "thread", TL_TEXT, TL_UNIT_NONE, "the process, or one of its threads"},
    [C_USED] = {"used", "used", TL_INTEGER, TL_UNIT_TIME, "processor time that it used; 0 also if the clock went back"},
};
static const tl_column_info pause_columns[P_COLUMNS] = {
    [P_TRACE] = TRACE_COLUMN,
    [P_TS] = {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "when recording was suspended"},
    [P_END] = {"end_ts", "end_ts", TL_INTEGER, TL_UNIT_TIME, "when it was resumed; null: it was not"},
    [P_DUR] = {"dur", "dur", TL_INTEGER, TL_UNIT_TIME, "how long that is"},
};

static void free_cpu(void *rows)
{
    tl_cpu_fini(rows);
    free(rows);
}

static int make_cpu(void **out, const tl_made_table *t, uint32_t source, const tl_cell *argument, tl_error *e)
{
    (void)argument;
    if (!has_role(t, source, TL_ROLE_CPU))
        return 0;
    tl_cpu *c = calloc(1, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of processor time");
    int status = tl_cpu_read(c, t->dataset->source[source], t->dataset->select, e);
    if (status == 0 && c->npoint > t->memory / sizeof *c->point)
        status = too_many(t, e);
    if (status < 0) {
        free_cpu(c);
        return status;
    }
    *out = c;
    return 0;
}

static uint64_t count_points(const void *rows)
{
    return ((const tl_cpu *)rows)->npoint;
}

static void put_point(const tl_made_table *t, const void *rows, uint32_t source, uint64_t i, tl_scan_block *b,
                      uint32_t row)
{
    (void)t;
    const tl_cpu *c = rows;
    const tl_cpu_point *p = &c->point[i];
    uint64_t ns;
    if (__builtin_mul_overflow(p->used, (uint64_t)TL_CPU_NS_PER_US, &ns))
        ns = INT64_MAX;
    tl_list_int(b, C_TRACE, row, true, source + 1);
    put_interval(b, C_TS, row, p->has_begin, signed_time(p->begin), true, signed_time(p->end));
    tl_list_text(b, C_THREAD, row, c->track[p->track].name);
    tl_list_int(b, C_USED, row, true, signed_time(ns));
}

static uint64_t count_pauses(const void *rows)
{
    return ((const tl_cpu *)rows)->npause;
}

static void put_pause(const tl_made_table *t, const void *rows, uint32_t source, uint64_t i, tl_scan_block *b,
                      uint32_t row)
{
    (void)t;
    const tl_cpu *c = rows;
    const tl_cpu_pause *p = &c->pause[i];
    const bool open = c->is_paused && i + 1 == c->npause;
    tl_list_int(b, P_TRACE, row, true, source + 1);
    put_interval(b, P_TS, row, true, signed_time(p->from), !open, signed_time(p->to));
}

const tl_made_kind tl_cpu_usage_kind = {
    .info = {"cpu_usage", "processor time that the process and its threads used, by interval", TL_NEEDS_RUNTIME},
    .column = cpu_columns,
    .ncolumn = C_COLUMNS,
    .make = make_cpu,
    .free_rows = free_cpu,
    .count = count_points,
    .put = put_point};
const tl_made_kind tl_pauses_kind = {.info = {"pauses", "times in which recording was suspended", TL_NEEDS_RUNTIME},
                                     .column = pause_columns,
                                     .ncolumn = P_COLUMNS,
                                     .make = make_cpu,
                                     .free_rows = free_cpu,
                                     .count = count_pauses,
                                     .put = put_pause};

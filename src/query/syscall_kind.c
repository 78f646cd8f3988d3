/* The table `syscalls`: each system call with its arguments and its result. */
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/linux_syscalls.h"
#include "analysis/instruction/syscall_table.h"
#include "model/event_parts.h"
#include "query/analysis_kinds.h"

enum { TRACE, TS, RANK, TRACK, THREAD, NUMBER, NAME, ARGUMENT };
enum { RESULT = ARGUMENT + TL_CALL_ARGUMENTS, ERRNO, ERROR, TEXT, COLUMNS };

#define ARGUMENT_COLUMN(n)                                                                                             \
    [ARGUMENT + n] = {"arg" #n, "arg" #n, TL_INTEGER, TL_UNIT_HEX, "an argument; null: the call has fewer"}

static const tl_column_info columns[COLUMNS] = {
    [TRACE] = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    [TS] = {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "when it was called, from the begin of the trace"},
    [RANK] = {"rank", "rank", TL_INTEGER, TL_UNIT_NONE,
              "its place in the order of all tracks, where each has its own time; else null"},
    [TRACK] = {"track_id", "track_id", TL_INTEGER, TL_UNIT_NONE, "the number of its track, from 0"},
    [THREAD] = {"thread", "thread", TL_TEXT, TL_UNIT_NONE, "its thread or processor"},
    [NUMBER] = {"number", "number", TL_INTEGER, TL_UNIT_NONE, "the number of the system call"},
    [NAME] = {"name", "name", TL_TEXT, TL_UNIT_NONE, "its name; null: not known"},
    ARGUMENT_COLUMN(0),
    ARGUMENT_COLUMN(1),
    ARGUMENT_COLUMN(2),
    ARGUMENT_COLUMN(3),
    ARGUMENT_COLUMN(4),
    ARGUMENT_COLUMN(5),
    [RESULT] = {"result", "result", TL_INTEGER, TL_UNIT_NONE, "what it returned; null: not known"},
    [ERRNO] = {"errno", "errno", TL_INTEGER, TL_UNIT_NONE, "the number of the error; null: it did not fail"},
    [ERROR] = {"error", "error", TL_TEXT, TL_UNIT_NONE, "the name of that: ENOENT"},
    [TEXT] = {"call_text", "call_text", TL_TEXT, TL_UNIT_NONE, "the call without its result, in the manner of C"},
};
_Static_assert(TL_CALL_ARGUMENTS == 6, "a column for each argument");

#define TEXT_ROOM 100u /* bytes of a call's text, about */

/* The calls of a source. */
typedef struct calls {
    tl_syscalls table;
    uint32_t *order;
} calls;

static void free_calls(void *rows)
{
    calls *c = rows;
    tl_syscall_list_table.fini(&c->table);
    free(c->order);
    free(c);
}

static int make(void **out, const tl_made_table *t, uint32_t source, const tl_cell *argument, tl_error *e)
{
    (void)argument;
    const tl_dataset *d = t->dataset;
    const uint64_t most = t->memory / (sizeof(tl_syscall) + TEXT_ROOM);
    const tl_syscall_options options = {.list = true, .most = most < UINT32_MAX ? (uint32_t)most + 1 : UINT32_MAX};
    tl_insn_classes classes;
    if (!tl_insn_classes_find(&classes, tl_source_trace(d->source[source])))
        return 0;
    calls *c = calloc(1, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for system calls");
    int status =
        tl_insn_pass(&c->table, &tl_syscall_list_table, &options, true, d->source[source], d->select, d->threads, e);
    c->order = status == 0 ? tl_syscalls_sort_list(&c->table) : NULL;
    if (status == 0 && !c->order)
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for system calls");
    if (status < 0) {
        free_calls(c);
        return status;
    }
    *out = c;
    return 0;
}

static uint64_t count(const void *rows)
{
    return ((const calls *)rows)->table.ncalls;
}

static void put_result(const tl_syscall *c, tl_scan_block *b, uint32_t row)
{
    const bool failed = c->has_result && tl_linux_is_error(c->result);
    const unsigned number = failed ? (unsigned)-c->result : 0;
    tl_list_int(b, RESULT, row, c->has_result, (int64_t)c->result);
    tl_list_int(b, ERRNO, row, failed, number);
    tl_list_text(b, ERROR, row, failed ? tl_linux_error_name(number) : NULL);
}

static void put(const tl_made_table *t, const void *rows, uint32_t source, uint64_t i, tl_scan_block *b, uint32_t row)
{
    const calls *all = rows;
    const tl_syscall *c = &all->table.call[all->order[i]];
    const tl_trace *trace = tl_source_trace(t->dataset->source[source]);
    const tl_linux_call *known = tl_linux_call_of(c->number);
    uint64_t begin = 0, end;
    if (!trace->clock.from_zero)
        tl_trace_range(trace, &begin, &end);
    tl_list_int(b, TRACE, row, true, source + 1);
    tl_list_int(b, TS, row, true, tl_event_ts(trace, begin, c->ts));
    tl_list_int(b, RANK, row, tl_trace_is_ranked(trace), (int64_t)c->rank);
    tl_list_int(b, TRACK, row, true, c->track_index);
    tl_list_text(b, THREAD, row, c->track);
    tl_list_int(b, NUMBER, row, true, (int64_t)c->number);
    tl_list_text(b, NAME, row, known ? known->name : NULL);
    for (uint32_t k = 0; k < TL_CALL_ARGUMENTS; k++)
        tl_list_int(b, ARGUMENT + k, row, k < c->n, k < c->n ? (int64_t)c->argument[k] : 0);
    put_result(c, b, row);
    tl_list_text(b, TEXT, row, c->text);
}

const tl_made_kind tl_syscalls_kind = {.info = {"syscalls", "system calls, each with its result", TL_NEEDS_INSNS},
                                       .column = columns,
                                       .ncolumn = COLUMNS,
                                       .make = make,
                                       .free_rows = free_calls,
                                       .count = count,
                                       .put = put};

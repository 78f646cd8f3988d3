/* The tables of managed runtimes: which there are, and what is special about reading them. */
#include "cli/report/report_runtime.h"

#include <stdio.h>
#include <string.h>

#include "cli/message.h"
#include "cli/report/report_events.h"

typedef struct job {
    const tl_runtime_table *table;
    tl_runtime_report report;
} job;

static const struct {
    const char *by;
    const tl_runtime_table *table;
} all_tables[] = {
    [TL_REPORT_GC - TL_REPORT_GC] = {"gc", &tl_runtime_gc},
    [TL_REPORT_JIT - TL_REPORT_GC] = {"jit", &tl_runtime_jit},
    [TL_REPORT_ALLOC - TL_REPORT_GC] = {"alloc", &tl_runtime_alloc},
    [TL_REPORT_HEAP - TL_REPORT_GC] = {"heap", &tl_runtime_heap},
    [TL_REPORT_CPU - TL_REPORT_GC] = {"cpu", &tl_runtime_cpu},
};

/* Times of several inputs must have one unit. */
static int take_unit(void *arg, const tl_reading *r, bool first)
{
    tl_runtime_report *to = &((job *)arg)->report;
    const char *unit = tl_trace_unit(r->trace);
    if (!first && strcmp(to->unit, unit) != 0) {
        tl_say_error(r->path, "its times are %s, those of the inputs before are %s: they cannot be added up", unit,
                     to->unit);
        return TL_EXIT_USAGE;
    }
    snprintf(to->unit, sizeof to->unit, "%s", unit);
    to->is_ns = strcmp(unit, "ns") == 0;
    return TL_EXIT_DONE;
}

static int read_source(void *arg, tl_source *s, const tl_select *select, bool first, tl_error *e)
{
    job *m = arg;
    (void)first;
    return m->table->read(&m->report, s, select, e);
}

static bool is_empty(const void *arg)
{
    const job *m = arg;
    return m->table->empty(&m->report);
}

static int put_json(void *arg, tl_json *j, tl_error *e)
{
    job *m = arg;
    return m->table->json(&m->report, j, e);
}

static int put_text(void *arg, tl_output *out, tl_error *e)
{
    job *m = arg;
    return m->table->text(&m->report, out, e);
}

int tl_report_runtime(const tl_cli *c, const char *path, bool with_profile)
{
    const unsigned number = (unsigned)c->args->by - TL_REPORT_GC;
    const tl_runtime_table *table = all_tables[number].table;
    job m = {.table = table, .report = {.cli = c}};
    const tl_events_report how = {.by = all_tables[number].by,
                                  .what = table->what,
                                  .sorts = table->sorts,
                                  .several = table->several,
                                  .no_thread = table->no_thread,
                                  .want = {.fields = true, .late = c->args->by != TL_REPORT_ALLOC},
                                  .table = &m,
                                  .subject = m.report.subject,
                                  .terminal = &m.report.terminal,
                                  .check = take_unit,
                                  .read = read_source,
                                  .empty = is_empty,
                                  .json = put_json,
                                  .text = put_text};
    m.report.jit.by_name = m.report.alloc.several = c->args->file.n > 1;
    const int status = tl_report_events(c, &how, NULL, path, with_profile);
    tl_gc_fini(&m.report.gc);
    tl_jit_fini(&m.report.jit);
    tl_alloc_fini(&m.report.alloc);
    tl_heap_fini(&m.report.heap);
    tl_cpu_fini(&m.report.cpu);
    return status;
}

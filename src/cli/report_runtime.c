/* Reads the inputs of a table of managed runtimes, and prints it. */
#include "cli/report_runtime.h"

#include <stdio.h>
#include <string.h>

#include "cli/formats_of.h"
#include "cli/inputs.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "cli/selection.h"

typedef struct job {
    const tl_cli *cli;
    const tl_runtime_table *table;
    const char *by; /* "gc" */
    tl_selection selection;
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

/* Is a word one of a space-separated list? */
static bool is_word_of(const char *word, const char *list)
{
    const size_t n = strlen(word);
    for (; list && *list; list += strcspn(list, " "), list += *list == ' ')
        if (strcspn(list, " ") == n && memcmp(list, word, n) == 0)
            return true;
    return false;
}

/* Options that such a table has no use for: an answer that ignores them would be wrong. */
static int refuse(const job *m, bool with_profile)
{
    const tl_arguments *a = m->cli->args;
    const struct {
        bool given;
        const char *option;
    } narrow[] = {{a->func.n != 0, "-F"},          {a->not_func.n != 0, "-N"},     {a->cpu.n != 0, "--cpu"},
                  {a->cls.n != 0, "--class"},      {a->depth != 0, "--depth"},     {a->min_dur != NULL, "--min-dur"},
                  {a->weight != NULL, "--weight"}, {a->per_thread, "--per-thread"}};
    if (with_profile) {
        tl_say_error(NULL, "--by %s is a table, not a part of a profile: write the profile without it", m->by);
        return TL_EXIT_USAGE;
    }
    for (size_t i = 0; i < TL_COUNT(narrow); i++)
        if (narrow[i].given) {
            tl_say_error(NULL, "%s does not go with --by %s; what does is %s", narrow[i].option, m->by,
                         m->table->no_thread ? "--time" : "--time and --thread");
            return TL_EXIT_USAGE;
        }
    if (a->thread.n && m->table->no_thread) {
        tl_say_error(NULL, "--thread does not go with --by %s: %s", m->by, m->table->no_thread);
        return TL_EXIT_USAGE;
    }
    if (a->sort && !is_word_of(a->sort, m->table->sorts)) {
        if (m->table->sorts)
            tl_say_error(NULL, "--sort %s does not go with --by %s, which sorts by one of: %s", a->sort, m->by,
                         m->table->sorts);
        else
            tl_say_error(NULL, "--sort does not go with --by %s, whose order is that of time or size", m->by);
        return TL_EXIT_USAGE;
    }
    if (a->file.n > 1 && !m->table->several) {
        tl_say_error(NULL, "--by %s is of one trace: several cannot be added up", m->by);
        return TL_EXIT_USAGE;
    }
    return TL_EXIT_DONE;
}

/* What the report calls an input; after reading, when all is known of it. */
static void name_input(job *m, const tl_reading *r)
{
    tl_runtime_report *to = &m->report;
    const char *version = tl_trace_version(r->trace);
    snprintf(to->subject, sizeof to->subject, "%s: %s%s%s", tl_path_name(tl_base_name(tl_trace_path(r->trace))),
             tl_trace_format(r->trace), version ? " " : "", version ? version : "");
}

/* Times of several inputs must have one unit. */
static int take_unit(job *m, const tl_reading *r, bool first)
{
    tl_runtime_report *to = &m->report;
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

static int add_input(job *m, tl_reading *r, bool first)
{
    tl_error e = {0};
    int exit = take_unit(m, r, first);
    if (exit != TL_EXIT_DONE)
        return exit;
    int status = tl_selection_apply(&m->selection, r->trace, &e);
    if (status == 0) {
        tl_reading_start(r, m->cli, "reading");
        status = m->table->read(&m->report, r->source, m->selection.any ? &m->selection.select : NULL, &e);
        tl_reading_stop(r);
    }
    name_input(m, r);
    return status < 0 ? tl_say_failure(r->path, &e) : TL_EXIT_DONE;
}

static int read_inputs(job *m, int *losses)
{
    const tl_arguments *a = m->cli->args;
    const tl_want want = {.fields = true,
                          .late = a->by != TL_REPORT_ALLOC && !m->selection.any,
                          .strict = a->strict,
                          .threads = tl_threads(m->cli)};
    int status = TL_EXIT_DONE;
    for (size_t i = 0; i < a->file.n && status == TL_EXIT_DONE; i++) {
        tl_reading r;
        status = tl_reading_open(&r, m->cli, a->file.word[i], &want);
        if (status != TL_EXIT_DONE)
            break;
        status = add_input(m, &r, i == 0);
        if (status == TL_EXIT_DONE)
            *losses = tl_exit_worse(*losses, tl_say_losses(m->cli, r.trace, 0));
        tl_reading_close(&r);
    }
    tl_error e = {0};
    if (status == TL_EXIT_DONE && tl_select_check(&m->selection.select, &e) < 0)
        status = tl_say_failure(NULL, &e);
    if (a->file.n > 1)
        snprintf(m->report.subject, sizeof m->report.subject, "%zu files", a->file.n);
    return status;
}

static int put_json(job *m, tl_output *out, tl_error *e)
{
    tl_json json, *j = &json;
    tl_json_init(j, out);
    tl_json_object(j);
    tl_json_key_u64(j, "schema", 1);
    int status = m->table->json(&m->report, j, e);
    tl_json_object_end(j);
    tl_output_puts(out, "\n");
    return status;
}

static int print(job *m, const char *path)
{
    tl_runtime_report *r = &m->report;
    const bool is_stdout = strcmp(path, "-") == 0, json = m->cli->args->json, empty = m->table->empty(r);
    tl_terminal file;
    tl_output *out = NULL;
    tl_error e = {0};
    tl_terminal_file(&file);
    r->terminal = is_stdout ? &m->cli->out : &file;
    int status = tl_output_open(&out, path, m->cli->args->force, TL_PLAIN, 0, &e);
    if (status == 0)
        status = json ? put_json(m, out, &e) : empty ? 0 : m->table->text(r, out, &e);
    if (status == 0)
        status = tl_output_finish(out, &e);
    tl_output_close(out);
    if (status < 0)
        return tl_say_failure(NULL, &e);
    if (empty)
        tl_say(m->cli, NULL, "no %s in %s; traceloom info lists what there is", m->table->what,
               m->selection.any           ? "what was chosen"
               : m->cli->args->file.n > 1 ? "these traces"
                                          : "this trace");
    if (!is_stdout)
        tl_say_written(m->cli, path);
    return TL_EXIT_DONE;
}

int tl_report_runtime(const tl_cli *c, const char *path, bool with_profile)
{
    const unsigned number = (unsigned)c->args->by - TL_REPORT_GC;
    job m = {.cli = c, .table = all_tables[number].table, .by = all_tables[number].by, .report = {.cli = c}};
    tl_error e = {0};
    int losses = TL_EXIT_DONE, status = refuse(&m, with_profile);
    if (status != TL_EXIT_DONE)
        return status;
    if (tl_selection_parse(&m.selection, c->args, &e) < 0 ||
        (c->args->file.n > 1 && tl_selection_keep_score(&m.selection, &e) < 0))
        status = tl_say_failure(NULL, &e);
    m.report.jit.by_name = m.report.alloc.several = c->args->file.n > 1;
    if (status == TL_EXIT_DONE)
        status = read_inputs(&m, &losses);
    if (status == TL_EXIT_DONE)
        status = print(&m, path);
    tl_gc_fini(&m.report.gc);
    tl_jit_fini(&m.report.jit);
    tl_alloc_fini(&m.report.alloc);
    tl_heap_fini(&m.report.heap);
    tl_cpu_fini(&m.report.cpu);
    tl_selection_fini(&m.selection);
    return tl_exit_worse(status, losses);
}

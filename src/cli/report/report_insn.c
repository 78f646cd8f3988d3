/* The tables of instructions: which there are, and what they share. */
#include "cli/report/report_insn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/report/report_events.h"
#include "model/trace_impl.h"
#include "op/symbols/demangle.h"

#define PLACE_NAME_MAX 1000 /* longest name of a function in these tables: more is cut off */

typedef struct job {
    const tl_insn_view *view;
    tl_insn_report report;
    void *table;
    void *options; /* or NULL */
    unsigned threads;
    bool begun; /* the table has to be finished */
} job;

static const tl_insn_view *const all_views[] = {
    [TL_REPORT_MIX - TL_REPORT_MIX] = &tl_insn_view_mix,
    [TL_REPORT_BLOCK - TL_REPORT_MIX] = &tl_insn_view_block,
    [TL_REPORT_BRANCH - TL_REPORT_MIX] = &tl_insn_view_branch,
    [TL_REPORT_PAGE - TL_REPORT_MIX] = &tl_insn_view_page,
    [TL_REPORT_REUSE - TL_REPORT_MIX] = &tl_insn_view_reuse,
    [TL_REPORT_CACHE - TL_REPORT_MIX] = &tl_insn_view_cache,
    [TL_REPORT_SYSCALL - TL_REPORT_MIX] = &tl_insn_view_syscall,
};

bool tl_report_is_insn(const tl_arguments *a)
{
    return a->by >= TL_REPORT_MIX && a->by <= TL_REPORT_SYSCALL;
}

bool tl_report_is_insn_of(const tl_arguments *a, const tl_trace *t)
{
    return tl_report_is_insn(a) || (a->by == TL_REPORT_THREAD && tl_trace_counts_insns(t));
}

static const tl_insn_view *view_of(const tl_arguments *a)
{
    if (a->by == TL_REPORT_SYSCALL && a->calls)
        return &tl_insn_view_calls;
    return a->by == TL_REPORT_THREAD ? &tl_insn_view_thread : all_views[(unsigned)a->by - TL_REPORT_MIX];
}

int tl_insn_check_options(const tl_arguments *a)
{
    const struct {
        bool given;
        const char *option;
        tl_report_by by;
    } own[] = {
        {a->interval != 0, "--interval", TL_REPORT_PAGE},        {a->line_size != 0, "--line-size", TL_REPORT_REUSE},
        {a->sample != 0, "--sample", TL_REPORT_REUSE},           {a->cache != NULL, "--cache", TL_REPORT_CACHE},
        {a->predictor != NULL, "--predictor", TL_REPORT_BRANCH}, {a->calls, "--calls", TL_REPORT_SYSCALL}};
    for (size_t i = 0; i < TL_COUNT(own); i++)
        if (own[i].given && a->by != own[i].by) {
            tl_say_error(NULL, "%s goes with --by %s", own[i].option, all_views[own[i].by - TL_REPORT_MIX]->by);
            return TL_EXIT_USAGE;
        }
    return TL_EXIT_DONE;
}

static int read_source(void *arg, tl_source *s, const tl_select *select, bool first, tl_error *e)
{
    job *m = arg;
    m->begun = true;
    return tl_insn_pass(m->table, m->view->how, m->options, first, s, select, m->threads, e);
}

static bool is_empty(const void *arg)
{
    const job *m = arg;
    return m->view->empty(m->table);
}

static int put_json(void *arg, tl_json *j, tl_error *e)
{
    job *m = arg;
    return m->view->json(&m->report, j, e);
}

static int put_text(void *arg, tl_output *out, tl_error *e)
{
    job *m = arg;
    return m->view->text(&m->report, out, e);
}

/* Memory, options, and names of functions. An exit status. */
static int prepare(job *m, const tl_cli *c, tl_code_map **code)
{
    const tl_insn_view *view = m->view;
    tl_error e = {0};
    char message[TL_USAGE_SIZE] = "";
    m->table = calloc(1, view->how->size);
    m->options = view->options_size ? calloc(1, view->options_size) : NULL;
    if (!m->table || (view->options_size && !m->options)) {
        tl_say_error(NULL, "out of memory");
        return TL_EXIT_DAMAGED;
    }
    if (view->options && !view->options(m->options, c->args, message)) {
        tl_say_error(NULL, "%s", message);
        return TL_EXIT_USAGE;
    }
    if (c->args->exe && tl_code_map_open(code, c->args->exe, &e) < 0)
        return tl_say_failure(NULL, &e);
    m->report.code = *code;
    return TL_EXIT_DONE;
}

int tl_report_insn(const tl_cli *c, tl_reading *open, const char *path, bool with_profile)
{
    job m = {.view = view_of(c->args), .report = {.cli = c}, .threads = tl_threads(c)};
    tl_code_map *code = NULL;
    const tl_events_report how = {.by = m.view->by,
                                  .what = m.view->what,
                                  .sorts = m.view->sorts,
                                  .several = true,
                                  .of_insns = true,
                                  .want = {.fields = m.view->how->fields},
                                  .table = &m,
                                  .subject = m.report.subject,
                                  .terminal = &m.report.terminal,
                                  .read = read_source,
                                  .empty = is_empty,
                                  .json = put_json,
                                  .text = put_text};
    int status = prepare(&m, c, &code);
    m.report.table = m.table;
    if (status == TL_EXIT_DONE)
        status = tl_report_events(c, &how, open, path, with_profile);
    else if (open)
        tl_reading_close(open);
    if (m.begun)
        m.view->how->fini(m.table);
    free(m.table);
    free(m.options);
    tl_code_map_close(code);
    return status;
}

uint32_t tl_insn_rows(const tl_insn_report *r, uint32_t n, uint32_t on_terminal)
{
    return r->cli->args->json ? tl_events_json_rows(r->cli, n) : tl_events_rows(r->cli, r->terminal, n, on_terminal, 0);
}

void tl_insn_subject(const tl_insn_report *r, tl_output *out)
{
    tl_events_subject(r->terminal, r->subject, out);
}

const char *tl_insn_place(const tl_insn_report *r, tl_text_table *t, uint64_t pc)
{
    const tl_code_symbol *s = r->code ? tl_code_map_find(r->code, pc, NULL) : NULL;
    if (!s)
        return "";
    char *readable = r->cli->args->no_demangle ? NULL : tl_demangle(s->name), offset[32];
    const char *name = readable ? readable : s->name;
    const int room = (int)(strnlen(name, PLACE_NAME_MAX));
    snprintf(offset, sizeof offset, "+0x%" PRIx64, pc - s->from);
    char text[PLACE_NAME_MAX + sizeof offset];
    snprintf(text, sizeof text, "%.*s%s", room, name, pc > s->from ? offset : "");
    free(readable);
    return tl_text_table_keep(t, text);
}

int tl_insn_print(const tl_insn_report *r, tl_text_table *t, uint64_t left_out, const char *what, tl_output *out,
                  tl_error *e)
{
    return tl_events_print(r->cli, r->terminal, t, left_out, what, out, e);
}

/* Reads the inputs of a table that is made from events, and prints it. */
#include "cli/report/report_events.h"

#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "cli/formats_of.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "cli/report/report.h"
#include "cli/selection.h"
#include "view/text_table.h"

typedef struct job {
    const tl_cli *cli;
    const tl_events_report *how;
    tl_selection selection;
} job;

/* What narrows such a table, in words. */
static const char *what_narrows(const tl_events_report *how)
{
    return how->of_insns    ? "--time, --insns, --thread, --cpu, --el and --pc"
           : how->no_thread ? "--time"
                            : "--time and --thread";
}

/* Options that such a table has no use for: an answer that ignores them would be wrong. */
static int refuse(const job *m, bool with_profile)
{
    const tl_arguments *a = m->cli->args;
    const bool of_insns = m->how->of_insns;
    const struct {
        bool given;
        const char *option;
    } narrow[] = {
        {a->func.n != 0, "-F"},           {a->not_func.n != 0, "-N"},      {a->cpu.n != 0 && !of_insns, "--cpu"},
        {a->cls.n != 0, "--class"},       {a->depth != 0, "--depth"},      {a->min_dur != NULL, "--min-dur"},
        {a->weight != NULL, "--weight"},  {a->per_thread, "--per-thread"}, {a->insns && !of_insns, "--insns"},
        {a->levels && !of_insns, "--el"}, {a->pc && !of_insns, "--pc"}};
    if (with_profile) {
        tl_say_error(NULL, "--by %s is a table, not a part of a profile: write the profile without it", m->how->by);
        return TL_EXIT_USAGE;
    }
    for (size_t i = 0; i < TL_COUNT(narrow); i++)
        if (narrow[i].given) {
            tl_say_error(NULL, "%s does not go with --by %s; what does is %s", narrow[i].option, m->how->by,
                         what_narrows(m->how));
            return TL_EXIT_USAGE;
        }
    if (a->thread.n && m->how->no_thread) {
        tl_say_error(NULL, "--thread does not go with --by %s: %s", m->how->by, m->how->no_thread);
        return TL_EXIT_USAGE;
    }
    if (a->file.n > 1 && !m->how->several) {
        tl_say_error(NULL, "--by %s is of one trace: several cannot be added up", m->how->by);
        return TL_EXIT_USAGE;
    }
    return tl_report_check_sort(a->sort, m->how->by, m->how->sorts);
}

/* What the report calls an input; after reading, when all is known of it. */
static void name_input(const job *m, const tl_reading *r)
{
    const char *version = tl_trace_version(r->trace);
    snprintf(m->how->subject, TL_SUBJECT_SIZE, "%s: %s%s%s", tl_path_name(tl_base_name(tl_trace_path(r->trace))),
             tl_trace_format(r->trace), version ? " " : "", version ? version : "");
}

static int add_input(job *m, tl_reading *r, bool first)
{
    tl_error e = {0};
    int exit = m->how->check ? m->how->check(m->how->table, r, first) : TL_EXIT_DONE;
    if (exit != TL_EXIT_DONE)
        return exit;
    int status = tl_selection_apply(&m->selection, r->trace, &e);
    if (status == 0) {
        tl_reading_start(r, m->cli, "reading");
        status = m->how->read(m->how->table, r->source, m->selection.any ? &m->selection.select : NULL, first, &e);
        tl_reading_stop(r);
    }
    name_input(m, r);
    return status < 0 ? tl_say_failure(r->path, &e) : TL_EXIT_DONE;
}

static int read_inputs(job *m, tl_reading *open, int *losses)
{
    const tl_arguments *a = m->cli->args;
    tl_want want = m->how->want;
    want.late = want.late && !m->selection.any;
    want.strict = a->strict;
    want.threads = tl_threads(m->cli);
    int status = TL_EXIT_DONE;
    for (size_t i = 0; i < a->file.n && status == TL_EXIT_DONE; i++) {
        tl_reading own, *r = open && i == 0 ? open : &own;
        if (r == &own)
            status = tl_reading_open(r, m->cli, a->file.word[i], &want);
        if (status != TL_EXIT_DONE)
            break;
        status = add_input(m, r, i == 0);
        if (status == TL_EXIT_DONE)
            *losses = tl_exit_worse(*losses, tl_say_losses(m->cli, r->trace, 0));
        if (r == &own)
            tl_reading_close(r);
    }
    tl_error e = {0};
    if (status == TL_EXIT_DONE && tl_select_check(&m->selection.select, &e) < 0)
        status = tl_say_failure(NULL, &e);
    if (a->file.n > 1)
        snprintf(m->how->subject, TL_SUBJECT_SIZE, "%zu files", a->file.n);
    return status;
}

static int put_json(job *m, tl_output *out, tl_error *e)
{
    tl_json json, *j = &json;
    tl_json_init(j, out);
    tl_json_object(j);
    tl_json_key_u64(j, "schema", 1);
    int status = m->how->json(m->how->table, j, e);
    tl_json_object_end(j);
    tl_output_puts(out, "\n");
    return status;
}

static int print(job *m, const char *path)
{
    const tl_events_report *how = m->how;
    const bool is_stdout = strcmp(path, "-") == 0, json = m->cli->args->json, empty = how->empty(how->table);
    tl_terminal file;
    tl_output *out = NULL;
    tl_error e = {0};
    tl_terminal_file(&file);
    *how->terminal = is_stdout ? &m->cli->out : &file;
    int status = tl_output_open(&out, path, m->cli->args->force, TL_PLAIN, 0, &e);
    if (status == 0)
        status = json ? put_json(m, out, &e) : empty ? 0 : how->text(how->table, out, &e);
    if (status == 0)
        status = tl_output_finish(out, &e);
    tl_output_close(out);
    if (status < 0)
        return tl_say_failure(NULL, &e);
    if (empty)
        tl_say(m->cli, NULL, "no %s in %s; traceloom info lists what there is", how->what,
               m->selection.any           ? "what was chosen"
               : m->cli->args->file.n > 1 ? "these traces"
                                          : "this trace");
    if (!is_stdout)
        tl_say_written(m->cli, path);
    return TL_EXIT_DONE;
}

int tl_report_events(const tl_cli *c, const tl_events_report *how, tl_reading *open, const char *path,
                     bool with_profile)
{
    job m = {.cli = c, .how = how};
    tl_error e = {0};
    int losses = TL_EXIT_DONE, status = refuse(&m, with_profile);
    if (status == TL_EXIT_DONE && (tl_selection_parse(&m.selection, c->args, &e) < 0 ||
                                   (c->args->file.n > 1 && tl_selection_keep_score(&m.selection, &e) < 0)))
        status = tl_say_failure(NULL, &e);
    if (status == TL_EXIT_DONE)
        status = read_inputs(&m, open, &losses);
    if (status == TL_EXIT_DONE)
        status = print(&m, path);
    if (open)
        tl_reading_close(open);
    tl_selection_fini(&m.selection);
    return tl_exit_worse(status, losses);
}

uint32_t tl_events_json_rows(const tl_cli *c, uint32_t n)
{
    const tl_arguments *a = c->args;
    return a->has_top && a->top && a->top < n ? a->top : n;
}

uint32_t tl_events_rows(const tl_cli *c, const tl_terminal *terminal, uint32_t n, uint32_t on_terminal,
                        uint32_t elsewhere)
{
    const tl_arguments *a = c->args;
    const uint32_t most = a->has_top ? a->top : terminal->tty ? on_terminal : elsewhere;
    return most && most < n ? most : n;
}

void tl_events_subject(const tl_terminal *terminal, const char *subject, tl_output *out)
{
    char clean[TL_SUBJECT_SIZE];
    tl_output_printf(out, "%s%s%s\n", tl_style_on(terminal, TL_STRONG), tl_text_clean(clean, sizeof clean, subject),
                     tl_style_on(terminal, TL_PLAIN_TEXT));
}

int tl_events_print(const tl_cli *c, const tl_terminal *terminal, tl_text_table *t, uint64_t left_out, const char *what,
                    tl_output *out, tl_error *e)
{
    char number[32];
    const bool failed = t->failed;
    tl_text_table_print(t, terminal, out);
    if (left_out && !c->args->has_top)
        tl_output_printf(out, "%s%s %s more %s; --top 0 shows all%s\n", tl_style_on(terminal, TL_FAINT),
                         terminal->unicode ? "…" : "...", tl_human_grouped(number, sizeof number, left_out), what,
                         tl_style_on(terminal, TL_PLAIN_TEXT));
    tl_text_table_fini(t);
    return failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of %s", what) : 0;
}

/* Reads the inputs of a table made from events, and shows it. */
#include "cli/report/report_table.h"

#include <stdio.h>
#include <string.h>

#include "analysis/table_run.h"
#include "cli/formats_of.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "cli/report/report.h"
#include "cli/selection.h"
#include "op/near_miss.h"
#include "op/symbols/code_map.h"

#define SUBJECT_SIZE 512u

typedef struct job {
    const tl_cli *cli;
    const tl_table_kind *kind;
    tl_selection selection;
    tl_table_run run;
    tl_catalog damage;
    size_t unfit; /* inputs unsuitable for the table */
    tl_code_map *code;
    char subject[SUBJECT_SIZE]; /* the file and its format, or "3 files"; what is selected */
} job;

/* The options that can narrow such a table, in words. */
static const char *what_narrows(const tl_table_kind *kind)
{
    return kind->pass        ? "--time, --insns, --thread, --cpu, --el and --pc"
           : kind->any_event ? "--time, --thread, --cpu and --class"
           : kind->no_thread ? "--time"
                             : "--time and --thread";
}

const char *tl_report_table_stray(const tl_arguments *a, const tl_table_kind *kind)
{
    const bool of_insns = kind->pass != NULL;
    const struct {
        bool given;
        const char *option;
    } narrow[] = {{a->func.n != 0, "-F"},
                  {a->not_func.n != 0, "-N"},
                  {a->cpu.n != 0 && !of_insns && !kind->any_event, "--cpu"},
                  {a->cls.n != 0 && !kind->any_event, "--class"},
                  {a->depth != 0, "--depth"},
                  {a->min_dur != NULL, "--min-dur"},
                  {a->insns && !of_insns, "--insns"},
                  {a->levels && !of_insns, "--el"},
                  {a->pc && !of_insns, "--pc"},
                  {a->thread.n && kind->no_thread, "--thread"},
                  {a->weight != NULL, "--weight"},
                  {a->per_thread, "--per-thread"}};
    for (size_t i = 0; i < TL_COUNT(narrow); i++)
        if (narrow[i].given)
            return narrow[i].option;
    return NULL;
}

/* Refuses options that such a table cannot use: an answer that ignores them would be wrong. */
static int refuse(const job *m, bool with_profile)
{
    const tl_arguments *a = m->cli->args;
    const tl_table_kind *kind = m->kind;
    const char *by = kind->info.name, *stray = tl_report_table_stray(a, kind);
    if (with_profile) {
        tl_say_error(NULL, "--by %s is a table, not a part of a profile: write the profile without it", by);
        return TL_EXIT_USAGE;
    }
    if (stray && strcmp(stray, "--thread") == 0) {
        tl_say_error(NULL, "--thread does not go with --by %s: %s", by, kind->no_thread);
        return TL_EXIT_USAGE;
    }
    if (stray) {
        tl_say_error(NULL, "%s does not go with --by %s; what does is %s", stray, by, what_narrows(kind));
        return TL_EXIT_USAGE;
    }
    if (a->file.n > 1 && !tl_table_adds_up(kind)) {
        tl_say_error(NULL, "--by %s is of one trace: several cannot be added up", by);
        return TL_EXIT_USAGE;
    }
    return tl_report_check_sort(a->sort, by, kind->sorts);
}

/* The name of an input in the report; after reading, when everything about it is known. */
static void name_input(job *m, const tl_reading *r)
{
    const char *version = tl_trace_version(r->trace);
    snprintf(m->subject, SUBJECT_SIZE, "%s: %s%s%s", tl_path_name(tl_base_name(tl_trace_path(r->trace))),
             tl_trace_format(r->trace), version ? " " : "", version ? version : "");
}

static int add_input(job *m, tl_reading *r)
{
    tl_error e = {0};
    int status = tl_report_check_fits(m->kind, r, NULL, &m->unfit);
    if (status != TL_EXIT_DONE)
        return status;
    status = tl_selection_apply(&m->selection, r->trace, &e);
    if (status == 0) {
        tl_reading_start(r, m->cli, "reading");
        status = tl_table_run_add(&m->run, r->source, m->selection.any ? &m->selection.select : NULL,
                                  tl_threads(m->cli), &e);
        tl_reading_stop(r);
    }
    name_input(m, r);
    tl_near_miss(&m->selection.select, r->trace, m->cli->args->exe, &e);
    return status < 0 ? tl_say_failure(r->path, &e) : TL_EXIT_DONE;
}

static int read_inputs(job *m, tl_reading *open, const tl_target *to, int *losses)
{
    const tl_arguments *a = m->cli->args;
    tl_want want = tl_table_run_want(&m->run);
    want.late = want.late && !m->selection.any;
    want.strict = a->strict;
    want.threads = tl_threads(m->cli);
    tl_error e = {0};
    int status = TL_EXIT_DONE;
    for (size_t i = 0; i < a->file.n && status == TL_EXIT_DONE; i++) {
        tl_reading own, *r = open && i == 0 ? open : &own;
        if (r == &own)
            status = tl_reading_open(r, m->cli, a->file.word[i], &want);
        if (status != TL_EXIT_DONE)
            break;
        status = add_input(m, r);
        if (status == TL_EXIT_DONE)
            *losses = tl_exit_worse(*losses, tl_say_losses(m->cli, r->trace, 0));
        if (status == TL_EXIT_DONE && !m->kind->of_any && tl_keep_damage(to, &m->damage, i, r->trace, &e) < 0)
            status = tl_say_failure(r->path, &e);
        if (status == TL_EXIT_NO)
            status = TL_EXIT_DONE;
        if (r == &own)
            tl_reading_close(r);
    }
    if (status == TL_EXIT_DONE && m->unfit == a->file.n)
        return TL_EXIT_NO;
    if (status == TL_EXIT_DONE && tl_select_check(&m->selection.select, &e) < 0)
        status = tl_say_failure(NULL, &e);
    if (a->file.n - m->unfit > 1)
        snprintf(m->subject, SUBJECT_SIZE, "%zu files", a->file.n - m->unfit);
    return status;
}

static int print(job *m, const tl_target *to)
{
    tl_answer answer = {0};
    tl_error e = {0};
    tl_selection_describe(m->cli->args, m->subject, SUBJECT_SIZE);
    const int status = tl_table_run_answer(&m->run, &to->ask, m->subject, &answer, &e);
    return tl_show_answer(m->cli, &answer, status, &e, to, &m->damage);
}

/* Prepares options of the table, and names of functions. */
static int prepare(job *m)
{
    const tl_arguments *a = m->cli->args;
    tl_error e = {0};
    if (m->kind->pass && a->exe && tl_code_map_open(&m->code, a->exe, &e) < 0)
        return tl_say_failure(NULL, &e);
    tl_table_options options = tl_report_own_options(a);
    options.code = m->code;
    const int status = tl_table_run_init(&m->run, m->kind, &options, &e);
    if (status == TL_EINVAL)
        return tl_say_option_failure(NULL, "--", &e);
    return status < 0 ? tl_say_failure(NULL, &e) : TL_EXIT_DONE;
}

int tl_report_table(const tl_cli *c, const tl_table_kind *kind, tl_reading *open, const tl_target *to,
                    bool with_profile)
{
    job m = {.cli = c, .kind = kind};
    tl_error e = {0};
    int losses = TL_EXIT_DONE, status = refuse(&m, with_profile);
    if (status == TL_EXIT_DONE)
        status = prepare(&m);
    if (status == TL_EXIT_DONE && (tl_selection_parse(&m.selection, c->args, &e) < 0 ||
                                   (c->args->file.n > 1 && tl_selection_keep_score(&m.selection, &e) < 0)))
        status = tl_say_failure(NULL, &e);
    if (status == TL_EXIT_DONE)
        status = read_inputs(&m, open, to, &losses);
    if (status == TL_EXIT_DONE)
        status = print(&m, to);
    if (open)
        tl_reading_close(open);
    tl_table_run_fini(&m.run);
    tl_code_map_close(m.code);
    tl_selection_fini(&m.selection);
    tl_catalog_fini(&m.damage);
    return tl_exit_worse(status, losses);
}

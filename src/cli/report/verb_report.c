/* traceloom report: makes a profile of all inputs, and shows it as a table or writes it to a file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function/profile_answer.h"
#include "cli/formats_of.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "cli/report/report.h"
#include "cli/report/report_diff.h"
#include "cli/report/report_job.h"
#include "cli/report/report_limits.h"
#include "cli/report/report_page.h"
#include "cli/report/report_plan.h"
#include "cli/report/report_sum.h"
#include "cli/report/report_table.h"
#include "op/fleet/profile_files.h"
#include "traceloom/profile.h"
#include "traceloom/sink.h"

/* An empty picture would suggest that nothing took time. But an input that is a profile is copied unchanged. */
static int check_empty(const tl_report_job *m)
{
    if (!tl_profile_is_empty(m->profile) || (m->tables && tl_html_tables_any(m->tables)))
        return TL_EXIT_DONE;
    const bool is_part = m->cli->service && m->cli->args->time; /* of a page that has the whole */
    if ((m->plan->format || m->plan->page) && m->of_events && !is_part) {
        tl_say_error(NULL, "no calls and no stack samples to make a profile from; traceloom info lists what "
                           "there is");
        return TL_EXIT_USAGE;
    }
    tl_say(m->cli, NULL, "no calls and no stack samples in %s; traceloom info lists what there is",
           m->selection.any               ? "what was chosen"
           : tl_has_several(m->cli->args) ? "these traces"
                                          : "this trace");
    return TL_EXIT_DONE;
}

static bool has_lines(const tl_profile *p)
{
    for (uint32_t i = 0; tl_profile_weights(p) && i < tl_profile_functions(p); i++) {
        const tl_function *f = tl_profile_get_function(p, i);
        if (f->file || f->line || f->flags & TL_FUNCTION_OFFSET)
            return true;
    }
    return false;
}

/* The profile without lines, for output that does not split functions by line; NULL on failure. */
static tl_profile *whole_functions(tl_report_job *m, tl_error *e)
{
    if (m->whole || !has_lines(m->profile))
        return m->whole ? m->whole : m->profile;
    return tl_profile_regroup(&m->whole, m->profile, TL_GROUP_BY_FUNCTION, e) < 0 ? NULL : m->whole;
}

static int write_profile(tl_report_job *m, const tl_report_plan *p)
{
    const tl_arguments *a = m->cli->args;
    const char *path = a->output ? a->output : "-";
    const tl_write_options options = {.to = p->format->name,
                                      .version = a->format_version,
                                      .overwrite = a->force,
                                      .title = tl_base_name(a->exe ? a->exe : a->file.word[0])};
    tl_error e = {0};
    const tl_profile *profile = p->format->profile_writer->lines ? m->profile : whole_functions(m, &e);
    if (!profile || tl_profile_write(profile, path, &options, tl_say_drop, (void *)(uintptr_t)m->cli, &e) < 0)
        return tl_say_failure(NULL, &e);
    tl_say_written(m->cli, path);
    return TL_EXIT_DONE;
}

static int write_page(tl_report_job *m)
{
    tl_error e = {0};
    m->table.profile = whole_functions(m, &e);
    const tl_report_time time = {.source = m->has_kept ? m->kept.source : NULL,
                                 .of_files = tl_has_several(m->cli->args),
                                 .profile = m->profile,
                                 .select = m->options.select};
    return m->table.profile ? tl_report_page(m->cli, &m->table, &m->inputs, &m->damage, m->tables, &time)
                            : tl_say_failure(NULL, &e);
}

static int print_table(tl_report_job *m, const tl_report_plan *p)
{
    const tl_arguments *a = m->cli->args;
    tl_profile_table *t = &m->table;
    tl_profile *copy = NULL;
    tl_answer answer = {0};
    tl_error e = {0};
    t->profile = p->kind->profile & TL_PROFILE_LINES ? m->profile : whole_functions(m, &e);
    t->are_chosen = a->func.n != 0;
    if (!t->profile)
        return tl_say_failure(NULL, &e);
    if (m->nread > 1) {
        snprintf(m->subject, TL_REPORT_SUBJECT_SIZE, "%" PRIu64 " files", m->nread);
        t->has_span = false;
    }
    tl_selection_describe(a, m->subject, TL_REPORT_SUBJECT_SIZE);
    int status = tl_profile_group(p->kind, t, a->per_thread, tl_has_several(a), &copy, &e);
    if (status == 0)
        status = tl_profile_answer(p->kind, t, &p->to.ask, m->subject, &answer, &e);
    status = tl_show_answer(m->cli, &answer, status, &e, &p->to, &m->damage);
    tl_profile_free(copy);
    return status;
}

static void say_limits(const tl_report_job *m)
{
    tl_report_say_limits(&(tl_report_limits){.cli = m->cli,
                                             .profile = m->profile,
                                             .lacks_names = m->lacks_names,
                                             .explained = m->explained,
                                             .of_events = m->of_events,
                                             .several = m->nread > 1,
                                             .by_name = m->fit.by_name});
}

/* With the profiles of folders in place of the folders. */
static int run_files(const tl_cli *c, const tl_report_plan *p, tl_profile_files *files)
{
    tl_report_job m = {
        .cli = c, .plan = p, .of_events = true, .files = files, .walks = tl_profile_files_folder(files) != NULL};
    tl_error e = {0};
    int losses = TL_EXIT_DONE, status = TL_EXIT_DONE;
    if (tl_selection_parse(&m.selection, c->args, &e) < 0 ||
        (tl_has_several(c->args) && tl_selection_keep_score(&m.selection, &e) < 0))
        status = tl_say_failure(NULL, &e);
    if (status == TL_EXIT_DONE) {
        tl_report_set_options(&m);
        status = tl_report_read_inputs(&m, &losses);
    }
    if (status == TL_EXIT_DONE && !m.instead)
        status = check_empty(&m);
    const bool made = status == TL_EXIT_DONE && !m.instead;
    if (made)
        say_limits(&m);
    if (made && p->table)
        status = print_table(&m, p);
    if (made && status == TL_EXIT_DONE && p->format)
        status = write_profile(&m, p);
    if (made && status == TL_EXIT_DONE && p->page)
        status = write_page(&m);
    if (m.has_kept)
        tl_reading_close(&m.kept);
    tl_profile_free(m.profile);
    tl_profile_free(m.whole);
    tl_selection_fini(&m.selection);
    tl_catalog_fini(&m.damage);
    tl_html_inputs_fini(&m.inputs);
    tl_html_tables_free(m.tables);
    return tl_exit_worse(status, losses);
}

int tl_report_sum_make(tl_report_sum *s, const tl_cli *c, const tl_report_plan *p, tl_profile_files *files)
{
    tl_report_job m = {.cli = c, .plan = p, .of_events = true, .files = files, .walks = true};
    int losses = TL_EXIT_DONE;
    tl_report_set_options(&m);
    const int status = tl_report_read_all(&m, &losses, &s->files);
    s->profile = m.profile;
    s->read = m.nread;
    s->unread = m.unread;
    s->losses = losses;
    s->lacks_names = m.lacks_names;
    s->explained = m.explained;
    s->of_events = m.of_events;
    tl_profile_free(m.whole);
    tl_selection_fini(&m.selection);
    tl_catalog_fini(&m.damage);
    return status;
}

int tl_report_sum_add(tl_report_sum *into, tl_report_sum *from, tl_error *e)
{
    const int status = into->profile && from->profile ? tl_profile_merge(into->profile, from->profile, e) : 0;
    if (status < 0)
        return tl_report_explain_merge(into->profile, from->profile, e);
    if (!into->profile) {
        into->profile = from->profile;
        from->profile = NULL;
    }
    into->of_events = (into->of_events || !into->files) && (from->of_events || !from->files);
    into->files += from->files;
    into->read += from->read;
    into->unread += from->unread;
    into->losses = tl_exit_worse(into->losses, from->losses);
    into->explained = into->explained || from->explained;
    if (from->last >= into->last)
        into->lacks_names = from->lacks_names;
    into->last = from->last > into->last ? from->last : into->last;
    return 0;
}

int tl_report_sum_write(tl_report_sum *s, const tl_cli *c, const tl_report_plan *p, tl_profile_files *files)
{
    tl_report_job m = {.cli = c,
                       .plan = p,
                       .files = files,
                       .profile = s->profile,
                       .nread = s->read,
                       .unread = s->unread,
                       .lacks_names = s->lacks_names,
                       .explained = s->explained,
                       .of_events = s->of_events};
    tl_report_set_options(&m);
    tl_report_say_files(&m, s->files);
    int status = m.profile ? check_empty(&m) : TL_EXIT_DAMAGED;
    if (status == TL_EXIT_DONE) {
        say_limits(&m);
        status = write_profile(&m, p);
    }
    tl_profile_free(m.whole);
    return status;
}

static int run(const tl_cli *c, const tl_report_plan *p)
{
    tl_arguments own = *c->args;
    tl_cli mine = *c;
    const tl_profile_files_options options = {
        .glob = own.glob, .output = own.output, .walk = own.verb->id == TL_VERB_REPORT && !c->service};
    tl_profile_files *files = NULL;
    tl_error e = {0};
    if (tl_profile_files_open(&files, own.file.word, own.file.n, &options, &e) < 0)
        return tl_say_failure(NULL, &e);
    own.has_folders = tl_profile_files_folder(files) != NULL;
    mine.args = &own;
    int status = TL_EXIT_USAGE;
    if (own.glob && !own.has_folders)
        tl_say_error(NULL, "--glob chooses files of a folder, and there is none without a trace");
    else
        status = run_files(&mine, p, files);
    tl_profile_files_close(files);
    return status;
}

int tl_verb_report(tl_cli *c)
{
    tl_report_plan p;
    if (c->args->diff || (c->args->called && strcmp(c->args->called, "diff") == 0))
        return tl_report_diff(c);
    int status = tl_report_check_diff(c->args);
    if (status == TL_EXIT_DONE)
        status = tl_check_inputs(c);
    if (status == TL_EXIT_DONE)
        status = tl_report_make_plan(c, &p);
    if (status == TL_EXIT_DONE)
        status = tl_report_check_page(c, p.kind, p.page);
    if (status == TL_EXIT_DONE)
        status = tl_report_check_options(c, p.kind, p.table || p.page, p.format || p.page);
    if (status == TL_EXIT_DONE)
        status = tl_check_output(c);
    if (status == TL_EXIT_DONE && p.kind && !p.kind->profile && !p.page)
        return tl_report_table(c, p.kind, NULL, &p.to, p.format != NULL);
    return status == TL_EXIT_DONE ? run(c, &p) : status;
}

int tl_report_to_file(tl_cli *c)
{
    tl_report_plan p = {0};
    int status = tl_output_format(c, TL_CAN_WRITE_PROFILE, &p.format);
    return status == TL_EXIT_DONE ? run(c, &p) : status;
}

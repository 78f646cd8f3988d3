/* traceloom report: makes a profile of all inputs, and shows it as a table or writes it to a file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/function/profile_answer.h"
#include "cli/formats_of.h"
#include "cli/inputs.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "cli/report/profiles_ahead.h"
#include "cli/report/report.h"
#include "cli/report/report_diff.h"
#include "cli/report/report_limits.h"
#include "cli/report/report_page.h"
#include "cli/report/report_plan.h"
#include "cli/report/report_table.h"
#include "cli/selection.h"
#include "op/fleet/profile_files.h"
#include "op/fleet/profile_fit.h"
#include "op/near_miss.h"
#include "traceloom/profile.h"
#include "traceloom/sink.h"

#define SUBJECT_SIZE 512u
#define NS_PER_S     1000000000u

typedef struct report_job {
    const tl_cli *cli;
    tl_selection selection;
    tl_profile_options options;
    tl_profile_fit fit;
    tl_profile_files *files;
    bool walks;          /* inputs are found in folders: what cannot be read is left out, unless --strict */
    uint64_t nread;      /* inputs whose profile was added */
    uint64_t unread;     /* those left out */
    bool is_unread;      /* the last one */
    tl_profile *profile; /* of the inputs read so far */
    tl_profile *whole;   /* the same by function, if `profile` is by line; see whole_functions() */
    tl_profile_table table;
    tl_catalog damage;
    tl_html_inputs inputs;  /* of a page */
    tl_html_tables *tables; /* of a page, or NULL */
    tl_reading kept;        /* the only input of a page, which is read again for what happened when */
    bool has_kept;
    char subject[SUBJECT_SIZE]; /* the file and its format, or "3 files"; what is selected */
    bool lacks_names;           /* no function of the last input has a name */
    bool explained;             /* an input has reported which names are missing, and why */
    size_t unfit;               /* inputs that the table cannot be made from */
    bool of_events;             /* no input holds a profile */
    const tl_report_plan *plan;
    bool instead;             /* a table of events was shown instead */
    tl_profiles_ahead *ahead; /* of the inputs after the first, or NULL */
} report_job;

/* How detailed the profile must be. */
static void set_options(report_job *m, const tl_report_plan *p)
{
    const tl_arguments *a = m->cli->args;
    const tl_profile_writer *w = p->format ? p->format->profile_writer : NULL;
    const unsigned needs = p->table && p->kind ? p->kind->profile : 0;
    m->options = (tl_profile_options){
        .flat = !((w && !w->flat) || p->page || needs & TL_PROFILE_TREE),
        .per_thread = a->per_thread || (w && w->per_thread) || needs & TL_PROFILE_PER_THREAD,
        .lines = needs & TL_PROFILE_LINES || (w && w->lines),
        .weight = a->weight,
        .threads = tl_threads(m->cli),
        .select = m->selection.any ? &m->selection.select : NULL,
    };
    m->fit = (tl_profile_fit){.hz = a->clock ? NS_PER_S : 0, .by_name = p->kind && p->kind->profile & TL_PROFILE_NAMES};
}

static void describe_input(report_job *m, const tl_trace *t, const tl_profile *p)
{
    const char *version = tl_trace_version(t);
    snprintf(m->subject, SUBJECT_SIZE, "%s: %s%s%s", tl_path_name(tl_base_name(tl_trace_path(t))), tl_trace_format(t),
             version ? " " : "", version ? version : "");
    m->explained = m->explained || tl_trace_notes(t);
    tl_profile_table_add(&m->table, t, p, m->of_events);
}

/* Adds the profile of one open input to the previous ones. *p becomes NULL if it is the first. */
static int add_profile(report_job *m, const tl_reading *r, tl_profile **profile)
{
    tl_error e = {0};
    tl_profile *p = *profile;
    if (m->plan->table && tl_profile_sorts(p, m->cli->args->sort, &e) < 0)
        return tl_say_option_failure(r->path, "--", &e);
    int status = m->plan->table ? tl_report_check_fits(m->plan->kind, r, p, &m->unfit) : TL_EXIT_DONE;
    if (status != TL_EXIT_DONE)
        return status;
    m->lacks_names = tl_profile_lacks_names(p, r->trace) && !m->cli->args->exe;
    if (tl_source_is_profile(r->source))
        tl_reading_say_exe(r, m->cli, p->used_exe);
    const uint32_t strangers = tl_profile_strangers(p, r->trace);
    if (strangers)
        tl_say(m->cli, r->path,
               "no names for %" PRIu32 " of %" PRIu32 " functions: samples number them differently from the names",
               strangers, tl_profile_functions(p));
    m->of_events = m->of_events && !tl_source_is_profile(r->source);
    describe_input(m, r->trace, p);
    m->nread++;
    if (!m->profile) {
        m->profile = p;
        *profile = NULL;
        return TL_EXIT_DONE;
    }
    status = tl_profile_merge(m->profile, p, &e);
    if (status < 0 && !tl_same_clock(&m->profile->clock, &p->clock) && m->profile->clock.hz && p->clock.hz) {
        const tl_error plain = e;
        tl_fail(&e, plain.code, TL_NO_OFFSET, "%s; with --clock ns they can", plain.message);
    }
    return status < 0 ? tl_say_failure(r->path, &e) : TL_EXIT_DONE;
}

/* A file of a folder that holds no profile after all. */
static bool is_unreadable(const tl_error *e)
{
    return e->code == TL_EDAMAGED || e->code == TL_EFORMAT || e->code == TL_EIO || e->code == TL_EUNSUPPORTED;
}

static int add_input(report_job *m, tl_reading *r)
{
    tl_error e = {0};
    tl_profile *p = NULL;
    int status = m->plan->table ? tl_report_check_fits(m->plan->kind, r, NULL, &m->unfit) : TL_EXIT_DONE;
    if (status != TL_EXIT_DONE)
        return status;
    status = tl_selection_apply(&m->selection, r->trace, &e);
    if (status == 0) {
        tl_reading_start(r, m->cli, "reading");
        status = tl_profile_from_source(&p, r->source, &m->options, &e);
        m->is_unread = status < 0 && is_unreadable(&e);
        if (status == 0)
            status = tl_profile_make_fit(&p, &m->fit, &e);
        tl_reading_stop(r);
    }
    tl_near_miss(&m->selection.select, r->trace, m->cli->args->exe, &e);
    status = status < 0 ? tl_say_failure(r->path, &e) : add_profile(m, r, &p);
    tl_profile_free(p);
    return status;
}

/* May what the trace says about itself be known only after reading? */
static bool can_learn_late(const report_job *m)
{
    const tl_arguments *a = m->cli->args;
    const bool modules = m->plan->kind && m->plan->kind->profile & TL_PROFILE_MODULES;
    return !m->options.per_thread && !m->options.lines && !modules && !m->selection.any && !a->output && !m->plan->page;
}

/* A table of the first input to show instead, if it is made from events: the requested one or, if the trace has nothing
 * for a profile, that of its classes. */
static const tl_table_kind *table_instead(const report_job *m, const tl_reading *r)
{
    const tl_arguments *a = m->cli->args;
    if (!m->plan->table)
        return NULL;
    if (a->by)
        return tl_table_find(a->by, r->trace);
    const bool plain = !m->plan->to.view->for_programs && !m->plan->format && !tl_has_several(a) && !a->weight &&
                       !a->sort && !a->per_thread;
    return plain && !tl_source_is_profile(r->source) ? tl_table_without_profile(r->trace) : NULL;
}

/* Opens an input in its turn, or takes it from another thread, with its profile in *p. */
static int open_input(report_job *m, tl_reading *r, const char *path, const tl_want *want, tl_profile **p)
{
    tl_source *s = m->ahead ? tl_profiles_ahead_next(m->ahead, p) : NULL;
    if (!s) {
        const int status = tl_reading_open(r, m->cli, path, want);
        m->is_unread = status == TL_EXIT_DAMAGED;
        return status;
    }
    tl_reading_take(r, m->cli, path, s);
    return TL_EXIT_DONE;
}

/* From the next input on, other threads read ahead. */
static void read_ahead(report_job *m, uint64_t next, const tl_reading *r, const tl_want *want)
{
    const bool many = m->walks || m->cli->args->file.n > 2;
    if (!m->ahead && many && tl_source_is_profile(r->source) && tl_threads(m->cli) > 1 &&
        !m->selection.any) /* the selection keeps score over the inputs */
        m->ahead = tl_profiles_ahead_open(m->cli, m->files, next, want, &m->options, &m->fit);
}

/* Reads one input, in its turn. */
static int read_input(report_job *m, uint64_t i, const char *path, const tl_want *want, int *losses)
{
    tl_reading here, *r = m->plan->page && !tl_has_several(m->cli->args) ? &m->kept : &here; /* it must not move */
    tl_profile *p = NULL;
    tl_error e = {0};
    int status = open_input(m, r, path, want, &p);
    if (status != TL_EXIT_DONE)
        return status;
    const tl_table_kind *kind = i == 0 ? table_instead(m, r) : NULL;
    if (kind && !kind->profile) {
        m->instead = true;
        return tl_report_table(m->cli, kind, r, &m->plan->to, m->plan->format != NULL);
    }
    status = p ? add_profile(m, r, &p) : add_input(m, r);
    if (status == TL_EXIT_DONE)
        *losses = tl_exit_worse(*losses, tl_say_losses(m->cli, r->trace, 0));
    if (status == TL_EXIT_DONE && tl_keep_damage(&m->plan->to, &m->damage, (size_t)i, r->trace, &e) < 0)
        status = tl_say_failure(r->path, &e);
    if (status == TL_EXIT_DONE && m->plan->page && tl_html_inputs_add(&m->inputs, r->trace, &e) < 0)
        status = tl_say_failure(r->path, &e);
    if (status == TL_EXIT_DONE && m->plan->page)
        status = tl_report_page_add(m->cli, &m->tables, r, m->selection.any ? &m->selection.select : NULL);
    if (status == TL_EXIT_DONE)
        read_ahead(m, i + 1, r, want);
    m->has_kept = r == &m->kept && status == TL_EXIT_DONE && !tl_source_is_profile(r->source);
    if (!m->has_kept)
        tl_reading_close(r);
    return status;
}

/* Reads input number i: 0 past the end, else 1, and *status. One of a folder that cannot be read is left out, and
 * counted. */
static int read_numbered(report_job *m, uint64_t i, const tl_want *want, int *losses, int *status)
{
    tl_profile_file file;
    tl_error e = {0};
    const int there = tl_profile_files_get(m->files, i, &file, &e);
    if (there == 0)
        return 0;
    m->is_unread = there < 0 && is_unreadable(&e);
    if (there > 0) {
        *status = read_input(m, i, file.path, want, losses);
    } else {
        tl_profile *none;
        *status = tl_say_failure(NULL, &e);
        if (m->ahead)
            tl_profiles_ahead_next(m->ahead, &none); /* its turn passes there, too */
    }
    free(file.path);
    if (file.walked && m->is_unread && *status != TL_EXIT_DONE && !m->cli->args->strict) {
        m->unread++;
        *losses = tl_exit_worse(*losses, TL_EXIT_DAMAGED);
        *status = TL_EXIT_DONE;
    }
    m->is_unread = false;
    if (*status == TL_EXIT_NO && !m->instead)
        *status = TL_EXIT_DONE;
    return 1;
}

static void say_files(const report_job *m, uint64_t n)
{
    char unread[32], all[32];
    if (m->unread)
        tl_say_error(NULL, "%s of %s files could not be read, and are left out",
                     tl_human_grouped(unread, sizeof unread, m->unread), tl_human_grouped(all, sizeof all, n));
    if (tl_profile_files_outputs(m->files))
        tl_say(m->cli, m->cli->args->output, "is the output, and not one of the inputs");
}

static int read_inputs(report_job *m, int *losses)
{
    const tl_arguments *a = m->cli->args;
    const tl_want want = {
        .cpu = a->cpu.n != 0, .late = can_learn_late(m), .strict = a->strict, .threads = tl_threads(m->cli)};
    int status = TL_EXIT_DONE;
    uint64_t n = 0;
    while (status == TL_EXIT_DONE && !m->instead && read_numbered(m, n, &want, losses, &status))
        n++;
    tl_profiles_ahead_close(m->ahead);
    m->ahead = NULL;
    if (m->instead)
        return status;
    if (status == TL_EXIT_DONE)
        say_files(m, n);
    if (status == TL_EXIT_DONE && !m->profile)
        return m->unfit ? TL_EXIT_NO : TL_EXIT_DAMAGED;
    tl_error e = {0};
    if (status == TL_EXIT_DONE && tl_select_check(&m->selection.select, &e) < 0)
        status = tl_say_failure(NULL, &e);
    return status;
}

/* An empty picture would suggest that nothing took time. But an input that is a profile is copied unchanged. */
static int check_empty(const report_job *m)
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
static tl_profile *whole_functions(report_job *m, tl_error *e)
{
    if (m->whole || !has_lines(m->profile))
        return m->whole ? m->whole : m->profile;
    return tl_profile_regroup(&m->whole, m->profile, TL_GROUP_BY_FUNCTION, e) < 0 ? NULL : m->whole;
}

static int write_profile(report_job *m, const tl_report_plan *p)
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

static int write_page(report_job *m)
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

static int print_table(report_job *m, const tl_report_plan *p)
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
        snprintf(m->subject, SUBJECT_SIZE, "%" PRIu64 " files", m->nread);
        t->has_span = false;
    }
    tl_selection_describe(a, m->subject, SUBJECT_SIZE);
    int status = tl_profile_group(p->kind, t, a->per_thread, tl_has_several(a), &copy, &e);
    if (status == 0)
        status = tl_profile_answer(p->kind, t, &p->to.ask, m->subject, &answer, &e);
    status = tl_show_answer(m->cli, &answer, status, &e, &p->to, &m->damage);
    tl_profile_free(copy);
    return status;
}

/* With the profiles of folders in place of the folders. */
static int run_files(const tl_cli *c, const tl_report_plan *p, tl_profile_files *files)
{
    report_job m = {
        .cli = c, .plan = p, .of_events = true, .files = files, .walks = tl_profile_files_folder(files) != NULL};
    tl_error e = {0};
    int losses = TL_EXIT_DONE, status = TL_EXIT_DONE;
    if (tl_selection_parse(&m.selection, c->args, &e) < 0 ||
        (tl_has_several(c->args) && tl_selection_keep_score(&m.selection, &e) < 0))
        status = tl_say_failure(NULL, &e);
    if (status == TL_EXIT_DONE) {
        set_options(&m, p);
        status = read_inputs(&m, &losses);
    }
    if (status == TL_EXIT_DONE && !m.instead)
        status = check_empty(&m);
    const bool made = status == TL_EXIT_DONE && !m.instead;
    if (made)
        tl_report_say_limits(&(tl_report_limits){.cli = c,
                                                 .profile = m.profile,
                                                 .lacks_names = m.lacks_names,
                                                 .explained = m.explained,
                                                 .of_events = m.of_events,
                                                 .several = m.nread > 1,
                                                 .by_name = m.fit.by_name});
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

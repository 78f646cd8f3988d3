/* The inputs of a report, each in its turn or read ahead by other threads: their profiles are added up, and what they
 * lack is reported. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/losses.h"
#include "cli/message.h"
#include "cli/report/report.h"
#include "cli/report/report_job.h"
#include "cli/report/report_table.h"
#include "op/near_miss.h"

#define NS_PER_S 1000000000u

void tl_report_set_options(tl_report_job *m)
{
    const tl_arguments *a = m->cli->args;
    const tl_report_plan *p = m->plan;
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

static void describe_input(tl_report_job *m, const tl_trace *t, const tl_profile *p)
{
    const char *version = tl_trace_version(t);
    snprintf(m->subject, TL_REPORT_SUBJECT_SIZE, "%s: %s%s%s", tl_path_name(tl_base_name(tl_trace_path(t))),
             tl_trace_format(t), version ? " " : "", version ? version : "");
    m->explained = m->explained || tl_trace_notes(t);
    tl_profile_table_add(&m->table, t, p, m->of_events);
}

int tl_report_explain_merge(const tl_profile *into, const tl_profile *from, tl_error *e)
{
    const tl_error plain = *e;
    if (tl_same_clock(&into->clock, &from->clock) || !into->clock.hz || !from->clock.hz)
        return plain.code;
    return tl_fail(e, plain.code, TL_NO_OFFSET, "%s; with --clock ns they can", plain.message);
}

/* Adds the profile of one open input to the previous ones. *p becomes NULL if it is the first. */
static int add_profile(tl_report_job *m, const tl_reading *r, tl_profile **profile)
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
    if (tl_profile_merge(m->profile, p, &e) == 0)
        return TL_EXIT_DONE;
    tl_report_explain_merge(m->profile, p, &e);
    return tl_say_failure(r->path, &e);
}

/* A file of a folder that holds no profile after all. */
static bool is_unreadable(const tl_error *e)
{
    return e->code == TL_EDAMAGED || e->code == TL_EFORMAT || e->code == TL_EIO || e->code == TL_EUNSUPPORTED;
}

static int add_input(tl_report_job *m, tl_reading *r)
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
static bool can_learn_late(const tl_report_job *m)
{
    const tl_arguments *a = m->cli->args;
    const bool modules = m->plan->kind && m->plan->kind->profile & TL_PROFILE_MODULES;
    return !m->options.per_thread && !m->options.lines && !modules && !m->selection.any && !a->output && !m->plan->page;
}

/* A table of the first input to show instead, if it is made from events: the requested one or, if the trace has nothing
 * for a profile, that of its classes. */
static const tl_table_kind *table_instead(const tl_report_job *m, const tl_reading *r)
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
static int open_input(tl_report_job *m, tl_reading *r, const char *path, const tl_want *want, tl_profile **p)
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
static void read_ahead(tl_report_job *m, uint64_t next, const tl_reading *r, const tl_want *want)
{
    const bool many = m->walks || m->cli->args->file.n > 2;
    if (!m->ahead && many && tl_source_is_profile(r->source) && tl_threads(m->cli) > 1 &&
        !m->selection.any) /* the selection keeps score over the inputs */
        m->ahead = tl_profiles_ahead_open(m->cli, m->files, next, want, &m->options, &m->fit);
}

/* Reads one input, in its turn. */
static int read_input(tl_report_job *m, uint64_t i, const char *path, const tl_want *want, int *losses)
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
static int read_numbered(tl_report_job *m, uint64_t i, const tl_want *want, int *losses, int *status)
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

void tl_report_say_files(const tl_report_job *m, uint64_t n)
{
    char unread[32], all[32];
    if (m->unread)
        tl_say_error(NULL, "%s of %s files could not be read, and are left out",
                     tl_human_grouped(unread, sizeof unread, m->unread), tl_human_grouped(all, sizeof all, n));
    if (tl_profile_files_outputs(m->files))
        tl_say(m->cli, m->cli->args->output, "is the output, and not one of the inputs");
}

int tl_report_read_all(tl_report_job *m, int *losses, uint64_t *nfiles)
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
    *nfiles = n;
    return status;
}

int tl_report_read_inputs(tl_report_job *m, int *losses)
{
    uint64_t n;
    int status = tl_report_read_all(m, losses, &n);
    if (m->instead)
        return status;
    if (status == TL_EXIT_DONE)
        tl_report_say_files(m, n);
    if (status == TL_EXIT_DONE && !m->profile)
        return m->unfit ? TL_EXIT_NO : TL_EXIT_DAMAGED;
    tl_error e = {0};
    if (status == TL_EXIT_DONE && tl_select_check(&m->selection.select, &e) < 0)
        status = tl_say_failure(NULL, &e);
    return status;
}

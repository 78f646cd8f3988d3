/* traceloom report: makes a profile of all inputs, and shows it as a table or writes it to a file. */
#include <inttypes.h>
#include <stdio.h>
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
#include "cli/report/report_page.h"
#include "cli/report/report_table.h"
#include "cli/selection.h"
#include "model/profile_words.h"
#include "op/near_miss.h"
#include "op/symbols/profile_places.h"
#include "traceloom/profile.h"
#include "traceloom/sink.h"

#define SUBJECT_SIZE 512u

/* What to make from the profile. */
typedef struct plan {
    const tl_table_kind *kind; /* the table; NULL: of instructions, or of a runtime */
    const tl_format *format;   /* of a profile to write, or NULL */
    bool page;                 /* a page is written */
    bool table;                /* a table is shown ... */
    tl_target to;              /* ... here */
} plan;

typedef struct report_job {
    const tl_cli *cli;
    tl_selection selection;
    tl_profile_options options;
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
    const plan *plan;
    bool instead;             /* a table of events was shown instead */
    tl_profiles_ahead *ahead; /* of the inputs after the first, or NULL */
} report_job;

/* -o is for a profile, for a page, or for the table. */
static int make_plan(const tl_cli *c, plan *p)
{
    const tl_arguments *a = c->args;
    const tl_view *view;
    if (tl_report_wants_page(a)) {
        *p = (plan){.kind = tl_table_find(a->by ? a->by : "func", NULL),
                    .page = true,
                    .table = a->json && !tl_to_stdout(a),
                    .to = tl_target_of(c, &tl_view_json, "-")};
        return TL_EXIT_DONE;
    }
    int status = tl_asked_view(c, &view);
    if (status != TL_EXIT_DONE)
        return status;
    *p = (plan){.kind = tl_table_find(a->by ? a->by : "func", NULL),
                .table = true,
                .to = tl_target_of(c, view ? view : &tl_view_table, a->output ? a->output : "-")};
    if (view && a->to)
        return TL_EXIT_DONE;
    status = tl_output_format(c, TL_CAN_WRITE_PROFILE, &p->format);
    if (status != TL_EXIT_DONE)
        return status;
    if (p->format && !p->format->profile_writer && view)
        p->format = NULL;
    if (p->format && !p->format->profile_writer) {
        tl_say_error(NULL, "format %s holds no profiles; see traceloom help formats, or traceloom convert for events",
                     p->format->name);
        return TL_EXIT_USAGE;
    }
    if (p->format) {
        p->table = !tl_to_stdout(a) && (a->by || a->json);
        p->to = tl_target_of(c, a->json ? &tl_view_json : &tl_view_table, "-");
        return TL_EXIT_DONE;
    }
    if (!tl_to_stdout(a) && !view) {
        tl_say_error(a->output, "the suffix names no format; choose one with --to (traceloom help formats lists them)");
        return TL_EXIT_USAGE;
    }
    return TL_EXIT_DONE;
}

/* How detailed the profile must be. */
static void set_options(report_job *m, const plan *p)
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
    if (!m->profile) {
        m->profile = p;
        *profile = NULL;
        return TL_EXIT_DONE;
    }
    status = tl_profile_merge(m->profile, p, &e);
    return status < 0 ? tl_say_failure(r->path, &e) : TL_EXIT_DONE;
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
    const bool plain = !m->plan->to.view->for_programs && !m->plan->format && a->file.n == 1 && !a->weight &&
                       !a->sort && !a->per_thread;
    return plain && !tl_source_is_profile(r->source) ? tl_table_without_profile(r->trace) : NULL;
}

/* Reads one input, in its turn. */
static int read_input(report_job *m, size_t i, const tl_want *want, int *losses)
{
    const tl_arguments *a = m->cli->args;
    tl_reading here, *r = m->plan->page && a->file.n == 1 ? &m->kept : &here; /* it must not move */
    tl_profile *p = NULL;
    tl_error e = {0};
    tl_source *s = m->ahead ? tl_profiles_ahead_next(m->ahead, &p) : NULL;
    int status = TL_EXIT_DONE;
    if (s)
        tl_reading_take(r, m->cli, a->file.word[i], s);
    else
        status = tl_reading_open(r, m->cli, a->file.word[i], want);
    if (status != TL_EXIT_DONE)
        return status;
    const tl_table_kind *kind = i == 0 ? table_instead(m, r) : NULL;
    if (kind && !kind->profile) {
        m->instead = true;
        return tl_report_table(m->cli, kind, r, &m->plan->to, m->plan->format != NULL);
    }
    status = s ? add_profile(m, r, &p) : add_input(m, r);
    if (status == TL_EXIT_DONE)
        *losses = tl_exit_worse(*losses, tl_say_losses(m->cli, r->trace, 0));
    if (status == TL_EXIT_DONE && tl_keep_damage(&m->plan->to, &m->damage, i, r->trace, &e) < 0)
        status = tl_say_failure(r->path, &e);
    if (status == TL_EXIT_DONE && m->plan->page && tl_html_inputs_add(&m->inputs, r->trace, &e) < 0)
        status = tl_say_failure(r->path, &e);
    if (status == TL_EXIT_DONE && m->plan->page)
        status = tl_report_page_add(m->cli, &m->tables, r, m->selection.any ? &m->selection.select : NULL);
    if (i == 0 && status == TL_EXIT_DONE && a->file.n > 2 && tl_source_is_profile(r->source) &&
        tl_threads(m->cli) > 1 && !m->selection.any) /* the selection keeps score over the inputs */
        m->ahead = tl_profiles_ahead_open(m->cli, 1, want, &m->options);
    m->has_kept = r == &m->kept && status == TL_EXIT_DONE && !tl_source_is_profile(r->source);
    if (!m->has_kept)
        tl_reading_close(r);
    return status;
}

static int read_inputs(report_job *m, int *losses)
{
    const tl_arguments *a = m->cli->args;
    const tl_want want = {
        .cpu = a->cpu.n != 0, .late = can_learn_late(m), .strict = a->strict, .threads = tl_threads(m->cli)};
    int status = TL_EXIT_DONE;
    for (size_t i = 0; i < a->file.n && status == TL_EXIT_DONE && !m->instead; i++) {
        status = read_input(m, i, &want, losses);
        if (status == TL_EXIT_NO && !m->instead)
            status = TL_EXIT_DONE;
    }
    tl_profiles_ahead_close(m->ahead);
    m->ahead = NULL;
    if (m->instead)
        return status;
    if (status == TL_EXIT_DONE && m->unfit == a->file.n)
        return TL_EXIT_NO;
    tl_error e = {0};
    if (status == TL_EXIT_DONE && tl_select_check(&m->selection.select, &e) < 0)
        status = tl_say_failure(NULL, &e);
    return status;
}

/* Explains why a profile of samples is empty, and what to try. */
static void say_nothing_sampled(const report_job *m)
{
    const tl_profile *p = m->profile;
    const tl_sample_counts n = tl_profile_samples(p);
    const uint32_t chosen = tl_profile_chosen_weight(p);
    bool bytes = false;
    if (!tl_profile_weights(p) || tl_profile_weight_sum(p, chosen))
        return;
    for (uint32_t i = 0; i < tl_profile_weights(p); i++)
        bytes = bytes || (strcmp(tl_profile_weight(p, i)->unit, "bytes") == 0 && tl_profile_weight_sum(p, i));
    if (strncmp(tl_profile_weight(p, chosen)->name, "alloc", 5) == 0)
        tl_say(m->cli, NULL, "no allocations of a known stack were recorded; --weight time is of the samples");
    else if (bytes)
        tl_say(m->cli, NULL, "no samples were counted, only allocations: --weight bytes shows where");
    else if (n.counted)
        tl_say(m->cli, NULL, "all samples have an empty stack");
    else
        tl_say(m->cli, NULL, "no samples were counted");
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
           m->selection.any           ? "what was chosen"
           : m->cli->args->file.n > 1 ? "these traces"
                                      : "this trace");
    return TL_EXIT_DONE;
}

/* Reports numbers of functions that the given binary lacks: it may be the wrong one, and all names with it. */
static void say_strangers(const report_job *m)
{
    const tl_profile *p = m->profile;
    uint64_t called = 0, strange = 0;
    char a[32], b[32];
    for (uint32_t i = 0; i < tl_profile_functions(p); i++) {
        const tl_function *f = tl_profile_get_function(p, i);
        tl_stat stat;
        tl_profile_function_stat(p, i, &stat);
        called += stat.calls != 0;
        strange += stat.calls && !f->name && !f->address && !(f->flags & (TL_FUNCTION_HEX_ID | TL_FUNCTION_UNKNOWN));
    }
    if (strange)
        tl_say(m->cli, NULL, "%s of %s functions %s not in %s; is that the binary that was traced?",
               tl_human_grouped(a, sizeof a, strange), tl_human_grouped(b, sizeof b, called),
               strange == 1 ? "is" : "are", m->cli->args->exe);
}

/* Reports functions that are only places, "lua5.4+0x8870", and the binary of the first one. */
static void say_places(const report_job *m)
{
    const tl_profile *p = m->profile;
    char number[32];
    const tl_function *first = NULL;
    uint64_t n = 0;
    for (uint32_t i = 0; i < tl_profile_functions(p); i++) {
        const tl_function *f = tl_profile_get_function(p, i);
        tl_stat stat;
        if (!tl_profile_is_place(f))
            continue;
        tl_profile_function_stat(p, i, &stat);
        if (stat.calls == 0)
            continue;
        n++;
        first = first ? first : f;
    }
    if (n)
        tl_say(m->cli, NULL, "%s %s no name; install debug symbols of %.*s, or give -e a file of the same build",
               tl_human_grouped(number, sizeof number, n), n == 1 ? "function has" : "functions have",
               (int)(strrchr(first->name, '+') - first->name), first->name);
}

/* Reports what limits the answer. */
static void say_limits(const report_job *m)
{
    const tl_profile *p = m->profile;
    char text[TL_UNMATCHED_SIZE];
    if (*tl_profile_unmatched_text(p, text))
        tl_say(m->cli, NULL, "%s", text);
    if (*tl_profile_unwound_text(p, text))
        tl_say(m->cli, NULL, "%s", text);
    if (m->lacks_names && !tl_profile_is_empty(p))
        tl_say(m->cli, NULL, "functions have no names; -e names the binary that was traced");
    if (!m->explained)
        say_places(m);
    if (m->cli->args->exe && !m->explained && m->of_events && !tl_profile_weights(p))
        say_strangers(m);
    say_nothing_sampled(m);
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

static int write_profile(report_job *m, const plan *p)
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
                                 .of_files = m->cli->args->file.n > 1,
                                 .profile = m->profile,
                                 .select = m->options.select};
    return m->table.profile ? tl_report_page(m->cli, &m->table, &m->inputs, &m->damage, m->tables, &time)
                            : tl_say_failure(NULL, &e);
}

static int print_table(report_job *m, const plan *p)
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
    if (a->file.n - m->unfit > 1) {
        snprintf(m->subject, SUBJECT_SIZE, "%zu files", a->file.n - m->unfit);
        t->has_span = false;
    }
    tl_selection_describe(a, m->subject, SUBJECT_SIZE);
    int status = tl_profile_group(p->kind, t, a->per_thread, a->file.n > 1, &copy, &e);
    if (status == 0)
        status = tl_profile_answer(p->kind, t, &p->to.ask, m->subject, &answer, &e);
    status = tl_show_answer(m->cli, &answer, status, &e, &p->to, &m->damage);
    tl_profile_free(copy);
    return status;
}

static int run(const tl_cli *c, const plan *p)
{
    report_job m = {.cli = c, .plan = p, .of_events = true};
    tl_error e = {0};
    int losses = TL_EXIT_DONE, status = TL_EXIT_DONE;
    if (tl_selection_parse(&m.selection, c->args, &e) < 0 ||
        (c->args->file.n > 1 && tl_selection_keep_score(&m.selection, &e) < 0))
        status = tl_say_failure(NULL, &e);
    if (status == TL_EXIT_DONE) {
        set_options(&m, p);
        status = read_inputs(&m, &losses);
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

int tl_verb_report(tl_cli *c)
{
    plan p;
    if (c->args->diff || (c->args->called && strcmp(c->args->called, "diff") == 0))
        return tl_report_diff(c);
    int status = tl_report_check_diff(c->args);
    if (status == TL_EXIT_DONE)
        status = tl_check_inputs(c);
    if (status == TL_EXIT_DONE)
        status = make_plan(c, &p);
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
    plan p = {0};
    int status = tl_output_format(c, TL_CAN_WRITE_PROFILE, &p.format);
    return status == TL_EXIT_DONE ? run(c, &p) : status;
}

/* traceloom convert: events to events, in another format, or only a part of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "base/io/output_folder.h"
#include "base/text/glob.h"
#include "base/text/number.h"
#include "base/text/words.h"
#include "cli/convert_slice.h"
#include "cli/formats_of.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "cli/selection.h"
#include "cli/target_out.h"
#include "op/near_miss.h"
#include "op/symbols/discover.h"
#include "traceloom/events.h"
#include "traceloom/sink.h"

typedef struct conversion {
    const tl_cli *cli;
    const tl_format *format;
    const tl_event_writer *writer; /* of the format, or one that wants nothing */
    tl_selection selection;
    tl_split_how split;
    tl_slice slice;
    tl_reading *reading; /* [n] */
    uint32_t n;
    uint64_t events; /* written */
} conversion;

/* Each style of text is a format of its own; the plain one is that of .txt files. */
static int choose_text_style(conversion *v, const char *style)
{
    const tl_format *plain = tl_format_by_suffix("events.txt", TL_CAN_WRITE_EVENTS);
    const char *to = v->cli->args->to;
    if (to && !(plain && strcmp(to, plain->name) == 0)) {
        tl_say_error(NULL, "--text-style %s: but --to %s is not text", style, to);
        return TL_EXIT_USAGE;
    }
    if (plain && strcmp(style, "plain") == 0)
        style = plain->name;
    const int status = tl_check_format_name("--text-style", style, TL_CAN_WRITE_EVENTS);
    v->format = status == TL_EXIT_DONE ? tl_format_by_name(style) : NULL;
    return status;
}

/* The format to write: text to standard output, unless the command line says otherwise. */
static int choose_format(conversion *v)
{
    const tl_arguments *a = v->cli->args;
    if (a->text_style)
        return choose_text_style(v, a->text_style);
    int status = tl_output_format(v->cli, TL_CAN_WRITE_EVENTS, &v->format);
    if (status == TL_EXIT_DONE && !v->format && a->slice_at)
        v->format = tl_slice_format();
    if (status != TL_EXIT_DONE || v->format)
        return status;
    if (tl_to_stdout(a)) {
        v->format = tl_format_by_suffix("events.txt", TL_CAN_WRITE_EVENTS);
        if (v->format)
            return TL_EXIT_DONE;
        tl_say_error(NULL, "this build cannot print text; choose a format with --to");
        return TL_EXIT_USAGE;
    }
    tl_say_error(a->output, "the suffix names no format; choose one with --to (traceloom help formats lists them)");
    return TL_EXIT_USAGE;
}

static bool writes_growing(const tl_event_writer *w)
{
    return w->growing;
}

static bool takes_clock(const tl_event_writer *w)
{
    return w->clock;
}

static bool seals_packets(const tl_event_writer *w)
{
    return w->seals;
}

/* Lists the formats whose writers can do something. */
static void list_formats(char *text, size_t size, bool (*can)(const tl_event_writer *w))
{
    size_t at = 0;
    text[0] = '\0';
    for (const tl_format *const *f = tl_format_list; *f; f++)
        if ((*f)->event_writer && can((*f)->event_writer))
            tl_words_add(text, size, &at, ", ", (*f)->name);
}

/* Checks for options that the format cannot use. */
static int check_format_options(const conversion *v)
{
    const tl_arguments *a = v->cli->args;
    const char *sealing = a->compress ? "--compress" : a->checksum ? "--checksum" : NULL;
    char names[160];
    if (a->interval && !v->writer->interval) {
        tl_say_error(NULL, "--interval: format %s is not made of intervals", v->format->name);
        return TL_EXIT_USAGE;
    }
    if (a->clock && !v->writer->clock) {
        list_formats(names, sizeof names, takes_clock);
        tl_say_error(NULL, "--clock: format %s has times of its own; formats of text: %s", v->format->name, names);
        return TL_EXIT_USAGE;
    }
    if (sealing && !v->writer->seals) {
        list_formats(names, sizeof names, seals_packets);
        tl_say_error(NULL, "%s: format %s has no packets; formats of packets: %s", sealing, v->format->name,
                     *names ? names : "none in this build");
        return TL_EXIT_USAGE;
    }
    return TL_EXIT_DONE;
}

/* Checks for options that do not work with an endless input. */
static int check_follow(const conversion *v)
{
    const tl_arguments *a = v->cli->args;
    const char *whole = a->split ? "--split" : a->depth ? "--depth" : a->min_dur ? "--min-dur" : NULL;
    char names[160];
    if (a->file.n > 1) {
        tl_say_error(NULL, "--follow: only one input can be followed, and these are %zu", a->file.n);
        return TL_EXIT_USAGE;
    }
    if (whole) {
        tl_say_error(NULL, "--follow: %s needs the whole trace", whole);
        return TL_EXIT_USAGE;
    }
    if (v->writer->growing)
        return TL_EXIT_DONE;
    list_formats(names, sizeof names, writes_growing);
    tl_say_error(NULL, "--follow: format %s is written when everything is known; these can be written as it comes: %s",
                 v->format->name, names);
    return TL_EXIT_USAGE;
}

/* The first input that holds a profile, or NULL. */
static const tl_reading *first_profile(const conversion *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (tl_source_is_profile(v->reading[i].source))
            return &v->reading[i];
    return NULL;
}

/* Times are given once, but ticks depend on the clock. */
static int apply_selection(conversion *v)
{
    tl_error e = {0};
    for (uint32_t i = 1; i < v->n; i++)
        if (tl_trace_clock(v->reading[i].trace)->hz != tl_trace_clock(v->reading[0].trace)->hz &&
            (v->cli->args->time || v->cli->args->min_dur)) {
            tl_say_error(NULL, "--time and --min-dur: the clocks of %s and %s differ; convert one of them at a time",
                         v->reading[0].path, v->reading[i].path);
            return TL_EXIT_USAGE;
        }
    if (tl_selection_apply(&v->selection, v->reading[0].trace, &e) < 0)
        return tl_say_failure(NULL, &e);
    return v->cli->args->slice_at ? tl_slice_select(&v->slice, &v->selection, v->cli, v->format, &v->reading[0])
                                  : TL_EXIT_DONE;
}

/* The file that an error of reading is about: the only input, or whatever the message says. */
static int fail(const conversion *v, tl_error *e)
{
    if (v->n == 1)
        tl_near_miss(&v->selection.select, v->reading[0].trace, v->cli->args->exe, e);
    return tl_say_failure(v->n == 1 ? v->reading[0].path : NULL, e);
}

/* How many of a run are events, not just marks of packets. */
static uint32_t count_events(const conversion *v, const tl_trace *t, const tl_batch *b, uint32_t from, uint32_t to)
{
    uint32_t n = to - from;
    if (v->writer->wants.packets)
        for (uint32_t i = from; i < to; i++)
            n -= tl_trace_class(t, b->cls[i])->kind == TL_FORMAT;
    return n;
}

/* Passes all events to the target or, when following, those until interrupted, which are visible at once. Returns an
 * exit status. */
static int pump(conversion *v, tl_events *events, tl_out *out, tl_error *e)
{
    const tl_trace *t = tl_events_trace(events);
    const bool follow = v->cli->args->follow;
    const tl_run *run;
    uint32_t n;
    int status = 0;
    while (!(follow && tl_interrupted()) && (status = tl_events_runs(events, &run, &n, e)) > 0) {
        if (v->slice.by_time) {
            if (tl_slice_write(&v->slice, out, run, n, &v->events, e) < 0)
                return tl_say_failure(NULL, e);
            continue;
        }
        for (uint32_t i = 0; i < n; i++)
            v->events += count_events(v, t, run[i].batch, run[i].from, run[i].to);
        if (tl_out_write(out, run, n, e) < 0 || (follow && tl_out_flush(out, e) < 0))
            return tl_say_failure(NULL, e);
    }
    if (status == TL_ENOMATCH && tl_to_stdout(v->cli->args)) { /* completes the output */
        tl_error unsaid = {0};
        (void)tl_out_finish(out, &unsaid);
    }
    if (status < 0)
        return fail(v, e);
    return tl_out_finish(out, e) < 0 ? tl_say_failure(NULL, e) : TL_EXIT_DONE;
}

/* Reports that nothing was selected, and what there is to select from. */
static void say_nothing(const conversion *v)
{
    const tl_trace *t = v->reading[0].trace;
    const tl_clock *clock = tl_trace_clock(t);
    uint64_t begin, end;
    char from[32], to[32];
    tl_scale scale;
    if (v->events || !v->selection.any || v->cli->args->slice_at || v->cli->args->follow)
        return;
    if (v->n > 1 || !tl_trace_range(t, &begin, &end)) {
        tl_say(v->cli, NULL, "0 events were selected");
        return;
    }
    tl_scale_init(&scale, clock->hz);
    const uint64_t zero = clock->from_zero ? 0 : begin;
    tl_human_time(from, sizeof from, tl_scale_ns(&scale, begin - zero), clock->hz != 0);
    tl_human_time(to, sizeof to, tl_scale_ns(&scale, end - zero), clock->hz != 0);
    tl_say(v->cli, v->reading[0].path, "0 events were selected; the trace spans %s .. %s", begin == zero ? "0" : from,
           to);
}

/* Whether events must be ordered by time, for any of the inputs. */
static bool wants_order(const conversion *v)
{
    bool ordered = false;
    for (uint32_t i = 0; i < v->n; i++)
        ordered = ordered || tl_format_wants_order(v->format, v->reading[i].trace);
    return tl_split_how_ordered(&v->split, ordered);
}

/* The class that --class chooses, if it is one with fields. */
static const tl_class *only_class(const conversion *v, const tl_trace *t)
{
    const tl_words *globs = &v->cli->args->cls;
    const tl_class *only = NULL;
    for (uint32_t i = 0; i < tl_trace_classes(t); i++) {
        const tl_class *c = tl_trace_class(t, i);
        bool chosen = false;
        for (size_t k = 0; k < globs->n && c->kind != TL_FORMAT; k++)
            chosen = chosen || tl_glob(globs->word[k], c->name);
        if (chosen && only)
            return NULL;
        only = chosen ? c : only;
    }
    return only && only->nfield ? only : NULL;
}

static int write_events(conversion *v)
{
    const tl_arguments *a = v->cli->args;
    tl_source **source = tl_alloc(v->n, sizeof *source);
    tl_events *events = NULL;
    tl_out out = {.how = v->split};
    tl_error e = {0};
    int status = TL_EXIT_DONE;
    for (uint32_t i = 0; source && i < v->n; i++) {
        source[i] = v->reading[i].source;
        source[i]->numbers = v->writer->numbers;
    }
    if (!source) {
        tl_say_error(NULL, "out of memory");
        return TL_EXIT_DAMAGED;
    }
    for (uint32_t i = 0; v->writer->names && i < v->n; i++)
        if (tl_discover_wanted(v->reading[i].trace) && tl_discover(source[i], &e) < 0) {
            free(source);
            return tl_say_failure(v->reading[i].path, &e);
        }
    if (a->follow)
        tl_interrupt_catch();
    else if (tl_to_stdout(a))
        tl_pager_start(v->cli);
    if (v->n == 1) /* with several, their total size is unknown */
        tl_reading_start(&v->reading[0], v->cli, "converting");
    if (tl_events_open(&events, source, v->n, v->selection.any ? &v->selection.select : NULL, wants_order(v), &e) < 0) {
        status = fail(v, &e);
    } else {
        const tl_write_options options = {.to = v->format->name,
                                          .version = a->format_version,
                                          .overwrite = a->force,
                                          .begin = tl_events_begin(events),
                                          .title = tl_base_name(v->reading[0].path),
                                          .interval = a->interval,
                                          .compress = a->compress,
                                          .checksum = a->checksum,
                                          .clock = a->clock,
                                          .columns = only_class(v, tl_events_trace(events))};
        if (tl_out_open(&out, a->output ? a->output : "-", tl_events_trace(events), &options, &e) < 0)
            status = tl_say_failure(NULL, &e);
        else
            status = pump(v, events, &out, &e);
    }
    for (uint32_t i = 0; i < v->n; i++)
        tl_reading_stop(&v->reading[i]);
    if (status == TL_EXIT_DONE)
        tl_out_say(&out, v->cli);
    if (status == TL_EXIT_DONE)
        say_nothing(v);
    tl_out_close(&out);
    tl_events_close(events);
    free(source);
    return status;
}

static int open_all(conversion *v)
{
    const tl_arguments *a = v->cli->args;
    tl_want want = v->writer->wants;
    int status = TL_EXIT_DONE;
    want.cpu = want.cpu || a->cpu.n;
    want.strict = a->strict;
    want.companions = a->slice_at || v->writer->slices;
    want.threads = tl_threads(v->cli);
    v->reading = calloc(a->file.n, sizeof *v->reading);
    if (!v->reading) {
        tl_say_error(NULL, "out of memory");
        return TL_EXIT_DAMAGED;
    }
    for (; v->n < a->file.n && status == TL_EXIT_DONE; v->n += status == TL_EXIT_DONE)
        status = tl_reading_open(&v->reading[v->n], v->cli, a->file.word[v->n], &want);
    return status;
}

static int convert(conversion *v, bool *as_profile)
{
    const tl_format *f = v->format;
    int status = open_all(v);
    if (status != TL_EXIT_DONE)
        return status;
    const tl_reading *profile = first_profile(v);
    if (profile) {
        *as_profile = f->profile_writer != NULL;
        if (!*as_profile) {
            tl_say_error(profile->path, "holds a profile, and format %s holds events; see traceloom help formats",
                         f->name);
            return TL_EXIT_USAGE;
        }
        for (uint32_t i = 0; i < v->n; i++)
            if (strcmp(v->reading[i].path, "-") == 0) { /* it cannot be opened a second time */
                tl_say_error(profile->path, "holds a profile; use traceloom report -o");
                return TL_EXIT_USAGE;
            }
        return TL_EXIT_DONE;
    }
    status = apply_selection(v);
    if (status == TL_EXIT_DONE)
        status = write_events(v);
    if (status == TL_EXIT_DONE)
        for (uint32_t i = 0; i < v->n; i++)
            status =
                tl_exit_worse(status, tl_say_losses(v->cli, v->reading[i].trace, v->selection.any ? 0 : v->events));
    return status;
}

int tl_verb_convert(tl_cli *c)
{
    static const tl_event_writer none = {0};
    conversion v = {.cli = c};
    tl_error e = {0};
    bool as_profile = false;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    int status = tl_check_inputs(c);
    if (status == TL_EXIT_DONE)
        status = tl_slice_check(c->args);
    if (status == TL_EXIT_DONE)
        status = choose_format(&v);
    v.writer = status == TL_EXIT_DONE && v.format->event_writer ? v.format->event_writer : &none;
    if (status == TL_EXIT_DONE)
        status = check_format_options(&v);
    if (status == TL_EXIT_DONE && c->args->split)
        status = tl_split_how_parse(&v.split, c->args);
    if (status == TL_EXIT_DONE && c->args->follow)
        status = check_follow(&v);
    if (status == TL_EXIT_DONE)
        status = tl_check_output(c);
    if (status == TL_EXIT_DONE && tl_selection_parse(&v.selection, c->args, &e) < 0)
        status = tl_say_failure(NULL, &e);
    if (status == TL_EXIT_DONE) {
        as_profile = !v.format->event_writer;
        if (v.writer->folder) /* an unfinished file has no name; a folder has one */
            tl_interrupt_clean(tl_output_folders_abandon);
        if (!as_profile)
            status = convert(&v, &as_profile);
    }
    for (uint32_t i = 0; i < v.n; i++)
        tl_reading_close(&v.reading[i]);
    free(v.reading);
    tl_slice_fini(&v.slice);
    tl_selection_fini(&v.selection);
    if (status == TL_EXIT_DONE && as_profile)
        return tl_report_to_file(c);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (!as_profile && v.events) {
        char events[32];
        double seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
        tl_say_more(c, NULL, "%s events in %.3f s", tl_human_grouped(events, sizeof events, v.events), seconds);
    }
    return status;
}

/* `info` for people: one screen per trace. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text/number.h"
#include "cli/info/verb_info.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "model/trace_impl.h"
#include "view/text_table.h"

/* On a terminal everything fits one screen: the head, the classes, and as many threads as there is room for. */
enum { SCREEN = 23, HEAD = 8, CLASSES_MAX = 6, THREADS_LEAST = 3, AROUND_A_TABLE = 2, MORE = 1 };
enum { PROPERTIES_MAX = 12, PROPERTIES_ON_TERMINAL = 4, PROPERTY_NAME_MAX = 24 };

/* A line of the head: "  clock     tsc, 2.60 GHz". */
TL_PRINTF(4, 5)
static void line(tl_output *out, const tl_terminal *terminal, const char *label, const char *format, ...)
{
    char text[1024], clean[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    tl_output_printf(out, "  %s%-9s%s %s\n", tl_style_on(terminal, TL_FAINT), label,
                     tl_style_on(terminal, TL_PLAIN_TEXT), tl_text_clean(clean, sizeof clean, text));
}

/* 2596096000 -> "2.596 GHz". */
static char *frequency_text(char *buf, size_t size, uint64_t hz)
{
    double v = (double)hz;
    const char *unit = v >= 1e9 ? "GHz" : v >= 1e6 ? "MHz" : v >= 1e3 ? "kHz" : "Hz";
    snprintf(buf, size, "%.4g %s", v / (v >= 1e9 ? 1e9 : v >= 1e6 ? 1e6 : v >= 1e3 ? 1e3 : 1), unit);
    return buf;
}

static char *time_text(char *buf, size_t size, const tl_trace *t, uint64_t ticks)
{
    return tl_human_time(buf, size, tl_trace_time(t, ticks), tl_trace_clock(t)->hz != 0);
}

/* "... 5 more classes; --json lists all". */
static void print_more(const tl_cli *c, uint32_t n, const char *what, tl_output *out)
{
    char number[32];
    tl_output_printf(out, "%s%s %s more %s; --json lists all%s\n", tl_style_on(&c->out, TL_FAINT),
                     c->out.unicode ? "…" : "...", tl_human_grouped(number, sizeof number, n), what,
                     tl_style_on(&c->out, TL_PLAIN_TEXT));
}

static void print_clock(const tl_facts *f, const tl_terminal *terminal, tl_output *out)
{
    const tl_clock *clock = tl_trace_clock(f->trace);
    char text[64];
    if (clock->hz)
        line(out, terminal, "clock", "%s, %s", clock->name ? clock->name : "unnamed",
             frequency_text(text, sizeof text, clock->hz));
    else if (strcmp(tl_trace_unit(f->trace), "instructions") == 0)
        line(out, terminal, "clock", "%s",
             f->is_profile ? "instructions" : "instructions of each thread: times are their numbers, from 0");
    else
        line(out, terminal, "clock", "%s, of unknown frequency: times are ticks",
             clock->name ? clock->name : "unnamed");
}

/* Its length in ticks; for instructions, their number including the first and the last. */
static uint64_t length(const tl_facts *f)
{
    const bool insns = tl_trace_counts_insns(f->trace) && f->count.events;
    return f->count.last - f->count.first + insns;
}

static void print_span(const tl_facts *f, const tl_terminal *terminal, tl_output *out)
{
    const tl_trace *t = f->trace;
    const tl_clock *clock = tl_trace_clock(t);
    char span[64], utc[64];
    time_text(span, sizeof span, t, length(f));
    if (clock->has_utc && clock->hz)
        line(out, terminal, "span", "%s from %s", span, tl_utc_text(utc, sizeof utc, t, f->count.first));
    else
        line(out, terminal, "span", "%s%s%s", span, clock->hz ? "" : " ", clock->hz ? "" : tl_trace_unit(t));
}

/* Destination of the header's lines. */
typedef struct head_lines {
    const tl_terminal *terminal;
    tl_output *out;
} head_lines;

static void header_line(void *arg, const char *label, const char *text)
{
    const head_lines *h = arg;
    line(h->out, h->terminal, label, "%s", text);
}

static void print_head(const tl_facts *f, const tl_cli *c, tl_output *out)
{
    const tl_trace *t = f->trace;
    const tl_terminal *terminal = &c->out;
    char text[1024], bytes[32], number[32];
    const char *order = tl_trace_byte_order(t), *version = tl_trace_version(t);
    tl_output_printf(out, "%s%s%s\n", tl_style_on(terminal, TL_STRONG),
                     tl_text_clean(text, sizeof text, tl_path_name(tl_trace_path(t))),
                     tl_style_on(terminal, TL_PLAIN_TEXT));
    line(out, terminal, "format", "%s%s%s%s%s%s, %s", tl_trace_format(t), version ? " " : "", version ? version : "",
         order ? ", " : "", order ? order : "", order ? "-endian" : "",
         tl_human_bytes(bytes, sizeof bytes, tl_trace_bytes(t)));
    if (!f->is_profile) {
        print_span(f, terminal, out);
        line(out, terminal, "events", "%s",
             f->not_counted ? "not counted; --count reads all of it"
                            : tl_human_grouped(number, sizeof number, f->count.events));
    } else {
        char calls[32], paths[32], threads[96] = "", self[32];
        if (f->profile_threads) /* 0: the file has no threads */
            snprintf(threads, sizeof threads, ", %s %s", tl_human_grouped(number, sizeof number, f->profile_threads),
                     f->profile_threads == 1 ? "thread" : "threads");
        if (f->profile_trees < f->profile_threads)
            snprintf(threads + strlen(threads), sizeof threads - strlen(threads), " in %" PRIu64 " trees",
                     f->profile_trees);
        line(out, terminal, "profile", "%s %s in %s paths%s", tl_human_grouped(calls, sizeof calls, f->profile_calls),
             f->profile_sampled ? "samples" : "calls", tl_human_grouped(paths, sizeof paths, f->profile_paths),
             threads);
        line(out, terminal, "self time", "%s%s%s", time_text(self, sizeof self, t, f->profile_self),
             tl_trace_clock(t)->hz ? "" : " ", tl_trace_clock(t)->hz ? "" : tl_trace_unit(t));
        if (f->profile_clamped)
            line(out, terminal, "clamped", "%s %s with less time than their callees",
                 tl_human_grouped(paths, sizeof paths, f->profile_clamped), f->profile_clamped == 1 ? "path" : "paths");
    }
    print_clock(f, terminal, out);
    tl_header_text(t, header_line, &(head_lines){terminal, out});
    if (tl_trace_exe(t) || tl_trace_build_id(t))
        line(out, terminal, "binary", "%s%s%s", tl_trace_exe(t) ? tl_trace_exe(t) : "not known",
             tl_trace_build_id(t) ? ", build-id " : "", tl_trace_build_id(t) ? tl_trace_build_id(t) : "");
    line(out, terminal, "lost", "%s", *tl_losses_text(text, sizeof text, t, f->count.events) ? text + 5 : "nothing");
    uint64_t damage = tl_damages_of(t, TL_DAMAGE_LOSS);
    if (damage)
        line(out, terminal, "damage", "%s %s%s", tl_human_grouped(number, sizeof number, damage),
             damage == 1 ? "place" : "places", f->not_counted ? " so far" : "");
    else
        line(out, terminal, "damage", f->not_counted ? "none so far" : "none");
    if (tl_trace_notes(t))
        line(out, terminal, "notes", "%s", tl_human_grouped(number, sizeof number, tl_trace_notes(t)));
}

/* What the trace says about itself. Returns the number of lines. */
static uint32_t print_properties(const tl_facts *f, const tl_cli *c, tl_output *out)
{
    const tl_terminal *terminal = &c->out;
    const uint32_t most = terminal->tty ? PROPERTIES_ON_TERMINAL : PROPERTIES_MAX;
    tl_hash seen = {0};
    uint32_t next = 0, n = 0;
    size_t width = 0;
    const tl_property *shown[PROPERTIES_MAX];
    for (const tl_property *p; (p = tl_facts_property(f, &next, &seen)); n++)
        if (n < most) {
            const size_t length = strlen(p->name);
            shown[n] = p;
            width = length > width ? length : width;
        }
    tl_hash_fini(&seen);
    if (n == 0)
        return 0;
    if (width > PROPERTY_NAME_MAX)
        width = PROPERTY_NAME_MAX;
    tl_output_puts(out, "\n");
    for (uint32_t i = 0; i < n && i < most; i++) {
        char name[128], number[32];
        snprintf(number, sizeof number, "%" PRId64, shown[i]->number);
        tl_output_printf(out, "  %s%-*s%s  ", tl_style_on(terminal, TL_FAINT), (int)width,
                         tl_text_clean(name, sizeof name, shown[i]->name), tl_style_on(terminal, TL_PLAIN_TEXT));
        tl_text_put_clean(out, shown[i]->text ? shown[i]->text : number);
        tl_output_puts(out, "\n");
    }
    if (n > most)
        print_more(c, n - most, "properties", out);
    return 1 + (n > most ? most + MORE : n);
}

/* Rows of a table, by events descending. */
typedef struct ranked {
    uint64_t events;
    uint32_t index;
} ranked;

static int more_events_first(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->events != b->events)
        return a->events > b->events ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void put_events(tl_text_table *table, tl_text_row *row, uint64_t events, uint64_t all)
{
    char text[32];
    row->share = all ? (double)events / (double)all : 0;
    row->cell[0] = tl_text_table_keep_raw(table, tl_human_grouped(text, sizeof text, events));
    snprintf(text, sizeof text, "%.1f %%", 100 * row->share);
    row->cell[1] = tl_text_table_keep_raw(table, text);
}

/* False: memory ran out, and nothing was printed. */
static bool print_table(tl_text_table *table, const tl_cli *c, uint32_t listed, uint32_t shown, const char *what,
                        tl_output *out)
{
    const bool whole = !table->failed;
    if (whole && listed) {
        tl_output_puts(out, "\n");
        tl_text_table_print(table, &c->out, out);
        if (listed > shown)
            print_more(c, listed - shown, what, out);
    }
    tl_text_table_fini(table);
    return whole;
}

/* How many rows of a table to show if there is room for `most`, including a line that says how many more there are. */
static uint32_t rows_shown(const tl_cli *c, uint32_t listed, uint32_t most)
{
    return c->out.tty && listed > most ? most - MORE : listed;
}

/* *lines: how many were printed. */
static bool print_classes(const tl_facts *f, const tl_cli *c, uint32_t *lines, tl_output *out)
{
    static const tl_text_column column[] = {{"events", 0}, {"share", 0}, {"kind", 1}};
    tl_text_table table = {.column = column, .ncolumn = 3, .name_title = "class", .bar_after = 1, .name_wish = 30};
    ranked *r = malloc(((size_t)f->ncls + 1) * sizeof *r);
    if (!r)
        return false;
    for (uint32_t i = 0; i < f->ncls; i++)
        r[i] = (ranked){f->cls[i].events, i};
    qsort(r, f->ncls, sizeof *r, more_events_first);
    const uint32_t shown = rows_shown(c, f->ncls, CLASSES_MAX);
    for (uint32_t i = 0; i < shown; i++) {
        const tl_class_count *class = &f->cls[r[i].index];
        tl_text_row *row = tl_text_table_add(&table);
        put_events(&table, row, class->events, f->count.events);
        row->cell[2] = tl_kind_name(class->kind);
        row->name = tl_text_table_keep(&table, class->name);
    }
    *lines = f->ncls ? AROUND_A_TABLE + shown + (shown < f->ncls) : 0;
    free(r);
    return print_table(&table, c, f->ncls, shown, "classes", out);
}

/* A time of a track, "" if unknown. */
static const char *track_time(tl_text_table *table, const tl_facts *f, uint32_t track, uint64_t ticks)
{
    char text[64];
    if (!f->count.by_track[track] && !tl_trace_track(f->trace, track)->has_range)
        return "";
    return tl_text_table_keep_raw(table, time_text(text, sizeof text, f->trace, ticks - tl_facts_zero(f)));
}

static bool print_tracks(const tl_facts *f, const tl_cli *c, uint32_t room, tl_output *out)
{
    enum { COLUMNS = 5, COUNTS = 2 }; /* COUNTS: the first columns, which need counted events */
    static const tl_text_column column[] = {{"events", 0}, {"share", 0}, {"begin", 2}, {"end", 2}, {"pid", 1}};
    const uint32_t left_out = f->not_counted ? COUNTS : 0, tracks = tl_trace_tracks(f->trace);
    uint32_t listed = 0;
    bool threads = tracks == 0, cpus = tracks > 0; /* or other kinds of streams */
    ranked *r = malloc(((size_t)tracks + 1) * sizeof *r);
    if (!r)
        return false;
    for (uint32_t i = 0; i < tracks; i++) {
        threads = threads || tl_trace_track(f->trace, i)->has_tid;
        cpus = cpus && tl_trace_track(f->trace, i)->is_cpu;
        if (tl_facts_lists_track(f, i))
            r[listed++] = (ranked){f->count.by_track[i], i};
    }
    qsort(r, listed, sizeof *r, more_events_first);
    tl_text_table table = {.column = column + left_out,
                           .ncolumn = COLUMNS - left_out,
                           .name_title = cpus      ? "processor"
                                         : threads ? "thread"
                                                   : "stream",
                           .bar_after = f->not_counted ? COLUMNS : COUNTS - 1,
                           .name_wish = 30};
    const uint32_t shown = rows_shown(c, listed, room);
    for (uint32_t i = 0; i < shown; i++) {
        const uint32_t k = r[i].index;
        const tl_track *track = tl_trace_track(f->trace, k);
        tl_text_row *row = tl_text_table_add(&table);
        const char **cell = row->cell;
        char text[64];
        if (!f->not_counted) {
            put_events(&table, row, r[i].events, f->count.events);
            cell += COUNTS;
        }
        cell[0] = track_time(&table, f, k, f->count.begin[k]);
        cell[1] = track_time(&table, f, k, f->count.end[k]);
        snprintf(text, sizeof text, "%" PRId64, track->pid);
        cell[2] = track->has_pid ? tl_text_table_keep_raw(&table, text) : "";
        row->name = tl_text_table_keep(&table, track->name);
    }
    free(r);
    return print_table(&table, c, listed, shown, cpus ? "processors" : threads ? "threads" : "streams", out);
}

bool tl_info_text(const tl_facts *f, const tl_cli *c, tl_output *out)
{
    print_head(f, c, out);
    uint32_t above = HEAD + (tl_trace_notes(f->trace) ? 1u : 0u) + print_properties(f, c, out);
    uint32_t lines;
    if (f->is_profile)
        return true;
    if (!print_classes(f, c, &lines, out))
        return false;
    above += lines + AROUND_A_TABLE;
    return print_tracks(f, c, above + THREADS_LEAST < SCREEN ? SCREEN - above : THREADS_LEAST, out);
}

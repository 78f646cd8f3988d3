/* The answer of `info`: everything about one trace, as JSON, and for people on one screen. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/catalog.h"
#include "base/io/base_name.h"
#include "base/text/number.h"
#include "op/loss_text.h"

static const tl_column path[] = {{.json = "path", TL_AT(TEXT, tl_trace_row, name)}};

static void get_calls(const tl_at *at, tl_cell *out)
{
    const tl_trace_row *r = at->row;
    if (r->is_sampled == (at->column->which != 0))
        tl_cell_u64(out, r->calls);
}

#define OF_PROFILE(key, member) .json = "profile." key, TL_AT(U64, tl_trace_row, member)
static const tl_column profile[] = {
    {OF_PROFILE("threads", threads)},
    {OF_PROFILE("trees", trees), TL_ONLY_IF(tl_trace_row, has_trees), .flags = TL_LEFT_OUT},
    {OF_PROFILE("paths", paths)},
    {.json = "profile.samples", .get = get_calls, .which = true, .flags = TL_LEFT_OUT},
    {.json = "profile.calls", .get = get_calls, .flags = TL_LEFT_OUT},
    {OF_PROFILE("self_ticks", self_ticks)},
    {OF_PROFILE("clamped", clamped), TL_ONLY_IF(tl_trace_row, is_inclusive), .flags = TL_LEFT_OUT},
};

static const tl_column classes[] = {
    {TL_COL("name", "class", TEXT, NONE, NULL), TL_AT(TEXT, tl_class_row, name), .role = TL_ROLE_NAME},
    {TL_COL("kind", "kind", TEXT, NONE, NULL), TL_AT(TEXT, tl_class_row, kind), .place = 3, .drop = 1},
    {TL_COL("events", "events", INTEGER, COUNT, NULL), TL_AT(U64, tl_class_row, events), .place = 1},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(REAL, tl_class_row, share), .place = 2, .flags = TL_WITH_BAR},
};
#define CLASS_COUNTS (UINT64_C(3) << 2) /* the columns that need the events counted */
#define TRACK_COUNTS (UINT64_C(1) << TL_TRACK_EVENTS | UINT64_C(1) << TL_TRACK_SHARE)

static const tl_column properties[] = {
    {TL_COL("name", NULL, TEXT, NONE, NULL), TL_AT(TEXT, tl_property_row, name)},
    {TL_COL("value", NULL, TEXT, NONE, NULL), .get = tl_get_property},
};

#define OF_PATCHED(key, member) TL_COL(key, NULL, INTEGER, COUNT, NULL), TL_AT(U64, tl_patched_row, member)
static const tl_column patched[] = {
    {TL_COL("object", NULL, TEXT, NONE, NULL), TL_AT(TEXT, tl_patched_row, object)},
    {TL_COL("path", NULL, TEXT, NONE, NULL), TL_AT(TEXT, tl_patched_row, counts.path)},
    {OF_PATCHED("functions", counts.functions)},
    {OF_PATCHED("patched", counts.patched)},
    {OF_PATCHED("left_out", left_out)},
    {OF_PATCHED("late", counts.late)},
    {TL_COL("why", NULL, TEXT, NONE, NULL), TL_AT(TEXT, tl_patched_row, counts.why)},
};

/* ---- for programs ---- */

/* Adds damage of a kind, without some of the columns; no part without rows unless `always`. */
static void add_places(tl_answer *a, const tl_ask *ask, const tl_catalog *c, const char *key, const char *kind,
                       uint64_t without, bool always)
{
    uint32_t *order = tl_answer_alloc(a, (size_t)c->ndamage + 1, sizeof *order), n = 0, ncolumn = TL_PLACE_KIND;
    for (uint32_t i = 0; order && i < c->ndamage; i++)
        if (strcmp(c->damage[i].kind, kind) == 0)
            order[n++] = i;
    if (n == 0 && !always)
        return;
    const tl_column *column = tl_answer_columns(a, tl_places, &ncolumn, without);
    tl_answer_add_rows(a, ask, key, column, ncolumn, c->damage, sizeof *c->damage, order, n);
}

void tl_info_add_damage(tl_answer *a, const tl_ask *ask, const tl_catalog *c, bool always)
{
    add_places(a, ask, c, "damage", "loss", c->number > 1 ? 0 : 1, always);
}

void tl_info_add_notes(tl_answer *a, const tl_ask *ask, const tl_catalog *c)
{
    add_places(a, ask, c, "notes", "note", 1 | 1 << TL_PLACE_BYTES, false);
}

/* Properties of the trace come before those of its header. */
static uint32_t own_properties(const tl_catalog *c)
{
    uint32_t n = 0;
    while (n < c->nproperty && !c->property[n].of_header)
        n++;
    return n;
}

static void add_facts(tl_answer *a, const tl_ask *ask, const tl_column *column, uint32_t n, const tl_trace_row *r)
{
    tl_answer_add_rows(a, ask, NULL, column, n, r, sizeof *r, NULL, 1);
}

static void add_properties(tl_answer *a, const tl_ask *ask, const char *key, const tl_property_row *row, uint32_t n)
{
    if (n)
        TL_ADD_ROWS(a, ask, key, properties, row, NULL, n)->is_object = true;
}

static void add_all(tl_answer *a, const tl_ask *ask, const tl_catalog *c)
{
    const tl_trace_row *r = c->trace;
    const uint32_t own = own_properties(c);
    add_facts(a, ask, path, 1, r);
    add_facts(a, ask, tl_traces + TL_TRACE_BEGIN, TL_TRACE_CLOCK - TL_TRACE_BEGIN, r);
    TL_ADD_ROWS(a, ask, "classes", classes, c->cls, NULL, c->ncls);
    tl_answer_add_rows(a, ask, "tracks", tl_tracks + TL_TRACK_NAME, TL_TRACK_COLUMNS - TL_TRACK_NAME, c->track,
                       sizeof *c->track, NULL, c->ntrack);
    add_facts(a, ask, tl_traces + TL_TRACE_CLOCK, TL_TRACE_UNIT - TL_TRACE_CLOCK, r);
    tl_info_add_damage(a, ask, c, true);
    tl_info_add_notes(a, ask, c);
    add_properties(a, ask, "properties", c->property, own);
    add_properties(a, ask, NULL, c->property + own, c->nproperty - own);
    if (c->npatched)
        TL_ADD_ROWS(a, ask, "patched", patched, c->patched, NULL, c->npatched);
    if (r->is_profile)
        add_facts(a, ask, profile, TL_COUNT(profile), r);
}

/* ---- for people ---- */

/* On a terminal all fits one screen: the head, the classes, and as many threads as there is room for. */
enum { SCREEN = 23, HEAD = 8, CLASS_ROWS = 6, THREADS_LEAST = 3, AROUND_A_TABLE = 2 };
enum { PROPERTY_ROWS = 12, PROPERTIES_ON_TERMINAL = 4, PROPERTY_NAME = 24, PATCHED_LINES = 16 };
#define LEFT_OUT "--json lists all"

/* A line of the head: "  clock     tsc, 2.60 GHz". */
TL_PRINTF(3, 4)
static void line(const tl_prose *p, const char *label, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    tl_output_printf(p->out, "  %s%-9s%s ", tl_style_on(p->terminal, TL_FAINT), label,
                     tl_style_on(p->terminal, TL_PLAIN_TEXT));
    tl_text_put_clean(p->out, text);
    tl_output_puts(p->out, "\n");
}

/* 2596096000 -> "2.596 GHz". */
static char *frequency_text(char *buf, size_t size, uint64_t hz)
{
    double v = (double)hz;
    const char *unit = v >= 1e9 ? "GHz" : v >= 1e6 ? "MHz" : v >= 1e3 ? "kHz" : "Hz";
    snprintf(buf, size, "%.4g %s", v / (v >= 1e9 ? 1e9 : v >= 1e6 ? 1e6 : v >= 1e3 ? 1e3 : 1), unit);
    return buf;
}

/* "2.50 us", "1,204 ticks" */
static void time_line(const tl_prose *p, const char *label, const tl_trace_row *r, uint64_t time, const char *from)
{
    char text[32];
    tl_human_time(text, sizeof text, time, r->hz != 0);
    line(p, label, "%s%s%s%s%s", text, r->hz ? "" : " ", r->hz ? "" : r->unit, from ? " from " : "", from ? from : "");
}

static void say_clock(const tl_trace_row *r, const tl_prose *p)
{
    char text[64];
    if (r->hz)
        line(p, "clock", "%s, %s", r->clock ? r->clock : "unnamed", frequency_text(text, sizeof text, r->hz));
    else if (strcmp(r->unit, "instructions") == 0)
        line(p, "clock", "%s",
             r->is_profile ? "instructions" : "instructions of each thread: times are their numbers, from 0");
    else
        line(p, "clock", "%s, of unknown frequency: times are ticks", r->clock ? r->clock : "unnamed");
}

static void say_profile(const tl_trace_row *r, const tl_prose *p)
{
    char calls[32], paths[32], threads[32], text[96] = "";
    int n = 0;
    if (r->threads) /* 0: the file does not distinguish threads */
        n = snprintf(text, sizeof text, ", %s %s", tl_human_grouped(threads, sizeof threads, r->threads),
                     r->threads == 1 ? "thread" : "threads");
    if (r->has_trees)
        snprintf(text + n, sizeof text - (size_t)n, " in %" PRIu64 " trees", r->trees);
    line(p, "profile", "%s %s in %s paths%s", tl_human_grouped(calls, sizeof calls, r->calls),
         r->is_sampled ? "samples" : "calls", tl_human_grouped(paths, sizeof paths, r->paths), text);
    time_line(p, "self time", r, r->self, NULL);
    if (r->clamped)
        line(p, "clamped", "%s %s with less time than their callees", tl_human_grouped(paths, sizeof paths, r->clamped),
             r->clamped == 1 ? "path" : "paths");
}

/* Members of the header that are shown with a unit, or by another name. */
static const struct shown_member {
    const char *name, *label;
    tl_column_unit unit;
} shown_members[] = {{"options.ring", "ring", TL_UNIT_BYTES},
                     {"options.limit", "limit", TL_UNIT_BYTES},
                     {"options.threshold", "threshold", TL_UNIT_TIME},
                     {"ring.slots_reused", "slots reused", TL_UNIT_COUNT},
                     {"ring.events_overwritten", "events overwritten", TL_UNIT_COUNT},
                     {"ring.complete_from", "complete from", TL_UNIT_TIME}};

static const char *property_text(const tl_property_row *r, tl_column_unit unit, char *buf, size_t size)
{
    const tl_cell *v = &r->value;
    if (v->kind == TL_CELL_TEXT)
        return v->text;
    if (v->kind == TL_CELL_INT)
        snprintf(buf, size, "%" PRId64, v->i64);
    else if (v->kind == TL_CELL_NULL)
        snprintf(buf, size, "not known");
    else if (unit == TL_UNIT_BYTES)
        tl_human_bytes(buf, size, v->u64);
    else if (unit == TL_UNIT_TIME)
        tl_human_time(buf, size, v->u64, true);
    else if (unit == TL_UNIT_COUNT)
        tl_human_grouped(buf, size, v->u64);
    else
        snprintf(buf, size, "%" PRIu64, v->u64);
    return buf;
}

/* A line for each field of the header: its members are properties one after the other, "options.ring". */
static void say_header(const tl_catalog *c, const tl_prose *p)
{
    for (uint32_t i = own_properties(c), next; i < c->nproperty; i = next) {
        const char *name = c->property[i].name;
        const size_t n = strcspn(name, ".");
        const bool named = name[n] != 0;
        char text[1024] = "", label[64], value[32];
        size_t used = 0;
        snprintf(label, sizeof label, "%.*s", (int)n, name);
        for (next = i; next < c->nproperty && strncmp(c->property[next].name, name, n + (name[n] == '.')) == 0 &&
                       (next == i || named);
             next++) {
            const char *member = c->property[next].name + n + 1;
            tl_column_unit unit = TL_UNIT_NONE;
            for (size_t k = 0; k < TL_COUNT(shown_members); k++)
                if (strcmp(shown_members[k].name, c->property[next].name) == 0) {
                    member = shown_members[k].label;
                    unit = shown_members[k].unit;
                }
            if (used < sizeof text)
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s%s", next > i ? ", " : "",
                                         named ? member : "", named ? " " : "",
                                         property_text(&c->property[next], unit, value, sizeof value));
        }
        line(p, label, "%s", text);
    }
}

static void say_patched(const tl_catalog *c, const tl_prose *p)
{
    char text[TL_PATCHED_TEXT];
    for (uint32_t i = 0; i < c->npatched && i < PATCHED_LINES; i++)
        line(p, "patched", "%s", tl_patched_text(text, &c->patched[i].counts));
    if (c->npatched > PATCHED_LINES)
        line(p, "patched", "%" PRIu32 " more; " LEFT_OUT, c->npatched - PATCHED_LINES);
}

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_catalog *c = a->table;
    const tl_trace_row *r = c->trace;
    char text[128], number[32];
    tl_say_styled(p, TL_STRONG, tl_path_name(r->path));
    tl_output_puts(p->out, "\n");
    line(p, "format", "%s%s%s%s%s%s, %s", r->format, r->version ? " " : "", r->version ? r->version : "",
         r->byte_order ? ", " : "", r->byte_order ? r->byte_order : "", r->byte_order ? "-endian" : "",
         tl_human_bytes(number, sizeof number, r->bytes));
    if (r->is_profile) {
        say_profile(r, p);
    } else {
        time_line(p, "span", r, r->dur, r->first_utc);
        line(p, "events", "%s",
             r->is_counted ? tl_human_grouped(number, sizeof number, r->events)
                           : "not counted; --count reads all of it");
    }
    say_clock(r, p);
    say_header(c, p);
    say_patched(c, p);
    if (r->exe || r->build_id)
        line(p, "binary", "%s%s%s", r->exe ? r->exe : "not known", r->build_id ? ", build-id " : "",
             r->build_id ? r->build_id : "");
    tl_losses_text(text, sizeof text, r->lost_events, r->lost_packets, r->events);
    line(p, "lost", "%s", *text ? text + strlen("lost ") : "nothing");
    if (r->damage)
        line(p, "damage", "%s %s%s", tl_human_grouped(number, sizeof number, r->damage),
             r->damage == 1 ? "place" : "places", r->is_counted ? "" : " so far");
    else
        line(p, "damage", r->is_counted ? "none" : "none so far");
    if (r->notes)
        line(p, "notes", "%s", tl_human_grouped(number, sizeof number, r->notes));
}

/* What the trace says about itself: the first part->n of them. */
static void say_properties(const tl_part *part, const tl_prose *p)
{
    const tl_property_row *row = part->row;
    size_t width = 0;
    for (uint64_t i = 0; i < part->n; i++)
        width = strlen(row[i].name) > width ? strlen(row[i].name) : width;
    for (uint64_t i = 0; i < part->n; i++) {
        char name[128], number[32];
        tl_output_printf(p->out, "  %s%-*s%s  ", tl_style_on(p->terminal, TL_FAINT),
                         (int)(width < PROPERTY_NAME ? width : PROPERTY_NAME),
                         tl_text_clean(name, sizeof name, row[i].name), tl_style_on(p->terminal, TL_PLAIN_TEXT));
        tl_text_put_clean(p->out, property_text(&row[i], TL_UNIT_NONE, number, sizeof number));
        tl_output_puts(p->out, "\n");
    }
    tl_say_left_out(p, part->left_out, part->of, LEFT_OUT);
}

/* The rows of a list, by events descending. */
typedef struct ranked {
    uint64_t events;
    uint32_t index;
} ranked;

static int more_events_first(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->events != b->events)
        return a->events > b->events ? -1 : 1;
    return TL_COMPARE(a->index, b->index);
}

/* Adds the rows with most events, as many as there is room for on a terminal: the last line may say how many more there
 * are. Returns how many lines that takes. Errors: TL_ENOMEM. */
static int add_list(tl_answer *a, const tl_ask *ask, const tl_column *column, uint32_t ncolumn, const void *row,
                    size_t stride, size_t events, uint32_t n, uint32_t room, const char *of)
{
    ranked *r = tl_answer_alloc(a, (size_t)n + 1, sizeof *r);
    uint32_t *order = tl_answer_alloc(a, (size_t)n + 1, sizeof *order);
    const uint32_t shown = ask->tty && n > room ? room - 1 : n;
    if (!r || !order || n == 0)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        r[i] = (ranked){*(const uint64_t *)(const void *)((const char *)row + i * stride + events), i};
    qsort(r, n, sizeof *r, more_events_first);
    for (uint32_t i = 0; i < n; i++)
        order[i] = r[i].index;
    tl_part *p = tl_answer_add_rows(a, ask, of, column, ncolumn, row, stride, order, shown);
    p->left_out = n - shown;
    p->of = of;
    p->rest = LEFT_OUT;
    p->name_wish = 30;
    return (int)(AROUND_A_TABLE + shown + (shown < n));
}

static void say_count(const tl_part *part, const tl_prose *p)
{
    (void)part;
    tl_output_printf(p->out, "%s--count gives the counts%s\n", tl_style_on(p->terminal, TL_FAINT),
                     tl_style_on(p->terminal, TL_PLAIN_TEXT));
}

static void add_screen(tl_answer *a, const tl_ask *ask, const tl_catalog *c)
{
    const tl_trace_row *r = c->trace;
    const uint32_t own = own_properties(c), most = ask->tty ? PROPERTIES_ON_TERMINAL : PROPERTY_ROWS,
                   shown = own < most ? own : most;
    uint32_t above = HEAD + (r->notes ? 1u : 0u) + (own ? 1 + shown + (own > shown) : 0);
    uint32_t ncls = TL_COUNT(classes), ntrack = TL_TRACK_COLUMNS;
    a->head = head;
    if (own) {
        tl_part *p = tl_answer_add(a, ask);
        if (!p)
            return;
        p->row = c->property;
        p->n = shown;
        p->left_out = own - shown;
        p->of = "properties";
        p->before = say_properties;
    }
    tl_column *cls = tl_answer_columns(a, classes, &ncls, r->is_counted ? 0 : CLASS_COUNTS);
    tl_column *track = tl_answer_columns(a, tl_tracks, &ntrack, r->is_counted ? 0 : TRACK_COUNTS);
    if (!cls || !track)
        return;
    above += (uint32_t)add_list(a, ask, cls, ncls, c->cls, sizeof *c->cls, offsetof(tl_class_row, events), c->ncls,
                                CLASS_ROWS, "classes");
    if (!r->is_counted && a->last && c->ncls)
        a->last->after = say_count;
    above += AROUND_A_TABLE;
    track[TL_TRACK_NAME].info.title = r->has_cpus ? "processor" : r->has_threads ? "thread" : "stream";
    add_list(a, ask, track, ntrack, c->track, sizeof *c->track, offsetof(tl_track_row, events), c->ntrack,
             above + THREADS_LEAST < SCREEN ? SCREEN - above : THREADS_LEAST,
             r->has_cpus      ? "processors"
             : r->has_threads ? "threads"
                              : "streams");
}

int tl_info_answer(const tl_catalog *c, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    *a = (tl_answer){.table = c, .is_ns = c->trace->hz != 0, .unicode = ask->unicode};
    if (ask->for_programs)
        add_all(a, ask, c);
    else
        add_screen(a, ask, c);
    return a->failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for what is said of a trace") : 0;
}

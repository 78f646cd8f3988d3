/* The relation `classes`: the number of events of each class, their rate, and the gaps between them. One pass in the
 * order of time; memory grows only with the classes. */
#include <stdlib.h>
#include <string.h>

#include "analysis/table_kind.h"
#include "base/hash.h"
#include "base/text/number.h"
#include "model/histogram.h"
#include "model/trace_impl.h"
#include "op/source_impl.h"
#include "traceloom/events.h"

#define CLASS_ROWS 19u /* on a terminal: with head and prompt it fits 24 lines */

/* Classes of the same name and kind. Times are ticks while reading, then as from tl_trace_time(). */
typedef struct class_row {
    const char *name;
    const char *kind;
    uint64_t events, first, last;
    bool has_time;
    bool has_gaps; /* between consecutive events: */
    uint64_t shortest_gap, longest_gap, p50, p99;
    bool has_rate;
    double rate, share;
    tl_hist gap;
} class_row;

typedef struct class_table {
    class_row *row;
    uint32_t n;
    uint64_t events;
    bool has_time;
    uint64_t span; /* from the first event to the last */
    tl_strings strings;
} class_table;

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of classes");
}

/* Makes a row for each name and kind; row_of[class] is its index. */
static int list_rows(class_table *c, const tl_trace *t, uint32_t *row_of, tl_error *e)
{
    tl_hash known = {0}; /* name and kind -> row */
    bool ok = true;
    for (uint32_t i = 0; ok && i < tl_trace_classes(t); i++) {
        const tl_class *cls = tl_trace_class(t, i);
        const char *name = tl_strings_get(&c->strings, cls->name, strlen(cls->name)); /* equal names, equal pointers */
        const uint64_t key = (uint64_t)(uintptr_t)name * 16 + (uint64_t)cls->kind;
        row_of[i] = tl_hash_get(&known, key);
        if (row_of[i] != TL_HASH_NONE)
            continue;
        row_of[i] = c->n++;
        c->row[row_of[i]] = (class_row){.name = name, .kind = tl_kind_name(cls->kind)};
        ok = name && tl_hash_put(&known, key, row_of[i]);
    }
    tl_hash_fini(&known);
    return ok ? 0 : no_memory(e);
}

/* Adds an event's time. False when memory runs out. An event that comes too early ends no gap. */
static bool add_time(class_row *r, uint64_t ts, bool gaps)
{
    if (r->has_time && gaps && ts >= r->last) {
        const uint64_t gap = ts - r->last;
        r->shortest_gap = !r->has_gaps || gap < r->shortest_gap ? gap : r->shortest_gap;
        r->longest_gap = gap > r->longest_gap ? gap : r->longest_gap;
        r->has_gaps = true;
        if (!tl_hist_add(&r->gap, gap))
            return false;
    }
    r->first = !r->has_time || ts < r->first ? ts : r->first;
    r->last = !r->has_time || ts > r->last ? ts : r->last;
    r->has_time = true;
    return true;
}

static int add_events(class_table *c, const tl_trace *t, const uint32_t *row_of, const tl_run *run, tl_error *e)
{
    const tl_batch *b = run->batch;
    const bool gaps = !tl_trace_is_ranked(t); /* otherwise each track has a time of its own */
    for (uint32_t i = run->from; i < run->to; i++) {
        const tl_class *cls = tl_trace_class(t, b->cls[i]);
        if (cls->kind == TL_FORMAT)
            continue;
        class_row *r = &c->row[row_of[b->cls[i]]];
        r->events++;
        if (!(cls->flags & TL_CLASS_TIMELESS) && !add_time(r, b->ts[i], gaps))
            return no_memory(e);
    }
    return 0;
}

static int by_events(const void *left, const void *right)
{
    const class_row *a = left, *b = right;
    if (a->events != b->events)
        return a->events > b->events ? -1 : 1;
    const int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->kind, b->kind);
}

static uint64_t since(const tl_trace *t, uint64_t origin, uint64_t tick)
{
    return tick > origin ? tl_trace_time(t, tick - origin) : 0;
}

/* Converts ticks to times, and drops rows without events. */
static void finish(class_table *c, const tl_trace *t, uint64_t origin)
{
    const uint64_t hz = tl_trace_clock(t)->hz;
    uint64_t first = UINT64_MAX, last = 0;
    qsort(c->row, c->n, sizeof *c->row, by_events);
    while (c->n && c->row[c->n - 1].events == 0)
        c->n--;
    for (uint32_t i = 0; i < c->n; i++)
        c->events += c->row[i].events;
    for (uint32_t i = 0; i < c->n; i++) {
        class_row *r = &c->row[i];
        r->share = (double)r->events / (double)c->events;
        if (!r->has_time)
            continue;
        first = r->first < first ? r->first : first;
        last = r->last > last ? r->last : last;
        c->has_time = true;
        r->has_rate = hz && r->has_gaps && r->last > r->first;
        if (r->has_rate)
            r->rate = (double)(r->events - 1) * (double)hz / (double)(r->last - r->first);
        r->p50 = tl_trace_time(t, tl_hist_percentile(&r->gap, 500, r->shortest_gap, r->longest_gap));
        r->p99 = tl_trace_time(t, tl_hist_percentile(&r->gap, 990, r->shortest_gap, r->longest_gap));
        r->longest_gap = tl_trace_time(t, r->longest_gap);
        r->first = since(t, origin, r->first);
        r->last = since(t, origin, r->last);
    }
    c->span = c->has_time ? tl_trace_time(t, last - first) : 0;
}

static int read_classes(void *table, tl_source *s, const tl_select *select, tl_error *e)
{
    class_table *c = table;
    const tl_trace *t = tl_source_trace(s);
    const uint32_t n = tl_trace_classes(t);
    uint32_t *row_of = calloc((size_t)n + 1, sizeof *row_of), nrun = 0;
    tl_events *events = NULL;
    const tl_run *run;
    int status;
    c->row = calloc((size_t)n + 1, sizeof *c->row);
    status = row_of && c->row ? list_rows(c, t, row_of, e) : no_memory(e);
    if (status == 0)
        status = tl_events_open(&events, &s, 1, select, true, e);
    const uint64_t origin = status == 0 ? tl_events_begin(events) : 0;
    while (status == 0 && (status = tl_events_runs(events, &run, &nrun, e)) > 0) {
        status = 0;
        for (uint32_t i = 0; status == 0 && i < nrun; i++)
            status = add_events(c, t, row_of, &run[i], e);
        if (status < 0)
            break;
    }
    tl_events_close(events);
    free(row_of);
    if (status == 0)
        finish(c, t, origin);
    return status;
}

static bool is_empty(const void *table)
{
    return ((const class_table *)table)->events == 0;
}

static void fini(void *table)
{
    class_table *c = table;
    for (uint32_t i = 0; i < c->n; i++)
        tl_hist_fini(&c->row[i].gap);
    free(c->row);
    tl_strings_fini(&c->strings);
}

/* ---- output ---- */

static void get_rate(const tl_at *at, tl_cell *out)
{
    const class_row *r = at->row;
    if (r->has_rate)
        tl_cell_real(out, r->rate);
}

static void say_rate(const tl_at *at, tl_cell *out)
{
    const class_row *r = at->row;
    char text[32];
    if (r->has_rate && r->rate < 1000)
        tl_cell_printf(at, out, "%.*f", r->rate < 10 ? 2 : 1, r->rate);
    else if (r->has_rate)
        tl_cell_printf(at, out, "%s", tl_human_grouped(text, sizeof text, (uint64_t)(r->rate + 0.5)));
}

#define GAP(name, heading, member, at, dropped, text)                                                                  \
    {                                                                                                                  \
        TL_COL(name, heading, INTEGER, TIME, text), TL_AT(U64, class_row, member), TL_ONLY_IF(class_row, has_gaps),    \
            .place = at, .drop = dropped                                                                               \
    }
static const tl_column columns[] = {
    {TL_COL("class", "class", TEXT, NONE, "the class of events"), TL_AT(TEXT, class_row, name), .role = TL_ROLE_NAME},
    {TL_COL("kind", "kind", TEXT, NONE, "what its events are: enter, exit, instant, counter, ..."),
     TL_AT(TEXT, class_row, kind), .place = 9, .drop = 3},
    {TL_COL("events", "events", INTEGER, COUNT, "how many there are"), TL_AT(U64, class_row, events), .place = 1},
    {TL_COL("share", "share", REAL, SHARE, "the part of all events"), TL_AT(REAL, class_row, share),
     .flags = TL_WITH_BAR, .place = 2, .drop = 2},
    {TL_COL("rate", NULL, REAL, NONE, "events per second, from the first to the last"), .get = get_rate},
    {TL_COL(NULL, "per second", TEXT, NONE, NULL), .get = say_rate, .place = 3},
    {TL_COL("ts", "first", INTEGER, TIME, "the first event"), TL_AT(U64, class_row, first),
     TL_ONLY_IF(class_row, has_time), .place = 4, .drop = 6},
    {TL_COL("end_ts", "last", INTEGER, TIME, "the last event"), TL_AT(U64, class_row, last),
     TL_ONLY_IF(class_row, has_time), .place = 5, .drop = 5},
    GAP("gap_p50", "p50 gap", p50, 6, 1, "half of the gaps between two events are at most that"),
    GAP("gap_p99", "p99 gap", p99, 7, 4, "99 % of the gaps"),
    GAP("gap_max", "longest", longest_gap, 8, 0, "the longest gap"),
};

/* "trace: ctf 2, 1,204 events of 5 classes in 1.20 s" */
static void head(const tl_answer *a, const tl_prose *p)
{
    const class_table *c = a->table;
    char text[32];
    tl_say_styled(p, TL_STRONG, a->subject);
    tl_output_puts(p->out, ", ");
    tl_say_count(p, c->events, "event", "events");
    tl_output_puts(p->out, " of ");
    tl_say_count(p, c->n, "class", "classes");
    if (c->has_time)
        tl_output_printf(p->out, " in %s", tl_human_time(text, sizeof text, c->span, a->is_ns));
    if (c->has_time && !a->is_ns)
        tl_output_printf(p->out, "; times in %s", a->unit);
    tl_output_puts(p->out, "\n");
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const class_table *c = table;
    const uint32_t n = tl_ask_rows(ask, c->n, CLASS_ROWS, 0);
    (void)e;
    a->head = head;
    tl_part *part = TL_ADD_ROWS(a, ask, "classes", columns, c->row, NULL, n);
    part->left_out = c->n - n;
    part->of = "classes";
    part->name_wish = 30;
    return 0;
}

const tl_table_kind tl_table_class = {.info = {"class", "classes of events: counts, rates, gaps", "events"},
                                      .what = "events",
                                      .size = sizeof(class_table),
                                      .read = read_classes,
                                      .empty = is_empty,
                                      .answer = answer,
                                      .fini = fini,
                                      TL_TABLE_COLUMNS(columns)};

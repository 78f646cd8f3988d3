/* The relations `classes`, the number of events of each class, their rate, and the gaps between them, and `pairs`, how
 * long it takes from an event to that which ends it. One pass in the order of time; memory grows only with the classes.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/event/class_pairs.h"
#include "analysis/table_kind.h"
#include "base/hash.h"
#include "base/text/number.h"
#include "model/event_thread.h"
#include "model/histogram.h"
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
    uint32_t pair; /* 1 + the pair that it begins or ends; 0: none */
    bool ends;
} class_row;

typedef struct class_table {
    class_row *row;
    uint32_t n;
    uint64_t events;
    bool has_time;
    uint64_t span; /* from the first event to the last */
    tl_strings strings;
    tl_class_pairs pairs;
    tl_thread_fields *thread; /* by class, if events of pairs name threads; else NULL */
} class_table;

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of classes");
}

static bool is_instant(const class_row *r)
{
    return strcmp(r->kind, tl_kind_name(TL_INSTANT)) == 0;
}

/* The row of this name, if it is in no pair yet; or NULL. `by_name`: hash of a name -> row. */
static class_row *row_named(class_table *c, const tl_hash *by_name, const char *end)
{
    const uint32_t i = tl_hash_get(by_name, tl_hash_bytes(end, strlen(end)));
    return i != TL_HASH_NONE && strcmp(c->row[i].name, end) == 0 && !c->row[i].pair ? &c->row[i] : NULL;
}

/* Pairs the rows by their names. Keeps no name that no class has. False: memory ran out. */
static bool find_pairs(class_table *c)
{
    tl_hash by_name = {0};
    bool ok = (c->pairs.pair = calloc((size_t)c->n + 1, sizeof *c->pairs.pair)) != NULL;
    for (uint32_t i = 0; ok && i < c->n; i++)
        if (is_instant(&c->row[i]))
            ok = tl_hash_put(&by_name, tl_hash_bytes(c->row[i].name, strlen(c->row[i].name)), i);
    for (uint32_t i = 0; ok && i < c->n; i++) {
        class_row *r = &c->row[i], *other;
        const size_t room = strlen(r->name) + TL_PAIR_NAME_MORE;
        char *end = malloc(room), *name = malloc(room);
        ok = end && name;
        for (unsigned way = 0; ok && !r->pair && is_instant(r) && tl_class_pair_names(r->name, way, end, name); way++) {
            if (!(other = row_named(c, &by_name, end)))
                continue;
            tl_class_pair *pair = &c->pairs.pair[c->pairs.n++];
            *pair = (tl_class_pair){.begin = r->name, .end = other->name};
            pair->name = *name ? tl_strings_get(&c->strings, name, strlen(name)) : r->name;
            ok = pair->name != NULL;
            r->pair = other->pair = c->pairs.n;
            other->ends = true;
        }
        free(end);
        free(name);
    }
    tl_hash_fini(&by_name);
    return ok;
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
    ok = ok && find_pairs(c);
    for (uint32_t i = 0; ok && c->pairs.n && !c->thread && i < tl_trace_classes(t); i++)
        if (c->row[row_of[i]].pair && tl_thread_fields_of(tl_trace_class(t, i)).tid != TL_NO_FIELD)
            ok = (c->thread = tl_thread_fields_new(t)) != NULL;
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

static int add_to_pair(class_table *c, const class_row *r, const tl_batch *b, uint32_t i, tl_error *e)
{
    tl_event_thread named;
    uint64_t thread = b->track[i];
    if (c->thread && tl_event_thread_get(&c->thread[b->cls[i]], b, i, &named))
        thread = (UINT64_C(1) << 63) ^ ((uint64_t)named.pid << 32) ^ (uint64_t)named.tid;
    return (r->ends ? tl_class_pairs_end : tl_class_pairs_begin)(&c->pairs, r->pair - 1, thread, b->ts[i], e);
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
        if (r->pair && add_to_pair(c, r, b, i, e) < 0)
            return TL_ENOMEM;
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

static int by_total(const void *left, const void *right)
{
    const tl_class_pair *a = left, *b = right;
    return a->total != b->total ? (a->total > b->total ? -1 : 1) : strcmp(a->name, b->name);
}

/* Ticks to times; drops pairs without events. */
static void finish_pairs(tl_class_pairs *p, const tl_trace *t)
{
    uint32_t n = 0;
    tl_class_pairs_finish(p);
    for (uint32_t i = 0; i < p->n; i++) {
        tl_class_pair *r = &p->pair[i];
        uint64_t *const ticks[] = {&r->total, &r->shortest, &r->longest, &r->p50, &r->p90, &r->p99};
        for (size_t k = 0; k < TL_COUNT(ticks); k++)
            *ticks[k] = tl_trace_time(t, *ticks[k]);
        if (r->pairs || r->no_end || r->no_begin)
            p->pair[n++] = *r;
    }
    p->n = n;
    if (n)
        qsort(p->pair, n, sizeof *p->pair, by_total);
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
    const tl_want want = tl_source_want(s, c->thread != NULL);
    if (status == 0)
        status = tl_events_open_want(&events, &s, 1, select, true, &want, e);
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
    if (status == 0) {
        finish(c, t, origin);
        finish_pairs(&c->pairs, t);
    }
    return status;
}

static void fini(void *table)
{
    class_table *c = table;
    for (uint32_t i = 0; i < c->n; i++)
        tl_hist_fini(&c->row[i].gap);
    free(c->row);
    free(c->thread);
    tl_class_pairs_fini(&c->pairs);
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

#define LATENCY(name, heading, member, at, dropped, text)                                                              \
    {                                                                                                                  \
        TL_COL(name, heading, INTEGER, TIME, text), TL_AT(U64, tl_class_pair, member), TL_ONLY_IF(tl_class_pair, any), \
            .place = at, .drop = dropped                                                                               \
    }
static void get_unmatched(const tl_at *at, tl_cell *out)
{
    const tl_class_pair *p = at->row;
    if (p->no_end || p->no_begin)
        tl_cell_u64(out, p->no_end + p->no_begin);
}

static const tl_column pairs[] = {
    {TL_COL("pair", "pair of classes", TEXT, NONE, "what the names of both classes have in common"),
     TL_AT(TEXT, tl_class_pair, name), .role = TL_ROLE_NAME},
    {TL_COL("begin_class", NULL, TEXT, NONE, "the class that begins it"), TL_AT(TEXT, tl_class_pair, begin)},
    {TL_COL("end_class", NULL, TEXT, NONE, "the class that ends it"), TL_AT(TEXT, tl_class_pair, end)},
    {TL_COL(
         "pairs", "pairs", INTEGER, COUNT,
         "begins with an end: the next one of the same thread, or track if events name no thread, that no later begin "
         "takes"),
     TL_AT(U64, tl_class_pair, pairs), .place = 1},
    {TL_COL("total", "total", INTEGER, TIME, "sum of the times between them"), TL_AT(U64, tl_class_pair, total),
     .place = 2, .drop = 4},
    LATENCY("min_dur", NULL, shortest, 3, 0, "the shortest time between them"),
    LATENCY("p50", "p50", p50, 4, 1, "half of the times are at most that"),
    LATENCY("p90", "p90", p90, 5, 3, "90 % of them"),
    LATENCY("p99", "p99", p99, 6, 2, "99 % of them"),
    LATENCY("max_dur", "longest", longest, 7, 0, "the longest"),
    {TL_COL("no_end", NULL, INTEGER, COUNT, "begins without end"), TL_AT(U64, tl_class_pair, no_end)},
    {TL_COL("no_begin", NULL, INTEGER, COUNT, "ends without begin"), TL_AT(U64, tl_class_pair, no_begin)},
    {TL_COL(NULL, "unmatched", INTEGER, COUNT, NULL), .get = get_unmatched, .place = 8, .drop = 5},
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
    (void)e;
    a->head = head;
    TL_ADD_TOP(a, ask, "classes", columns, c->row, NULL, c->n, CLASS_ROWS, "classes", 30);
    if (ask->for_programs || c->pairs.n)
        TL_ADD_TOP(a, ask, "pairs", pairs, c->pairs.pair, NULL, c->pairs.n, CLASS_ROWS, "pairs", 30);
    return 0;
}

const tl_table_kind tl_table_class = {
    .info = {"class", "classes of events: counts, rates, gaps, latency of pairs", TL_NEEDS_EVENTS},
    .sql = "class_stats",
    .what = "events",
    .tab = "events",
    .any_event = true,
    .size = sizeof(class_table),
    .read = read_classes,
    TL_EMPTY_IF_0(class_table, events),
    .answer = answer,
    .fini = fini,
    TL_TABLE_COLUMNS(columns)};

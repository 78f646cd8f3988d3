/* The table of counters: gauges of managed runtimes, and the numbers of TL_COUNTER events. */
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "model/timeline.h"
#include "op/scan/event_scan.h"
#include "op/scan/line_scan.h"
#include "op/scan/line_tables.h"

enum { TRACE, TS, TRACK, THREAD, NAME, UNIT, VALUE, COLUMNS };

static const tl_column_info columns[COLUMNS] = {
    [TRACE] = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    [TS] = {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "from when on it has the value, from the begin of the trace"},
    [TRACK] = {"track_id", "track_id", TL_INTEGER, TL_UNIT_NONE, "the number of the track that said it, from 0"},
    [THREAD] = {"thread", "thread", TL_TEXT, TL_UNIT_NONE, "its thread, processor or other track"},
    [NAME] = {"name", "name", TL_TEXT, TL_UNIT_NONE,
              "what is counted: CPU (of the thread), allocated, live, heap GEN0 (of the process), or the class of the "
              "event, and the field if it has several"},
    [UNIT] = {"unit", "unit", TL_TEXT, TL_UNIT_NONE, "%, bytes or count; null: not known"},
    [VALUE] = {"value", "value", TL_REAL, TL_UNIT_NONE, "its value"},
};

static const uint8_t part[COLUMNS] = {
    [TRACE] = TL_EVENT_OTHER, [TS] = TL_EVENT_TS,      [TRACK] = TL_EVENT_TRACK, [THREAD] = TL_EVENT_THREAD,
    [NAME] = TL_EVENT_OTHER,  [UNIT] = TL_EVENT_OTHER, [VALUE] = TL_EVENT_OTHER,
};

enum { IGNORED, GAUGE, NUMBERS };

typedef struct counter_row {
    tl_line_row head;
    const char *name, *unit;
    double value;
    bool is_timeless;
} counter_row;

typedef struct counters_scan {
    tl_line_scan line;
    tl_gauges gauges;
    tl_strings names;
    tl_pb name, repaired;
} counters_scan;

static uint8_t kind_of(const tl_trace *t, const tl_class *c)
{
    const tl_timeline_use use = tl_timeline_use_of(t, c);
    return use == TL_TIMELINE_GAUGE ? GAUGE : use == TL_TIMELINE_EVENT && c->kind == TL_COUNTER ? NUMBERS : IGNORED;
}

static bool takes(const tl_line_scan *s, const tl_class *c)
{
    return kind_of(s->trace, c) != IGNORED;
}

static uint8_t use_of(const tl_line_scan *s, const tl_class *c)
{
    return tl_line_takes(s, c) ? kind_of(s->trace, c) : IGNORED;
}

/* The name in s->name, kept for the source. NULL when memory runs out. */
static const char *name_of(counters_scan *s)
{
    const tl_pb *name = &s->name;
    tl_pb_clear(&s->repaired);
    for (int i = 0; i < 2; i++) /* room: repairing may double it */
        tl_pb_raw(&s->repaired, name->data, name->n);
    if (name->failed || s->repaired.failed)
        return NULL;
    char *to = (char *)s->repaired.data;
    return tl_strings_get(&s->names, to, tl_utf8_repair(to, (const char *)name->data, name->n));
}

/* Adds a row of what is called s->name; its head is that of the row. */
static bool add_row(counters_scan *s, counter_row r)
{
    r.name = name_of(s);
    if (!r.name)
        return false;
    if (!tl_line_takes_text(&s->line, NAME, r.name) || !tl_line_takes_text(&s->line, UNIT, r.unit))
        return true;
    counter_row *row = tl_line_add(&s->line, r.head.track, r.head.ts);
    if (row)
        *row = r;
    return row != NULL;
}

static double number_of(const tl_value *v)
{
    return v->type == TL_F64 ? v->as.f : v->type == TL_I64 ? (double)v->as.i : (double)v->as.u;
}

static bool write_gauge(void *scan, const tl_gauge *g)
{
    counters_scan *s = scan;
    const char *word[] = {g->name, g->part, g->suffix};
    if (!tl_line_wants(&s->line, g->track, g->ts))
        return true;
    tl_pb_clear(&s->name);
    tl_timeline_words(&s->name, word, TL_COUNT(word));
    return add_row(
        s, (counter_row){.head = {g->ts, g->track}, .unit = g->unit, .value = g->is_real ? g->real : (double)g->value});
}

static bool begin(tl_line_scan *line)
{
    counters_scan *s = (counters_scan *)line;
    tl_gauges_init(&s->gauges, line->trace, write_gauge, s);
    line->is_alone = true;
    for (uint32_t i = 0; i < line->trace->ncls; i++)
        line->is_alone = line->is_alone && line->use[i] != GAUGE;
    return true;
}

static bool event(tl_line_scan *line, const tl_batch *b, uint32_t i)
{
    counters_scan *s = (counters_scan *)line;
    const tl_class *c = &line->trace->cls[b->cls[i]];
    if (line->use[c->id] == GAUGE)
        return tl_gauges_event(&s->gauges, b, i);
    if (!tl_line_wants(line, b->track[i], b->ts[i]))
        return true;
    bool ok = true;
    for (tl_payload p = tl_payload_of(c, b, i); ok && tl_payload_next_number(&p);) {
        tl_pb_clear(&s->name);
        tl_timeline_counter_name(&s->name, c, p.field);
        ok = add_row(s, (counter_row){.head = {b->ts[i], b->track[i]},
                                      .value = number_of(p.v),
                                      .is_timeless = c->flags & TL_CLASS_TIMELESS});
    }
    return ok;
}

static bool end(tl_line_scan *line)
{
    return tl_gauges_finish(&((counters_scan *)line)->gauges);
}

static void close_source(tl_line_scan *line)
{
    counters_scan *s = (counters_scan *)line;
    tl_gauges_fini(&s->gauges);
    tl_strings_fini(&s->names);
    tl_pb_fini(&s->name);
    tl_pb_fini(&s->repaired);
}

static void put(tl_line_scan *line, const void *row, uint32_t at)
{
    const counter_row *r = row;
    tl_scan_block *b = &line->block;
    const tl_track *track = tl_trace_track(line->trace, r->head.track);
    tl_list_int(b, TRACE, at, true, line->number);
    tl_list_int(b, TS, at, !r->is_timeless, tl_event_ts(line->trace, line->origin, r->head.ts));
    tl_list_int(b, TRACK, at, true, r->head.track);
    tl_list_text(b, THREAD, at, track ? track->name : NULL);
    tl_list_text(b, NAME, at, r->name);
    tl_list_text(b, UNIT, at, r->unit);
    if (tl_scan_has(b, VALUE))
        tl_scan_put_real(b, VALUE, at, r->value);
}

/* The order of time is that of the rows where a trace is read in it, unless gauges have times before their events, or
 * events none. */
static uint32_t order_of(const tl_dataset *d)
{
    if (tl_event_scan_order(d, TS) == TL_NO_ORDER)
        return TL_NO_ORDER;
    const tl_trace *t = tl_source_trace(d->source[0]);
    bool is_ordered = !t->unsorted;
    for (uint32_t i = 0; i < t->ncls; i++)
        is_ordered = is_ordered && kind_of(t, &t->cls[i]) != GAUGE && !(t->cls[i].flags & TL_CLASS_TIMELESS);
    return is_ordered ? (uint32_t)TS : TL_NO_ORDER;
}

void tl_counters_table(tl_scan_table *out, const tl_dataset *d)
{
    static const tl_line_kind kind = {
        .info = {"counters", "quantities over time, each value from then on", TL_NEEDS_COUNTERS},
        .column = columns,
        .ncolumn = COLUMNS,
        .texts = 1u << NAME | 1u << UNIT,
        .size = sizeof(counters_scan),
        .row = sizeof(counter_row),
        .part = part,
        .takes = takes,
        .use = use_of,
        .begin = begin,
        .event = event,
        .end = end,
        .close = close_source,
        .put = put};
    tl_line_table(out, d, &kind, order_of(d));
}

/* The table event_counts(keys, step): how many events, by class, thread and processor, over time. */
#include <stdlib.h>

#include "base/grow.h"
#include "base/pair_map.h"
#include "op/scan/event_reader.h"
#include "op/scan/made_scan.h"

enum { TRACE, TS, CLASS, NAME, TRACK, THREAD, CPU, EVENTS, KEYS, STEP, COLUMNS };

static const tl_column_info columns[COLUMNS] = {
    [TRACE] = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    [TS] = {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "when the step begins; null: no steps, or events without a time"},
    [CLASS] = {"class_id", "class_id", TL_INTEGER, TL_UNIT_NONE, "the class of the events; null: not a key"},
    [NAME] = {"name", "name", TL_TEXT, TL_UNIT_NONE, "its name"},
    [TRACK] = {"track_id", "track_id", TL_INTEGER, TL_UNIT_NONE, "the track; null: thread is not a key"},
    [THREAD] = {"thread", "thread", TL_TEXT, TL_UNIT_NONE, "its name"},
    [CPU] = {"cpu", "cpu", TL_INTEGER, TL_UNIT_NONE, "the processor; null: not a key, or not known"},
    [EVENTS] = {"events", "events", TL_INTEGER, TL_UNIT_COUNT, "how many events"},
    [KEYS] = {"keys", "keys", TL_TEXT, TL_UNIT_NONE,
              "argument 1: some of class, thread and cpu; none: all events together"},
    [STEP] = {"step_length", "step_length", TL_INTEGER, TL_UNIT_TIME,
              "argument 2: the length of a step; null: no steps"},
};

enum { BY_CLASS = 1, BY_THREAD = 2, BY_CPU = 4 };

#define NO_TIME INT64_MIN /* in place of the begin of a step */

/* Events that have all keys in common. */
typedef struct count_row {
    int64_t step;
    uint32_t cls, track;
    int32_t cpu;
    uint64_t events;
} count_row;

typedef struct counts {
    unsigned by;
    int64_t step;
    uint64_t most;            /* rows */
    tl_pair_map ids, by_step; /* class and track, processor; begin of a step, index of ids -> row */
    tl_pair last;             /* the ids that were looked up last ... */
    uint32_t last_index;      /* ... and their index */
    count_row *row;           /* [n] */
    uint32_t n, capacity;
} counts;

static void free_counts(void *rows)
{
    counts *c = rows;
    tl_pair_map_fini(&c->ids);
    tl_pair_map_fini(&c->by_step);
    free(c->row);
    free(c);
}

static int64_t step_of(const counts *c, const tl_event_view *v, const tl_batch *b, uint32_t i)
{
    if (c->step == 0 || tl_trace_class(v->trace, b->cls[i])->flags & TL_CLASS_TIMELESS)
        return NO_TIME;
    const int64_t ts = tl_event_ts(v->trace, v->begin, b->ts[i]), rest = ts % c->step;
    return ts - rest - (rest < 0 && ts - rest > INT64_MIN + c->step ? c->step : 0);
}

/* False when memory runs out, or the limit is reached. */
static bool add(counts *c, const tl_event_view *v, const tl_batch *b, uint32_t i)
{
    const count_row key = {.step = step_of(c, v, b, i),
                           .cls = c->by & BY_CLASS ? b->cls[i] : UINT32_MAX,
                           .track = c->by & BY_THREAD ? b->track[i] : UINT32_MAX,
                           .cpu = c->by & BY_CPU && b->cpu ? b->cpu[i] : -1};
    const tl_pair ids = {(uint64_t)key.cls << 32 | key.track, (uint32_t)key.cpu};
    if (c->n == 0 || ids.a != c->last.a || ids.b != c->last.b) {
        c->last = ids;
        c->last_index = tl_pair_map_number(&c->ids, ids.a, ids.b);
    }
    const uint32_t row = c->last_index == TL_HASH_NONE
                             ? TL_HASH_NONE
                             : tl_pair_map_number(&c->by_step, (uint64_t)key.step, c->last_index);
    if (row == TL_HASH_NONE || row >= c->most)
        return false;
    if (row == c->n) {
        if (!TL_GROW(c->row, c->n, 1, c->capacity))
            return false;
        c->row[c->n++] = key;
    }
    c->row[row].events++;
    return true;
}

static int by_key(const void *x, const void *y)
{
    const count_row *a = x, *b = y;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->cls != b->cls)
        return a->cls < b->cls ? -1 : 1;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static int read_events(counts *c, tl_event_reader *r, tl_error *e)
{
    uint32_t at[TL_BATCH_MAX];
    int status;
    while ((status = tl_event_reader_next(r, e)) > 0)
        for (; r->nrun > 0; r->run++, r->nrun--) {
            const uint32_t n = tl_event_filter_pick(&r->filter, r->run, at);
            for (uint32_t i = 0; i < n; i++)
                if (!add(c, &r->view, r->run->batch, at[i]))
                    return tl_fail(e, c->n >= c->most ? TL_ELIMIT : TL_ENOMEM, TL_NO_OFFSET, "event_counts: %s",
                                   c->n >= c->most
                                       ? "too many steps for the memory of a query: take a larger step, or fewer keys"
                                       : "no memory");
        }
    return status;
}

static int make(void **out, const tl_made_table *t, uint32_t source, const tl_cell *argument, tl_error *e)
{
    static const char *const word[] = {"class", "thread", "cpu"}; /* as bits: BY_... */
    static const uint8_t parts[] = {TL_EVENT_TRACE, TL_EVENT_CPU};
    static const tl_event_table events = {.part = parts};
    unsigned by;
    uint64_t step;
    if (!tl_made_words(&argument[0], t->kind->info.name, word, TL_COUNT(word), &by, e) ||
        !tl_made_step(&argument[1], t->kind->info.name, &step, e))
        return TL_EINVAL;
    counts *c = calloc(1, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for numbers of events");
    c->by = by;
    c->step = (int64_t)step;
    c->most = t->memory / (sizeof *c->row + 2 * (sizeof *c->ids.pair + 2 * sizeof *c->ids.slot));
    const uint8_t used[] = {0, (by & BY_CPU) != 0};
    const tl_scan_ask ask = {.used = used};
    const tl_scan_table table = {.ncolumn = TL_COUNT(parts), .order = TL_NO_ORDER, .arg = &events};
    const tl_dataset one = {
        .source = &t->dataset->source[source], .n = 1, .select = t->dataset->select, .threads = t->dataset->threads};
    tl_event_reader reader = {0};
    int status = tl_event_reader_init(&reader, &table, &one, &ask, e);
    if (status == 0)
        status = read_events(c, &reader, e);
    tl_event_reader_fini(&reader);
    if (status < 0) {
        free_counts(c);
        return status;
    }
    if (c->n > 0)
        qsort(c->row, c->n, sizeof *c->row, by_key);
    *out = c;
    return 0;
}

static uint64_t count(const void *rows)
{
    return ((const counts *)rows)->n;
}

static void put(const tl_made_table *t, const void *rows, uint32_t source, uint64_t i, tl_scan_block *b, uint32_t row)
{
    const counts *c = rows;
    const count_row *r = &c->row[i];
    const tl_trace *trace = tl_source_trace(t->dataset->source[source]);
    const tl_class *cls = c->by & BY_CLASS ? tl_trace_class(trace, r->cls) : NULL;
    const tl_track *track = c->by & BY_THREAD ? tl_trace_track(trace, r->track) : NULL;
    tl_list_int(b, TRACE, row, true, source + 1);
    tl_list_int(b, TS, row, r->step != NO_TIME, r->step);
    tl_list_int(b, CLASS, row, cls != NULL, cls ? cls->id : 0);
    tl_list_text(b, NAME, row, cls ? cls->name : NULL);
    tl_list_int(b, TRACK, row, track != NULL, r->track);
    tl_list_text(b, THREAD, row, track ? track->name : NULL);
    tl_list_int(b, CPU, row, r->cpu >= 0, r->cpu);
    tl_list_int(b, EVENTS, row, true, r->events > INT64_MAX ? INT64_MAX : (int64_t)r->events);
}

const tl_made_kind tl_event_counts_kind = {
    .info = {"event_counts", "numbers of events by keys and steps of time: event_counts(keys, step)", TL_NEEDS_EVENTS},
    .column = columns,
    .ncolumn = COLUMNS,
    .nargument = 2,
    .make = make,
    .free_rows = free_counts,
    .count = count,
    .put = put};

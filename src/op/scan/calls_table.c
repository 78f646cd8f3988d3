/* The table of calls. Calls come stream by stream, in the order of their ends. */
#include "op/scan/calls_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "op/call_scan.h"
#include "op/scan/event_filter.h"
#include "op/scan/event_scan.h"
#include "op/scan/source_walk.h"
#include "op/scan/term_copy.h"

enum {
    TRACE,
    ID,
    PARENT,
    TS,
    UTC,
    DUR,
    END,
    SELF,
    DUR_TICKS,
    SELF_TICKS,
    DEPTH,
    OUTERMOST,
    TRACK,
    THREAD,
    CPU,
    FUNCTION,
    NAME,
    CALLER_ID,
    CALLER,
    PLACE = TL_CALLS_FIRST_PLACE,
    PATH
};

static const tl_column_info columns[TL_CALLS_COLUMNS] = {
    [TRACE] = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    [ID] = {"id", "id", TL_INTEGER, TL_UNIT_NONE,
            "the event of its entry, as in events; of several calls that begin at one, each further one has 2^40 more"},
    [PARENT] = {"parent_id", "parent_id", TL_INTEGER, TL_UNIT_NONE,
                "the call that it is part of; null: it is outermost"},
    [TS] = {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "when it began, from the begin of the trace"},
    [UTC] = {"utc", "utc", TL_INTEGER, TL_UNIT_UTC, "the same as time of day; null: not known"},
    [DUR] = {"dur", "dur", TL_INTEGER, TL_UNIT_TIME, "how long it took: end_ts - ts; null: it did not end"},
    [END] = {"end_ts", "end_ts", TL_INTEGER, TL_UNIT_TIME, "when it ended; null: it did not"},
    [SELF] = {"self", "self", TL_INTEGER, TL_UNIT_TIME, "dur without the calls in it"},
    [DUR_TICKS] = {"dur_ticks", "dur_ticks", TL_INTEGER, TL_UNIT_NONE,
                   "dur in ticks of the trace's clock, whose sums are exact"},
    [SELF_TICKS] = {"self_ticks", "self_ticks", TL_INTEGER, TL_UNIT_NONE, "self in ticks"},
    [DEPTH] = {"depth", "depth", TL_INTEGER, TL_UNIT_NONE, "1: outermost"},
    [OUTERMOST] = {"is_outermost", "is_outermost", TL_INTEGER, TL_UNIT_BOOL,
                   "no call of the same function is further out"},
    [TRACK] = {"track_id", "track_id", TL_INTEGER, TL_UNIT_NONE, "the number of its track, from 0"},
    [THREAD] = {"thread", "thread", TL_TEXT, TL_UNIT_NONE, "its thread"},
    [CPU] = {"cpu", "cpu", TL_INTEGER, TL_UNIT_NONE, "the processor on which it began; null: not known"},
    [FUNCTION] = {"function_id", "function_id", TL_INTEGER, TL_UNIT_NONE, "the function; null: not known"},
    [NAME] = {"name", "name", TL_TEXT, TL_UNIT_NONE, "its name"},
    [CALLER_ID] = {"caller_id", "caller_id", TL_INTEGER, TL_UNIT_NONE, "the function that called it; null: none"},
    [CALLER] = {"caller", "caller", TL_TEXT, TL_UNIT_NONE, "the name of that"},
    [PLACE] = {"place_id", "place_id", TL_INTEGER, TL_UNIT_NONE,
               "its place in the tree of calls, as in places; null: not known"},
    [PATH] = {"path", "path", TL_TEXT, TL_UNIT_NONE, "the functions from the outermost to this, with ; between"},
};

typedef struct calls_scan {
    tl_scan scan;
    const tl_dataset *dataset;
    const tl_trace_places *places;
    tl_term_copy terms;
    tl_scan_ask ask;
    bool wants_places, wants_ids;
    bool counts; /* nobody looks at a column */
    tl_source_walk walk;
    uint32_t number;
    const tl_trace *trace;
    uint64_t begin;
    tl_call_scan *calls;
    tl_call_rows rows; /* read last */
    const tl_profile *profile;
    uint8_t *function; /* [nfunction] of the profile: 0 undecided, 1 taken, 2 not */
    const char **name; /* [nname] of the profile: what to call it, or NULL */
    uint32_t nfunction, nname;
    tl_arena names;
    tl_scan_block block;
    uint32_t at[TL_CALL_ROWS_MOST];
} calls_scan;

static void close_source(void *scan)
{
    calls_scan *s = scan;
    tl_call_scan_close(s->calls);
    s->calls = NULL;
    free(s->function);
    free(s->name);
    tl_arena_fini(&s->names);
    s->function = NULL;
    s->name = NULL;
    s->nfunction = s->nname = 0;
}

/* What to call a function, kept for the source. NULL when memory runs out. */
static const char *name_of(calls_scan *s, uint32_t function)
{
    char label[24];
    if (!TL_GROW_TO(s->name, s->nname, function, UINT32_MAX))
        return NULL;
    if (!s->name[function]) {
        const char *name = tl_function_label(tl_profile_get_function(s->profile, function), label);
        s->name[function] = tl_arena_strndup(&s->names, name, strlen(name));
    }
    return s->name[function];
}

static int open_source(void *scan, uint32_t i, tl_error *e)
{
    calls_scan *s = scan;
    tl_source *source = s->dataset->source[i];
    s->trace = tl_source_trace(source);
    if (tl_source_is_profile(source) || !tl_call_scan_wanted(s->trace))
        return 0;
    s->number = i + 1;
    s->begin = tl_scan_begin(s->trace);
    const tl_call_scan_options options = {
        .select = s->dataset->select, .places = s->wants_places ? s->places[i].calls : NULL, .ids = s->wants_ids};
    const int status = tl_call_scan_open(&s->calls, source, 0, tl_call_scan_parts(source), &options, e);
    if (status < 0)
        return status;
    s->profile = tl_call_scan_profile(s->calls);
    return 1;
}

static int read_calls(void *scan, tl_error *e)
{
    calls_scan *s = scan;
    return tl_call_scan_next(s->calls, &s->rows, e);
}

static const tl_source_reading reading = {open_source, read_calls, close_source};

static bool function_fits(const calls_scan *s, uint32_t function)
{
    const tl_function *f = tl_profile_get_function(s->profile, function);
    char label[24];
    for (uint32_t i = 0; i < s->ask.nterm; i++) {
        const tl_term *t = &s->ask.term[i];
        if ((t->column == NAME && !tl_term_takes_text(&s->ask, t, tl_function_label(f, label))) ||
            (t->column == FUNCTION && !(f->flags & TL_FUNCTION_UNKNOWN) && !tl_term_takes_int(t, f->id)))
            return false;
    }
    return true;
}

static bool takes_function(calls_scan *s, uint32_t function)
{
    if (!TL_GROW_TO(s->function, s->nfunction, function, UINT32_MAX)) {
        s->block.failed = true;
        return true;
    }
    if (s->function[function] == 0)
        s->function[function] = function_fits(s, function) ? 1 : 2;
    return s->function[function] == 1;
}

/* The calls that terms of functions, depth and track leave; others are tested by whoever asked. */
static uint32_t pick(calls_scan *s, const tl_call_rows *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        bool takes = s->ask.nterm == 0 || takes_function(s, r->function[i]);
        for (uint32_t k = 0; k < s->ask.nterm && takes; k++) {
            const tl_term *t = &s->ask.term[k];
            takes = t->column == DEPTH       ? tl_term_takes_int(t, r->depth[i])
                    : t->column == TRACK     ? tl_term_takes_int(t, r->track[i])
                    : t->column == OUTERMOST ? tl_term_takes_int(t, r->flags[i] & TL_CALL_OUTERMOST ? 1 : 0)
                                             : true;
        }
        if (takes)
            s->at[n++] = i;
    }
    return n;
}

static int64_t amount(uint64_t v)
{
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static void put_id(tl_scan_block *b, uint32_t column, uint32_t row, uint64_t id)
{
    if (id == TL_CALL_NO_ID)
        tl_scan_put_null(b, column, row);
    else
        tl_scan_put_int(b, column, row, (int64_t)id);
}

static void put_function(calls_scan *s, uint32_t column, uint32_t row, uint32_t function, bool name)
{
    tl_scan_block *b = &s->block;
    if (function == TL_CALL_NONE) {
        tl_scan_put_null(b, column, row);
    } else if (name) {
        const char *label = name_of(s, function);
        b->failed = b->failed || !label;
        tl_scan_put_text(b, column, row, label);
    } else {
        const tl_function *f = tl_profile_get_function(s->profile, function);
        tl_list_int(b, column, row, !(f->flags & TL_FUNCTION_UNKNOWN), f->id);
    }
}

static void put_path(calls_scan *s, uint32_t row, uint32_t number)
{
    const tl_trace_places *p = &s->places[s->number - 1];
    if (number == TL_CALL_NONE || !p->profile) {
        tl_scan_put_null(&s->block, PATH, row);
        return;
    }
    tl_place_path(p->profile, p->order[number], &s->block.json);
    tl_scan_put_json(&s->block, PATH, row);
}

/* Times of a call: ns tile, since dur is the difference of both ends. */
static void put_times(calls_scan *s, const tl_call_rows *r, uint32_t i, uint32_t row)
{
    tl_scan_block *b = &s->block;
    const bool open = r->flags[i] & TL_CALL_OPEN, wants_end = tl_scan_has(b, DUR) || tl_scan_has(b, END);
    const int64_t ts = wants_end || tl_scan_has(b, TS) ? tl_event_ts(s->trace, s->begin, r->begin[i]) : 0;
    const int64_t end = wants_end ? tl_event_ts(s->trace, s->begin, r->end[i]) : 0;
    tl_list_int(b, TS, row, true, ts);
    tl_list_int(b, DUR, row, !open, end - ts);
    tl_list_int(b, END, row, !open, end);
    tl_list_int(b, DUR_TICKS, row, !open, amount(r->end[i] - r->begin[i]));
    if (tl_scan_has(b, SELF))
        tl_list_int(b, SELF, row, !open, amount(tl_scale_ns(&s->trace->scale, r->self[i])));
    tl_list_int(b, SELF_TICKS, row, !open, amount(r->self[i]));
    tl_list_utc(b, UTC, row, s->trace, r->begin[i]);
}

static void put_thread(calls_scan *s, uint32_t row, uint32_t number)
{
    const tl_track *track = tl_trace_track(s->trace, number);
    tl_list_text(&s->block, THREAD, row, track ? track->name : NULL);
}

static void put_row(calls_scan *s, const tl_call_rows *r, uint32_t i, uint32_t row)
{
    tl_scan_block *b = &s->block;
    tl_list_int(b, TRACE, row, true, s->number);
    if (tl_scan_has(b, ID))
        put_id(b, ID, row, r->id[i]);
    if (tl_scan_has(b, PARENT))
        put_id(b, PARENT, row, r->parent[i]);
    put_times(s, r, i, row);
    tl_list_int(b, DEPTH, row, true, r->depth[i]);
    tl_list_int(b, OUTERMOST, row, true, r->flags[i] & TL_CALL_OUTERMOST ? 1 : 0);
    tl_list_int(b, TRACK, row, true, r->track[i]);
    if (tl_scan_has(b, THREAD))
        put_thread(s, row, r->track[i]);
    tl_list_int(b, CPU, row, r->cpu[i] >= 0, r->cpu[i]);
    if (tl_scan_has(b, FUNCTION))
        put_function(s, FUNCTION, row, r->function[i], false);
    if (tl_scan_has(b, NAME))
        put_function(s, NAME, row, r->function[i], true);
    if (tl_scan_has(b, CALLER_ID))
        put_function(s, CALLER_ID, row, r->caller[i], false);
    if (tl_scan_has(b, CALLER))
        put_function(s, CALLER, row, r->caller[i], true);
    tl_list_int(b, PLACE, row, r->place[i] != TL_CALL_NONE, r->place[i]);
    if (tl_scan_has(b, PATH))
        put_path(s, row, r->place[i]);
}

static int next_block(tl_scan *scan, tl_block *block, tl_error *e)
{
    calls_scan *s = (calls_scan *)scan;
    tl_arena_reset(&s->block.arena);
    for (;;) {
        const int status = tl_source_walk_read(&s->walk, e);
        if (status <= 0)
            return status;
        const uint32_t n = pick(s, &s->rows);
        for (uint32_t k = 0; k < n && !s->counts; k++)
            put_row(s, &s->rows, s->at[k], k);
        if (n > 0)
            return tl_scan_block_done(&s->block, n, block, e);
    }
}

static void close_scan(tl_scan *scan)
{
    calls_scan *s = (calls_scan *)scan;
    close_source(s);
    tl_term_copy_fini(&s->terms);
    tl_scan_block_fini(&s->block);
    free(s);
}

static int open_scan(tl_scan **out, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask, tl_error *e)
{
    calls_scan *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
    s->scan = (tl_scan){next_block, close_scan};
    s->dataset = d;
    s->places = t->arg;
    s->ask = *ask;
    s->walk = (tl_source_walk){.dataset = d, .ask = &s->ask, .reading = &reading, .scan = s};
    s->wants_ids = !ask->used || ask->used[ID] || ask->used[PARENT];
    s->wants_places = !ask->used || ask->used[PLACE] || ask->used[PATH];
    s->counts = ask->used && !memchr(ask->used, 1, TL_CALLS_COLUMNS);
    s->ask.used = NULL;
    int status = tl_term_copy_init(&s->terms, &s->ask, e);
    if (status == 0)
        status = tl_scan_block_init(&s->block, columns, TL_CALLS_COLUMNS, ask->used, e);
    return tl_scan_opened(out, &s->scan, status);
}

static double keeps(const tl_scan_table *t, uint32_t column, tl_term_op op)
{
    (void)t;
    const bool is = op == TL_TERM_IS;
    switch (column) {
    case FUNCTION:
        return is ? 0.01 : 1;
    case NAME:
        return is ? 0.01 : op == TL_TERM_GLOB ? 0.1 : 1;
    case DEPTH:
    case TRACK:
    case OUTERMOST:
        return is ? 0.1 : op == TL_TERM_GLOB ? 1 : 0.5;
    default:
        return 1;
    }
}

void tl_calls_table(tl_scan_table *out, const tl_dataset *d, const tl_trace_places *places)
{
    *out = (tl_scan_table){.info = {"calls", "calls of functions, each from its entry to its exit", "calls"},
                           .column = columns,
                           .ncolumn = TL_CALLS_COLUMNS,
                           .order = TL_NO_ORDER,
                           .rows = tl_event_scan_guess(d) / 2 + 1,
                           .arg = places,
                           .is_large = true,
                           .keeps = keeps,
                           .open = open_scan};
}

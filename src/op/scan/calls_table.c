/* The table of calls. Calls come stream by stream, in the order of their ends. */
#include "op/scan/calls_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
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

/* What rows say of a function of the profile. */
typedef struct function_fact {
    const char *name; /* what to call it; NULL: not looked up yet */
    int64_t id;
    bool has_id, fits; /* fits: the terms take its calls */
} function_fact;

typedef struct calls_scan {
    tl_scan scan;
    const tl_dataset *dataset;
    const tl_trace_places *places;
    tl_term_copy terms;
    tl_scan_ask ask;
    tl_scan_part part;
    unsigned without; /* enum tl_call_parts: nobody looks at them */
    bool wants_places;
    tl_source_walk walk;
    uint32_t number;
    const tl_trace *trace;
    uint64_t begin;
    tl_call_scan *calls;
    tl_call_rows rows; /* read last */
    const tl_profile *profile;
    function_fact *fact; /* [nfact] by function of the profile */
    uint32_t nfact;
    tl_arena names;
    tl_scan_block block;
    uint32_t most;                     /* rows of a block */
    uint32_t taken[TL_CALL_ROWS_MOST]; /* of the rows that were read last; ... */
    const uint32_t *at;                /* [left] ... those that come next */
    uint32_t left;
} calls_scan;

static void close_source(void *scan)
{
    calls_scan *s = scan;
    tl_call_scan_close(s->calls);
    s->calls = NULL;
    free(s->fact);
    tl_arena_fini(&s->names);
    s->fact = NULL;
    s->nfact = 0;
}

static bool function_fits(const calls_scan *s, const tl_function *f, const char *name)
{
    for (uint32_t i = 0; i < s->ask.nterm; i++) {
        const tl_term *t = &s->ask.term[i];
        if ((t->column == NAME && !tl_term_takes_text(&s->ask, t, name)) ||
            (t->column == FUNCTION && !(f->flags & TL_FUNCTION_UNKNOWN) && !tl_term_takes_int(t, f->id)))
            return false;
    }
    return true;
}

TL_COLD static const function_fact *look_up(calls_scan *s, uint32_t function)
{
    static const function_fact nothing = {.name = "", .fits = true};
    char label[24];
    const tl_function *f = tl_profile_get_function(s->profile, function);
    const char *name = tl_function_label(f, label);
    const char *kept =
        TL_GROW_TO(s->fact, s->nfact, function, UINT32_MAX) ? tl_arena_strndup(&s->names, name, strlen(name)) : NULL;
    if (!kept) {
        s->block.failed = true;
        return &nothing;
    }
    s->fact[function] = (function_fact){
        .name = kept, .id = f->id, .has_id = !(f->flags & TL_FUNCTION_UNKNOWN), .fits = function_fits(s, f, kept)};
    return &s->fact[function];
}

/* Kept for the source. */
static inline const function_fact *fact_of(calls_scan *s, uint32_t function)
{
    if (TL_LIKELY(function < s->nfact && s->fact[function].name))
        return &s->fact[function];
    return look_up(s, function);
}

static int open_source(void *scan, uint32_t i, tl_error *e)
{
    calls_scan *s = scan;
    tl_source *source = s->dataset->source[i];
    s->trace = tl_source_trace(source);
    const tl_scan_part *part = s->ask.part;
    if (tl_source_is_profile(source) || !tl_call_scan_wanted(s->trace) || (part && part->source != i))
        return 0;
    s->number = i + 1;
    s->begin = tl_scan_begin(s->trace);
    const tl_call_scan_options options = {.select = s->dataset->select,
                                          .places = s->wants_places ? s->places[i].calls : NULL,
                                          .without = s->without,
                                          .alone = s->ask.alone};
    const int status = tl_call_scan_open(&s->calls, source, part ? part->first : 0,
                                         part ? part->n : tl_call_scan_parts(source), &options, e);
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

/* The calls that terms of functions, depth and track leave; others are tested by whoever asked. */
static uint32_t pick(calls_scan *s, const tl_call_rows *r)
{
    uint32_t n = 0;
    s->at = s->taken;
    if (s->ask.nterm == 0) {
        for (; n < r->n; n++)
            s->taken[n] = n;
        return n;
    }
    for (uint32_t i = 0; i < r->n; i++) {
        bool takes = r->without & TL_CALL_FUNCTIONS || fact_of(s, r->function[i])->fits;
        for (uint32_t k = 0; k < s->ask.nterm && takes; k++) {
            const tl_term *t = &s->ask.term[k];
            takes = t->column == DEPTH       ? tl_term_takes_int(t, r->depth[i])
                    : t->column == TRACK     ? tl_term_takes_int(t, r->track[i])
                    : t->column == OUTERMOST ? tl_term_takes_int(t, r->flags[i] & TL_CALL_OUTERMOST ? 1 : 0)
                                             : true;
        }
        if (takes)
            s->taken[n++] = i;
    }
    return n;
}

static int64_t amount(uint64_t v)
{
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static int64_t time_of(const calls_scan *s, uint64_t ticks)
{
    return tl_event_ts(s->trace, s->begin, ticks);
}

static void put_functions(calls_scan *s, uint32_t column, const uint32_t *function, uint32_t n)
{
    tl_scan_block *b = &s->block;
    const bool name = column == NAME || column == CALLER;
    for (uint32_t row = 0; row < n; row++) {
        const uint32_t f = function[s->at[row]];
        const function_fact *fact = f == TL_CALL_NONE ? NULL : fact_of(s, f);
        if (name)
            tl_scan_put_text(b, column, row, fact ? fact->name : NULL);
        else if (fact && fact->has_id)
            tl_scan_put_int(b, column, row, fact->id);
        else
            tl_scan_put_null(b, column, row);
    }
}

static void put_threads(calls_scan *s, const tl_call_rows *r, uint32_t n)
{
    for (uint32_t row = 0; row < n; row++) {
        const tl_track *track = tl_trace_track(s->trace, r->track[s->at[row]]);
        tl_scan_put_text(&s->block, THREAD, row, track ? track->name : NULL);
    }
}

static void put_paths(calls_scan *s, const tl_call_rows *r, uint32_t n)
{
    const tl_trace_places *p = &s->places[s->number - 1];
    for (uint32_t row = 0; row < n; row++) {
        const uint32_t number = r->place[s->at[row]];
        if (number == TL_CALL_NONE || !p->profile) {
            tl_scan_put_null(&s->block, PATH, row);
            continue;
        }
        tl_place_path(p->profile, p->order[number], &s->block.json);
        tl_scan_put_json(&s->block, PATH, row);
    }
}

static void put_utc(calls_scan *s, const tl_call_rows *r, uint32_t n)
{
    for (uint32_t row = 0; row < n; row++)
        tl_list_utc(&s->block, UTC, row, s->trace, r->begin[s->at[row]]);
}

/* A column of numbers: whether call i has one, and which. */
#define PUT(has, value)                                                                                                \
    for (uint32_t row = 0; row < n; row++) {                                                                           \
        const uint32_t i = s->at[row];                                                                                 \
        (void)i;                                                                                                       \
        const bool is_there = (has);                                                                                   \
        a->i64[row] = is_there ? (value) : 0;                                                                          \
        a->is_null[row] = !is_there;                                                                                   \
    }                                                                                                                  \
    break
#define ENDED (!(r->flags[i] & TL_CALL_OPEN))

/* ns tile: dur is the difference of both ends. */
static void put_column(calls_scan *s, uint32_t column, const tl_call_rows *r, uint32_t n)
{
    const tl_scan_array *a = &s->block.array[column];
    switch (column) {
    case TRACE:
        PUT(true, s->number);
    case ID:
        PUT(true, (int64_t)r->id[i]);
    case PARENT:
        PUT(r->parent[i] != TL_CALL_NO_ID, (int64_t)r->parent[i]);
    case TS:
        PUT(true, time_of(s, r->begin[i]));
    case DUR:
        PUT(ENDED, time_of(s, r->end[i]) - time_of(s, r->begin[i]));
    case END:
        PUT(ENDED, time_of(s, r->end[i]));
    case SELF:
        PUT(ENDED, amount(tl_scale_ns(&s->trace->scale, r->self[i])));
    case DUR_TICKS:
        PUT(ENDED, amount(r->end[i] - r->begin[i]));
    case SELF_TICKS:
        PUT(ENDED, amount(r->self[i]));
    case DEPTH:
        PUT(true, r->depth[i]);
    case OUTERMOST:
        PUT(true, r->flags[i] & TL_CALL_OUTERMOST ? 1 : 0);
    case TRACK:
        PUT(true, r->track[i]);
    case CPU:
        PUT(r->cpu[i] >= 0, r->cpu[i]);
    case PLACE:
        PUT(r->place[i] != TL_CALL_NONE, r->place[i]);
    case UTC:
        put_utc(s, r, n);
        break;
    case FUNCTION:
    case NAME:
        put_functions(s, column, r->function, n);
        break;
    case CALLER_ID:
    case CALLER:
        put_functions(s, column, r->caller, n);
        break;
    case THREAD:
        put_threads(s, r, n);
        break;
    default:
        put_paths(s, r, n);
    }
}
#undef PUT
#undef ENDED

static int next_block(tl_scan *scan, tl_block *block, tl_error *e)
{
    calls_scan *s = (calls_scan *)scan;
    tl_scan_block_begin(&s->block);
    while (s->left == 0) {
        const int status = tl_source_walk_read(&s->walk, e);
        if (status <= 0)
            return status;
        s->left = pick(s, &s->rows);
    }
    const uint32_t n = s->left < s->most ? s->left : s->most;
    for (uint32_t c = 0; c < TL_CALLS_COLUMNS; c++)
        if (tl_scan_has(&s->block, c))
            put_column(s, c, &s->rows, n);
    s->at += n;
    s->left -= n;
    return tl_scan_block_done(&s->block, n, block, e);
}

static void close_scan(tl_scan *scan)
{
    calls_scan *s = (calls_scan *)scan;
    close_source(s);
    tl_term_copy_fini(&s->terms);
    tl_scan_block_fini(&s->block);
    free(s);
}

/* The parts of rows that neither columns nor terms need. */
static unsigned unused_parts(const tl_scan_ask *ask)
{
    enum { IDS = TL_CALL_IDS, TIMES = TL_CALL_TIMES, FUNCTIONS = TL_CALL_FUNCTIONS, POSITIONS = TL_CALL_POSITIONS };
    enum { FLAGS = TL_CALL_FLAGS };
    static const uint8_t part[TL_CALLS_COLUMNS] = {
        [ID] = IDS,
        [PARENT] = IDS,
        [TS] = TIMES,
        [UTC] = TIMES,
        [DUR] = TIMES | FLAGS,
        [END] = TIMES | FLAGS,
        [SELF] = TIMES | FLAGS,
        [DUR_TICKS] = TIMES | FLAGS,
        [SELF_TICKS] = TIMES | FLAGS,
        [DEPTH] = POSITIONS,
        [OUTERMOST] = FLAGS,
        [TRACK] = POSITIONS,
        [THREAD] = POSITIONS,
        [CPU] = IDS,
        [FUNCTION] = FUNCTIONS,
        [NAME] = FUNCTIONS,
        [CALLER_ID] = FUNCTIONS,
        [CALLER] = FUNCTIONS,
        [PLACE] = POSITIONS,
        [PATH] = POSITIONS,
    };
    unsigned without = ask->used ? TL_CALL_ALL_PARTS : 0;
    for (uint32_t i = 0; ask->used && i < TL_CALLS_COLUMNS; i++)
        if (ask->used[i])
            without &= ~(unsigned)part[i];
    for (uint32_t i = 0; i < ask->nterm; i++)
        without &= ~(unsigned)part[ask->term[i].column];
    return without;
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
    s->without = unused_parts(ask);
    s->wants_places = !ask->used || ask->used[PLACE] || ask->used[PATH];
    s->most = !ask->used || ask->used[PATH] ? TL_BLOCK_TEXTS : TL_CALL_ROWS_MOST;
    s->ask.used = NULL;
    if (ask->part) {
        s->part = *ask->part;
        s->ask.part = &s->part;
    }
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

static uint32_t streams_of(const tl_source *s)
{
    return tl_source_is_profile(s) || !tl_call_scan_wanted(tl_source_trace(s)) ? 0 : tl_call_scan_parts(s);
}

static uint32_t parts(const tl_scan_table *t, const tl_dataset *d, tl_scan_part *out, uint32_t most)
{
    (void)t;
    return tl_source_walk_parts(d, streams_of, out, most);
}

void tl_calls_table(tl_scan_table *out, const tl_dataset *d, const tl_trace_places *places)
{
    *out = (tl_scan_table){.info = {"calls", "calls of functions, each from its entry to its exit", TL_NEEDS_CALLS},
                           .column = columns,
                           .ncolumn = TL_CALLS_COLUMNS,
                           .order = TL_NO_ORDER,
                           .rows = tl_event_scan_guess(d) / 2 + 1,
                           .arg = places,
                           .is_large = true,
                           .keeps = keeps,
                           .open = open_scan,
                           .parts = parts};
}

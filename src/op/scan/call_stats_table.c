/* The table call_stats(keys, step): sums of calls by any keys, over time. */
#include <stdlib.h>
#include <string.h>

#include "op/call_scan.h"
#include "op/call_sums.h"
#include "op/scan/made_scan.h"
#include "op/scan/stat_hist.h"

enum {
    TRACE,
    TS,
    FUNCTION,
    NAME,
    PLACE,
    PATH,
    TRACK,
    THREAD,
    CPU,
    DEPTH,
    CALLS,
    TOTAL,
    SELF,
    MIN,
    P50,
    P90,
    P99,
    P999,
    MAX,
    HIST,
    KEYS,
    STEP,
    COLUMNS
};

static const tl_column_info columns[COLUMNS] = {
    [TRACE] = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    [TS] = {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "when the step begins in which the calls begin; null: no steps"},
    [FUNCTION] = {"function_id", "function_id", TL_INTEGER, TL_UNIT_NONE, "the function; null: not a key"},
    [NAME] = {"name", "name", TL_TEXT, TL_UNIT_NONE, "its name"},
    [PLACE] = {"place_id", "place_id", TL_INTEGER, TL_UNIT_NONE, "the place; null: not a key"},
    [PATH] = {"path", "path", TL_TEXT, TL_UNIT_NONE, "the functions from the outermost to that, with ; between"},
    [TRACK] = {"track_id", "track_id", TL_INTEGER, TL_UNIT_NONE, "the track; null: thread is not a key"},
    [THREAD] = {"thread", "thread", TL_TEXT, TL_UNIT_NONE, "its name"},
    [CPU] = {"cpu", "cpu", TL_INTEGER, TL_UNIT_NONE, "the processor of the entries; null: not a key, or not known"},
    [DEPTH] = {"depth", "depth", TL_INTEGER, TL_UNIT_NONE, "1: outermost; null: not a key"},
    [CALLS] = {"calls", "calls", TL_INTEGER, TL_UNIT_COUNT, "how many calls that ended"},
    [TOTAL] = {"total", "total", TL_INTEGER, TL_UNIT_TIME,
               "time of those that are in no other call of their function; by place: of all"},
    [SELF] = {"self", "self", TL_INTEGER, TL_UNIT_TIME, "time in them alone"},
    [MIN] = {"min_dur", "min_dur", TL_INTEGER, TL_UNIT_TIME, "the shortest call"},
    [P50] = {"p50", "p50", TL_INTEGER, TL_UNIT_TIME, "half of the calls take at most that"},
    [P90] = {"p90", "p90", TL_INTEGER, TL_UNIT_TIME, "90 % of the calls"},
    [P99] = {"p99", "p99", TL_INTEGER, TL_UNIT_TIME, "99 %"},
    [P999] = {"p999", "p999", TL_INTEGER, TL_UNIT_TIME, "99.9 %"},
    [MAX] = {"max_dur", "max_dur", TL_INTEGER, TL_UNIT_TIME, "the longest call"},
    [HIST] = {"hist", "hist", TL_TEXT, TL_UNIT_BLOB, "all durations, for hist_percentile() and hist_merge()"},
    [KEYS] = {"keys", "keys", TL_TEXT, TL_UNIT_NONE,
              "argument 1: some of function, place, thread, cpu and depth; none: all calls together"},
    [STEP] = {"step_length", "step_length", TL_INTEGER, TL_UNIT_TIME,
              "argument 2: the length of a step; null: no steps"},
};

typedef struct call_stats {
    tl_call_sums *sums;
    unsigned by;
    uint64_t step;
} call_stats;

static void free_stats(void *rows)
{
    call_stats *c = rows;
    tl_call_sums_free(c->sums);
    free(c);
}

static int make(void **out, const tl_made_table *t, uint32_t source, const tl_cell *argument, tl_error *e)
{
    static const char *const word[] = {"function", "place", "thread", "cpu", "depth"}; /* as bits: tl_call_by */
    tl_source *s = t->dataset->source[source];
    const tl_trace_places *places = &t->places[source];
    uint64_t end;
    tl_call_sums_options o = {.memory = t->memory, .threads = t->dataset->threads, .select = t->dataset->select};
    if (!tl_made_words(&argument[0], t->kind->info.name, word, TL_COUNT(word), &o.by, e) ||
        !tl_made_step(&argument[1], t->kind->info.name, &o.step, e))
        return TL_EINVAL;
    if (!tl_call_scan_wanted(tl_source_trace(s)) || s->told_calls == TL_TOLD_NONE)
        return 0;
    if (!tl_source_trace(s)->clock.from_zero)
        tl_trace_range(tl_source_trace(s), &o.begin, &end);
    o.places = places->calls;
    if (o.by & TL_BY_PLACE && !o.places)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s has no places", tl_source_name(s));
    call_stats *c = calloc(1, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for sums of calls");
    c->by = o.by;
    c->step = o.step;
    const int status = tl_call_sums_new(&c->sums, s, &o, e);
    if (status < 0)
        free_stats(c);
    else
        *out = c;
    return status;
}

static uint64_t count(const void *rows)
{
    return ((const call_stats *)rows)->sums->n;
}

static int64_t clamp(uint64_t v)
{
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static void put_keys(const tl_made_table *t, const call_stats *c, uint32_t source, const tl_call_key *key,
                     tl_scan_block *b, uint32_t row)
{
    const tl_trace_places *places = &t->places[source];
    const bool has_place = c->by & TL_BY_PLACE && key->place != TL_HASH_NONE;
    /* The function of a place is known, too. */
    const uint32_t place = has_place ? places->order[key->place] : 0;
    const tl_function *f = c->by & TL_BY_FUNCTION ? tl_profile_get_function(c->sums->profile, key->function)
                           : has_place
                               ? tl_profile_get_function(places->profile, tl_profile_function(places->profile, place))
                               : NULL;
    const tl_track *track =
        c->by & TL_BY_THREAD ? tl_trace_track(tl_source_trace(t->dataset->source[source]), key->track) : NULL;
    char label[24];
    uint64_t ts;
    tl_list_int(b, TRACE, row, true, source + 1);
    tl_list_int(b, TS, row, c->step != 0, __builtin_mul_overflow(key->step, c->step, &ts) ? INT64_MAX : clamp(ts));
    const bool is_known = f && !(f->flags & TL_FUNCTION_UNKNOWN);
    tl_list_int(b, FUNCTION, row, is_known, is_known ? f->id : 0);
    if (tl_scan_has(b, NAME)) {
        const char *name = f ? tl_function_label(f, label) : NULL;
        if (name)
            tl_scan_put_copy(b, NAME, row, name, strlen(name));
        else
            tl_scan_put_null(b, NAME, row);
    }
    tl_list_int(b, PLACE, row, has_place, key->place);
    if (tl_scan_has(b, PATH) && has_place) {
        tl_place_path(places->profile, place, &b->json);
        tl_scan_put_json(b, PATH, row);
    } else {
        tl_list_text(b, PATH, row, NULL);
    }
    tl_list_int(b, TRACK, row, (c->by & TL_BY_THREAD) != 0, key->track);
    tl_list_text(b, THREAD, row, track ? track->name : NULL);
    tl_list_int(b, CPU, row, c->by & TL_BY_CPU && key->cpu >= 0, key->cpu);
    tl_list_int(b, DEPTH, row, (c->by & TL_BY_DEPTH) != 0, key->depth);
}

static void put(const tl_made_table *t, const void *rows, uint32_t source, uint64_t i, tl_scan_block *b, uint32_t row)
{
    static const struct {
        uint32_t column;
        unsigned permille;
    } percentile[] = {{P50, 500}, {P90, 900}, {P99, 990}, {P999, 999}};
    const call_stats *c = rows;
    const tl_place_stat *s = c->sums->row[i].stat;
    const tl_scale *scale = &c->sums->profile->scale;
    const bool has = s->calls > 0;
    put_keys(t, c, source, &c->sums->row[i].key, b, row);
    tl_list_int(b, CALLS, row, true, clamp(s->calls));
    tl_list_int(b, TOTAL, row, true, clamp(tl_scale_ns(scale, c->by & TL_BY_PLACE ? s->total : s->outer)));
    tl_list_int(b, SELF, row, true, clamp(tl_scale_ns(scale, s->self)));
    tl_list_int(b, MIN, row, has, clamp(tl_scale_ns(scale, s->min)));
    tl_list_int(b, MAX, row, has, clamp(tl_scale_ns(scale, s->max)));
    for (size_t k = 0; k < TL_COUNT(percentile); k++)
        if (tl_scan_has(b, percentile[k].column))
            tl_list_int(
                b, percentile[k].column, row, has,
                clamp(tl_scale_ns(scale, tl_hist_percentile(&s->hist, percentile[k].permille, s->min, s->max))));
    if (tl_scan_has(b, HIST))
        tl_scan_put_hist(b, HIST, row, s, scale);
}

const tl_made_kind tl_call_stats_kind = {
    .info = {"call_stats", "sums of calls by keys and steps of time: call_stats(keys, step)", TL_NEEDS_CALLS},
    .column = columns,
    .ncolumn = COLUMNS,
    .nargument = 2,
    .of_calls = true,
    .word_of_places = "place",
    .make = make,
    .free_rows = free_stats,
    .count = count,
    .put = put};

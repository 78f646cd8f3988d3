/* The table of places. */
#include "op/scan/places_table.h"

#include <string.h>

#include "op/scan/stat_hist.h"

enum { TRACE, PLACE, PARENT, FUNCTION, NAME, DEPTH, PATH, CALLS, TOTAL, SELF, MIN, P50, P90, P99, MAX, HIST, COLUMNS };

static const tl_column_info columns[COLUMNS] = {
    [TRACE] = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    [PLACE] = {"place_id", "place_id", TL_INTEGER, TL_UNIT_NONE, "the number of the place, from 1, callers first"},
    [PARENT] = {"parent_id", "parent_id", TL_INTEGER, TL_UNIT_NONE, "the place of the caller; null: it is outermost"},
    [FUNCTION] = {"function_id", "function_id", TL_INTEGER, TL_UNIT_NONE, "the function"},
    [NAME] = {"name", "name", TL_TEXT, TL_UNIT_NONE, "its name"},
    [DEPTH] = {"depth", "depth", TL_INTEGER, TL_UNIT_NONE, "1: outermost"},
    [PATH] = {"path", "path", TL_TEXT, TL_UNIT_NONE, "the functions from the outermost to this, with ; between"},
    [CALLS] = {"calls", "calls", TL_INTEGER, TL_UNIT_COUNT, "how often it was called; of samples, in how many it was"},
    [TOTAL] = {"total", "total", TL_INTEGER, TL_UNIT_TIME, "time there and in what was called from there"},
    [SELF] = {"self", "self", TL_INTEGER, TL_UNIT_TIME, "time there alone"},
    [MIN] = {"min_dur", "min_dur", TL_INTEGER, TL_UNIT_TIME, "the shortest call"},
    [P50] = {"p50", "p50", TL_INTEGER, TL_UNIT_TIME, "half of the calls take at most that"},
    [P90] = {"p90", "p90", TL_INTEGER, TL_UNIT_TIME, "90 % of the calls"},
    [P99] = {"p99", "p99", TL_INTEGER, TL_UNIT_TIME, "99 %"},
    [MAX] = {"max_dur", "max_dur", TL_INTEGER, TL_UNIT_TIME, "the longest call"},
    [HIST] = {"hist", "hist", TL_TEXT, TL_UNIT_BLOB, "all durations, for hist_percentile() and hist_merge()"},
};

static uint64_t count_places(const void *places, uint32_t source)
{
    const tl_profile *p = ((const tl_trace_places *)places)[source].profile;
    return p ? tl_profile_places(p) - 1 : 0;
}

static int64_t time_of(const tl_profile *p, uint64_t ticks)
{
    const uint64_t t = tl_profile_time(p, ticks);
    return t > INT64_MAX ? INT64_MAX : (int64_t)t;
}

static void put_times(const tl_profile *p, uint32_t place, tl_scan_block *b, uint32_t row)
{
    static const struct {
        uint32_t column;
        unsigned permille;
    } percentile[] = {{P50, 500}, {P90, 900}, {P99, 990}};
    const bool has = tl_profile_has_histogram(p);
    tl_stat s;
    tl_profile_stat(p, place, &s);
    tl_list_int(b, CALLS, row, true, s.calls > INT64_MAX ? INT64_MAX : (int64_t)s.calls);
    tl_list_int(b, TOTAL, row, true, time_of(p, s.total));
    tl_list_int(b, SELF, row, true, time_of(p, s.self));
    tl_list_int(b, MIN, row, has && s.calls > 0, time_of(p, s.min));
    tl_list_int(b, MAX, row, has && s.calls > 0, time_of(p, s.max));
    for (size_t i = 0; i < TL_COUNT(percentile); i++)
        if (tl_scan_has(b, percentile[i].column))
            tl_list_int(b, percentile[i].column, row, has && s.calls > 0,
                        time_of(p, tl_profile_percentile(p, place, percentile[i].permille)));
    if (tl_scan_has(b, HIST) && has)
        tl_scan_put_hist(b, HIST, row, &p->stat[place], &p->scale);
    else
        tl_list_text(b, HIST, row, NULL);
}

static void put_place(const void *places, uint32_t source, uint64_t i, tl_scan_block *b, uint32_t row)
{
    const tl_trace_places *t = &((const tl_trace_places *)places)[source];
    const tl_profile *p = t->profile;
    const uint32_t place = t->order[i + 1], function = tl_profile_function(p, place);
    const tl_function *f = function == UINT32_MAX ? NULL : tl_profile_get_function(p, function);
    char label[24];
    tl_list_int(b, TRACE, row, true, source + 1);
    tl_list_int(b, PLACE, row, true, (int64_t)i + 1);
    tl_list_int(b, PARENT, row, tl_profile_parent(p, place) != 0, t->number[tl_profile_parent(p, place)]);
    tl_list_int(b, FUNCTION, row, f && !(f->flags & TL_FUNCTION_UNKNOWN), f ? f->id : 0);
    if (tl_scan_has(b, NAME)) {
        const char *name = f ? tl_function_label(f, label) : "";
        tl_scan_put_copy(b, NAME, row, name, strlen(name));
    }
    tl_list_int(b, DEPTH, row, true, t->depth[place]);
    if (tl_scan_has(b, PATH)) {
        tl_place_path(p, place, &b->json);
        tl_scan_put_json(b, PATH, row);
    }
    put_times(p, place, b, row);
}

void tl_places_table(tl_scan_table *out, tl_list *list, const tl_trace_places *places)
{
    *list = (tl_list){.count = count_places, .put = put_place, .arg = places};
    *out = (tl_scan_table){.info = {"places", "the tree of calls, or of samples, with percentiles", TL_NEEDS_STACKS},
                           .column = columns,
                           .ncolumn = COLUMNS,
                           .order = TL_NO_ORDER,
                           .rows = 1000,
                           .arg = list,
                           .keeps = tl_list_scan_keeps,
                           .open = tl_list_scan_open};
}

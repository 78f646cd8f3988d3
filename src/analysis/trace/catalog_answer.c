/* The relations `traces`, `tracks`, `damage` and `properties`. */
#include <string.h>

#include "analysis/trace/catalog.h"
#include "base/text/number.h"
#include "op/source_impl.h"

#define CATALOG_ROWS 21u /* on a terminal */

static void say_dur(const tl_at *at, tl_cell *out)
{
    const tl_trace_row *r = at->row;
    char text[32];
    const bool is_ns = strcmp(r->unit, "ns") == 0;
    if (r->has_times)
        tl_cell_printf(at, out, "%s%s%s", tl_human_time(text, sizeof text, r->dur, is_ns), is_ns ? "" : " ",
                       is_ns ? "" : r->unit);
}

#define TEXT(name, json, member, what)                                                                                 \
    {                                                                                                                  \
        TL_COL(name, NULL, TEXT, NONE, what), json, TL_AT(TEXT, tl_trace_row, member)                                  \
    }
#define NUMBER(name, json, unit, member, what, ...)                                                                    \
    {                                                                                                                  \
        TL_COL(name, NULL, INTEGER, unit, what), json, TL_AT(U64, tl_trace_row, member), __VA_ARGS__                   \
    }
#define IF_TIMES   TL_ONLY_IF(tl_trace_row, has_times)
#define IF_PROFILE TL_ONLY_IF(tl_trace_row, is_profile)
#define OF_TRACE(type)                                                                                                 \
    {                                                                                                                  \
        TL_COL("trace", NULL, INTEGER, NONE, "the number of the trace, from 1"), TL_AT(U64, type, trace)               \
    }
const tl_column tl_traces[TL_TRACE_COLUMNS] = {
    OF_TRACE(tl_trace_row),
    {TL_COL("path", "trace", TEXT, NONE, "the path as given"), TL_AT(TEXT, tl_trace_row, path), .role = TL_ROLE_NAME},
    {TL_COL("format", "format", TEXT, NONE, "its format"), TL_AT(TEXT, tl_trace_row, format), .place = 5, .drop = 1},
    TEXT("version", NULL, version, "the version of the format"),
    TEXT("byte_order", NULL, byte_order, "little or big"),
    NUMBER("bytes", NULL, BYTES, bytes, "size, decompressed", 0),
    {TL_COL("events", "events", INTEGER, COUNT, "events in it; 0 of a profile"), TL_AT(U64, tl_trace_row, events),
     .place = 1},
    TEXT("clock", "clock.name", clock, "what its times are of"),
    NUMBER("hz", "clock.hz", NONE, hz, "ticks of the clock in a second", TL_ONLY_IF(tl_trace_row, has_hz)),
    NUMBER("ts", "begin", TIME, ts, "the first event", IF_TIMES),
    NUMBER("end_ts", "end", TIME, end_ts, "the last event", IF_TIMES),
    TEXT("begin_utc", "start_utc", utc, "date and time of day of time 0"),
    {TL_COL("lost_events", "lost", INTEGER, COUNT, "events that were lost while recording"), "lost.events",
     TL_AT(U64, tl_trace_row, lost_events), .place = 3},
    NUMBER("lost_packets", "lost.packets", COUNT, lost_packets, "packets that were lost", 0),
    TEXT("unit", NULL, unit, "what times are: ns, ticks or instructions"),
    NUMBER("dur", NULL, TIME, dur, "from the first event to the last", IF_TIMES),
    {TL_COL(NULL, "time", TEXT, NONE, NULL), .get = say_dur, .place = 2},
    {TL_COL("damage_places", "damaged", INTEGER, COUNT, "places whose bytes were given up"),
     TL_AT(U64, tl_trace_row, damage), .place = 4, .drop = 2},
    NUMBER("faults", NULL, COUNT, faults, "places that break a rule, without loss", 0),
    NUMBER("out_of_order", NULL, COUNT, out_of_order, "events that go back in time", 0),
    TEXT("build_id", NULL, build_id, "of the traced binary"),
    TEXT("exe", NULL, exe, "the binary that names functions"),
    NUMBER("calls", NULL, COUNT, calls, "of a profile: its calls, or samples", IF_PROFILE),
    NUMBER("paths", NULL, COUNT, paths, "of a profile: different stacks", IF_PROFILE),
};

static void get_cpu(const tl_at *at, tl_cell *out)
{
    const tl_track_row *r = at->row;
    if (r->is_cpu && !r->has_tid)
        tl_cell_i64(out, r->tid);
}

const tl_column tl_tracks[TL_TRACK_COLUMNS] = {
    OF_TRACE(tl_track_row),
    {TL_COL("track_id", NULL, INTEGER, NONE, "the number of the track, from 0"), TL_AT(U64, tl_track_row, id)},
    {TL_COL("name", "track", TEXT, NONE, "a thread, a processor, or another stream"), TL_AT(TEXT, tl_track_row, name),
     .role = TL_ROLE_NAME},
    {TL_COL("pid", "pid", INTEGER, NONE, "its process"), TL_AT(I64, tl_track_row, pid),
     TL_ONLY_IF(tl_track_row, has_pid), .place = 5, .drop = 1, .flags = TL_BLANK},
    {TL_COL("tid", NULL, INTEGER, NONE, "the number of the thread"), TL_AT(I64, tl_track_row, tid),
     TL_ONLY_IF(tl_track_row, has_tid)},
    {TL_COL("cpu", NULL, INTEGER, NONE, "the number of the processor, if it is one"), .get = get_cpu,
     .flags = TL_LEFT_OUT},
    {TL_COL("events", "events", INTEGER, COUNT, "events on it"), TL_AT(U64, tl_track_row, events), .place = 1},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(REAL, tl_track_row, share), .place = 2, .flags = TL_WITH_BAR},
    {TL_COL("ts", "begin", INTEGER, TIME, "where it begins"), "begin", TL_AT(U64, tl_track_row, ts),
     TL_ONLY_IF(tl_track_row, has_times), .place = 3, .drop = 2, .flags = TL_BLANK},
    {TL_COL("end_ts", "end", INTEGER, TIME, "where it ends"), "end", TL_AT(U64, tl_track_row, end_ts),
     TL_ONLY_IF(tl_track_row, has_times), .place = 4, .drop = 2, .flags = TL_BLANK},
};

const tl_column tl_places[TL_PLACE_COLUMNS] = {
    OF_TRACE(tl_damage_row),
    {TL_COL("offset", "byte", INTEGER, NONE, "the byte where it begins, decompressed"),
     TL_AT(U64, tl_damage_row, offset), TL_ONLY_IF(tl_damage_row, has_offset), .place = 1},
    {TL_COL("bytes", "bytes", INTEGER, COUNT, "how many were given up"), TL_AT(U64, tl_damage_row, bytes), .place = 2},
    {TL_COL("what", "what", TEXT, NONE, "what was found there"), TL_AT(TEXT, tl_damage_row, what),
     .role = TL_ROLE_NAME},
    {TL_COL("file", "file", TEXT, NONE, "of a folder: which file"), TL_AT(TEXT, tl_damage_row, file),
     .role = TL_ROLE_SUFFIX, .flags = TL_LEFT_OUT},
    {TL_COL("kind", "kind", TEXT, NONE, "loss; fault: nothing was lost; or note: no fault, but a limit"),
     TL_AT(TEXT, tl_damage_row, kind), .place = 3},
    {TL_COL("rule", "rule", TEXT, NONE, "the rule of the format that it breaks"), TL_AT(TEXT, tl_damage_row, rule),
     .place = 4, .drop = 1},
    {TL_COL("at", NULL, INTEGER, NONE, "the byte where the fault is"), TL_AT(U64, tl_damage_row, at)},
};
void tl_get_property(const tl_at *at, tl_cell *out)
{
    *out = ((const tl_property_row *)at->row)->value;
}

static void get_text(const tl_at *at, tl_cell *out)
{
    const tl_cell *v = &((const tl_property_row *)at->row)->value;
    if (v->kind == TL_CELL_TEXT)
        *out = *v;
}

static void get_number(const tl_at *at, tl_cell *out)
{
    const tl_cell *v = &((const tl_property_row *)at->row)->value;
    if (v->kind != TL_CELL_TEXT)
        *out = *v;
}

static const tl_column properties[] = {
    OF_TRACE(tl_property_row),
    {TL_COL("name", "property", TEXT, NONE, "what it is"), TL_AT(TEXT, tl_property_row, name)},
    {TL_COL("text", NULL, TEXT, NONE, "its value, if that is a text"), .get = get_text},
    {TL_COL("number", NULL, INTEGER, NONE, "its value, if that is a number"), .get = get_number},
    {TL_COL(NULL, "value", TEXT, NONE, NULL), .get = tl_get_property, .role = TL_ROLE_NAME},
};

/* ---- tables ---- */

static int read_source(void *table, tl_source *s, const tl_select *select, tl_error *e)
{
    if (select)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "this table is of whole traces: nothing of them can be selected");
    return tl_catalog_add(table, s, true, s->want.threads, e);
}

static int show(tl_answer *a, const tl_ask *ask, const char *key, const tl_column *column, uint32_t ncolumn,
                const void *row, size_t stride, uint32_t all)
{
    tl_answer_add_top(a, ask, key, column, ncolumn, row, stride, NULL, all, CATALOG_ROWS, key, 30);
    a->head = tl_say_subject;
    a->unit = column == tl_tracks ? a->unit : NULL; /* each trace has its own */
    return 0;
}

/* mixed: times of traces may have different units. */
#define TABLE(word, key, list, columns, mixed, summary)                                                                \
    static int answer_##word(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)                                \
    {                                                                                                                  \
        const tl_catalog *c = table;                                                                                   \
        (void)e;                                                                                                       \
        return show(a, ask, key, columns, TL_COUNT(columns), c->list, sizeof *c->list, c->n##list);                    \
    }                                                                                                                  \
    const tl_table_kind tl_table_##word = {.info = {#word, summary, TL_NEEDS_NOTHING},                                 \
                                           .sql = key,                                                                 \
                                           .what = key,                                                                \
                                           .several = true,                                                            \
                                           .of_any = true,                                                             \
                                           .any_unit = mixed,                                                          \
                                           .no_thread = "it is of whole traces",                                       \
                                           .size = sizeof(tl_catalog),                                                 \
                                           .read = read_source,                                                        \
                                           TL_EMPTY_IF_0(tl_catalog, n##list),                                         \
                                           .answer = answer_##word,                                                    \
                                           .fini = tl_catalog_fini,                                                    \
                                           TL_TABLE_COLUMNS(columns)}
TABLE(trace, "traces", trace, tl_traces, true, "what each trace is: format, time, events, losses");
TABLE(track, "tracks", track, tl_tracks, false, "threads, processors, streams: their events and times");
TABLE(damage, "damage", damage, tl_places, true, "damaged places, and others that limit the answer");
TABLE(property, "properties", property, properties, true, "what a trace says about itself");

/* What is known of traces as wholes, as rows: what each is and lost, its classes, tracks, damage and properties. */
#ifndef TL_ANALYSIS_CATALOG_H
#define TL_ANALYSIS_CATALOG_H

#include "analysis/table_kind.h"
#include "base/hash.h"
#include "model/patched.h"

/* Texts of rows live as long as the catalog. Times are as tl_trace_time(), from the first event unless the clock says
 * that it counts from 0. `trace` numbers the traces, from 1. */
typedef struct tl_trace_row {
    uint64_t trace;
    const char *path; /* as given; name: without its folders */
    const char *name, *format, *version, *byte_order, *unit, *clock, *build_id, *exe;
    uint64_t bytes, hz;
    bool has_hz; /* of a profile: not 0 */
    bool is_profile, counts_insns;
    bool is_counted;       /* else the events are not known */
    uint64_t events;       /* 0 of a profile */
    bool has_times;        /* it is no profile: */
    uint64_t ts, end_ts;   /* of the first event and the last */
    uint64_t dur;          /* of instructions: with both of them */
    const char *utc;       /* when time 0 was: "2026-01-31T12:00:00.500000000Z"; NULL: not known */
    const char *first_utc; /* the same of the first event */
    uint64_t lost_events, lost_packets, out_of_order;
    uint64_t damage, faults; /* places that lost something, and those that break a rule and lost nothing */
    uint32_t notes;
    bool has_cpus, has_threads; /* all of its tracks are processors; there are threads */
    /* Only profiles have these: */
    uint64_t threads, trees, paths, calls, self, self_ticks, clamped;
    bool is_sampled, has_trees, is_inclusive;
} tl_trace_row;

/* Classes of one name and kind: a format may have several, which differ in their fields. */
typedef struct tl_class_row {
    uint64_t trace;
    const char *name, *kind;
    uint64_t events;
    double share;
} tl_class_row;

typedef struct tl_track_row {
    uint64_t trace;
    uint64_t id; /* its number in the trace */
    const char *name;
    bool has_pid, has_tid, is_cpu;
    bool has_times; /* else ts and end_ts mean nothing to people */
    int64_t pid, tid;
    uint64_t events;
    uint64_t ts, end_ts;
    double share;
} tl_track_row;

typedef struct tl_damage_row {
    uint64_t trace;
    bool has_offset, is_fault; /* it breaks a rule */
    uint64_t offset, bytes, at;
    const char *what, *file, *kind, *rule; /* kind: "loss", "fault" (nothing was lost) or "note" */
} tl_damage_row;

typedef struct tl_property_row {
    uint64_t trace;
    const char *name; /* of the header "member.of.it" */
    tl_cell value;    /* a text, a number, or null */
    bool of_header;   /* a field of its format, else what this trace says */
} tl_property_row;

/* Of an object whose functions the recorder patched. */
typedef struct tl_patched_row {
    uint64_t trace;
    const char *object; /* its file name */
    tl_patched counts;
    uint64_t left_out;
} tl_patched_row;

typedef struct tl_catalog {
    tl_strings strings;
    uint64_t number; /* of the trace that is added */
    tl_trace_row *trace;
    tl_class_row *cls;
    tl_track_row *track;
    tl_damage_row *damage;
    tl_property_row *property;
    tl_patched_row *patched;
    uint32_t ntrace, ncls, ntrack, ndamage, nproperty, npatched;
    uint32_t trace_room, cls_room, track_room, damage_room, property_room, patched_room;
} tl_catalog;

/* Adds a source, and reads all of it if it is to be counted. Errors: those of tl_source_count(). A zeroed catalog is an
 * empty one; tl_catalog_fini() in any case. */
int tl_catalog_add(tl_catalog *c, tl_source *s, bool counted, unsigned threads, tl_error *e);
/* The same without reading: count is what there is, all of it if it was counted; NULL of a profile. Errors: TL_ENOMEM.
 */
int tl_catalog_take(tl_catalog *c, const tl_trace *t, const tl_count *count, bool counted, tl_error *e);
/* Adds the damage of the next trace, or its notes. Errors: TL_ENOMEM. */
int tl_catalog_add_damage(tl_catalog *c, const tl_trace *t, tl_error *e);
void tl_catalog_fini(void *catalog);

/* Their columns; `info --json` has parts of them: of traces those before its lists, and those behind. */
enum { TL_TRACE_COLUMNS = 24, TL_TRACE_BEGIN = 2, TL_TRACE_CLOCK = 7, TL_TRACE_UNIT = 14 };
enum { TL_TRACK_COLUMNS = 10, TL_TRACK_NAME = 2, TL_TRACK_EVENTS = 6, TL_TRACK_SHARE };
enum { TL_PLACE_COLUMNS = 8, TL_PLACE_OFFSET = 1, TL_PLACE_BYTES, TL_PLACE_KIND = 5 };
extern const tl_column tl_traces[TL_TRACE_COLUMNS], tl_tracks[TL_TRACK_COLUMNS], tl_places[TL_PLACE_COLUMNS];
void tl_get_property(const tl_at *at, tl_cell *out); /* the value, whatever it is */

/* Adds the damage that lost something, as `info --json` has it, with the number of the trace if there are several; if
 * there is any, or always. And notes, if there are any. */
void tl_info_add_damage(tl_answer *a, const tl_ask *ask, const tl_catalog *c, bool always);
void tl_info_add_notes(tl_answer *a, const tl_ask *ask, const tl_catalog *c);
/* The answer of `info` about a catalog of one trace. Errors: TL_ENOMEM. */
int tl_info_answer(const tl_catalog *c, const tl_ask *ask, tl_answer *a, tl_error *e);

#endif

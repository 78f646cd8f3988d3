/* What is known of a trace as a whole: format, clock, classes, tracks, functions, damage.
 *
 * A tl_trace is made by tl_source_open() and belongs to the source. Everything returned here is borrowed and lives as
 * long as the source. Thread rule: reading is safe from any thread once the source is open; but damage and notes only
 * while no thread reads events of it, since that may add to them. */
#ifndef TRACELOOM_TRACE_H
#define TRACELOOM_TRACE_H

#include <traceloom/model.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct tl_trace tl_trace;

const char *tl_trace_path(const tl_trace *t);       /* as given to tl_source_open(); "-" for standard input */
const char *tl_trace_format(const tl_trace *t);     /* "xray-fdr" */
const char *tl_trace_version(const tl_trace *t);    /* of the format, as text: "5" */
const char *tl_trace_byte_order(const tl_trace *t); /* "little", "big", or NULL */
uint64_t tl_trace_bytes(const tl_trace *t);         /* size of the input after decompression */
const char *tl_trace_build_id(const tl_trace *t);   /* hex, or NULL */
const char *tl_trace_exe(const tl_trace *t);        /* path of the binary that functions were resolved with, or NULL */

const tl_clock *tl_trace_clock(const tl_trace *t);

/* Ticks to ns, rounded half to even, exact for any size; ticks stay ticks where the clock has no frequency. */
uint64_t tl_trace_time(const tl_trace *t, uint64_t ticks);
/* "ns", "ticks", or "instructions" where these are what the ticks count: what tl_trace_time() returns. */
const char *tl_trace_unit(const tl_trace *t);

uint32_t tl_trace_classes(const tl_trace *t);
const tl_class *tl_trace_class(const tl_trace *t, uint32_t id); /* NULL if there is no such class */
uint32_t tl_trace_tracks(const tl_trace *t);
const tl_track *tl_trace_track(const tl_trace *t, uint32_t index); /* NULL if there is no such track */

/* The function of an id, or NULL if nothing is known of it. */
const tl_function *tl_trace_function(const tl_trace *t, int64_t id);

/* Smallest and largest tick of all events. False if the reader does not know before reading them. */
bool tl_trace_range(const tl_trace *t, uint64_t *begin, uint64_t *end);

/* Damage in the order of files and offsets; at most a stated number is kept, tl_trace_damage_count() counts all.
 * Formats that find it while reading add to it then: it is complete once everything was read. */
uint64_t tl_trace_damage_count(const tl_trace *t);
uint32_t tl_trace_damages(const tl_trace *t);
const tl_damage *tl_trace_damage(const tl_trace *t, uint32_t index);

/* Places that are no fault but limit the answer, such as encrypted packets. */
uint32_t tl_trace_notes(const tl_trace *t);
const tl_damage *tl_trace_note(const tl_trace *t, uint32_t index);

/* Streams are merged by tl_batch.rank, not by time: each track has a time of its own, and only the ranks are of all. */
bool tl_trace_is_ranked(const tl_trace *t);

/* What the trace says about itself. */
uint32_t tl_trace_properties(const tl_trace *t);
const tl_property *tl_trace_property(const tl_trace *t, uint32_t index);

/* What the header of the trace says that all traces of its format say: *n fields, with values like those of an event.
 * NULL and 0 fields if there is nothing. */
const tl_value *tl_trace_header(const tl_trace *t, const tl_field **field, uint32_t *n);

/* How often an event of a track is earlier than the one before it; complete once everything was read. */
uint64_t tl_trace_regressions(const tl_trace *t);

/* Events and packets that the trace itself says were lost while recording. */
uint64_t tl_trace_lost_events(const tl_trace *t);
uint64_t tl_trace_lost_packets(const tl_trace *t);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

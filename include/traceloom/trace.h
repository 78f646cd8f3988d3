/* What is known of a trace as a whole: format, clock, classes, tracks, functions, damage.
 *
 * A tl_trace is made by tl_source_open(), or by tl_events_open() of several sources, and belongs to what made it. What
 * is returned here is borrowed. Strings, classes and the clock live as long as the trace; a track, function, property
 * or place of damage until one more of its kind is added. Tracks and functions are added by tl_profile_from_source(),
 * and while events are read with tl_want.late or tl_open_options.follow.
 * The page of a format in docs/format says which bytes a number or a name comes from.
 * Thread rule: any thread may call these at any time, with two exceptions. Damage, notes and the count of events out of
 * order: only while no thread reads events, which may add to them. With tl_want.late or tl_open_options.follow: only
 * the thread that reads. */
#ifndef TRACELOOM_TRACE_H
#define TRACELOOM_TRACE_H

#include <traceloom/model.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct tl_trace tl_trace;

/* The path as given to tl_source_open(), "-" for standard input, or the name of a trace in memory. Never NULL. */
const char *tl_trace_path(const tl_trace *t);
/* The name of its format, as in tl_format_info: "xray-fdr"; "several" of joined traces. Static, never NULL. */
const char *tl_trace_format(const tl_trace *t);
/* The version of the format, as text: "5"; NULL if the trace does not say. */
const char *tl_trace_version(const tl_trace *t);
/* "little" or "big": the order of numbers in the file; NULL if that has no meaning. */
const char *tl_trace_byte_order(const tl_trace *t);
/* Size of the input after decompression; of a folder, of all files that belong to the trace. */
uint64_t tl_trace_bytes(const tl_trace *t);
/* Build-id of the traced binary in hex; NULL if it is not known. */
const char *tl_trace_build_id(const tl_trace *t);
/* Path of the binary that resolved the functions; NULL if there was none. */
const char *tl_trace_exe(const tl_trace *t);

/* The clock that counts the ticks of all events. Never NULL. */
const tl_clock *tl_trace_clock(const tl_trace *t);

/* Ticks to ns, rounded half to even, exact for any size (what does not fit is UINT64_MAX); ticks stay ticks where the
 * clock has no frequency. */
uint64_t tl_trace_time(const tl_trace *t, uint64_t ticks);
/* The unit of tl_trace_time(): "ns", "ticks", or "instructions" if the ticks count these. Static, never NULL. */
const char *tl_trace_unit(const tl_trace *t);

/* How many classes of events there are: their ids are 0 .. that-1. */
uint32_t tl_trace_classes(const tl_trace *t);
/* The class of an id; NULL if there is no such class. */
const tl_class *tl_trace_class(const tl_trace *t, uint32_t id);
/* How many tracks there are: their indices are 0 .. that-1. */
uint32_t tl_trace_tracks(const tl_trace *t);
/* The track of an index; NULL if there is no such track. */
const tl_track *tl_trace_track(const tl_trace *t, uint32_t index);

/* The function of an id (tl_batch.key if the class says so); NULL if unknown. */
const tl_function *tl_trace_function(const tl_trace *t, int64_t id);

/* Smallest and largest tick of all events, into *begin and *end. False, and both unchanged, if the reader cannot know
 * before it reads them. */
bool tl_trace_range(const tl_trace *t, uint64_t *begin, uint64_t *end);

/* How many places are damaged. Some formats find damage only while reading: the count is complete once everything was
 * read, by tl_source_count() for example. */
uint64_t tl_trace_damage_count(const tl_trace *t);
/* How many of them are kept: at most 10,000. */
uint32_t tl_trace_damages(const tl_trace *t);
/* One of these, in the order of files and offsets; NULL past the end. */
const tl_damage *tl_trace_damage(const tl_trace *t, uint32_t index);

/* How many notes there are: places that are not damaged but limit the answer, such as encrypted packets; at most
 * 10,000. */
uint32_t tl_trace_notes(const tl_trace *t);
/* One of these, in the order of files and offsets; NULL past the end. */
const tl_damage *tl_trace_note(const tl_trace *t, uint32_t index);

/* Whether streams are merged by tl_batch.rank, not by time, because each track has a time of its own. */
bool tl_trace_is_ranked(const tl_trace *t);

/* How many things the trace says about itself: its host, its tracer. */
uint32_t tl_trace_properties(const tl_trace *t);
/* One of them, in the order of the trace; NULL past the end. */
const tl_property *tl_trace_property(const tl_trace *t, uint32_t index);

/* What the trace's header says that every trace of its format has: *n fields, with values like those of an event.
 * Borrowed as long as the trace; NULL and 0 fields if there is nothing. */
const tl_value *tl_trace_header(const tl_trace *t, const tl_field **field, uint32_t *n);

/* How many events are earlier than the one before them on their track; complete once everything was read. */
uint64_t tl_trace_out_of_order(const tl_trace *t);

/* Events that were lost while recording, as the trace itself counts them. */
uint64_t tl_trace_lost_events(const tl_trace *t);
/* The same for packets. */
uint64_t tl_trace_lost_packets(const tl_trace *t);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

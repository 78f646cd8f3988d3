/* Internals of the writer of Perfetto traces, shared by its files. */
#ifndef TL_FORMAT_PERFETTO_WRITER_H
#define TL_FORMAT_PERFETTO_WRITER_H

#include "format/perfetto/perfetto_annotation.h"
#include "format/perfetto/perfetto_layout.h"
#include "model/timeline.h"
#include "model/value_json.h"

/* Track uuids: the kind in the upper bits, then a number. */
#define UUID_PROCESS        ((uint64_t)1 << 60)
#define UUID_THREAD         ((uint64_t)2 << 60)
#define UUID_COUNTER        ((uint64_t)3 << 60)
#define UUID_SPANS          ((uint64_t)4 << 60)
#define UUID_GAUGE          ((uint64_t)5 << 60)
#define COUNTER_FIELDS_BITS 8u /* further fields of a class are not counters */
#define COUNTER_CLASS_BITS  20u

/* Sequence 1 is for the file; then the tracks, and after them the samples of all threads. */
enum { FILE_SEQUENCE = 1, FIRST_TRACK_SEQUENCE = 2, SAMPLES_SEQUENCE = FIRST_TRACK_SEQUENCE + TL_TRACKS_MAX };

/* Most interned names, and pairs of sequence and name, before all are forgotten and interned again: real programs stay
 * far below, and hostile files cannot grow. */
#define INTERNED_MAX (1u << 22)

/* Deepest stack that is written; of deeper ones the outermost frames: every different stack is written in full. */
#define PERFETTO_DEPTH_MAX 1024u

typedef struct perfetto_track {
    uint32_t generation; /* how often the state of its sequence was cleared; 0: not begun */
    uint32_t epoch;      /* of the writer, when it was last cleared */
} perfetto_track;

typedef struct perfetto_writer {
    tl_timeline line;
    perfetto_track *track;
    uint32_t ntrack;
    uint32_t epoch;   /* counts how often all names were forgotten */
    tl_hash function; /* id -> iid; the iids 1 .. ncls are those of the class names */
    tl_hash interned; /* track << 32 | iid -> generation in which the track's sequence got the name */
    tl_hash process;  /* pid -> 1: described */
    tl_hash counter;  /* uuid -> 1: described */
    tl_fields fields;
    tl_pb packet;

    /* perfetto_managed.c */
    tl_hash own_track; /* for spans and gauges: key -> number */

    /* perfetto_samples.c */
    uint64_t *last_sample; /* [nlast] by track, ns */
    uint32_t nlast;
    bool sampled;                  /* the sequence of samples has begun */
    tl_hash told_label, told_node; /* what that sequence has */
} perfetto_writer;

bool perfetto_has_damage(const tl_trace *t);
/* Begins a packet of a sequence, or one with a time that depends on the sequence's state. */
size_t perfetto_begin_packet(perfetto_writer *w, uint64_t sequence);
size_t perfetto_begin_timed(perfetto_writer *w, uint64_t sequence, uint64_t ns);
bool perfetto_end_packet(perfetto_writer *w, size_t at);
/* Begins a packet of a track's sequence and the TrackEvent in it; uuid: of a track other than its own, or 0. */
void perfetto_begin_event(perfetto_writer *w, uint32_t track, uint64_t ns, unsigned type, uint64_t uuid, size_t at[2]);
bool perfetto_end_event(perfetto_writer *w, const size_t at[2]);
/* Begins the description of a track below another; ended like an event. */
void perfetto_begin_track(perfetto_writer *w, uint32_t track, uint64_t uuid, uint64_t parent, size_t at[2]);
bool perfetto_write_value(perfetto_writer *w, uint32_t track, uint64_t uuid, uint64_t ns, const tl_value *v);
uint64_t perfetto_process_uuid(int64_t pid);

/* perfetto_managed.c */
bool perfetto_write_span(void *writer, const tl_span *s, uint64_t begin, uint64_t end);
bool perfetto_write_gauge(void *writer, const tl_gauge *g, uint64_t ns);

/* perfetto_samples.c */
bool perfetto_write_samples(void *writer, const tl_timeline_samples *s);

#endif

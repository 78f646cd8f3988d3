/* The inside of the writer of Perfetto traces: what perfetto_write.c and perfetto_runtime.c share. */
#ifndef TL_FORMAT_PERFETTO_WRITER_H
#define TL_FORMAT_PERFETTO_WRITER_H

#include "format/perfetto/perfetto_annotation.h"
#include "format/perfetto/perfetto_layout.h"
#include "model/format_impl.h"
#include "model/gauge.h"
#include "model/nest.h"
#include "model/span.h"
#include "model/stack_nodes.h"
#include "model/track_id.h"
#include "model/value_json.h"

/* Track uuids: what it is in the upper bits, then its number. */
#define UUID_PROCESS        ((uint64_t)1 << 60)
#define UUID_THREAD         ((uint64_t)2 << 60)
#define UUID_COUNTER        ((uint64_t)3 << 60)
#define UUID_SPANS          ((uint64_t)4 << 60)
#define UUID_GAUGE          ((uint64_t)5 << 60)
#define COUNTER_FIELDS_BITS 8u /* further fields of a class are no counters */
#define COUNTER_CLASS_BITS  20u

/* Sequence 1 is that of the file; tracks follow, and after all of them the samples of all threads. */
enum { FILE_SEQUENCE = 1, FIRST_TRACK_SEQUENCE = 2, SAMPLES_SEQUENCE = FIRST_TRACK_SEQUENCE + TL_TRACKS_MAX };

/* Interned names, and pairs of sequence and name, that are kept before all are forgotten and interned anew: real
 * programs stay far below, hostile files do not grow. */
#define INTERNED_MAX (1u << 22)

/* What becomes of the events of a class. */
typedef enum perfetto_use {
    PERFETTO_EVENT, /* as its kind says */
    PERFETTO_BEGIN, /* of a span */
    PERFETTO_END,
    PERFETTO_CODE, /* an instant, and it names spans */
    PERFETTO_GAUGE,
    PERFETTO_SAMPLE
} perfetto_use;

typedef struct perfetto_track {
    uint32_t generation; /* how often the state of its sequence was cleared; 0: not begun */
    uint32_t epoch;      /* of the writer, when it was cleared last */
} perfetto_track;

typedef struct perfetto_writer {
    tl_write_context context;
    tl_nest nest;
    perfetto_track *track;
    uint32_t ntrack;
    uint32_t epoch;   /* counts how often all names were forgotten */
    tl_hash function; /* id -> iid; the iids 1 .. ncls are those of the class names */
    tl_hash interned; /* track << 32 | iid -> generation in which the sequence of the track was told the name */
    tl_hash process;  /* pid -> 1: described */
    tl_hash counter;  /* uuid -> 1: described */
    perfetto_fields fields;
    tl_pb packet;
    uint64_t before_begin, no_number, closed_early, open_at_end;

    /* perfetto_runtime.c */
    tl_track_ids ids;
    uint8_t *use; /* [ncls] perfetto_use */
    bool managed; /* some are not PERFETTO_EVENT: the log of a managed runtime, whose events need not be in order */
    tl_spans spans;
    tl_gauges gauges;
    tl_stack_nodes stacks;
    tl_hash own_track;                /* of spans and gauges: what it is -> its number */
    struct perfetto_samples *samples; /* [nsamples] by track */
    uint32_t nsamples;
    bool sampled;                  /* the sequence of samples has begun */
    tl_hash told_label, told_node; /* what that sequence knows */
    uint64_t too_many_in_one;      /* samples */
} perfetto_writer;

bool perfetto_has_damage(const tl_trace *t);
size_t perfetto_begin_packet(tl_pb *p);
bool perfetto_end_packet(perfetto_writer *w, size_t at);
/* Opens a packet and the TrackEvent in it. */
void perfetto_begin_event(perfetto_writer *w, uint32_t track, uint64_t ns, unsigned type, size_t at[2]);
uint64_t perfetto_process_uuid(int64_t pid);
const char *perfetto_process_name(const tl_write_context *c);

/* Of a zeroed part of the writer; false when memory runs out. */
bool perfetto_runtime_init(perfetto_writer *w);
void perfetto_runtime_fini(perfetto_writer *w);
/* An event that is not only a PERFETTO_EVENT, at a time in ticks. The sequence of its track has begun. */
bool perfetto_runtime_event(perfetto_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts);
bool perfetto_runtime_finish(perfetto_writer *w);
void perfetto_runtime_report(const perfetto_writer *w);

#endif

/* Internals of the writer of events, shared by speedscope_format.c and speedscope_samples.c. */
#ifndef TL_FORMAT_SPEEDSCOPE_EVENTS_H
#define TL_FORMAT_SPEEDSCOPE_EVENTS_H

#include "base/io/spool.h"
#include "base/protobuf.h"
#include "format/speedscope/speedscope.h"
#include "model/timeline.h"

/* Deepest stack of a sample that is written; of deeper ones the outermost frames: every sample is written in full. */
#define SPEEDSCOPE_DEPTH_MAX 1024u

enum {
    SPEEDSCOPE_CHUNK = 16 << 10, /* bytes of a track collected before they go to the spool */
    SPEEDSCOPE_RECORD_MOST = 20  /* two varints */
};

typedef struct speedscope_chunk {
    uint64_t offset; /* in the spool */
    uint32_t n;
} speedscope_chunk;

typedef struct speedscope_track {
    tl_pb pb; /* the latest events */
    speedscope_chunk *chunk;
    uint32_t n, capacity;
    uint64_t at;             /* ns of the last event */
    uint32_t depth, deepest; /* open calls */
    uint64_t events;
    /* Of samples: */
    uint32_t node;   /* of the last one, */
    uint64_t weight; /* and its weight so far */
    uint64_t sum;
} speedscope_track;

typedef struct speedscope_writer {
    tl_timeline line;
    bool samples; /* the trace has samples and no calls: samples are written */
    speedscope_track *track;
    uint32_t ntrack;
    tl_spool spool;
    tl_hash frame_index; /* function id -> frame */
    int64_t *frame;      /* function ids */
    uint32_t nframe, frame_capacity;
    uint64_t fields, late;
    int status; /* of the spool */
    tl_error error;
} speedscope_writer;

/* What made a record fail: the spool, or else memory. */
int speedscope_failed(const speedscope_writer *w, tl_error *e);
/* NULL when memory runs out. */
speedscope_track *speedscope_get_track(speedscope_writer *w, uint32_t index);
/* Moves what was collected of a track to the spool. */
bool speedscope_spill(speedscope_writer *w, speedscope_track *t);
/* After a record was put into t->pb: makes room for another one. */
TL_ALWAYS_INLINE bool speedscope_put_record(speedscope_writer *w, speedscope_track *t)
{
    const bool room = t->pb.n + SPEEDSCOPE_RECORD_MOST <= SPEEDSCOPE_CHUNK;
    return !t->pb.failed && (TL_LIKELY(room) || speedscope_spill(w, t));
}
/* Calls read() with each piece of a track, whole records, in order. */
typedef int speedscope_read(void *arg, const uint8_t *p, size_t n, tl_error *e);
int speedscope_read_track(speedscope_writer *w, const speedscope_track *t, speedscope_read *read, void *arg,
                          tl_error *e);
uint64_t speedscope_varint(const uint8_t **p);
void speedscope_begin_track(speedscope_writer *w, tl_json *j, const char *type, uint32_t index);

/* speedscope_samples.c */
bool speedscope_add_samples(void *writer, const tl_timeline_samples *s);
int speedscope_finish_samples(speedscope_writer *w, tl_json *j, tl_error *e);

#endif

/* The inside of the writer of events, shared by speedscope_format.c and speedscope_samples.c. */
#ifndef TL_FORMAT_SPEEDSCOPE_EVENTS_H
#define TL_FORMAT_SPEEDSCOPE_EVENTS_H

#include "base/io/spool.h"
#include "base/protobuf.h"
#include "format/speedscope/speedscope.h"
#include "model/nest.h"
#include "model/stack_nodes.h"

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
    uint64_t at; /* ns of the last event */
    uint64_t events;
    /* Of samples: */
    uint32_t node;   /* of the last one, */
    uint64_t weight; /* and its weight so far */
    uint64_t sum;
} speedscope_track;

typedef struct speedscope_writer {
    tl_write_context context;
    bool samples; /* the trace has samples and no calls: samples are written */
    tl_nest nest; /* identifies functions by their frame */
    speedscope_track *track;
    uint32_t ntrack;
    tl_spool spool;
    tl_hash frame_index; /* function id -> frame */
    int64_t *frame;      /* function ids */
    uint32_t nframe, frame_capacity;
    bool *has_fields; /* [classes] its events have more than is written */
    uint32_t nclass;
    uint64_t fields, early, late, closed_early, open_at_end;
    tl_stack_nodes stacks;
} speedscope_writer;

int speedscope_no_memory(tl_error *e);
/* NULL when memory runs out. */
speedscope_track *speedscope_get_track(speedscope_writer *w, uint32_t index);
/* After a record was put into t->pb: makes room for another one. */
int speedscope_put_record(speedscope_writer *w, speedscope_track *t, tl_error *e);
/* Calls read() with each piece of a track, whole records, in order. */
typedef int speedscope_read(void *arg, const uint8_t *p, size_t n, tl_error *e);
int speedscope_read_track(speedscope_writer *w, const speedscope_track *t, speedscope_read *read, void *arg,
                          tl_error *e);
uint64_t speedscope_varint(const uint8_t **p);
void speedscope_begin_track(speedscope_writer *w, tl_json *j, const char *type, uint32_t index);

/* speedscope_samples.c */
int speedscope_add_sample(speedscope_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, tl_error *e);
int speedscope_finish_samples(speedscope_writer *w, tl_json *j, tl_error *e);

#endif

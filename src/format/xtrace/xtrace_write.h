/* Writing one file of a recording: the instruction stream of one track, or snapshots. */
#ifndef TL_XTRACE_WRITE_H
#define TL_XTRACE_WRITE_H

#include "format/xtrace/xtrace_encode.h"

/* The kind of file depends on its name, or on the first event that is not a snapshot. */
typedef enum xtrace_mode { XTRACE_UNDECIDED, XTRACE_WRITES_STREAM, XTRACE_WRITES_SNAPSHOTS } xtrace_mode;

typedef struct xtrace_writer {
    tl_write_context context;
    xtrace_how *how;
    xtrace_encoder stream;
    xtrace_mode mode;
    bool only_snapshots; /* by the file's name */
    uint32_t track;      /* UINT32_MAX: none yet */
    uint8_t *held;       /* records from before that was decided */
    uint32_t held_n, held_capacity;
    uint64_t snapshots, bad_snapshots; /* not written */
    uint64_t held_snapshots;
    uint32_t vl;
} xtrace_writer;

/* For the format's interface; needs the order of time (otherwise snapshots would come first) and the tape. */
int xtrace_create(void *writer, const tl_write_context *context, tl_error *e);
tl_accept xtrace_accept(void *writer, const tl_class *c);
int xtrace_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e);
int xtrace_finish(void *writer, tl_error *e);
void xtrace_discard(void *writer);

#endif

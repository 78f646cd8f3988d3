/* The writer of basic files: members of the tl_event_writer of "xray-basic". */
#ifndef TL_FORMAT_BASIC_WRITE_H
#define TL_FORMAT_BASIC_WRITE_H

#include "format/xray/write_map.h"

typedef struct basic_writer {
    tl_write_context context;
    int version;
    uint8_t *action; /* by class id */
    uint32_t track;  /* the track with these tid and pid; UINT32_MAX: none yet */
    uint32_t tid, pid;
    tl_hash no_pid_track; /* tracks whose pid could not be written */
    xray_arguments args;
    uint64_t wide_id, wide_cpu, cut_id, other_args, more_args, tail_exits;
} basic_writer;

int basic_create(void *writer, const tl_write_context *context, tl_error *e);
tl_accept basic_accept(void *writer, const tl_class *c);
int basic_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e);
int basic_finish(void *writer, tl_error *e);
void basic_discard(void *writer);

#endif

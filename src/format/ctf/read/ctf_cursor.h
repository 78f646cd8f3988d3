/* A cursor: the events of one data stream file, or of the files of one stream, in order. */
#ifndef TL_FORMAT_CTF_CURSOR_H
#define TL_FORMAT_CTF_CURSOR_H

#include "format/ctf/plan/ctf_run.h"
#include "format/ctf/read/ctf_file.h"
#include "model/format_impl.h"

typedef struct ctf_cursor {
    const ctf_file *file;
    tl_trace *trace;
    const tl_want *want;
    uint64_t *progress;
    tl_input *in;
    tl_window window;
    ctf_walk walk;
    ctf_packet packet;
    bool in_packet, at_end;
    bool before_tracks; /* the trace is being opened: its tracks are unknown */
    uint8_t *content;   /* 2010: decompressed; else NULL */
    size_t ncontent;
    uint64_t base;   /* the packet's byte at the begin of what `run` sees */
    uint64_t finish; /* bits of the packet to decode */
    ctf_run run;
    uint64_t *last; /* [nstream] latest tick of each track */
    uint64_t out_of_order;
    uint64_t from, to; /* wanted ticks */
    tl_tally *tally;   /* destination of events instead of a batch; or NULL */
    tl_batch scratch;  /* values of the packet context */
} ctf_cursor;

/* Opens a zeroed cursor on a file and those that follow it in its stream. file, trace and want are borrowed.
 * `progress`, if not NULL, grows by the bytes read. On failure nothing has to be closed. */
int ctf_cursor_open(ctf_cursor *c, const ctf_file *f, tl_trace *t, const tl_want *want, uint64_t *progress,
                    tl_error *e);
/* As the members of tl_reader; cursor: a ctf_cursor. */
int ctf_cursor_next(void *cursor, tl_batch *b, tl_error *e);
int ctf_cursor_limit(void *cursor, uint64_t from, uint64_t to, tl_error *e);
void ctf_cursor_close(void *cursor);

#endif

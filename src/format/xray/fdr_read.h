/* The state of an open FDR log (fdr_format.c), and its cursors (fdr_read.c). */
#ifndef TL_FORMAT_FDR_READ_H
#define TL_FORMAT_FDR_READ_H

#include "base/io/window.h"
#include "format/xray/fdr_index.h"

typedef struct fdr_reader {
    tl_input *in;
    tl_trace *trace;
    tl_want want;
    uint64_t *progress;
    fdr_index index;
} fdr_reader;

typedef struct fdr_cursor {
    const fdr_reader *reader;
    const fdr_buffer *buffer, *last; /* the remaining buffers */
    uint64_t position, end;          /* remaining records of the current one */
    uint64_t from;                   /* buffers whose times are all smaller are left out */
    tl_window window;
    uint64_t tsc;
    int32_t cpu;
    uint8_t *scratch; /* a payload that is not kept */
    size_t scratch_size;
    uint32_t track;
    bool after_entry; /* a CallArgument here belongs to the previous event */
    bool overwritten; /* of the current buffer: payloads have no room */
} fdr_cursor;

int fdr_stream_open(void *reader, uint32_t stream, void *cursor, tl_error *e);
int fdr_stream_limit(void *cursor, uint64_t from, uint64_t to, tl_error *e);
int fdr_stream_next(void *cursor, tl_batch *b, tl_error *e);
void fdr_stream_close(void *cursor);

#endif

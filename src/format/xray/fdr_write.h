/* The writer of FDR files: members of the tl_event_writer of "xray-fdr". */
#ifndef TL_FORMAT_FDR_WRITE_H
#define TL_FORMAT_FDR_WRITE_H

#include "format/xray/write_map.h"

/* Most open buffers, one per track; the one unused for longest is closed for another. 4 MiB in all. */
#define FDR_OPEN_MAX 256u

/* Content of a buffer, without BufferExtents, as in the LLVM runtime. Only an event larger than that gets a larger
 * buffer. */
#define FDR_BUFFER_MAX 16384u

/* A slot of version 1, where all slots have the size given at the begin of the file: large, because an event that does
 * not fit is lost. */
#define FDR_SLOT_SIZE 65536u

typedef struct fdr_open {
    uint8_t *data;
    size_t n, capacity;
    uint64_t tsc;  /* running time */
    uint64_t used; /* number of the last switch to this track */
    uint32_t track;
    uint16_t cpu;
} fdr_open;

typedef struct fdr_track {
    uint64_t wall;      /* microseconds of the last buffer */
    uint64_t first_tsc; /* of the last buffer */
    uint32_t open;      /* index + 1 of its open buffer; 0: none */
    uint32_t tid, pid;
    bool has_pid, begun, flushed;
} fdr_track;

/* An action beside those of write_map.h: an instant or counter whose fields are in the notes of the recording. */
enum { FDR_WRITE_KNOWN = XRAY_WRITE_NOTHING + 1 };

typedef struct fdr_writer {
    tl_write_context context;
    int version;
    uint8_t *action; /* by class id */
    fdr_track *track;
    uint32_t ntrack;
    uint32_t *order;                                /* tracks in the order of their first event */
    uint32_t norder, order_capacity, order_flushed; /* the first order_flushed ones are in the file */
    fdr_open open[FDR_OPEN_MAX];
    uint32_t nopen;
    uint32_t last; /* index + 1 of the buffer used last */
    uint64_t turn;
    xray_arguments args;
    uint8_t *payload; /* of the current event, if it is FDR_WRITE_KNOWN */
    size_t payload_capacity;
    bool no_notes;
    uint64_t wide_id, wide_cpu, wide_type, wide_payload, wide_slot, cut_id, no_pid, other_args;
} fdr_writer;

int fdr_create(void *writer, const tl_write_context *context, tl_error *e);
tl_accept fdr_accept(void *writer, const tl_class *c);
int fdr_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e);
int fdr_finish(void *writer, tl_error *e);
void fdr_discard(void *writer);

/* fdr_write_notes.c: writes all notes of the recording after the header. */
void fdr_write_notes(const fdr_writer *w);
/* The same file: number and payload of an instant or counter. False when memory runs out. */
bool fdr_write_known(fdr_writer *w, const tl_batch *b, uint32_t i, uint64_t *type, tl_value *data);

#endif

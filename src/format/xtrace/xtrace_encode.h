/* Events as the bytes of recordings: tokens of one instruction stream, records of snapshots, and their header. */
#ifndef TL_XTRACE_ENCODE_H
#define TL_XTRACE_ENCODE_H

#include "base/text/text_writer.h"
#include "format/xtrace/xtrace_index.h"
#include "model/format_impl.h"

/* How the events of a class are encoded. */
typedef enum xtrace_action {
    XTRACE_NOTHING,
    XTRACE_PUT_INSN,
    XTRACE_PUT_MEM,
    XTRACE_PUT_VALUE,     /* the key */
    XTRACE_PUT_REGISTERS, /* 32 of them */
    XTRACE_PUT_BUFFERS,
    XTRACE_PUT_SNAPSHOT /* in a file of its own */
} xtrace_action;

typedef struct xtrace_how {
    uint8_t action; /* xtrace_action */
    uint8_t token;
    uint32_t slot; /* the needed value's slot within the event */
} xtrace_how;

/* How a class of any format is encoded; XTRACE_NOTHING: not part of a recording. */
xtrace_how xtrace_how_of(const tl_class *c);
/* An array for all classes of a trace; free(). NULL when memory runs out. */
xtrace_how *xtrace_hows(const tl_trace *t);
/* Does the trace have instructions or snapshots at all? */
bool xtrace_is_writable(const tl_trace *t, const xtrace_how *how);

/* A stream being written. */
typedef struct xtrace_encoder {
    tl_output *out;
    const xtrace_how *how; /* borrowed */
    uint64_t offset;       /* bytes so far */
    uint64_t insns, user_insns;
    uint64_t pc;                  /* of the last instruction, if ... */
    bool has_pc;                  /* ... it is known */
    bool ends_block;              /* the next instruction begins one */
    bool has_time;                /* it has TIME tokens */
    uint64_t offer;               /* the offset after which the output may be cut */
    xtrace_index index;           /* its begin, and all cuts */
    uint64_t lost_pc, lost_value; /* events that could not be written exactly */
    tl_text_writer tw;            /* in use while events are written */
} xtrace_encoder;

void xtrace_encoder_init(xtrace_encoder *x, tl_output *out, const xtrace_how *how);
void xtrace_encoder_fini(xtrace_encoder *x);
/* Appends tokens for events from .. to-1 of this stream. Skips others, and snapshots. */
int xtrace_encode(xtrace_encoder *x, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e);
/* Adds the index of frames to the output, if it was cut: see docs/format/xtrace.md. */
int xtrace_encode_index(xtrace_encoder *x, tl_error *e);

/* The header of a file of snapshots, 24 bytes. */
enum { XTRACE_HEADER_SIZE = 24, XTRACE_HEADER_VERSION = 1 };
#define XTRACE_HEADER_TAG UINT32_C(0x58544c54) /* "TLTX" */

typedef struct xtrace_header {
    uint32_t tag, sync;
    uint64_t version;
    uint8_t split, stream, memory_order;
} xtrace_header;

void xtrace_encode_header(const xtrace_header *h, uint8_t out[XTRACE_HEADER_SIZE]);
/* The header of the snapshots that the trace was read from, if it had one; else our own. */
xtrace_header xtrace_header_of(const tl_trace *t);

/* Size of a record for a vector length in bits, a multiple of 128. */
size_t xtrace_record_size(uint32_t vl);
/* The vector length of a snapshot event with values v .. end-1; 0 if they are not a snapshot. */
uint32_t xtrace_record_vl(const tl_value *v, const tl_value *end);
/* Its record, of xtrace_record_size(vl) bytes. */
void xtrace_encode_record(const tl_value *v, uint32_t vl, uint8_t *out);

#endif

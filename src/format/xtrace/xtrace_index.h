/* Writing the index of a compressed stream: where a reader may begin. docs/format/xtrace.md has its layout. */
#ifndef TL_XTRACE_INDEX_H
#define TL_XTRACE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom/error.h"

/* The begin of a frame: an instruction with a pc, which only the first may lack. */
typedef struct xtrace_frame {
    uint64_t offset, insns, user_insns, pc;
    bool has_pc;
} xtrace_frame;

/* Frames in their order; zeros are none. */
typedef struct xtrace_index {
    xtrace_frame *frame;
    uint32_t n, capacity;
} xtrace_index;

int xtrace_index_add(xtrace_index *x, const xtrace_frame *f, tl_error *e);
/* The content of the frame XTRACE_INDEX_FRAME_MAGIC, to be freed. */
int xtrace_index_encode(const xtrace_index *x, uint8_t **out, size_t *n, tl_error *e);
void xtrace_index_fini(xtrace_index *x);

#endif

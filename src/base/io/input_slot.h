/* A decoder positioned in a frame of zstd content, and its last output. */
#ifndef TL_BASE_INPUT_SLOT_H
#define TL_BASE_INPUT_SLOT_H

#include "base/io/input_frames.h"

/* Content that a decoder keeps: all of a frame of at most this size. */
#define TL_SLOT_KEPT ((size_t)4 << 20)

/* The bytes that a decoder reads. */
typedef struct tl_slot_frame {
    uint64_t at, packed; /* the frame in the compressed file */
    uint64_t begin, end; /* its content */
    bool whole;          /* the frame ends where the content does, which is checked; otherwise damage follows */
} tl_slot_frame;

typedef struct tl_slot {
    void *decoder;
    uint8_t *in; /* compressed bytes read ahead */
    size_t in_capacity, in_n, in_at;
    uint64_t in_next; /* offset of the bytes after those */
    uint8_t *kept;    /* the content before `pos`: a ring that starts at the frame's begin */
    size_t capacity;
    uint64_t begin, pos; /* the frame's begin; the end of the decoded content */
    uint64_t made;       /* bytes decoded since the caller last looked */
    size_t hint;         /* compressed bytes that the decoder asks for */
    bool started, full, ended;
} tl_slot;

/* Does this build have a decoder? */
bool tl_slot_possible(void);
/* Reads n bytes of the frame's content, which must be within it; restarts it if needed. 1: done; 0: the frame
 * is not valid, *got bytes are; < 0: error. One thread at a time. */
int tl_slot_read(tl_slot *s, const tl_packed *p, const tl_slot_frame *f, uint64_t offset, void *buf, size_t n,
                 size_t *got, tl_error *e);
void tl_slot_fini(tl_slot *s);

#endif

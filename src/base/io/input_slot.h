/* A decoder that stands somewhere in a frame of zstd content, and the last bytes that it made. */
#ifndef TL_BASE_INPUT_SLOT_H
#define TL_BASE_INPUT_SLOT_H

#include "base/io/input_frames.h"

/* What stays of the content behind a decoder: all of a frame of this size or less. */
#define TL_SLOT_KEPT ((size_t)4 << 20)

/* Which bytes a decoder is to read. */
typedef struct tl_slot_frame {
    uint64_t at, packed; /* the frame in the compressed file */
    uint64_t begin, end; /* its content */
    bool whole;          /* the frame ends where the content does, which is checked; else damage follows */
} tl_slot_frame;

typedef struct tl_slot {
    void *decoder;
    uint8_t *in; /* compressed bytes read ahead */
    size_t in_capacity, in_n, in_at;
    uint64_t in_next; /* where those behind them are */
    uint8_t *kept;    /* the content before `pos`: a ring that begins where the frame does */
    size_t capacity;
    uint64_t begin, pos; /* of the frame; behind what was made */
    uint64_t made;       /* bytes since the caller looked last */
    size_t hint;         /* compressed bytes that the decoder wants at once */
    bool started, full, ended;
} tl_slot;

/* Is there a decoder in this build? */
bool tl_slot_possible(void);
/* Reads n bytes of the frame's content, which are all there; restarts it where that is needed. 1: done; 0: the frame
 * is not what it should be, *got bytes are; < 0: error. One thread at a time. */
int tl_slot_read(tl_slot *s, const tl_packed *p, const tl_slot_frame *f, uint64_t offset, void *buf, size_t n,
                 size_t *got, tl_error *e);
void tl_slot_fini(tl_slot *s);

#endif

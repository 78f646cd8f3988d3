/* The bytes of a profile in the making, wherever references lead: a cache of a few pieces of the input. */
#ifndef TL_FORMAT_LIVE_BYTES_H
#define TL_FORMAT_LIVE_BYTES_H

#include <stdbool.h>

#include "base/io/input.h"
#include "format/tlp/live_layout.h"

enum { LIVE_PIECE = 16 << 10, LIVE_PIECES_MAX = 256 };

/* A program may be writing the file. The target of a reference is older than the reference, so a piece read before the
 * reference must not be used to follow it: pieces are numbered as they are read. */
typedef struct live_bytes {
    tl_input *in;
    bool grows; /* a program may be writing: otherwise the age of pieces does not matter */
    uint64_t reads;
    uint32_t pieces; /* cached pieces: all of a small file */
    uint8_t *data;   /* [pieces * LIVE_PIECE] */
    struct {
        uint64_t number; /* number of the piece in the input, plus 1; 0: none */
        uint64_t read;   /* when */
    } * piece;           /* [pieces] */
} live_bytes;

int live_bytes_init(live_bytes *b, tl_input *in, tl_error *e);
void live_bytes_fini(live_bytes *b);
/* Copies n bytes at an offset, read no earlier than *when; sets *when to the oldest piece used. 1: done; 0: they are
 * not all within the input; < 0: error. */
int live_bytes_get(live_bytes *b, uint64_t offset, void *out, size_t n, uint64_t *when, tl_error *e);

static inline uint64_t live_offset(uint32_t reference)
{
    return (uint64_t)reference * LIVE_UNIT;
}

#endif

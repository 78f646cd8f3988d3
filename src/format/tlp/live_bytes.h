/* The bytes of a profile that is being made, wherever references lead: a cache of a few pieces of the input. */
#ifndef TL_FORMAT_LIVE_BYTES_H
#define TL_FORMAT_LIVE_BYTES_H

#include <stdbool.h>

#include "base/io/input.h"
#include "format/tlp/live_layout.h"

enum { LIVE_PIECE = 16 << 10, LIVE_PIECES_MAX = 256 };

/* A program may be writing the file. What a reference leads to was there before the reference was, so whoever follows
 * one must not look at a piece that was read earlier than the reference: pieces are numbered as they are read. */
typedef struct live_bytes {
    tl_input *in;
    bool grows; /* a program may be writing: otherwise every piece is as good as any other */
    uint64_t reads;
    uint32_t pieces; /* that are kept: all of a small file */
    uint8_t *data;   /* [pieces * LIVE_PIECE] */
    struct {
        uint64_t number; /* which piece of the input it is, plus 1; 0: none */
        uint64_t read;   /* when */
    } * piece;           /* [pieces] */
} live_bytes;

int live_bytes_init(live_bytes *b, tl_input *in, tl_error *e);
void live_bytes_fini(live_bytes *b);
/* Copies n bytes at an offset, as they were not before *when; sets *when to the oldest piece they came from. 1: done;
 * 0: they do not all lie in the input; < 0: error. */
int live_bytes_get(live_bytes *b, uint64_t offset, void *out, size_t n, uint64_t *when, tl_error *e);

static inline uint64_t live_offset(uint32_t reference)
{
    return (uint64_t)reference * LIVE_UNIT;
}

#endif

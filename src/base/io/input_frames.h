/* Finds the frames of zstd content without decompressing it: from the table at the end of a seekable file, or by a walk
 * over the headers of frames and blocks. */
#ifndef TL_BASE_INPUT_FRAMES_H
#define TL_BASE_INPUT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom/error.h"

/* Most frames of content to decompress on reading, 24 bytes each; content with more is spooled. */
#define TL_FRAMES_MAX     (1u << 20)
/* Most skippable frames that are remembered. */
#define TL_NOTES_MAX      64u
/* Most bytes of a skippable frame that is read. */
#define TL_NOTE_BYTES_MAX (16u << 20)

/* Compressed bytes at any offset: a regular file, or memory. */
typedef struct tl_packed {
    const uint8_t *data; /* or NULL: */
    int fd;
    uint64_t base; /* offset of the compressed bytes in fd */
    uint64_t size;
} tl_packed;

/* Reads until n bytes or the end: how many, or < 0. Any thread. */
int64_t tl_packed_read(const tl_packed *p, uint64_t offset, void *buf, size_t n, tl_error *e);

/* A frame. Its content ends where that of the next one begins. */
typedef struct tl_packed_frame {
    uint64_t begin;      /* of its content */
    uint64_t at, packed; /* its bytes in the compressed file */
} tl_packed_frame;

/* A skippable frame: its magic number and what follows its header. */
typedef struct tl_packed_note {
    uint64_t at;
    uint32_t magic, n;
} tl_packed_note;

typedef struct tl_frames {
    tl_packed_frame *frame; /* n frames, and an end marker */
    uint32_t n, capacity;
    tl_packed_note *note;
    uint32_t nnote, note_capacity;
    uint64_t size;   /* of the content */
    uint64_t window; /* the largest window that a frame needs */
    bool listed;     /* from the table, which need not be true */
} tl_frames;

/* Finds all frames. 1: found; 0: content of unknown size, or damaged, or not worth it: decompressing it will tell; < 0:
 * error. *f must be freed in the first case. */
int tl_frames_find(tl_frames *f, const tl_packed *p, tl_error *e);
/* The same by walking, whether or not there is a table. */
int tl_frames_walk(tl_frames *f, const tl_packed *p, tl_error *e);
/* The frame whose content has the byte at this offset, which is less than f->size. */
uint32_t tl_frames_at(const tl_frames *f, uint64_t offset);
bool tl_frames_equal(const tl_frames *f, const tl_frames *g);
void tl_frames_fini(tl_frames *f);

#endif

/* Internals of an input, for the different ways to open one. */
#ifndef TL_BASE_INPUT_IMPL_H
#define TL_BASE_INPUT_IMPL_H

#include "base/io/decompress.h"
#include "base/io/input.h"
#include "base/io/input_lazy.h"
#include "base/io/spool.h"

struct tl_input {
    const uint8_t *borrowed; /* content in the caller's memory, or NULL */
    int fd;                  /* plain regular file, or -1 */
    int pipe;                /* what is still being spooled, or -1 */
    bool close_fd;           /* owns fd or pipe */
    bool follows, ended;     /* opened to follow; no more will come */
    bool plain;              /* following: known not to be compressed, as far as bytes are there */
    uint64_t base;           /* where the content begins in fd: standard input may be at any position */
    uint64_t size;           /* unless lazy, which has its own */
    tl_lazy *lazy;           /* content decompressed on reading, or NULL */
    tl_spool spool;          /* the content, if neither borrowed nor in fd nor lazy */
    tl_codec codec;
    char damage[TL_CODEC_DAMAGE];
    uint64_t damage_offset;
    char path[];
};

/* An empty one; NULL when memory runs out. */
tl_input *tl_input_new(const char *path);
/* The name of a path in messages. */
const char *tl_input_name_of(const char *path);

#endif

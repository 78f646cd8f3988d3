/* The inside of an input: for opening it in one of several ways. */
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
    bool close_fd;           /* whichever of the two */
    bool follows, ended;     /* opened to follow; and no more comes */
    bool plain;              /* to follow: not compressed, as far as anybody can tell */
    uint64_t base;           /* where the content begins in fd: standard input may have been read from before */
    uint64_t size;           /* unless it is lazy, which knows its own */
    tl_lazy *lazy;           /* compressed content that is decompressed when it is read, or NULL */
    tl_spool spool;          /* the content, if neither borrowed nor in fd nor lazy */
    tl_codec codec;
    char damage[TL_CODEC_DAMAGE];
    uint64_t damage_offset;
    char path[];
};

/* An empty one; NULL when memory runs out. */
tl_input *tl_input_new(const char *path);
/* What messages call a path. */
const char *tl_input_name_of(const char *path);

#endif

/* Decompression of one part (a gzip member, a bzip2 stream) into memory, with a limit. What follows the part is
 * ignored. */
#ifndef TL_BASE_UNPACK_H
#define TL_BASE_UNPACK_H

#include "base/io/decompress.h"

/* The output. */
typedef struct tl_unpacked {
    uint8_t *data;   /* malloc'ed; belongs to the caller */
    size_t n;        /* bytes from data on, including the front */
    size_t capacity; /* bytes from data on, without the slack */
} tl_unpacked;

/* Decompresses at most `most` bytes, after `front` unused bytes and before `slack` zero bytes. Fails with TL_EDAMAGED
 * (the data is damaged, truncated, or longer), TL_ENOMEM, TL_EUNSUPPORTED (a codec that this build lacks) or as the
 * source does; then nothing has to be freed. */
int tl_unpack(tl_codec c, tl_codec_source *source, void *arg, size_t front, size_t most, size_t slack, tl_unpacked *out,
              tl_error *e);

#endif

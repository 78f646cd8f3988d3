/* Decompression of .gz, .zst and .bz2 as a whole, from a stream to a spool. */
#ifndef TL_BASE_DECOMPRESS_H
#define TL_BASE_DECOMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/io/spool.h"
#include "traceloom/error.h"

typedef enum tl_codec { TL_CODEC_NONE, TL_CODEC_GZIP, TL_CODEC_ZSTD, TL_CODEC_BZIP2 } tl_codec;

#define TL_CODEC_HEAD 10u /* bytes that tl_codec_probe() needs */

/* Recognises compressed data by its first n bytes. */
tl_codec tl_codec_probe(const uint8_t *head, size_t n);
const char *tl_codec_name(tl_codec c); /* "gzip", "zstd", "bzip2", or NULL */

/* Source of compressed bytes: returns how many (0: end) or a negative code. */
typedef int64_t tl_codec_source(void *arg, void *buf, size_t n, tl_error *e);

/* Decompresses everything to the spool. Damage in the data is not a failure: the spool has what was decompressed before
 * it, and damage[] says what is wrong (else it is empty). Other failures: reading, the spool, memory, too much
 * expansion (TL_ENOMEM), a codec that this build lacks (TL_EUNSUPPORTED). */
#define TL_CODEC_DAMAGE 128u
int tl_decompress(tl_codec c, tl_codec_source *source, void *arg, tl_spool *spool, char damage[TL_CODEC_DAMAGE],
                  tl_error *e);
/* The same, but only adds the size to *size. With zstd, it may begin between two compressed parts, after `consumed`
 * bytes of compressed data. */
int tl_decompress_count(tl_codec c, tl_codec_source *source, void *arg, uint64_t consumed, uint64_t *size,
                        char damage[TL_CODEC_DAMAGE], tl_error *e);

#endif

/* Compression of output to gzip or zstd, as a stream. The result depends on nothing but content and level: no time, no
 * name. */
#ifndef TL_BASE_COMPRESS_H
#define TL_BASE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/output.h"
#include "base/output_target.h"

typedef struct tl_compressor tl_compressor;

/* level 0: the library's usual one. TL_EINVAL for a level that there is not, TL_EUNSUPPORTED for a compression that
 * this build lacks. Not for TL_PLAIN. */
int tl_compressor_new(tl_compressor **out, tl_compression c, unsigned level, tl_error *e);
void tl_compressor_free(tl_compressor *z);
/* Compresses n bytes to the target; `last` completes the data. */
int tl_compressor_write(tl_compressor *z, tl_target *t, const void *data, size_t n, bool last, tl_error *e);

#endif

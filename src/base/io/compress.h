/* Compression of output to gzip or zstd, as a stream. The result depends only on content and level: no time, no
 * name. */
#ifndef TL_BASE_COMPRESS_H
#define TL_BASE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/io/output.h"
#include "base/io/output_target.h"

typedef struct tl_compressor tl_compressor;

/* level 0: the library's default. TL_EINVAL for an invalid level, TL_EUNSUPPORTED if this build lacks the compression.
 * Not for TL_PLAIN. */
int tl_compressor_new(tl_compressor **out, tl_compression c, unsigned level, tl_error *e);
void tl_compressor_free(tl_compressor *z);
/* Compresses n bytes to the target; `last` completes the data. */
int tl_compressor_write(tl_compressor *z, tl_target *t, const void *data, size_t n, bool last, tl_error *e);

/* Bytes in the current frame; UINT64_MAX if frames cannot be cut. */
uint64_t tl_compressor_frame(const tl_compressor *z);
/* Ends the frame, so that a reader can begin after it: a table at the end of the data says where frames begin (see
 * seek_table.h). Only if tl_compressor_frame() is not UINT64_MAX. */
int tl_compressor_cut(tl_compressor *z, tl_target *t, tl_error *e);
/* Bytes to write before that table, in a frame that decoders skip. Only with a table. The bytes are copied. */
int tl_compressor_note(tl_compressor *z, uint32_t magic, const void *data, size_t n, tl_error *e);

#endif

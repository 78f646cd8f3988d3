/* Compression of bytes in memory to one part (a gzip member, a bzip2 stream): the opposite of unpack.h. The result
 * depends only on the bytes. */
#ifndef TL_BASE_PACK_H
#define TL_BASE_PACK_H

#include <stdbool.h>

#include "base/io/decompress.h"

/* Whether this build has the compression. */
bool tl_can_pack(tl_codec c);
/* Compresses n bytes to at most `room` bytes at `out`. level: of gzip, 1 to 9; 0: the usual one. 1: *packed is the
 * size; 0: too little room, or n is too large for the library. Errors: TL_ENOMEM; TL_EUNSUPPORTED if !tl_can_pack(). */
int tl_pack(tl_codec c, int level, const void *data, size_t n, void *out, size_t room, size_t *packed, tl_error *e);

#endif

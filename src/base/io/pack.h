/* Compression of bytes in memory to one part (a gzip member, a bzip2 stream): the opposite of unpack.h. The result
 * depends on nothing but the bytes. */
#ifndef TL_BASE_PACK_H
#define TL_BASE_PACK_H

#include <stdbool.h>

#include "base/io/decompress.h"

/* Whether this build can compress so. */
bool tl_can_pack(tl_codec c);
/* Compresses n bytes to at most `room` bytes at `out`. 1, and *packed says how many there are; 0 if that is too little
 * room, or n is beyond what the library takes at once. Fails with TL_ENOMEM, or TL_EUNSUPPORTED where !tl_can_pack().
 */
int tl_pack(tl_codec c, const void *data, size_t n, void *out, size_t room, size_t *packed, tl_error *e);

#endif

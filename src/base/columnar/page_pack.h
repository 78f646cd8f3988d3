/* Compression of pages in memory with zstd, each for itself. In a build without zstd pages stay as they are. */
#ifndef TL_BASE_PAGE_PACK_H
#define TL_BASE_PAGE_PACK_H

#include "base/protobuf.h"
#include "traceloom/error.h"

typedef struct tl_page_packer tl_page_packer;

/* Whether there is compression in this build. */
bool tl_page_packer_is_there(void);
/* level 0: 3, zstd's own default. */
int tl_page_packer_new(tl_page_packer **out, unsigned level, tl_error *e);
void tl_page_packer_free(tl_page_packer *p); /* NULL is fine */
/* Replaces what is in `out` by n bytes, compressed. Errors: TL_ENOMEM. */
int tl_page_pack(tl_page_packer *p, const void *data, size_t n, tl_pb *out, tl_error *e);

#endif

/* Files that claim to be far larger than their stored content. */
#ifndef TL_BASE_SPARSE_H
#define TL_BASE_SPARSE_H

#include "traceloom/error.h"

/* A file of terabytes that consists of holes costs nothing to make and hours to read. Holes are content compressed by
 * the file system, and have the same limits: TL_INPUT_EXPANSION, TL_INPUT_EXPANSION_FREE. Errors: TL_ENOMEM, as for
 * other bombs. Anything but a regular file: 0. */
int tl_sparse_check(int fd, tl_error *e);

#endif

/* Files that claim to be far larger than what is stored of them. */
#ifndef TL_BASE_SPARSE_H
#define TL_BASE_SPARSE_H

#include "traceloom/error.h"

/* A file of terabytes that consists of holes costs nothing to make and hours to read. It is content that the file
 * system has compressed, and has the same limits: TL_INPUT_EXPANSION, TL_INPUT_EXPANSION_FREE. Errors: TL_ENOMEM, as
 * for other bombs. Of anything but a regular file: 0. */
int tl_sparse_check(int fd, tl_error *e);

#endif

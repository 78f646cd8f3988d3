/* Files that a trace names: binaries of its functions. A trace may name any file, any number of times. */
#ifndef TL_OP_NAMED_FILE_H
#define TL_OP_NAMED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Bytes of all binaries opened because one trace names them: reading symbols and lines takes time. */
#define TL_NAMED_BYTES_MAX (UINT64_C(16) << 30)

typedef enum tl_named { TL_NAMED_GOOD, TL_NAMED_MISSING, TL_NAMED_IRREGULAR } tl_named;

/* Whether a file named by a trace may be opened: a pipe would block, opening a device may do anything, and "-" would be
 * standard input. *st is filled in, unless the file is missing. */
tl_named tl_named_file(const char *path, struct stat *st);
/* Takes the size of a file from the remaining room (at first TL_NAMED_BYTES_MAX); false: it does not fit. */
bool tl_named_fits(uint64_t *room, const struct stat *st);

#endif

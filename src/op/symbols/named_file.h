/* Files that a trace names: binaries that its functions are in. A trace may name any file, and any number of times. */
#ifndef TL_OP_NAMED_FILE_H
#define TL_OP_NAMED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Bytes of all binaries that are opened because one trace names them: reading symbols and lines takes its time. */
#define TL_NAMED_BYTES_MAX (UINT64_C(16) << 30)

typedef enum tl_named { TL_NAMED_GOOD, TL_NAMED_MISSING, TL_NAMED_IRREGULAR } tl_named;

/* Whether a file may be opened because a trace names it: a pipe would be waited for, a device may do anything when it
 * is opened, and "-" would be standard input. *st is filled in, unless the file is missing. */
tl_named tl_named_file(const char *path, struct stat *st);
/* Takes the size of a file out of the room that is left (at first TL_NAMED_BYTES_MAX); false: it does not fit. */
bool tl_named_fits(uint64_t *room, const struct stat *st);

#endif

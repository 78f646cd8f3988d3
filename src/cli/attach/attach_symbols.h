/* Names in the C library of a process. */
#ifndef TL_CLI_ATTACH_SYMBOLS_H
#define TL_CLI_ATTACH_SYMBOLS_H

#include "cli/attach/attach.h"

/* Adds the functions of a library, loaded at `bias`, to a->function and a->waits. False: it cannot be read, or no
 * memory. */
bool tl_attach_symbols_add(tl_attach *a, const char *path, uint64_t bias);
/* Does the file export malloc()? True also if it cannot be read. */
bool tl_attach_symbols_allocate(const char *path);

#endif

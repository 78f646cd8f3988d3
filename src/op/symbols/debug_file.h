/* Finds the separate debug file of a binary. */
#ifndef TL_OP_DEBUG_FILE_H
#define TL_OP_DEBUG_FILE_H

#include "base/elf/elf_file.h"

#define TL_DEBUG_ROOT "/usr/lib/debug" /* where distributions put debug files */

/* Opens the debug file of elf: by build-id under root/.build-id, or by debuglink beside the binary, in .debug/ beside
 * it, or under root. Rejects files of another build (by build-id, or by CRC if one of both has no build-id).
 * Returns 1 and the open file, 0 if there is none, or TL_ENOMEM. *refused, if `refused` is not NULL: the path of a
 * rejected one, to be freed, if there is none; it must be NULL before. */
int tl_debug_file_open(tl_elf **out, const tl_elf *elf, const char *root, char **refused, tl_error *e);

#endif

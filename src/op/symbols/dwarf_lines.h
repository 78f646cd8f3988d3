/* Source files and lines of functions, from DWARF. */
#ifndef TL_OP_DWARF_LINES_H
#define TL_OP_DWARF_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Calls found(arg, i, file, line) at most once for each of the n addresses, which are ascending and without repetition:
 * with the place where the function that begins there was declared, else with that of the first row of the line table
 * that covers it. The file is as the DWARF file table says, joined with its folder; it is borrowed for the call. A
 * found that returns negative ends the search, and its value is returned; whatever is wrong with the file or its DWARF
 * means only that nothing more is found, and 0. Without libdw nothing is found at all. */
int tl_dwarf_lines(const char *path, const uint64_t *address, size_t n,
                   int (*found)(void *arg, size_t i, const char *file, uint32_t line), void *arg);

#endif

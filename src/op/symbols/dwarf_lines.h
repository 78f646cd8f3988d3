/* Source files and lines of functions, from DWARF. */
#ifndef TL_OP_DWARF_LINES_H
#define TL_OP_DWARF_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Calls found(arg, i, file, line) at most once for each of the n addresses, which are ascending and without repetition:
 * with the declaration of the function that begins there, else with the first row of the line table that covers it. The
 * file is that of the DWARF file table, joined with its folder, borrowed for the call. If found() returns a negative
 * value, the search ends and returns it; errors in the file or its DWARF only end the search, with 0. Without libdw
 * nothing is found at all. */
int tl_dwarf_lines(const char *path, const uint64_t *address, size_t n,
                   int (*found)(void *arg, size_t i, const char *file, uint32_t line), void *arg);

#endif

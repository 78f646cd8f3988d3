/* What a function without a name is called: by its place, "lua5.4+0x8870". */
#ifndef TL_OP_PLACE_NAME_H
#define TL_OP_PLACE_NAME_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/io/base_name.h"

enum { TL_PLACE_NAME = 288 }; /* bytes: a file's name has at most 255 */

/* The base name of the object's file, and the address in that file, as objdump has it. A longer base name is cut.
 * Returns `out`. */
static inline const char *tl_place_name(char out[static TL_PLACE_NAME], const char *path, uint64_t address)
{
    snprintf(out, TL_PLACE_NAME, "%.256s+0x%" PRIx64, tl_base_name(path), address);
    return out;
}

/* Is that the name of a function at the address? */
static inline bool tl_is_place_name(const char *name, uint64_t address)
{
    char end[24];
    const size_t n = strlen(name), k = (size_t)snprintf(end, sizeof end, "+0x%" PRIx64, address);
    return n > k && memcmp(name + n - k, end, k) == 0;
}

#endif

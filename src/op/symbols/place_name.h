/* What a function without a name is called: by its place, "lua5.4+0x8870". */
#ifndef TL_OP_PLACE_NAME_H
#define TL_OP_PLACE_NAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/io/base_name.h"
#include "base/text/number.h"

enum { TL_PLACE_NAME = 288 }; /* bytes: a file's name has at most 255 */

/* The base name of the object's file, and the address in that file, as objdump has it. A longer base name is cut.
 * Returns `out`. */
static inline const char *tl_place_name(char out[static TL_PLACE_NAME], const char *path, uint64_t address)
{
    const char *base = tl_base_name(path);
    const size_t n = strnlen(base, 256);
    memcpy(out, base, n);
    memcpy(out + n, "+0x", 3);
    *tl_put_hex(out + n + 3, address) = 0;
    return out;
}

/* Is that the name of a function at the address? */
static inline bool tl_is_place_name(const char *name, uint64_t address)
{
    char end[24] = "+0x";
    const size_t n = strlen(name), k = (size_t)(tl_put_hex(end + 3, address) - end);
    return n > k && memcmp(name + n - k, end, k) == 0;
}

#endif

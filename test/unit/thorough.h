/* Tests of all cuts, bytes and bits of a file: `make check` tries some of them, `make slow` tries all. */
#ifndef TL_UNIT_THOROUGH_H
#define TL_UNIT_THOROUGH_H

#include <stddef.h>
#include <stdlib.h>

/* One in how many is tried: `usual`, which should have no factor in common with the sizes of fields. */
static inline size_t one_in(size_t usual)
{
    const char *thorough = getenv("TL_THOROUGH");
    return thorough != NULL && *thorough != '\0' ? 1 : usual;
}

#endif

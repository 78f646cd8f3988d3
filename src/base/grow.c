/* Doubling. */
#include "base/grow.h"

#include <stdlib.h>

#define LEAST 64u

bool tl_grow(void **array, uint32_t n, uint32_t more, uint32_t *capacity, size_t size)
{
    uint32_t room = *capacity ? *capacity : LEAST;
    size_t bytes;
    if (more <= *capacity - n)
        return true;
    while (room - n < more) {
        if (room > UINT32_MAX / 2)
            return false;
        room *= 2;
    }
    if (__builtin_mul_overflow((size_t)room, size, &bytes))
        return false;
    void *larger = realloc(*array, bytes);
    if (!larger)
        return false;
    *array = larger;
    *capacity = room;
    return true;
}

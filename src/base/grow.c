/* Doubling. */
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#define LEAST    64u
#define LEAST_TO 16u

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

bool tl_grow_to(void **array, uint32_t *n, uint32_t index, uint32_t most, size_t size)
{
    uint64_t room = *n ? *n : LEAST_TO;
    size_t bytes;
    if (index < *n)
        return true;
    if (index >= most)
        return false;
    while (room <= index)
        room *= 2;
    if (room > UINT32_MAX || __builtin_mul_overflow((size_t)room, size, &bytes))
        return false;
    char *larger = realloc(*array, bytes);
    if (!larger)
        return false;
    memset(larger + *n * size, 0, bytes - *n * size);
    *array = larger;
    *n = (uint32_t)room;
    return true;
}

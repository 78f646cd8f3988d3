/* Room at the end of an array that grows by doubling. */
#ifndef TL_ANALYSIS_LIST_GROW_H
#define TL_ANALYSIS_LIST_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Room for element number n of an array of `capacity` elements of `size` bytes. NULL when memory runs out (or 2^31
 * elements are not enough); the array is then unchanged. Otherwise the array, which may have moved. */
static inline void *tl_list_room(void *array, uint32_t n, uint32_t *capacity, size_t size)
{
    if (n < *capacity)
        return array;
    if (*capacity >= UINT32_C(1) << 31)
        return NULL;
    const uint32_t wish = *capacity ? 2 * *capacity : 64;
    void *larger = wish <= SIZE_MAX / size ? realloc(array, wish * size) : NULL;
    if (larger)
        *capacity = wish;
    return larger;
}

#endif

/* Doubling. The first capacity is small, because many arrays are one for each thread, stream or place. */
#include "base/grow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 128u

uint64_t tl_grow_room(uint64_t n, uint64_t more, uint64_t capacity, uint64_t most, uint64_t size)
{
    if (n > most || more > most - n)
        return 0;
    const uint64_t least = n + more, first = FIRST_BYTES / size;
    const uint64_t twice = capacity > most / 2 ? most : 2 * capacity;
    const uint64_t room = twice > first ? twice : first;
    return room > least ? room : least;
}

void *tl_alloc(size_t n, size_t size)
{
    void *array = NULL;
    return tl_resize(&array, n, size) ? array : NULL;
}

bool tl_resize(void *array, size_t n, size_t size)
{
    void *old;
    if (n > PTRDIFF_MAX / size)
        return false;
    memcpy(&old, array, sizeof old);
    void *moved = realloc(old, n ? n * size : 1);
    if (moved)
        memcpy(array, &moved, sizeof moved);
    return moved != NULL;
}

static size_t get(const void *number, size_t width)
{
    uint32_t narrow = 0;
    size_t wide = 0;
    assert(width == sizeof narrow || width == sizeof wide);
    memcpy(width == sizeof wide ? (void *)&wide : &narrow, number, width);
    return width == sizeof wide ? wide : narrow;
}

bool tl_grow(void *array, size_t n, size_t more, void *capacity, size_t width, size_t size)
{
    const size_t bytes = PTRDIFF_MAX / size;
    const size_t most = width == sizeof(uint32_t) && bytes > UINT32_MAX ? UINT32_MAX : bytes;
    const size_t room = (size_t)tl_grow_room(n, more, get(capacity, width), most, size);
    if (room == 0 || !tl_resize(array, room, size))
        return false;
    if (width == sizeof room)
        memcpy(capacity, &room, sizeof room);
    else
        *(uint32_t *)capacity = (uint32_t)room;
    return true;
}

bool tl_grow_to(void *array, void *n, size_t width, size_t index, size_t most, size_t size)
{
    const size_t before = get(n, width);
    char *first;
    if (index >= most || !tl_grow(array, before, index - before + 1, n, width, size))
        return false;
    memcpy(&first, array, sizeof first);
    memset(first + before * size, 0, (get(n, width) - before) * size);
    return true;
}

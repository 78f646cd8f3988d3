/* Arrays: sizes that cannot overflow, and growth while elements are added. Nothing else in the library calls realloc().
 * A function that returns false leaves array and capacity unchanged. */
#ifndef TL_BASE_GROW_H
#define TL_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* Makes room for `more` elements after the first n. `capacity` is a uint32_t or a size_t variable; it at least doubles
 * if it has to grow. False when memory runs out, or the capacity is too narrow. The arguments are evaluated twice. */
#define TL_GROW(array, n, more, capacity)                                                                              \
    ((more) <= (capacity) - (n) || tl_grow(&(array), (n), (more), &(capacity), sizeof(capacity), sizeof *(array)))

/* Ensures that element `index` exists in an array of n elements; new elements are zeroed. n is like a capacity above.
 * False also if the index is not below `most`. */
#define TL_GROW_TO(array, n, index, most)                                                                              \
    ((index) < (n) || tl_grow_to(&(array), &(n), sizeof(n), (index), (most), sizeof *(array)))

/* Changes the size to exactly n elements. False when memory runs out, or no object can be so large. */
#define TL_RESIZE(array, n) tl_resize(&(array), (n), sizeof *(array))

/* `array` points to a pointer to elements of `size` bytes; `capacity` and `n` point to a number of `width` bytes. */
TL_COLD bool tl_grow(void *array, size_t n, size_t more, void *capacity, size_t width, size_t size);
TL_COLD bool tl_grow_to(void *array, void *n, size_t width, size_t index, size_t most, size_t size);
bool tl_resize(void *array, size_t n, size_t size);

/* Allocates n elements of `size` bytes. NULL when memory runs out, or no object can be so large; not if n is 0. */
void *tl_alloc(size_t n, size_t size);

/* The capacity that tl_grow() chooses in place of one that is too small; 0 if it would exceed `most`, which follows
 * from the host's size_t and the width of the capacity. 64 bits on any host, so that tests can check every host. */
uint64_t tl_grow_room(uint64_t n, uint64_t more, uint64_t capacity, uint64_t most, uint64_t size);

#endif

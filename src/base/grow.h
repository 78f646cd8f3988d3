/* Arrays that grow while elements are added to them. */
#ifndef TL_BASE_GROW_H
#define TL_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes room for `more` elements after the first n; `capacity` at least doubles if it has to grow. False when memory
 * runs out; then the array is unchanged. */
bool tl_grow(void **array, uint32_t n, uint32_t more, uint32_t *capacity, size_t size);

/* The same for an array, its capacity, and the size of its elements. */
#define TL_GROW(array, n, more, capacity) tl_grow((void **)&(array), (n), (more), &(capacity), sizeof *(array))

/* Ensures that element `index` exists in an array of *n elements; new elements are zeroed. False when memory runs out,
 * or if the index is not below `most`; then the array is unchanged. */
bool tl_grow_to(void **array, uint32_t *n, uint32_t index, uint32_t most, size_t size);

#define TL_GROW_TO(array, n, index, most) tl_grow_to((void **)&(array), &(n), (index), (most), sizeof *(array))

#endif

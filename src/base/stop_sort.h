/* A sort that its caller can stop: qsort_r() of millions of elements takes seconds. */
#ifndef TL_BASE_STOP_SORT_H
#define TL_BASE_STOP_SORT_H

#include <stdbool.h>
#include <stddef.h>

/* Sorts n elements of `width` bytes as qsort_r() does; equal ones keep no order. `stop` (or NULL) is asked every few
 * milliseconds. Returns 0; TL_ELIMIT if it said so, TL_ENOMEM: the elements are then all there, in no order. */
int tl_stop_sort(void *base, size_t n, size_t width, int (*compare)(const void *a, const void *b, void *arg), void *arg,
                 bool (*stop)(void *arg), void *stop_arg);

#endif

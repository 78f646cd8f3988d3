/* Worker threads for independent tasks. */
#ifndef TL_BASE_POOL_H
#define TL_BASE_POOL_H

#include <stdint.h>

/* Processors that this process may use, at least 1. */
unsigned tl_processors(void);

/* Calls task(arg, worker, i) for every i in 0 .. n-1, each once, on up to `threads` threads (worker 0 .. threads-1; the
 * calling thread is one of them). i is given out in ascending order. After a task returns < 0, no more are given out;
 * that value (of the lowest i) is returned, else 0. If a thread cannot be created, fewer are used. */
int tl_parallel(unsigned threads, uint32_t n, int (*task)(void *arg, unsigned worker, uint32_t i), void *arg);

#endif

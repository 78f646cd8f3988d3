/* Where the planner's arrays live: it runs inside of recorded processes, where no allocator may be called. */
#ifndef TL_PATCH_MEMORY_H
#define TL_PATCH_MEMORY_H

#include <stddef.h>

typedef struct patch_memory {
    void *(*take)(size_t n); /* zero, aligned to 8; NULL: none */
    void (*give)(void *p, size_t n);
    void *(*grow)(void *p, size_t from, size_t to); /* may move; the new part is zero; NULL: p is as it was */
} patch_memory;

#endif

/* Where the planner's arrays live: it runs inside of recorded processes, where no allocator may be called. */
#ifndef TL_PATCH_MEMORY_H
#define TL_PATCH_MEMORY_H

#include <stddef.h>

typedef struct patch_memory {
    void *(*take)(size_t n); /* zero, aligned to 8; NULL: none */
    void (*give)(void *p, size_t n);
    void *(*grow)(void *p, size_t from, size_t to); /* may move; the new part is zero; NULL: p is as it was */
    void *(*lend)(size_t n); /* as take(), for an array that is given back before a plan, or its places, are finished;
                                give() and grow() know it. NULL: take() does that, too */
} patch_memory;

/* All of whose arrays are lent. */
static inline patch_memory patch_memory_brief(const patch_memory *m)
{
    patch_memory brief = *m;
    if (m->lend)
        brief.take = m->lend;
    return brief;
}

static inline void patch_give(const patch_memory *m, void *p, size_t n)
{
    if (p)
        m->give(p, n);
}

#endif

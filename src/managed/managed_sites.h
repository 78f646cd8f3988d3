/* Allocations of a thread, summed by stack and class until the writer gets them: a program may make a hundred million
 * objects a second.
 *
 * A runtime that tells of an object
 *
 *   leaves it out if managed_sites_passes() says so, before it looks at the stack,
 *   walks the stack into managed_sites_stack(),
 *   and calls managed_sites_add(). */
#ifndef TL_MANAGED_SITES_H
#define TL_MANAGED_SITES_H

#include "managed/managed_thread.h"

/* A stack as it was walked: innermost first. */
typedef struct managed_stack {
    uint32_t n;
    bool cut;
    struct {
        const void *method;
        uint64_t ip;
    } frame[MANAGED_DEPTH];
} managed_stack;

/* Is the object one that no sample stands for (managed_settings.alloc)? `bytes` may be a guess, as long as others of
 * its size get the same. */
static inline bool managed_sites_passes(managed_thread *t, uint64_t bytes)
{
    return managed_sampler_passes(&t->sampler, bytes);
}

/* Adds an object that was not left out, and those that it stands for. False: the class is new in this thread; the
 * caller makes it known (managed_class_known()) and then calls again with `known`. */
bool managed_sites_add(managed_thread *t, const managed_stack *s, const void *class, uint64_t bytes, bool known);
/* Sends what is there to the writer; of another thread only at the end. */
void managed_sites_flush(managed_thread *t);
void managed_sites_free(managed_thread *t);
/* The stack that the calling thread walks an allocation into; NULL: no memory. */
managed_stack *managed_sites_stack(managed_thread *t);

#endif

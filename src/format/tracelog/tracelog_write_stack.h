/* Stacks as differences: a sam str line contains how its thread's stack differs from the previous one. */
#ifndef TL_FORMAT_TRACELOG_WRITE_STACK_H
#define TL_FORMAT_TRACELOG_WRITE_STACK_H

#include "base/arena.h"
#include "base/hash.h"
#include "format/tracelog/tracelog_classes.h"

/* A frame of a written stack. */
typedef struct tracelog_level {
    uint64_t function, ip; /* 0 if unknown */
    const tl_frame *node;  /* its origin; only valid while ... */
    uint32_t lasts;        /* 0: tracelog_thread.contents is the writer's; otherwise `held` is */
    uint32_t flags;        /* tl_frame_flags */
} tracelog_level;

/* What a reader of the lines so far knows about a thread. */
typedef struct tracelog_thread {
    tracelog_level *level; /* the stack, outermost first */
    uint32_t n, capacity;
    bool has_os_id;
    uint64_t os_id;          /* of the latest thr aos */
    uint64_t contents, held; /* of the batch of the frames in `level` */
} tracelog_thread;

typedef struct tracelog_threads {
    tracelog_thread *thread;
    uint32_t n, capacity;
    tl_hash index;    /* iid -> index */
    uint32_t unknown; /* index + 1 of the thread "?" */
    uint32_t last;    /* index + 1 of the last one asked for, with this iid: */
    uint64_t last_iid;
    const tl_frame **walk; /* of the current stack, outermost first */
    uint32_t walk_capacity;
    uint64_t contents, held; /* of the batch: with the same values, equal pointers mean equal stacks; 0: unknown */
} tracelog_threads;

void tracelog_threads_fini(tracelog_threads *t); /* after zeroing */
/* NULL when memory runs out. Valid until the next call. */
tracelog_thread *tracelog_threads_find(tracelog_threads *t, bool known, uint64_t iid);

TL_ALWAYS_INLINE tracelog_thread *tracelog_threads_get(tracelog_threads *t, bool known, uint64_t iid)
{
    if (TL_LIKELY(t->last && known && t->last_iid == iid))
        return &t->thread[t->last - 1];
    return tracelog_threads_find(t, known, iid);
}

/* The next frames are from this batch. */
static inline void tracelog_threads_run(tracelog_threads *t, const tl_batch *b)
{
    t->contents = b->arena ? b->arena->contents : 0;
    t->held = b->arena ? tl_arena_held(b->arena) : 0;
}

/* How a stack differs from the previous one. */
typedef struct tracelog_change {
    uint32_t kept, size; /* matchPrefixSize and stackSize */
    bool moved;          /* the call point of the last kept frame differs */
} tracelog_change;

#define TRACELOG_KEPT_UNKNOWN UINT32_MAX

/* Sets the stack of a thread to the one with innermost frame `top`, keeping `kept` frames unchanged if possible;
 * otherwise as many as are the same. *too_deep counts stacks cut at TRACELOG_DEPTH_MAX. False when memory runs out:
 * then the stack is unchanged. */
bool tracelog_stack_set(tracelog_threads *t, tracelog_thread *thread, const tl_frame *top, uint32_t kept,
                        tracelog_change *out, uint64_t *too_deep);

/* Makes room for n frames. False when memory runs out. */
bool tracelog_stack_reserve(tracelog_thread *thread, uint32_t n);

#endif

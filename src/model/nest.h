/* Calls that nest, for writers of timelines whose consumers treat "begin" and "end" as brackets.
 *
 * Each track has a stack of open functions and a time that does not go back. An exit closes the nearest open call of
 * its function and all calls above it; an exit of a function that is not open is dropped. */
#ifndef TL_MODEL_NEST_H
#define TL_MODEL_NEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/hash.h"
#include "model/trace_impl.h"

/* Deepest stack that is tracked. Deeper entries, and as many exits after them, are left out: logs that lost their exits
 * would grow without end, and no real stack of 8 MB holds more frames. */
#define TL_NEST_DEPTH_MAX (1u << 20)

typedef struct tl_nest_track {
    uint64_t *open; /* functions, outermost first */
    uint32_t n, capacity;
    uint32_t beyond; /* open calls above TL_NEST_DEPTH_MAX */
    bool started;
    uint64_t last; /* the latest time so far */
    bool counted;  /* `count` is in use, since a search for a function went deep */
    tl_hash count; /* function -> its open calls */
} tl_nest_track;

typedef struct tl_nest {
    tl_nest_track *track;
    uint32_t ntrack;
    uint64_t unmatched_exits; /* exits of functions that were not open */
    uint64_t too_deep;        /* entries that were left out */
    uint64_t moved;           /* times that went back */
} tl_nest;

void tl_nest_fini(tl_nest *nest); /* a zeroed tl_nest is empty */
bool tl_nest_push_slow(tl_nest *nest, tl_nest_track *t, uint64_t function);
uint32_t tl_nest_find_slow(tl_nest *nest, tl_nest_track *t, uint64_t function);
void tl_nest_uncount(tl_nest_track *t, uint64_t function);

/* NULL when memory runs out. Valid until the next call. */
TL_ALWAYS_INLINE tl_nest_track *tl_nest_get(tl_nest *nest, uint32_t track)
{
    return TL_GROW_TO(nest->track, nest->ntrack, track, TL_TRACKS_MAX) ? &nest->track[track] : NULL;
}

/* The time of the next event, or of the one before if that is later. */
TL_ALWAYS_INLINE uint64_t tl_nest_time(tl_nest *nest, tl_nest_track *t, uint64_t ts)
{
    if (TL_UNLIKELY(t->started && ts < t->last)) {
        nest->moved++;
        return t->last;
    }
    t->started = true;
    return t->last = ts;
}

/* The same without nesting: times may go back. */
TL_ALWAYS_INLINE uint64_t tl_nest_own_time(tl_nest_track *t, uint64_t ts)
{
    t->last = t->started && t->last > ts ? t->last : ts;
    t->started = true;
    return ts;
}

typedef enum tl_nest_result { TL_NEST_NO_MEMORY, TL_NEST_OPENED, TL_NEST_TOO_DEEP } tl_nest_result;

/* Opens a call. */
TL_ALWAYS_INLINE tl_nest_result tl_nest_enter(tl_nest *nest, tl_nest_track *t, uint64_t function)
{
    if (TL_UNLIKELY(t->n == TL_NEST_DEPTH_MAX)) {
        t->beyond++;
        nest->too_deep++;
        return TL_NEST_TOO_DEEP;
    }
    if (TL_LIKELY(t->n < t->capacity && !t->counted)) {
        t->open[t->n++] = function;
        return TL_NEST_OPENED;
    }
    return tl_nest_push_slow(nest, t, function) ? TL_NEST_OPENED : TL_NEST_NO_MEMORY;
}

/* How many calls an exit closes, from the top; 0: it is left out. The caller pops them. */
TL_ALWAYS_INLINE uint32_t tl_nest_exit(tl_nest *nest, tl_nest_track *t, uint64_t function)
{
    if (TL_LIKELY(t->n > 0 && t->open[t->n - 1] == function && t->beyond == 0))
        return 1;
    return tl_nest_find_slow(nest, t, function);
}

/* Closes the innermost call and returns its function. */
TL_ALWAYS_INLINE uint64_t tl_nest_pop(tl_nest_track *t)
{
    uint64_t function = t->open[--t->n];
    if (TL_UNLIKELY(t->counted))
        tl_nest_uncount(t, function);
    return function;
}

#endif

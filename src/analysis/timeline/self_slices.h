/* Self time by place and slice of time. A call's self time is split where it crosses the border of a slice, so that the
 * sum over all slices is the self time of the place, to the last tick.
 *
 * A call comes after the calls that it made, so what these took of each slice waits until it comes. They do not
 * overlap, so no more pieces wait than there are open calls and slices, unless the clock goes back. */
#ifndef TL_ANALYSIS_SELF_SLICES_H
#define TL_ANALYSIS_SELF_SLICES_H

#include "analysis/timeline/time_axis.h"
#include "model/histogram.h"

#define TL_SLICE_BLOCK 8u /* slices that get memory together */

typedef struct tl_slice_cell {
    uint64_t self, calls; /* calls: those that begin here */
} tl_slice_cell;

typedef struct tl_self_slices {
    tl_time_axis axis;
    uint32_t slots;
    uint32_t *block; /* by slot and block of slices: 1 + its place in `cell`; 0: all zero */
    tl_slice_cell *cell;
    uint32_t nblock, capacity; /* in blocks */
    uint64_t *scratch;         /* [slices] */
} tl_self_slices;

/* What calls on one track took of their callers. */
typedef struct tl_slice_piece {
    uint64_t caller, ticks; /* caller: id of its call */
    uint32_t depth, slice;  /* depth: of the calls */
} tl_slice_piece;

/* A zeroed one is empty. */
typedef struct tl_slice_wait {
    tl_slice_piece *piece;
    uint32_t n, capacity;
} tl_slice_wait;

/* A call to be added. */
typedef struct tl_slice_call {
    uint64_t id, caller; /* caller: UINT64_MAX: none */
    uint64_t begin, end, self;
    uint32_t depth; /* 1: outermost */
    uint32_t slot;  /* UINT32_MAX: it does not count, but is not its caller's time either */
    bool is_open;   /* it has no end, and is no call */
} tl_slice_call;

/* tl_self_slices_fini() in any case. False when memory runs out, as below. */
bool tl_self_slices_init(tl_self_slices *s, const tl_time_axis *axis, uint32_t slots);
void tl_self_slices_fini(tl_self_slices *s);
bool tl_self_slices_add(tl_self_slices *s, tl_slice_wait *w, const tl_slice_call *c);
bool tl_self_slices_put(tl_self_slices *s, uint32_t slot, uint32_t slice, uint64_t self, uint64_t calls);
/* Adds all of another one with the same axis and slots. */
bool tl_self_slices_merge(tl_self_slices *s, const tl_self_slices *from);
tl_slice_cell tl_self_slices_get(const tl_self_slices *s, uint32_t slot, uint32_t slice);

bool tl_slice_wait_push_slow(tl_slice_wait *w, const tl_slice_piece *p);

/* A call waits for its caller. */
TL_ALWAYS_INLINE bool tl_slice_wait_push(tl_slice_wait *w, uint64_t caller, uint32_t depth, uint32_t slice,
                                         uint64_t ticks)
{
    tl_slice_piece *last = w->n ? &w->piece[w->n - 1] : NULL;
    if (TL_LIKELY(last && last->depth == depth && last->slice == slice && last->caller == caller)) {
        last->ticks = tl_add_saturated(last->ticks, ticks);
        return true;
    }
    return tl_slice_wait_push_slow(w, &(tl_slice_piece){caller, ticks, depth, slice});
}

/* tl_self_slices_add() of a call within one slice, but for what tl_self_slices_put() adds: the sums of several. */
TL_ALWAYS_INLINE bool tl_slice_wait_short(tl_slice_wait *w, uint64_t caller, uint32_t depth, uint32_t slice,
                                          uint64_t ticks)
{
    while (w->n && w->piece[w->n - 1].depth > depth)
        w->n--;
    return caller == UINT64_MAX || tl_slice_wait_push(w, caller, depth, slice, ticks);
}

#endif

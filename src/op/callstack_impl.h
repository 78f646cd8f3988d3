/* Internals of a tl_callstack, for callstack.c, callstack_loops.c and callstack_state.c. The hot loop of every profile
 * is made of the inline functions. */
#ifndef TL_OP_CALLSTACK_IMPL_H
#define TL_OP_CALLSTACK_IMPL_H

#include "base/text/number.h"
#include "op/call_select.h"
#include "op/callstack.h"

/* An open call. */
typedef struct tl_call_frame {
    uint64_t key; /* function id */
    uint64_t entered;
    uint64_t children; /* ticks of the calls made from here */
    uint64_t inner;    /* ticks of closed inner calls of the same function, not in any total yet */
    uint32_t place, function;
    uint32_t below; /* 1 + index of the next lower frame of the same function; 0: none */
    uint32_t selected : 1;
    uint32_t begun : 1;   /* 0: unknown begin, so it is not a call */
    uint32_t repeat : 30; /* how often its function is on the stack so far, without the first `loops_from` frames */
} tl_call_frame;

/* What rows and slots need of it besides. Kept apart: profiles take 5 % longer with larger frames. */
typedef struct tl_call_origin {
    uint64_t id;   /* of its entry */
    uint32_t tree; /* place that the finder found */
    int32_t cpu;
} tl_call_origin;

/* State of a function on one thread's stack. */
typedef struct tl_call_on_stack {
    uint32_t top;   /* 1 + index of its topmost frame; 0: not on the stack */
    uint32_t place; /* flat profiles: its place; 0: none yet */
} tl_call_on_stack;

typedef struct tl_call_thread {
    tl_call_frame *stack;
    tl_call_origin *origin; /* of the frames, for rows and slots; otherwise NULL */
    uint32_t depth, capacity;
    uint32_t root;              /* parent of the outermost calls */
    uint32_t tree;              /* the same in the tree of the finder */
    uint64_t too_deep;          /* entries beyond TL_STACK_DEPTH_MAX whose exits must be skipped */
    tl_call_on_stack *function; /* by function of the profile */
    uint32_t nfunction;
    bool used;
} tl_call_thread;

/* What becomes of calls. A constant in the loops, which are compiled for each. */
typedef enum tl_call_way { TL_CALLS_TO_PLACES, TL_CALLS_TO_ROWS, TL_CALLS_TO_SLOTS } tl_call_way;

struct tl_callstack {
    tl_profile *p;
    const tl_trace *trace;
    tl_call_way way;
    bool flat, per_thread, selecting;
    bool by_time; /* selecting by time and duration alone */
    tl_call_select select;
    uint8_t *kind;          /* by class: TL_ENTER, TL_EXIT or anything else */
    tl_call_thread *thread; /* by track */
    uint32_t *begun;        /* the tracks that have begun since the last finish */
    uint32_t nbegun, begun_capacity, ntrack;
    uint32_t loops_from;   /* repeats of functions are counted beyond this many frames */
    bool has_origins;      /* rows or slots need more than the frames */
    tl_call_rows *rows;    /* of TL_CALLS_TO_ROWS */
    tl_call_slots *slots;  /* of TL_CALLS_TO_SLOTS: places of the profile */
    tl_call_finder finder; /* of rows and slots, if they have places */
    const uint64_t *id;    /* of the batch, or NULL: ... */
    uint64_t first;        /* ... that of its first event */
    uint64_t late_ends;    /* how often loops were unwound */
};

/* First event of a track: finds the root of its tree. The next two make room for a function in the thread's table, and
 * for a frame. All are false when memory runs out. */
TL_COLD bool tl_callstack_begin_thread(tl_callstack *c, uint32_t track);
TL_COLD bool tl_callstack_grow_functions(tl_call_thread *th, uint32_t function);
TL_COLD bool tl_callstack_grow_stack(const tl_callstack *c, tl_call_thread *th);

TL_ALWAYS_INLINE void tl_call_add(uint64_t *sum, uint64_t v)
{
    *sum = tl_add_saturated(*sum, v);
}

/* Adds ticks to the total of a function, or holds them back while an enclosing call of it is open. */
TL_ALWAYS_INLINE void tl_callstack_pass_on(tl_callstack *c, tl_call_thread *th, const tl_call_frame *f, uint64_t ticks)
{
    if (f->below)
        tl_call_add(&th->stack[f->below - 1].inner, ticks);
    else
        tl_call_add(&c->p->stat[f->place].outer, ticks);
}

/* Adds a closed call to its place; false when memory runs out. */
TL_ALWAYS_INLINE bool tl_callstack_add_call(tl_profile *p, uint32_t place, uint64_t ticks, uint64_t self)
{
    tl_place_stat *s = &p->stat[place];
    s->calls++;
    tl_call_add(&s->total, ticks);
    tl_call_add(&s->self, self);
    if (ticks < s->min)
        s->min = ticks;
    if (ticks > s->max)
        s->max = ticks;
    return tl_hist_add(&s->hist, ticks);
}

/* The row of a call that was on top; false when memory runs out. */
TL_ALWAYS_INLINE bool tl_callstack_put_row(tl_callstack *c, uint32_t track, const tl_call_thread *th,
                                           const tl_call_frame *f, uint64_t exit, uint64_t ticks, uint64_t self,
                                           uint8_t flags)
{
    tl_call_rows *r = c->rows;
    if (TL_UNLIKELY(r->n == r->capacity) && !tl_call_rows_grow(r))
        return false;
    const tl_call_frame *below = th->depth ? f - 1 : NULL;
    const uint32_t n = r->n++;
    if (r->without == TL_CALL_ALL_PARTS)
        return true;
    if (!(r->without & TL_CALL_IDS)) {
        const tl_call_origin *origin = &th->origin[th->depth];
        r->id[n] = origin->id;
        r->exit[n] = exit;
        r->parent[n] = below && below->begun ? origin[-1].id : TL_CALL_NO_ID;
        r->cpu[n] = origin->cpu;
    }
    if (!(r->without & TL_CALL_TIMES)) {
        r->begin[n] = f->entered;
        r->end[n] = f->entered + ticks;
        r->self[n] = self;
    }
    if (!(r->without & TL_CALL_FUNCTIONS)) {
        r->function[n] = f->function;
        r->caller[n] = below ? below->function : TL_CALL_NONE;
    }
    if (!(r->without & TL_CALL_POSITIONS)) {
        r->place[n] = c->finder.places ? tl_call_finder_number(&c->finder, th->origin[th->depth].tree) : TL_CALL_NONE;
        r->track[n] = track;
        r->depth[n] = th->depth + 1;
    }
    if (!(r->without & TL_CALL_FLAGS))
        r->flags[n] = flags | (f->below ? 0 : TL_CALL_OUTERMOST);
    return true;
}

/* Closes the topmost frame. `exit`: the id of its exit, for rows; way: that of the tl_callstack, for the compiler.
 * False when memory runs out. */
TL_ALWAYS_INLINE bool tl_callstack_close_top(tl_callstack *c, uint32_t track, tl_call_thread *th, uint64_t ts,
                                             uint64_t exit, const tl_call_way way)
{
    const tl_call_frame *f = &th->stack[--th->depth];
    uint64_t ticks = ts - f->entered;
    if (TL_UNLIKELY(ticks >> 63)) /* the clock went back */
        ticks = 0;
    const uint64_t self = ticks > f->children ? ticks - f->children : 0;
    th->function[f->function].top = f->below;
    if (th->depth)
        tl_call_add(&th->stack[th->depth - 1].children, ticks);
    const bool counts = !c->selecting || (f->selected && ts < c->select.to && ticks >= c->select.select->min_ticks);
    if (way == TL_CALLS_TO_ROWS)
        return !(counts || c->rows->all) ||
               tl_callstack_put_row(c, track, th, f, exit, ticks, self, counts ? 0 : TL_CALL_LEFT_OUT);
    tl_callstack_pass_on(c, th, f, counts ? ticks : f->inner);
    return !counts || tl_callstack_add_call(c->p, f->place, ticks, self);
}

/* Finds where the call is counted whose frame is above the top, from its function and the frame below; false when
 * memory runs out. In TL_CALLS_TO_SLOTS: */
TL_ALWAYS_INLINE bool tl_callstack_find_slot(tl_callstack *c, uint32_t track, const tl_call_thread *th)
{
    tl_call_frame *f = &th->stack[th->depth];
    const tl_call_origin *origin = c->has_origins ? &th->origin[th->depth] : NULL;
    const tl_call_key key = {.function = f->function,
                             .place = origin ? origin->tree : TL_CALL_NONE,
                             .track = track,
                             .depth = th->depth + 1,
                             .cpu = origin ? origin->cpu : -1};
    f->place = tl_call_slots_find(c->slots, c->p, key, f->entered);
    return f->place != TL_HASH_NONE;
}

/* The same with a place that is not known yet. */
TL_ALWAYS_INLINE bool tl_callstack_find_place(tl_callstack *c, uint32_t track, const tl_call_thread *th,
                                              const tl_call_way way)
{
    tl_call_frame *f = &th->stack[th->depth];
    if (way == TL_CALLS_TO_PLACES) {
        if (!c->flat)
            f->place = tl_profile_child(c->p, th->depth ? f[-1].place : th->root, f->function);
        return f->place != TL_HASH_NONE;
    }
    if (c->finder.places) {
        tl_call_origin *origin = &th->origin[th->depth];
        origin->tree = tl_call_finder_child(&c->finder, c->p, th->depth ? origin[-1].tree : th->tree, f->function);
        if (TL_UNLIKELY(origin->tree == TL_HASH_NONE) && c->finder.failed)
            return false;
    }
    return way == TL_CALLS_TO_ROWS || tl_callstack_find_slot(c, track, th);
}

/* ---- loops of exceptions (callstack_loops.c); those that close calls return false when memory runs out ---- */

/* Closes the topmost frame, whose exit is missing. */
bool tl_callstack_close_unwound(tl_callstack *c, uint32_t track, tl_call_thread *th, uint64_t ts);
/* Exceptions in a loop have left the frames from `from` on without exits. Rebuilds these frames: an entry of a function
 * that is already among them closes that call, with all above it, and has the same caller. Afterwards each function is
 * there once. */
bool tl_callstack_unwind_loops(tl_callstack *c, uint32_t track, tl_call_thread *th, uint32_t from);
/* Does a function among the frames from `from` on repeat as often as in a loop? */
bool tl_callstack_has_loops(const tl_call_thread *th, uint32_t from);
/* The stack is deeper than usual recursion: unwinds loops before an entry of the function of `on`. */
bool tl_callstack_unwind_at_entry(tl_callstack *c, uint32_t track, tl_call_thread *th, const tl_call_on_stack *on,
                                  uint64_t ts);

#endif

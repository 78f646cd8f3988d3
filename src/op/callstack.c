/* Matches entries and exits into calls. The hot loop of every profile: about a dozen instructions per event, no
 * allocation once the stacks have grown. */
#include "op/callstack.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "op/call_select.h"

enum { EXIT_OF_ANY = UINT8_MAX }; /* in place of a kind: an exit without a function */

/* An open call. */
typedef struct frame {
    uint64_t key; /* function id */
    uint64_t entered;
    uint64_t children; /* ticks of the calls made from here */
    uint64_t inner;    /* ticks of closed inner calls of the same function, not in any total yet */
    uint32_t place, function;
    uint32_t below; /* 1 + index of the next lower frame of the same function; 0: none */
    uint32_t selected : 1;
    uint32_t begun : 1;   /* 0: unknown begin, so it is not a call */
    uint32_t repeat : 30; /* how often its function is on the stack so far, without the first `loops_from` frames */
    uint64_t entry;       /* number of the event, for tl_call */
} frame;

/* State of a function on one thread's stack. */
typedef struct on_stack {
    uint32_t top;   /* 1 + index of its topmost frame; 0: not on the stack */
    uint32_t place; /* flat profiles: its place; 0: none yet */
} on_stack;

typedef struct thread {
    frame *stack;
    uint32_t depth, capacity;
    uint32_t root;      /* parent of the outermost calls */
    uint64_t too_deep;  /* entries beyond TL_STACK_DEPTH_MAX whose exits must be skipped */
    on_stack *function; /* by function of the profile */
    uint32_t nfunction;
    uint64_t events;
    bool used;
} thread;

struct tl_callstack {
    tl_profile *p;
    const tl_trace *trace;
    bool flat, per_thread, selecting;
    tl_call_select select;
    uint8_t *kind;   /* by class: TL_ENTER, TL_EXIT or anything else */
    thread *thread;  /* by track */
    uint32_t *begun; /* the tracks that have begun since the last finish */
    uint32_t nbegun, begun_capacity, ntrack;
    uint32_t loops_from; /* repeats of functions are counted beyond this many frames */
    void (*closed)(void *arg, const tl_call *call);
    void *arg;
};

int tl_callstack_new(tl_callstack **out, tl_profile *p, const tl_trace *t, const tl_profile_options *options,
                     tl_exits exits, tl_error *e)
{
    tl_callstack *c = calloc(1, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match calls");
    c->p = p;
    c->trace = t;
    c->flat = options->flat;
    c->per_thread = options->per_thread;
    c->selecting = options->select != NULL;
    c->loops_from = exits == TL_EXITS_MISSING ? TL_STACK_REPEATS : UINT32_MAX;
    c->kind = malloc(t->ncls + 1);
    c->ntrack = t->ntrack;
    c->thread = calloc((size_t)t->ntrack + 1, sizeof *c->thread);
    int status = c->kind && c->thread ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match calls");
    if (status == 0 && c->selecting)
        status = tl_call_select_init(&c->select, options->select, t, t->has_range ? t->begin : 0, e);
    if (status < 0) {
        tl_callstack_free(c);
        return status;
    }
    for (uint32_t i = 0; i < t->ncls; i++)
        c->kind[i] = t->cls[i].key == TL_KEY_FUNCTION                            ? (uint8_t)t->cls[i].kind
                     : t->cls[i].key == TL_KEY_NONE && t->cls[i].kind == TL_EXIT ? EXIT_OF_ANY
                                                                                 : (uint8_t)TL_INSTANT;
    *out = c;
    return 0;
}

void tl_callstack_on_call(tl_callstack *c, void (*closed)(void *arg, const tl_call *call), void *arg)
{
    c->closed = closed;
    c->arg = arg;
}

bool tl_callstack_matched(const tl_callstack *c, size_t i, bool not )
{
    return not ? c->select.hit_not[i] : c->select.hit[i];
}

void tl_callstack_free(tl_callstack *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->nbegun; i++) {
        free(c->thread[c->begun[i]].stack);
        free(c->thread[c->begun[i]].function);
    }
    tl_call_select_fini(&c->select);
    free(c->thread);
    free(c->begun);
    free(c->kind);
    free(c);
}

TL_ALWAYS_INLINE void add_saturated(uint64_t *sum, uint64_t v)
{
    *sum = tl_add_saturated(*sum, v);
}

/* Adds ticks to the total of a function, or holds them back while an enclosing call of it is open. */
TL_ALWAYS_INLINE void pass_on(tl_callstack *c, thread *th, const frame *f, uint64_t ticks)
{
    if (f->below)
        add_saturated(&th->stack[f->below - 1].inner, ticks);
    else
        add_saturated(&c->p->stat[f->place].outer, ticks);
}

/* Adds a closed call to its place; false when memory runs out. */
TL_ALWAYS_INLINE bool add_call(tl_profile *p, uint32_t place, uint64_t ticks, uint64_t self)
{
    tl_place_stat *s = &p->stat[place];
    s->calls++;
    add_saturated(&s->total, ticks);
    add_saturated(&s->self, self);
    if (ticks < s->min)
        s->min = ticks;
    if (ticks > s->max)
        s->max = ticks;
    return tl_hist_add(&s->hist, ticks);
}

TL_COLD static void tell(const tl_callstack *c, uint32_t track, const thread *th, const frame *f, uint64_t exit,
                         uint64_t ticks)
{
    const tl_call call = {.track = track, .depth = th->depth + 1, .entry = f->entry, .exit = exit, .ticks = ticks};
    c->closed(c->arg, &call);
}

/* Closes the topmost frame. False when memory runs out. */
TL_ALWAYS_INLINE bool close_top(tl_callstack *c, uint32_t track, thread *th, uint64_t ts, uint64_t exit)
{
    const frame *f = &th->stack[--th->depth];
    uint64_t ticks = ts - f->entered;
    if (TL_UNLIKELY(ticks >> 63)) /* the clock went back */
        ticks = 0;
    const uint64_t self = ticks > f->children ? ticks - f->children : 0;
    th->function[f->function].top = f->below;
    if (th->depth)
        add_saturated(&th->stack[th->depth - 1].children, ticks);
    if (TL_UNLIKELY(c->closed != NULL))
        tell(c, track, th, f, exit, ticks);
    if (TL_UNLIKELY(c->selecting) && (!f->selected || ts >= c->select.to || ticks < c->select.select->min_ticks)) {
        pass_on(c, th, f, f->inner);
        return true;
    }
    pass_on(c, th, f, ticks);
    return add_call(c->p, f->place, ticks, self);
}

/* Makes room for the function in the thread's table; false when memory runs out. */
TL_COLD static bool grow_functions(thread *th, uint32_t function)
{
    uint32_t n = th->nfunction ? th->nfunction : 256;
    while (n <= function)
        n *= 2;
    on_stack *larger = calloc(n, sizeof *larger);
    if (!larger)
        return false;
    if (th->nfunction)
        memcpy(larger, th->function, th->nfunction * sizeof *larger);
    free(th->function);
    th->function = larger;
    th->nfunction = n;
    return true;
}

TL_COLD static bool grow_stack(thread *th)
{
    const uint32_t capacity = th->capacity ? 2 * th->capacity : 64;
    if (!TL_RESIZE(th->stack, capacity))
        return false;
    th->capacity = capacity;
    return true;
}

/* First event of a track: finds the root of its tree. */
TL_COLD static bool begin_thread(tl_callstack *c, uint32_t track)
{
    thread *th = &c->thread[track];
    if (!TL_GROW(c->begun, c->nbegun, 1, c->begun_capacity))
        return false;
    th->used = true;
    c->begun[c->nbegun++] = track;
    th->root = c->per_thread ? tl_profile_thread_root(c->p, &c->trace->track[track]) : 0;
    return th->root != TL_HASH_NONE;
}

/* Closes the topmost frame, whose exit is missing. */
TL_COLD static bool close_unwound(tl_callstack *c, uint32_t track, thread *th, uint64_t ts)
{
    const uint32_t place = th->stack[th->depth - 1].place;
    const uint64_t calls = c->p->stat[place].calls;
    c->p->unmatched_open++;
    return close_top(c, track, th, ts, TL_NO_EXIT) &&
           (c->p->stat[place].calls == calls || tl_profile_add_unwound(c->p, place, 1));
}

/* Exceptions in a loop have left the frames from `from` on without exits. Rebuilds these frames: an entry of a function
 * that is already among them closes that call, with all above it, and has the same caller. Afterwards each function is
 * there once. */
TL_COLD static bool unwind_loops(tl_callstack *c, uint32_t track, thread *th, uint32_t from)
{
    const uint32_t n = th->depth;
    for (; th->depth > from; th->depth--) {
        const frame *f = &th->stack[th->depth - 1];
        th->function[f->function].top = f->below;
    }
    for (uint32_t i = from; i < n; i++) {
        frame f = th->stack[i];
        on_stack *on = &th->function[f.function];
        while (on->top > from)
            if (!close_unwound(c, track, th, f.entered))
                return false;
        if (!c->flat)
            f.place = tl_profile_child(c->p, th->depth ? th->stack[th->depth - 1].place : th->root, f.function);
        if (f.place == TL_HASH_NONE)
            return false;
        f.below = on->top;
        f.repeat = 0;
        th->stack[th->depth] = f;
        on->top = ++th->depth;
    }
    return true;
}

/* Does a function among the frames from `from` on repeat as often as in a loop? */
TL_COLD static bool has_loops(const thread *th, uint32_t from)
{
    for (uint32_t i = th->depth; i-- > from;)
        if (th->stack[i].repeat >= TL_STACK_REPEATS)
            return true;
    return false;
}

/* The stack is deeper than usual recursion: unwinds loops before an entry of the function of `on`. */
TL_COLD static bool unwind_at_entry(tl_callstack *c, uint32_t track, thread *th, const on_stack *on, uint64_t ts)
{
    uint32_t from = 0;
    /* The function of `on` repeats as often, so this ends. */
    while (th->stack[th->function[th->stack[from].function].top - 1].repeat < TL_STACK_REPEATS)
        from++;
    bool ok = unwind_loops(c, track, th, from);
    while (ok && on->top > from)
        ok = close_unwound(c, track, th, ts);
    return ok;
}

TL_ALWAYS_INLINE bool selected_at_entry(tl_callstack *c, const tl_batch *b, uint32_t i, const thread *th,
                                        uint32_t function)
{
    tl_call_select *s = &c->select;
    /* Whether a glob matches any function depends on all calls, not only on those that pass the other tests. */
    if (!tl_call_select_function(s, c->p, function))
        return false;
    return b->ts[i] >= s->from && (!s->select->depth || th->depth < s->select->depth) &&
           tl_call_select_track(s, b->track[i]) && s->cls[b->cls[i]] && tl_call_select_cpu(s, b, i);
}

/* Puts a frame on top; false when memory runs out. */
TL_ALWAYS_INLINE bool push(tl_callstack *c, const tl_batch *b, uint32_t i, thread *th, uint64_t key, uint32_t function,
                           const bool begun)
{
    tl_profile *p = c->p;
    if (TL_UNLIKELY(function >= th->nfunction) && !grow_functions(th, function))
        return false;
    on_stack *on = &th->function[function];
    if (TL_UNLIKELY(th->depth == th->capacity)) {
        if (th->depth >= TL_STACK_UNWIND_DEPTH && on->top && th->stack[on->top - 1].repeat >= TL_STACK_REPEATS) {
            if (!unwind_at_entry(c, b->track[i], th, on, b->ts[i]))
                return false;
        } else if (th->depth == TL_STACK_DEPTH_MAX) {
            th->too_deep++;
            p->unmatched_open++;
            return true;
        } else if (!grow_stack(th)) {
            return false;
        }
    }
    uint32_t place, repeat = 0;
    if (TL_UNLIKELY(th->depth >= c->loops_from))
        repeat = 1 + (on->top ? th->stack[on->top - 1].repeat : 0);
    if (c->flat) {
        if (TL_UNLIKELY(!on->place))
            on->place = tl_profile_child(p, th->root, function);
        place = on->place;
    } else if (TL_UNLIKELY(repeat > TL_STACK_REPEATS)) {
        place = th->stack[on->top - 1].place;
    } else {
        place = tl_profile_child(p, th->depth ? th->stack[th->depth - 1].place : th->root, function);
    }
    if (TL_UNLIKELY(place == TL_HASH_NONE))
        return false;
    frame *f = &th->stack[th->depth];
    *f = (frame){.key = key,
                 .entered = b->ts[i],
                 .place = place,
                 .function = function,
                 .below = begun ? on->top : 0,
                 .repeat = repeat & 0x3fffffff,
                 .selected = !c->selecting || selected_at_entry(c, b, i, th, function),
                 .begun = begun,
                 .entry = th->events + i};
    ++th->depth;
    if (begun)
        on->top = th->depth;
    return true;
}

/* False when memory runs out. */
TL_ALWAYS_INLINE bool enter(tl_callstack *c, const tl_batch *b, uint32_t i, thread *th)
{
    const uint64_t key = b->key[i];
    uint32_t function = tl_id_map_get(&c->p->by_id, key);
    if (TL_UNLIKELY(function == TL_HASH_NONE)) {
        function = tl_profile_intern_function(c->p, c->trace, (int64_t)key);
        if (function == TL_HASH_NONE)
            return false;
    }
    return push(c, b, i, th, key, function, true);
}

/* False when memory runs out. */
TL_ALWAYS_INLINE bool leave(tl_callstack *c, const tl_batch *b, uint32_t i, thread *th)
{
    const uint64_t key = b->key[i], number = th->events + i;
    if (TL_LIKELY(th->depth && th->stack[th->depth - 1].key == key && !th->too_deep))
        return close_top(c, b->track[i], th, b->ts[i], number);
    if (th->too_deep) {
        th->too_deep--;
        return true;
    }
    uint32_t function = tl_id_map_get(&c->p->by_id, key);
    if (function == TL_HASH_NONE || function >= th->nfunction || !th->function[function].top) {
        c->p->unmatched_exits++;
        return true;
    }
    const uint32_t above = th->function[function].top;
    if (has_loops(th, above) && !unwind_loops(c, b->track[i], th, above))
        return false;
    while (th->stack[th->depth - 1].key != key)
        if (!close_unwound(c, b->track[i], th, b->ts[i]))
            return false;
    return close_top(c, b->track[i], th, b->ts[i], number);
}

/* An exit without a function ends the innermost call. False when memory runs out. */
static bool leave_any(tl_callstack *c, const tl_batch *b, uint32_t i, thread *th)
{
    if (th->too_deep) {
        th->too_deep--;
        return true;
    }
    if (th->depth)
        return close_top(c, b->track[i], th, b->ts[i], th->events + i);
    c->p->unmatched_exits++;
    return true;
}

int tl_callstack_add(tl_callstack *c, const tl_batch *b, tl_error *e)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->n;) {
        const uint32_t track = b->track[i], from = i;
        thread *th = &c->thread[track];
        if (!th->used)
            ok = begin_thread(c, track);
        th->events -= from; /* so that event i has the number th->events + i */
        for (; ok && i < b->n && b->track[i] == track; i++) {
            const uint8_t kind = c->kind[b->cls[i]];
            if (kind == TL_ENTER)
                ok = enter(c, b, i, th);
            else if (kind == TL_EXIT)
                ok = leave(c, b, i, th);
            else if (kind == EXIT_OF_ANY)
                ok = leave_any(c, b, i, th);
        }
        th->events += i;
    }
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the call tree (%u places)", c->p->nplace);
}

/* Removes the topmost frame, which has no end and so is not a call. Its callees count. */
static void forget_top(tl_callstack *c, uint32_t track, thread *th)
{
    const frame *f = &th->stack[--th->depth];
    if (!f->begun)
        return;
    c->p->unmatched_open++;
    th->function[f->function].top = f->below;
    pass_on(c, th, f, f->inner);
    if (c->closed)
        tell(c, track, th, f, TL_NO_EXIT, UINT64_MAX);
}

uint32_t tl_callstack_depth(const tl_callstack *c, uint32_t track)
{
    return track < c->ntrack ? c->thread[track].depth : 0;
}

bool tl_callstack_cut(tl_callstack *c, const tl_batch *b, uint32_t i, uint32_t depth, bool left)
{
    const uint32_t track = b->track[i];
    bool ok = true;
    while (ok && tl_callstack_depth(c, track) > depth) {
        thread *th = &c->thread[track];
        const bool begun = th->stack[th->depth - 1].begun;
        c->p->unmatched_exits += left && !begun;
        if (left && begun)
            ok = close_top(c, track, th, b->ts[i], TL_NO_EXIT);
        else
            forget_top(c, track, th);
    }
    return ok;
}

bool tl_callstack_push(tl_callstack *c, const tl_batch *b, uint32_t i, uint32_t function, bool begun)
{
    const uint32_t track = b->track[i];
    if (!TL_GROW_TO(c->thread, c->ntrack, track, TL_TRACKS_MAX)) /* tracks may come while reading */
        return false;
    thread *th = &c->thread[track];
    return (th->used || begin_thread(c, track)) && push(c, b, i, th, function, function, begun);
}

void tl_callstack_finish(tl_callstack *c)
{
    for (uint32_t i = 0; i < c->nbegun; i++) {
        const uint32_t track = c->begun[i];
        thread *th = &c->thread[track];
        while (th->depth)
            forget_top(c, track, th);
        free(th->stack);
        free(th->function);
        *th = (thread){0};
    }
    c->nbegun = 0;
}

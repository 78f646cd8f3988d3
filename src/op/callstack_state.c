/* Saves and restores what is open. A restored frame is what push() would have made of its entry before the selected
 * time: it does not count, and so nobody asks how long its callees took. */
#include "op/callstack_state.h"

#include "op/callstack_impl.h"

/* No event has such an id: streams are far fewer. */
#define RESTORED_ID (UINT64_C(1) << 63)

static uint32_t kept_capacity(const tl_call_thread *th)
{
    return th->capacity > TL_STACK_UNWIND_DEPTH ? th->capacity : 0;
}

static bool is_open(const tl_call_thread *th)
{
    return th->depth > 0 || th->too_deep > 0 || kept_capacity(th);
}

void tl_callstack_measure(const tl_callstack *c, uint32_t *nstack, size_t *ncall)
{
    *nstack = 0;
    *ncall = 0;
    for (uint32_t i = 0; i < c->nbegun; i++) {
        const tl_call_thread *th = &c->thread[c->begun[i]];
        *nstack += is_open(th);
        *ncall += th->depth;
    }
}

void tl_callstack_save(const tl_callstack *c, const tl_open_calls *to)
{
    tl_open_stack *stack = to->stack;
    tl_open_call *call = to->call;
    for (uint32_t i = 0; i < c->nbegun; i++) {
        const tl_call_thread *th = &c->thread[c->begun[i]];
        if (!is_open(th))
            continue;
        *stack++ = (tl_open_stack){th->too_deep, c->begun[i], th->depth, kept_capacity(th)};
        for (uint32_t k = 0; k < th->depth; k++) {
            const tl_call_frame *f = &th->stack[k];
            *call++ = (tl_open_call){f->key, f->entered, f->repeat};
        }
    }
}

/* The profile's function of a key; TL_HASH_NONE when memory runs out. */
static uint32_t function_of(tl_callstack *c, uint64_t key)
{
    const uint32_t function = tl_id_map_get(&c->p->by_id, key);
    return function != TL_HASH_NONE ? function : tl_profile_intern_function(c->p, c->trace, (int64_t)key);
}

static bool find_place(tl_callstack *c, uint32_t track, tl_call_thread *th, tl_call_on_stack *on)
{
    tl_call_frame *f = &th->stack[th->depth];
    if (c->way == TL_CALLS_TO_PLACES && c->flat) {
        if (!on->place)
            on->place = tl_profile_child(c->p, th->root, f->function);
        f->place = on->place;
        return f->place != TL_HASH_NONE;
    }
    if (f->repeat <= TL_STACK_REPEATS)
        return tl_callstack_find_place(c, track, th, c->way);
    if (c->has_origins)
        th->origin[th->depth].tree = th->origin[on->top - 1].tree;
    f->place = th->stack[on->top - 1].place;
    return c->way != TL_CALLS_TO_SLOTS || tl_callstack_find_slot(c, track, th);
}

static bool open_call(tl_callstack *c, uint32_t track, tl_call_thread *th, const tl_open_call *call)
{
    const uint32_t function = function_of(c, call->key);
    if (function == TL_HASH_NONE || (function >= th->nfunction && !tl_callstack_grow_functions(th, function)) ||
        (th->depth == th->capacity && !tl_callstack_grow_stack(c, th)))
        return false;
    tl_call_on_stack *on = &th->function[function];
    th->stack[th->depth] = (tl_call_frame){.key = call->key,
                                           .entered = call->entered,
                                           .function = function,
                                           .below = on->top,
                                           .repeat = call->repeat & 0x3fffffff,
                                           .begun = true};
    if (c->has_origins)
        th->origin[th->depth] = (tl_call_origin){.id = RESTORED_ID | (uint64_t)track << 32 | th->depth, .cpu = -1};
    if (!find_place(c, track, th, on))
        return false;
    on->top = ++th->depth;
    return true;
}

bool tl_callstack_restore(tl_callstack *c, const tl_open_calls *from)
{
    const tl_open_call *call = from->call;
    for (uint32_t i = 0; i < from->nstack; i++) {
        const tl_open_stack *stack = &from->stack[i];
        if (!tl_callstack_begin(c, stack->track))
            return false;
        tl_call_thread *th = &c->thread[stack->track];
        th->too_deep = stack->too_deep;
        while (th->capacity < stack->capacity)
            if (!tl_callstack_grow_stack(c, th))
                return false;
        for (uint32_t k = 0; k < stack->depth; k++)
            if (!open_call(c, stack->track, th, call++))
                return false;
    }
    return true;
}

bool tl_callstack_begin(tl_callstack *c, uint32_t track)
{
    return c->thread[track].used || tl_callstack_begin_thread(c, track);
}

const uint32_t *tl_callstack_begun(const tl_callstack *c, uint32_t *n)
{
    *n = c->nbegun;
    return c->begun;
}

bool tl_callstack_meet(tl_callstack *c, int64_t function)
{
    const uint32_t found = function_of(c, (uint64_t)function);
    if (found != TL_HASH_NONE && c->selecting)
        (void)tl_call_select_function(&c->select, c->p, found);
    return found != TL_HASH_NONE;
}

uint64_t tl_callstack_late_ends(const tl_callstack *c)
{
    return c->late_ends;
}

void tl_callstack_range(const tl_callstack *c, uint64_t *from, uint64_t *to)
{
    *from = c->selecting ? c->select.from : 0;
    *to = c->selecting ? c->select.to : UINT64_MAX;
}

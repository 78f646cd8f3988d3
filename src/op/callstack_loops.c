/* Calls that exceptions left, without exits: finds them, and closes them. */
#include "op/callstack_impl.h"

bool tl_callstack_close_unwound(tl_callstack *c, uint32_t track, tl_call_thread *th, uint64_t ts)
{
    c->p->unmatched_open++;
    if (c->way == TL_CALLS_TO_ROWS)
        return tl_callstack_close_top(c, track, th, ts, TL_CALL_NO_ID, c->way);
    const uint32_t place = th->stack[th->depth - 1].place;
    const uint64_t calls = c->p->stat[place].calls;
    return tl_callstack_close_top(c, track, th, ts, TL_CALL_NO_ID, c->way) &&
           (c->p->stat[place].calls == calls || tl_profile_add_unwound(c->p, place, 1));
}

bool tl_callstack_unwind_loops(tl_callstack *c, uint32_t track, tl_call_thread *th, uint32_t from)
{
    const uint32_t n = th->depth;
    c->late_ends++;
    for (; th->depth > from; th->depth--) {
        const tl_call_frame *f = &th->stack[th->depth - 1];
        th->function[f->function].top = f->below;
    }
    for (uint32_t i = from; i < n; i++) {
        tl_call_on_stack *on = &th->function[th->stack[i].function];
        while (on->top > from)
            if (!tl_callstack_close_unwound(c, track, th, th->stack[i].entered))
                return false;
        tl_call_frame *f = &th->stack[th->depth];
        *f = th->stack[i];
        if (c->has_origins)
            th->origin[th->depth] = th->origin[i];
        if (!tl_callstack_find_place(c, track, th, c->way))
            return false;
        f->below = on->top;
        f->repeat = 0;
        on->top = ++th->depth;
    }
    return true;
}

bool tl_callstack_has_loops(const tl_call_thread *th, uint32_t from)
{
    for (uint32_t i = th->depth; i-- > from;)
        if (th->stack[i].repeat >= TL_STACK_REPEATS)
            return true;
    return false;
}

bool tl_callstack_unwind_at_entry(tl_callstack *c, uint32_t track, tl_call_thread *th, const tl_call_on_stack *on,
                                  uint64_t ts)
{
    uint32_t from = 0;
    /* The function of `on` repeats as often, so this ends. */
    while (th->stack[th->function[th->stack[from].function].top - 1].repeat < TL_STACK_REPEATS)
        from++;
    bool ok = tl_callstack_unwind_loops(c, track, th, from);
    while (ok && on->top > from)
        ok = tl_callstack_close_unwound(c, track, th, ts);
    return ok;
}

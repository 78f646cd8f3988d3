/* Calls that whole stacks tell. */
#include "op/told_calls.h"

#include <stdlib.h>

#include "base/grow.h"

static bool start(tl_told_calls *c, const tl_told_what *w)
{
    return tl_callstack_new(&c->calls, w->p, w->trace, w->options, TL_EXITS_COMPLETE, NULL) == 0 &&
           (!w->rows || tl_callstack_give_rows(c->calls, w->rows, w->places, NULL) == 0) &&
           (!w->slots || tl_callstack_use_slots(c->calls, w->slots, w->places, NULL) == 0);
}

bool tl_told_calls_change(tl_told_calls *c, const tl_told_what *w, const tl_batch *b, uint32_t i, const tl_frame *top,
                          uint32_t was, uint64_t kept, bool told)
{
    if (!c->calls && !start(c, w))
        return false;
    /* For frames from before the first call, only their remaining number matters. */
    if (told && tl_callstack_depth(c->calls, b->track[i]) == 0 && kept < was)
        w->p->unmatched_exits += was - kept;
    if (!tl_callstack_cut(c->calls, b, i, kept < UINT32_MAX ? (uint32_t)kept : UINT32_MAX, told))
        return false;
    const uint32_t depth = tl_callstack_depth(c->calls, b->track[i]);
    const uint64_t first = w->rows ? tl_event_id(b, 0) : 0;
    uint64_t begun = 0;
    uint32_t n = 0;
    for (; top && top->depth > depth; top = top->caller) {
        if (!TL_GROW(c->top, n, 1, c->top_capacity))
            return false;
        c->top[n++] = top;
    }
    while (n > 0) {
        const tl_frame *f = c->top[--n];
        const uint32_t function = tl_sample_stack_function(w->stack, f, w->named);
        const bool begins = f->flags & TL_FRAME_CALL;
        tl_callstack_number(c->calls, first + (begins ? begun++ << TL_TOLD_ID_SHIFT : 0));
        if (function == TL_HASH_NONE || !tl_callstack_push(c->calls, b, i, function, begins))
            return false;
    }
    return true;
}

void tl_told_calls_fini(tl_told_calls *c)
{
    tl_callstack_free(c->calls);
    free(c->top);
    *c = (tl_told_calls){0};
}

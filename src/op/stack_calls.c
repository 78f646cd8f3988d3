/* The calls of a source whose stacks tell them. */
#include "op/stack_calls.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/span.h"
#include "model/stack_nodes.h"
#include "op/sample_profile.h"

bool tl_stack_calls_tells(const tl_batch *b, uint32_t i, const tl_class *c)
{
    return c->key == TL_KEY_WEIGHT && b->key[i] & TL_WEIGHT_CALLS && tl_sample_class(c);
}

void tl_stack_calls_init(tl_stack_calls *s, tl_source *source, const tl_told_what *what)
{
    tl_sample_stack_init(&s->stack, what->p, source, false);
    s->stack.function_flags = tl_samples_function_flags(&source->trace);
    s->trace = &source->trace;
    s->what = *what;
    s->what.stack = &s->stack;
}

/* False when memory runs out. */
static bool add_stack(tl_stack_calls *s, const tl_batch *b, uint32_t i, const tl_class *c)
{
    const uint32_t track = b->track[i];
    const tl_value *kept = tl_role_value(b, i, c, TL_FIELD_KEPT, NULL);
    const tl_value *stack = tl_role_value(b, i, c, TL_FIELD_STACK, NULL);
    const tl_frame *top = stack && stack->type == TL_STACK ? stack->as.p : NULL;
    const bool told = tl_stack_calls_tells(b, i, c);
    if (!TL_GROW_TO(s->depth, s->ndepth, track, TL_TRACKS_MAX))
        return false;
    if ((s->calls.calls || told) &&
        !tl_told_calls_change(&s->calls, &s->what, b, i, top, s->depth[track], kept ? kept->as.u : 0, told))
        return false;
    s->depth[track] = top ? top->depth : 0;
    return true;
}

int tl_stack_calls_add(tl_stack_calls *s, const tl_batch *b, tl_error *e)
{
    const tl_class *cls = s->trace->cls;
    bool ok = true;
    tl_sample_stack_batch(&s->stack);
    for (uint32_t i = 0; i < b->n && ok; i++)
        if (tl_sample_class(&cls[b->cls[i]]))
            ok = add_stack(s, b, i, &cls[b->cls[i]]);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for calls that stacks tell");
}

bool tl_stack_calls_finish(tl_stack_calls *s)
{
    return !s->calls.calls || tl_callstack_finish(s->calls.calls);
}

bool tl_stack_calls_matched(const tl_stack_calls *s, size_t i, bool not )
{
    return s->calls.calls && tl_callstack_matched(s->calls.calls, i, not );
}

void tl_stack_calls_fini(tl_stack_calls *s)
{
    tl_told_calls_fini(&s->calls);
    tl_sample_stack_fini(&s->stack);
    free(s->depth);
    *s = (tl_stack_calls){0};
}

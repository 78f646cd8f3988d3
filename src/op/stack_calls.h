/* The calls of a source whose stacks tell them, event by event: what rows and sums of calls have in common. */
#ifndef TL_OP_STACK_CALLS_H
#define TL_OP_STACK_CALLS_H

#include "op/source_impl.h"
#include "op/told_calls.h"

typedef struct tl_stack_calls {
    tl_sample_stack stack;
    tl_told_calls calls;
    tl_told_what what;
    const tl_trace *trace;
    uint32_t *depth; /* [ndepth] by track: of its stack */
    uint32_t ndepth;
} tl_stack_calls;

/* Does the event tell calls by its stack? */
bool tl_stack_calls_tells(const tl_batch *b, uint32_t i, const tl_class *c);
/* After zeroing; calls become what `what` says, whose stack is set here. All is borrowed; fini is needed. */
void tl_stack_calls_init(tl_stack_calls *s, tl_source *source, const tl_told_what *what);
/* Adds the events of a batch, with fields. Errors: TL_ENOMEM. */
int tl_stack_calls_add(tl_stack_calls *s, const tl_batch *b, tl_error *e);
/* Ends all tracks, as tl_callstack_finish(). */
bool tl_stack_calls_finish(tl_stack_calls *s);
/* As tl_callstack_matched(). */
bool tl_stack_calls_matched(const tl_stack_calls *s, size_t i, bool not );
void tl_stack_calls_fini(tl_stack_calls *s);

#endif

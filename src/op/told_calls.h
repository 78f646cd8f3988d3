/* Calls of functions that whole stacks tell: events of samples that are calls (TL_WEIGHT_CALLS) say every change of
 * their track's stack. */
#ifndef TL_OP_TOLD_CALLS_H
#define TL_OP_TOLD_CALLS_H

#include "op/callstack.h"
#include "op/sample_stack.h"

/* Of calls that begin at one event, the outermost has its id, and each further one this power of two more: that of the
 * events of other streams, which such traces do not have. */
#define TL_TOLD_ID_SHIFT 40

/* A zeroed one has seen none. */
typedef struct tl_told_calls {
    tl_callstack *calls;  /* NULL: none so far */
    const tl_frame **top; /* frames of a stack to push, innermost first */
    uint32_t top_capacity;
} tl_told_calls;

/* What they become. All is borrowed. */
typedef struct tl_told_what {
    tl_profile *p;
    const tl_trace *trace;
    const tl_profile_options *options;
    tl_sample_stack *stack; /* of p */
    tl_call_rows *rows;     /* rows; or ... */
    tl_call_slots *slots;   /* ... sums by keys; or NULL both: sums of p */
    const tl_call_places *places;
    bool named; /* functions differ by the name that they had then */
} tl_told_what;

/* Event i changes the stack of its track, which had `was` frames, of which `kept` stay. All calls that this ends and
 * begins are known or, unless `told`, unknown. More frames may be kept than known so far: they were on the stack
 * before. False when memory runs out. */
bool tl_told_calls_change(tl_told_calls *c, const tl_told_what *w, const tl_batch *b, uint32_t i, const tl_frame *top,
                          uint32_t was, uint64_t kept, bool told);
void tl_told_calls_fini(tl_told_calls *c);

#endif

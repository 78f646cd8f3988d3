/* What a tl_callstack has open, to begin there again later: see op/checkpoints.h. */
#ifndef TL_OP_CALLSTACK_STATE_H
#define TL_OP_CALLSTACK_STATE_H

#include "op/callstack.h"

typedef struct tl_open_call {
    uint64_t key, entered; /* as in a frame */
    uint32_t repeat;
} tl_open_call;

typedef struct tl_open_stack {
    uint64_t too_deep;
    uint32_t track, depth;
    uint32_t
        capacity; /* of a stack that was deeper than TL_STACK_UNWIND_DEPTH, which decides when it is unwound; or 0 */
} tl_open_stack;

/* All calls that are open, outermost first, stack by stack. */
typedef struct tl_open_calls {
    tl_open_stack *stack;
    tl_open_call *call;
    uint32_t nstack;
    size_t ncall;
} tl_open_calls;

/* How many stacks have something open, and how many calls: room for tl_callstack_save(). */
void tl_callstack_measure(const tl_callstack *c, uint32_t *nstack, size_t *ncall);
/* Fills the stacks and calls of *to, which has room for them. Their entries and exits are events; none is pushed. */
void tl_callstack_save(const tl_callstack *c, const tl_open_calls *to);
/* Opens these calls, of which no track has begun. Calls that were entered before do not count, whatever the selection;
 * their rows have ids that differ, but are not those of events. False when memory runs out. */
bool tl_callstack_restore(tl_callstack *c, const tl_open_calls *from);
/* Begins a track, as its first event does. False when memory runs out. */
bool tl_callstack_begin(tl_callstack *c, uint32_t track);
/* The tracks that have begun since the last finish. */
const uint32_t *tl_callstack_begun(const tl_callstack *c, uint32_t *n);
/* Knows a function as if a call of it had begun: it is in the profile, and globs match it. False when memory runs out.
 */
bool tl_callstack_meet(tl_callstack *c, int64_t function);
/* How often calls ended before the event that showed it: tl_callstack_unwind_loops(). */
uint64_t tl_callstack_late_ends(const tl_callstack *c);
/* The selected ticks: [from, to). */
void tl_callstack_range(const tl_callstack *c, uint64_t *from, uint64_t *to);

#endif

/* The calling thread's stack, by frame pointers, which compiled code and the runtime keep. Which methods the addresses
 * are in is asked later, by the writer. */
#ifndef TL_CLR_STACK_H
#define TL_CLR_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Where it lies; 0: not known. */
extern __thread uintptr_t clr_stack_low __attribute__((tls_model("initial-exec")));
extern __thread uintptr_t clr_stack_high __attribute__((tls_model("initial-exec")));

/* Finds that out. Not from handlers. */
void clr_stack_measure(void);

/* Finds out where the runtime's own code is. */
void clr_stack_know_runtime(void);
bool clr_stack_is_runtime(uintptr_t ip); /* async-signal-safe */

/* In a process that runs already: where memory is that may be a stack; and whether the calling thread's, with this
 * stack pointer, is among it. The latter is async-signal-safe. */
void clr_stack_look_around(void);
void clr_stack_guess(uintptr_t sp);

/* A place on it: the frame at `fp`, which lies above `sp`. */
typedef struct clr_place {
    uintptr_t sp, fp;
} clr_place;

/* Is there a word at this address? */
static inline bool clr_stack_holds(uintptr_t at)
{
    return at % sizeof at == 0 && at >= clr_stack_low && at < clr_stack_high && clr_stack_high - at >= sizeof at;
}

/* The address of the call that made the frame, whose caller's frame is the next place. 0: there is none.
 *
 * Frames rise, lie in the part of the stack that is in use, and are aligned. A handler's own stack is another one:
 * between both there may be no memory. Async-signal-safe. */
static inline uintptr_t clr_stack_next(clr_place *p)
{
    const uintptr_t fp = p->fp;
    if (p->sp < clr_stack_low || fp < p->sp || fp % sizeof(uintptr_t) != 0 || fp >= clr_stack_high ||
        clr_stack_high - fp < 2 * sizeof(uintptr_t))
        return 0;
    const uintptr_t *frame = (const uintptr_t *)fp;
    *p = (clr_place){fp + 2 * sizeof(uintptr_t), frame[0]};
    return frame[1] ? frame[1] - 1 : 0; /* the address behind the call may be in the next method */
}

#endif

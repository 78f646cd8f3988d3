/* Finds places of a profile for the frames of sampled stacks.
 *
 * A frame's place is kept in tl_frame.memo: 0, or the place. Stacks of a track share their frames, within a batch and
 * with earlier ones, so the cost of a sample is its number of new frames; a known stack only needs its innermost frame.
 * Different tracks must not share frames if each has a tree of its own. */
#ifndef TL_OP_SAMPLE_STACK_H
#define TL_OP_SAMPLE_STACK_H

#include "op/source_impl.h"

/* The latest result for a function's number. */
typedef struct tl_known_name {
    const char *name; /* its name by address, which is only valid within a batch */
    uint64_t batch;
} tl_known_name;

typedef struct tl_sample_stack {
    tl_profile *p;
    tl_source *source;
    bool lines;              /* functions are split by line */
    uint32_t function_flags; /* of functions with a number: TL_FUNCTION_HEX_ID or 0 */
    uint64_t batch;          /* its number, from 1 */
    tl_known_name *known;    /* by function of the profile */
    uint32_t nknown;
    uint32_t unknown; /* the function of frames without any information; TL_NO_FUNCTION: not needed yet */
    tl_frame **fresh; /* frames of a stack without a known place, innermost first */
    size_t nfresh;
} tl_sample_stack;

void tl_sample_stack_init(tl_sample_stack *s, tl_profile *p, tl_source *source, bool lines);
void tl_sample_stack_fini(tl_sample_stack *s);

TL_ALWAYS_INLINE void tl_sample_stack_batch(tl_sample_stack *s)
{
    s->batch++;
}

/* The function of a frame, at any place in it: identified by number and, if `named`, the frame's name. TL_HASH_NONE
 * when memory runs out. */
uint32_t tl_sample_stack_function(tl_sample_stack *s, const tl_frame *f, bool named);

uint32_t tl_sample_stack_place_slow(tl_sample_stack *s, uint32_t root, const tl_frame *top);

/* The place of a stack below a root; `root` for an empty one. TL_HASH_NONE when memory runs out. */
TL_ALWAYS_INLINE uint32_t tl_sample_stack_place(tl_sample_stack *s, uint32_t root, const tl_frame *top)
{
    if (!top)
        return root;
    return TL_LIKELY(top->memo) ? top->memo : tl_sample_stack_place_slow(s, root, top);
}

/* The place of the same stack with its innermost frame at another ip; only with `lines`. `top` is the frame, from any
 * batch: its name is not read. */
uint32_t tl_sample_stack_at_ip(tl_sample_stack *s, uint32_t place, const tl_frame *top, uint64_t ip);

#endif

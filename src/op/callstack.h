/* Matches entries and exits of one track after another into calls, and adds them to a profile. */
#ifndef TL_OP_CALLSTACK_H
#define TL_OP_CALLSTACK_H

#include "model/profile_impl.h"
#include "traceloom/profile.h"

/* Deepest stack that is followed; entries beyond it count as unmatched. Logs that lost exits would grow without end. */
#define TL_STACK_DEPTH_MAX (1u << 20)

typedef struct tl_callstack tl_callstack;

/* Told of every closed call, for those who need more than sums; may be NULL. */
int tl_callstack_new(tl_callstack **out, tl_profile *p, const tl_trace *t, const tl_profile_options *options,
                     tl_error *e);
/* Adds the events of a batch. Batches of one track must come in order; tracks may alternate. */
int tl_callstack_add(tl_callstack *c, const tl_batch *b, tl_error *e);
/* Ends all tracks: what is still open is unmatched. */
int tl_callstack_finish(tl_callstack *c, tl_error *e);
void tl_callstack_free(tl_callstack *c);

#endif

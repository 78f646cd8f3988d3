/* Matches entries and exits into calls, track by track, and adds them to a profile, or gives them as rows.
 *
 * An exit closes the nearest entry of its function; entries above that one are closed with it and counted as unmatched.
 * Entries that are open at the end are not calls. Durations are in ticks, 0 where the clock went back.
 *
 * Callers that have whole stacks instead of entries and exits cut and push frames. A frame with an unknown begin is not
 * a call itself, but the caller of those above it. */
#ifndef TL_OP_CALLSTACK_H
#define TL_OP_CALLSTACK_H

#include "model/profile_impl.h"
#include "op/call_places.h"
#include "op/call_rows.h"
#include "op/call_slots.h"
#include "traceloom/profile.h"

/* Exceptions that are caught in a loop leave calls on the stack that look like recursion until the catching function
 * returns. docs/format has the rules: "Calls without an exit".
 *
 * TL_STACK_REPEATS: beyond this depth, a function may be on a stack this often; its further calls get the place of
 * the one before, which bounds the tree. A tree as text grows with the square of its depth: of 150,000 exceptions that
 * leave three functions each, --by tree --json prints 0.2 GB; with twice the number it would print 0.8 GB, with four
 * times it would exceed TL_STACK_FRAMES_MAX.
 * TL_STACK_UNWIND_DEPTH: a stack of this depth counts as such a loop even without an exit. Recursion needs more than
 * the usual 8 MiB of stack to get there. */
#define TL_STACK_REPEATS      2048u
#define TL_STACK_UNWIND_DEPTH (1u << 18)

/* Deepest stack that is tracked; entries beyond it count as unmatched. Logs that lost exits would grow without end. */
#define TL_STACK_DEPTH_MAX (1u << 20)

typedef struct tl_callstack tl_callstack;

/* Do exceptions leave functions without exits? Otherwise a deep stack is always recursion. */
typedef enum tl_exits { TL_EXITS_MISSING, TL_EXITS_COMPLETE } tl_exits;

/* `options` and its selection are borrowed until free. */
int tl_callstack_new(tl_callstack **out, tl_profile *p, const tl_trace *t, const tl_profile_options *options,
                     tl_exits exits, tl_error *e);
/* Before the first event: calls become rows, in the order of their ends, and not sums of the profile, which then only
 * has functions and the numbers of unmatched entries and exits. Both are borrowed until free. The caller takes rows
 * away when it likes: an add gives one for each event, and for each open call at most. places: may be NULL. */
int tl_callstack_give_rows(tl_callstack *c, tl_call_rows *rows, const tl_call_places *places, tl_error *e);
/* Before the first event: calls are added to these places of the profile. Both are borrowed until free. places: if the
 * slots are by place. */
int tl_callstack_use_slots(tl_callstack *c, tl_call_slots *slots, const tl_call_places *places, tl_error *e);
/* Adds the events of a batch. Batches of one track must come in order; tracks may alternate. */
int tl_callstack_add(tl_callstack *c, const tl_batch *b, tl_error *e);
/* The same; rows have id[i] for event i, and not tl_event_id(). */
int tl_callstack_add_ids(tl_callstack *c, const tl_batch *b, const uint64_t *id, tl_error *e);
/* Ids of rows of what is cut and pushed next: first + i for event i. */
void tl_callstack_number(tl_callstack *c, uint64_t first);
/* How many frames are open on a track. */
uint32_t tl_callstack_depth(const tl_callstack *c, uint32_t track);
/* At event i of the batch, only the outermost `depth` frames of its track remain. The others ended at that time or,
 * unless `left`, at an unknown one: then they are not calls. False when memory runs out. */
bool tl_callstack_cut(tl_callstack *c, const tl_batch *b, uint32_t i, uint32_t depth, bool left);
/* At event i, pushes a function of the profile onto its track. It was entered at that time or, unless `begun`, earlier.
 * False when memory runs out. */
bool tl_callstack_push(tl_callstack *c, const tl_batch *b, uint32_t i, uint32_t function, bool begun);
/* Ends all tracks: open calls are unmatched. It is then ready for other tracks. False, only with rows, when memory runs
 * out. */
bool tl_callstack_finish(tl_callstack *c);
/* Did the i-th function glob (`not`: of not_func) match any function seen? */
bool tl_callstack_matched(const tl_callstack *c, size_t i, bool not );
void tl_callstack_free(tl_callstack *c);

#endif

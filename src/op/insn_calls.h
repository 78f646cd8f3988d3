/* Calls of functions out of a stream of instructions: BL and BLR begin one, RET to where it was called from ends it.
 *
 * Times are numbers of instructions. What is executed is always in some function, so that the self times of all places
 * are together the number of instructions that were chosen:
 *   entry      what a track begins with is a function that was entered before
 *   tail call  a jump to the beginning of another function takes the place of the one that jumps; only where a binary
 *              says where functions begin
 *   levels     instructions of a higher level than those before are in a frame of their own, [el1], until the level
 *              comes back
 *   the end    closes all open calls, and counts them as calls that had no end (tl_profile_unmatched_open())
 * A return to where nothing was called from has no call (tl_profile_unmatched_exits()).
 *
 * One thread at a time. */
#ifndef TL_OP_INSN_CALLS_H
#define TL_OP_INSN_CALLS_H

#include "op/source_impl.h"
#include "op/symbols/code_map.h"
#include "traceloom/profile.h"

typedef struct tl_insn_calls tl_insn_calls;

/* Has the trace instructions that calls can be found in? */
bool tl_insn_calls_wanted(const tl_trace *t);

/* The calls of instructions of `t` become calls of p. `code` may be NULL: then functions are the addresses that were
 * called. `options`, with what it selects, and `t` are borrowed. The level and the pc that are selected say which
 * instructions count, while all of them are followed; of time only what is selected is. Errors: TL_ENOMEM. */
int tl_insn_calls_new(tl_insn_calls **out, tl_profile *p, const tl_trace *t, const tl_code_map *code,
                      const tl_profile_options *options, tl_error *e);
void tl_insn_calls_free(tl_insn_calls *c); /* NULL is fine */

/* The ticks that matter: *set is false if all do. */
void tl_insn_calls_limit(const tl_insn_calls *c, tl_limit *limit);
/* Events of tracks in their order. */
int tl_insn_calls_add(tl_insn_calls *c, const tl_batch *b, tl_error *e);
/* The streams of all tracks so far have ended. */
int tl_insn_calls_finish(tl_insn_calls *c, tl_error *e);
/* As tl_callstack_matched(). */
bool tl_insn_calls_matched(const tl_insn_calls *c, size_t i, bool not );

#endif

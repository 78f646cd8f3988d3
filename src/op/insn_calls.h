/* Calls of functions from a stream of instructions: BL and BLR begin one, RET to the return address ends it.
 *
 * Times are numbers of instructions. Every instruction is in some function, so the self times of all places add up to
 * the number of selected instructions:
 *   entry      a track begins in a function that was entered before
 *   tail call  a jump to the beginning of another function replaces the one that jumps; only if a binary says where
 *              functions begin
 *   levels     instructions of a higher level are in a frame of their own, [el1], until the level goes back
 *   the end    closes all open calls, and counts them as calls that had no end (tl_profile_unmatched_open())
 * A return to an address without a call is unmatched (tl_profile_unmatched_exits()).
 *
 * One thread at a time. */
#ifndef TL_OP_INSN_CALLS_H
#define TL_OP_INSN_CALLS_H

#include "op/callstack.h"
#include "op/source_impl.h"
#include "op/symbols/code_map.h"
#include "traceloom/profile.h"

typedef struct tl_insn_calls tl_insn_calls;

/* Does the trace have instructions from which calls can be found? */
bool tl_insn_calls_wanted(const tl_trace *t);
/* TL_EUNSUPPORTED if the selection, which may be NULL, cannot be applied to such calls. */
int tl_insn_calls_can_apply(const tl_select *select, const tl_trace *t, tl_error *e);

/* Makes calls of p from the instructions of `t`. `code` may be NULL: then functions are called addresses. `options`,
 * with its selection, and `t` are borrowed. All instructions within the selected time are followed; those of the
 * selected levels and pcs count. Errors: TL_ENOMEM. */
int tl_insn_calls_new(tl_insn_calls **out, tl_profile *p, const tl_trace *t, const tl_code_map *code,
                      const tl_profile_options *options, tl_error *e);
void tl_insn_calls_free(tl_insn_calls *c); /* NULL is fine */

/* As tl_callstack_give_rows(). Ids are those of instructions: the first one of the callee, and the one that came after
 * the return; TL_CALL_NO_ID at the end. Times are ticks, if all instructions count. */
int tl_insn_calls_give_rows(tl_insn_calls *c, tl_call_rows *rows, const tl_call_places *places, tl_error *e);

/* As tl_callstack_use_slots(). */
int tl_insn_calls_use_slots(tl_insn_calls *c, tl_call_slots *slots, const tl_call_places *places, tl_error *e);

/* The ticks that matter; *set is false if all do. */
void tl_insn_calls_limit(const tl_insn_calls *c, tl_limit *limit);
/* Adds events, in the order of each track. */
int tl_insn_calls_add(tl_insn_calls *c, const tl_batch *b, tl_error *e);
/* The streams of all tracks so far have ended. */
int tl_insn_calls_finish(tl_insn_calls *c, tl_error *e);
/* As tl_callstack_matched(). */
bool tl_insn_calls_matched(const tl_insn_calls *c, size_t i, bool not );

#endif

/* Which events of instruction streams --time, --thread, level and pc select: an instruction, with the accesses and
 * other state after it, up to the next instruction of its track.
 *
 * One thread at a time. */
#ifndef TL_OP_INSN_SELECT_H
#define TL_OP_INSN_SELECT_H

#include "op/source_impl.h"
#include "traceloom/profile.h"

typedef struct tl_insn_select tl_insn_select;

/* Refuses what `option` asks for, TL_EINVAL, if a trace has no instructions. */
int tl_select_needs_insns(const tl_trace *t, const char *option, tl_error *e);

/* For the events of one trace. *out belongs to the caller; it is NULL if `select` (may be NULL) leaves out no event by
 * level or pc, by time or by thread. `origin` is the tick that select's times count from. Errors: TL_ENOMEM,
 * TL_ENOMATCH for a thread that does not exist. */
int tl_insn_select_new(tl_insn_select **out, const tl_trace *t, const tl_select *select, uint64_t origin, tl_error *e);
void tl_insn_select_free(tl_insn_select *s); /* NULL is fine */

/* The next selected part of the events *from .. to-1 of a batch: true, and it is *from .. *until - 1; false if there is
 * none left. To be called for all events of a track, in order. */
bool tl_insn_select_part(tl_insn_select *s, const tl_batch *b, uint32_t *from, uint32_t to, uint32_t *until);
/* The same for one event: is it selected? Asking twice in a row changes nothing. */
bool tl_insn_select_event(tl_insn_select *s, const tl_batch *b, uint32_t i);

#endif

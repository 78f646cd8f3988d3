/* What a trace lost, and what of it was damaged, as numbers and in words. */
#ifndef TL_OP_LOSS_TEXT_H
#define TL_OP_LOSS_TEXT_H

#include "traceloom/trace.h"

/* How many places of a trace are damage of a kind (tl_damage_kinds). */
uint64_t tl_damages_of(const tl_trace *t, unsigned kind);
/* How many break a rule of the format, though all could be read. */
uint64_t tl_harmless_faults(const tl_trace *t);

/* What messages call the input, or its file that the damage is in: "trace/channel0". Returns buf. */
char *tl_damage_path(char *buf, size_t size, const tl_trace *t, const tl_damage *d);

/* "lost 1,204 events (0.3 %) and 2 packets" of a trace with `events` events (0: unknown); "" if nothing was lost.
 * Returns buf. */
char *tl_losses_text(char *buf, size_t size, uint64_t lost, uint64_t packets, uint64_t events);

/* Which files of a folder belong to the trace, or which do not: a sentence; "" if not needed. Returns buf. */
char *tl_parts_text(char *buf, size_t size, const tl_trace *t);
char *tl_not_read_text(char *buf, size_t size, const tl_trace *t);

#endif

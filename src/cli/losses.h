/* Losses of a trace, its damage, and what else limits the answer, in one line each. */
#ifndef TL_CLI_LOSSES_H
#define TL_CLI_LOSSES_H

#include "cli/verbs.h"
#include "traceloom/sink.h"
#include "traceloom/trace.h"

/* Reports losses, damage and notes of a trace on standard error. `events`: its number of events; 0: unknown. Returns
 * TL_EXIT_DAMAGED (bytes were given up, or --strict and events go back in time), TL_EXIT_LOST (only with --strict) or
 * TL_EXIT_DONE. */
int tl_say_losses(const tl_cli *c, const tl_trace *t, uint64_t events);

/* Parts of it. */
void tl_say_notes(const tl_cli *c, const tl_trace *t);
int tl_say_out_of_order(const tl_cli *c, const tl_trace *t);

/* Reports something that could not be written: "not written: 120 argument values". arg is the tl_cli. */
void tl_say_drop(void *arg, const tl_drop *drop);

#endif

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

/* How many damaged places of a trace are of a kind (tl_damage_kinds). */
uint64_t tl_damages_of(const tl_trace *t, unsigned kind);

/* The name in messages of the input, or of its damaged file: "trace/channel0". Returns buf. */
char *tl_damage_path(char *buf, size_t size, const tl_trace *t, const tl_damage *d);

/* "lost 1,204 events (0.3 %)"; "" if nothing was lost. Returns buf. */
char *tl_losses_text(char *buf, size_t size, const tl_trace *t, uint64_t events);

/* Reports something that could not be written: "not written: 120 argument values". arg is the tl_cli. */
void tl_say_drop(void *arg, const tl_drop *drop);

#endif

/* What a trace lost and what of it was damaged, in one line each. */
#ifndef TL_CLI_LOSSES_H
#define TL_CLI_LOSSES_H

#include "cli/verbs.h"
#include "traceloom/sink.h"
#include "traceloom/trace.h"

/* Says losses and damage of a trace on standard error. `events` is how many events it holds; 0: not known.
 * Returns TL_EXIT_DAMAGED, TL_EXIT_LOST (only with --strict) or TL_EXIT_DONE. */
int tl_say_losses(const tl_cli *c, const tl_trace *t, uint64_t events);

/* "lost 1,204 events (0.3 %)"; "" if nothing was lost. Returns buf. */
char *tl_losses_text(char *buf, size_t size, const tl_trace *t, uint64_t events);

/* Says that something could not be written: "not written: 120 argument values". arg is the tl_cli. */
void tl_say_drop(void *arg, const tl_drop *drop);

#endif

/* A pager for output on a terminal, like git's. */
#ifndef TL_CLI_PAGER_H
#define TL_CLI_PAGER_H

#include "cli/verbs.h"

/* From here on standard output, and messages if they go to a terminal, go through a pager, if standard output is a
 * terminal and nothing forbids it; a second call does nothing. Call it when progress is no longer shown. Until the
 * pager ends, signals wait for it: the shell must not read the terminal at the same time. */
void tl_pager_start(const tl_cli *c);
/* Waits for the pager to end, and gives standard output and error back. Flush before. */
void tl_pager_stop(void);

#endif

/* The diagnostics port of a process of CoreCLR: a local socket on which the runtime takes commands. */
#ifndef TL_CLI_MANAGED_IPC_H
#define TL_CLI_MANAGED_IPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Connects to that of a process, and makes sure that it is that process. -1: after a message. */
int tl_managed_port(long pid, const char *name);
/* Has the runtime load the profiler of this file, and give it `settings`. Waits for the answer, until interrupted.
 * False: there was none that makes sense; else *status is the runtime's, 0 if all went well. */
bool tl_managed_ask_attach(int port, const char *library, const char *settings, uint32_t *status);
/* What a status means, and what can be done. */
const char *tl_managed_status_text(uint32_t status, char buf[static 160]);

#endif

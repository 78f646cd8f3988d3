/* Ctrl-C as a way to end in good order, for a verb that would otherwise go on for ever. */
#ifndef TL_CLI_INTERRUPT_H
#define TL_CLI_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT and SIGTERM only interrupt what waits, and are remembered; the second one kills as always.
 * Signals that are ignored stay so. */
void tl_interrupt_catch(void);
bool tl_interrupted(void);

/* From here on SIGINT, SIGTERM and SIGHUP end the program as always, but clean() is called before, in a thread of its
 * own. To be called before there are threads. Signals that are ignored stay so. */
void tl_interrupt_clean(void (*clean)(void));

#endif

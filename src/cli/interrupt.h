/* Orderly ending on Ctrl-C, for a verb that would otherwise go on for ever. */
#ifndef TL_CLI_INTERRUPT_H
#define TL_CLI_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT and SIGTERM only interrupt waiting, and are remembered; the second one kills as usual. Ignored
 * signals stay ignored. */
void tl_interrupt_catch(void);
bool tl_interrupted(void);

/* From here on SIGINT, SIGTERM and SIGHUP end the program as usual, but clean() is called first, in a thread of its
 * own. Call it before there are threads. Ignored signals stay ignored. */
void tl_interrupt_clean(void (*clean)(void));

#endif

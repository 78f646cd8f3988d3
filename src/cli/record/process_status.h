/* What /proc says about a process, or one of its threads. */
#ifndef TL_CLI_PROCESS_STATUS_H
#define TL_CLI_PROCESS_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#define TL_PROCESS_VALUE 256u /* bytes of a value, with its final zero; longer ones are cut */

/* The value of a line "KEY: value" of its status. thread 0: the process's own. Returns `out`; "": there is no such
 * process, thread or key. */
char *tl_process_value(long pid, long thread, const char *key, char out[static TL_PROCESS_VALUE]);
/* The letter of its state: 'R', 'S', 'T', ...; 'X': it is gone. */
char tl_process_state(long pid, long thread);
/* Gone; or a zombie, as a process's first thread is until the others have ended. */
bool tl_process_has_ended(long pid, long thread);
/* How it calls itself in the innermost container that it is in. */
long tl_process_inner(long pid, long thread);
/* When it began, in the kernel's ticks. False: there is no such process. */
bool tl_process_start(long pid, unsigned long long *ticks);
/* Its short name. False: there is no such process. */
bool tl_process_name(long pid, char *out, size_t size);

#endif

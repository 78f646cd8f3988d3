/* A progress bar on a terminal: appears after half a second; shows share, rate and time left on standard error. */
#ifndef TL_BASE_PROGRESS_H
#define TL_BASE_PROGRESS_H

#include <stdint.h>

typedef struct tl_progress tl_progress;

/* Starts watching *done, to which others add atomically, against total. NULL if standard error is not a terminal, or if
 * something fails: a bar is never worth an error. */
tl_progress *tl_progress_start(const char *what, const uint64_t *done, uint64_t total);
void tl_progress_stop(tl_progress *p); /* removes the bar; NULL is fine */

#endif

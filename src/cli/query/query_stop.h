/* ^C while a statement runs. */
#ifndef TL_CLI_QUERY_STOP_H
#define TL_CLI_QUERY_STOP_H

#include <stdbool.h>

#include "traceloom/query.h"

/* From here on ^C ends the statement of the session that runs, and not the process; a second one, before the first is
 * forgotten, does. NULL: none runs, and ^C is only noted. One session of a process at a time. */
void tl_query_stop_catch(tl_query *q);
/* From here on ^C ends workers, by a function that signal handlers may call. NULL: there are none any more. */
void tl_query_stop_workers(void (*end)(void));
/* Was there a ^C that was not forgotten? */
bool tl_query_is_stopped(void);
void tl_query_stop_forget(void);

#endif

/* Suggests what a pattern that matches nothing may have meant. */
#ifndef TL_CLI_NEAR_MISS_H
#define TL_CLI_NEAR_MISS_H

#include "cli/verbs.h"
#include "traceloom/trace.h"

/* As tl_say_failure(). If a pattern of the command line matches nothing in the trace, the message also suggests a
 * similar name. */
int tl_say_near_miss(const tl_cli *c, const char *path, const tl_trace *t, const tl_error *e);

#endif

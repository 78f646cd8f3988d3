/* load --rollup: the sums of all profiles by day, program, host, stack and bucket, made anew. */
#ifndef TL_CLI_LOAD_ROLLUP_H
#define TL_CLI_LOAD_ROLLUP_H

#include "cli/load/server_link.h"

/* Makes them on each server, and makes them visible when all of them are there: until then the old ones are. *rows:
 * how many there are. Errors: TL_EIO, TL_EINVAL. */
int tl_load_rollup(tl_servers *s, uint64_t *rows, tl_error *e);

#endif

/* load --durable: what servers acknowledge is on their disks. */
#ifndef TL_CLI_LOAD_DURABLE_H
#define TL_CLI_LOAD_DURABLE_H

#include "cli/load/server_link.h"

/* Makes the tables of each shard flush what they store before they acknowledge it. Errors: TL_EUNSUPPORTED (a server
 * cannot do that), TL_EIO, TL_EINVAL. */
int tl_load_make_durable(tl_servers *s, tl_error *e);

#endif

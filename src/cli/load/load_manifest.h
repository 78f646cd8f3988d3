/* What makes a trace visible: rows of `chunks` and of `loaded`, written after all of it was found on the shards. */
#ifndef TL_CLI_LOAD_MANIFEST_H
#define TL_CLI_LOAD_MANIFEST_H

#include "cli/load/load_table.h"

/* Writes the rows of these tables of a trace to each shard, in one block each. */
int tl_manifest_write(const tl_load_tables *t, const char *path, tl_error *e);
/* Does each shard say that these tables are there? */
int tl_manifest_has(const tl_load_tables *t, bool *has, tl_error *e);
/* The same; and do the shards have the chunks that it lists? Needs no reading of the trace. */
int tl_manifest_is_whole(tl_load_tables *t, bool *whole, tl_error *e);

#endif

/* Finds a snapshot of registers by its number: where a slice of a trace of instructions begins. */
#ifndef TL_ANALYSIS_SNAPSHOT_FIND_H
#define TL_ANALYSIS_SNAPSHOT_FIND_H

#include "traceloom/sink.h"
#include "traceloom/source.h"

/* The tick of snapshot `number`, counted from 0, of the one track that has snapshots and that `select` (may be NULL)
 * chooses. Streams that do not begin with one are not read. Errors: TL_ENOMATCH: there are no or too few snapshots;
 * TL_EINVAL: several tracks have some; those of reading. */
int tl_snapshot_find(tl_source *s, const tl_select *select, uint64_t number, uint64_t *ts, tl_error *e);

#endif

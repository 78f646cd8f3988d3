/* Finds a snapshot of registers by number: the begin of a slice of an instruction trace. */
#ifndef TL_ANALYSIS_SNAPSHOT_FIND_H
#define TL_ANALYSIS_SNAPSHOT_FIND_H

#include "traceloom/sink.h"
#include "traceloom/source.h"

/* The tick of snapshot `number`, counted from 0, of the only selected track with snapshots; `select` may be NULL.
 * Streams that do not begin with one are not read. Errors: TL_ENOMATCH: too few snapshots; TL_EINVAL: several tracks
 * have some; those of reading. */
int tl_snapshot_find(tl_source *s, const tl_select *select, uint64_t number, uint64_t *ts, tl_error *e);

#endif

/* Makes a snapshot of registers where the trace has none: the last one before, updated by replaying what came since. */
#ifndef TL_ANALYSIS_CUT_SNAPSHOT_H
#define TL_ANALYSIS_CUT_SNAPSHOT_H

#include "traceloom/source.h"

typedef struct tl_cut_snapshot {
    tl_batch batch;   /* the event, if any */
    bool is_there;    /* the trace has a snapshot at the cut: *batch is empty */
    bool has_none;    /* no earlier one: *batch is empty */
    uint32_t unknown; /* registers with an unknown value: 0 in it */
} tl_cut_snapshot;

/* The snapshot before instruction number `at` (at least 1) of a track. The source as for tl_machine_at(). Call
 * tl_cut_snapshot_fini() even on failure. Errors: those of tl_machine_at(). */
int tl_cut_snapshot_make(tl_cut_snapshot *c, tl_source *s, uint32_t track, uint64_t at, tl_error *e);
void tl_cut_snapshot_fini(tl_cut_snapshot *c); /* after zeroing or make */

#endif

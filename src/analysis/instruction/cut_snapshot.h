/* A snapshot of registers where there is none: the last one before, and what replaying knows of what came since. */
#ifndef TL_ANALYSIS_CUT_SNAPSHOT_H
#define TL_ANALYSIS_CUT_SNAPSHOT_H

#include "traceloom/source.h"

typedef struct tl_cut_snapshot {
    tl_batch batch;   /* the one event, if there is one */
    bool is_there;    /* the trace has a snapshot at the cut: *batch is empty */
    bool has_none;    /* there is none before: *batch is empty */
    uint32_t unknown; /* registers whose value does not follow: 0 in it */
} tl_cut_snapshot;

/* The snapshot before instruction number `at` of a track, at least 1. The source as for tl_machine_at(). Has to be
 * freed, also on failure. Errors: those of tl_machine_at(). */
int tl_cut_snapshot_make(tl_cut_snapshot *c, tl_source *s, uint32_t track, uint64_t at, tl_error *e);
void tl_cut_snapshot_fini(tl_cut_snapshot *c); /* also of a zeroed one */

#endif

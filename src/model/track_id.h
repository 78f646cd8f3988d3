/* The number of a thread for outputs that need one: viewers tell threads apart by it. */
#ifndef TL_MODEL_TRACK_ID_H
#define TL_MODEL_TRACK_ID_H

#include "base/hash.h"
#include "model/trace_impl.h"

/* What stands for the process of tracks that do not know theirs: 0 is the idle process to viewers. */
#define TL_TRACK_NO_PID 1

typedef struct tl_track_ids {
    tl_hash taken; /* tids of the system */
    uint32_t seen; /* tracks that are in it */
} tl_track_ids;

void tl_track_ids_fini(tl_track_ids *ids); /* a zeroed one is empty */

/* The tid of a track. One that has none gets its place in the list of tracks, counted from 1, or a number above all
 * places if another thread has that tid. False when memory runs out. */
bool tl_track_tid(tl_track_ids *ids, const tl_trace *t, uint32_t index, int64_t *tid);

int64_t tl_track_pid(const tl_trace *t, uint32_t index);

#endif

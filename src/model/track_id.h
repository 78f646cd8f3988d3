/* The number of a thread for outputs that need one: viewers identify threads by it. */
#ifndef TL_MODEL_TRACK_ID_H
#define TL_MODEL_TRACK_ID_H

#include "base/hash.h"
#include "model/trace_impl.h"

/* The process of tracks without a known one: viewers treat 0 as the idle process. */
#define TL_TRACK_NO_PID 1

typedef struct tl_track_ids {
    tl_hash taken; /* tids of the system */
    uint32_t seen; /* tracks already considered */
} tl_track_ids;

void tl_track_ids_fini(tl_track_ids *ids); /* a zeroed one is empty */

/* The tid of a track. One without a tid gets its index in the list of tracks, from 1, or a larger number if another
 * thread has that tid. False when memory runs out. */
bool tl_track_tid(tl_track_ids *ids, const tl_trace *t, uint32_t index, int64_t *tid);

int64_t tl_track_pid(const tl_trace *t, uint32_t index);

#endif

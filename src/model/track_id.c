/* Numbers of threads, for tracks with and without a system thread. */
#include "model/track_id.h"

void tl_track_ids_fini(tl_track_ids *ids)
{
    tl_hash_fini(&ids->taken);
    *ids = (tl_track_ids){0};
}

bool tl_track_tid(tl_track_ids *ids, const tl_trace *t, uint32_t index, int64_t *tid)
{
    const tl_track *track = tl_trace_track(t, index);
    if (track && track->has_tid) {
        *tid = track->tid;
        return true;
    }
    for (; ids->seen < t->ntrack; ids->seen++)
        if (t->track[ids->seen].has_tid && !tl_hash_put(&ids->taken, (uint64_t)t->track[ids->seen].tid, 1))
            return false;
    uint64_t id = (uint64_t)index + 1;
    while (tl_hash_get(&ids->taken, id) != TL_HASH_NONE) /* tracks get distinct ids: the step is longer than the list */
        id += TL_TRACKS_MAX;
    *tid = (int64_t)id;
    return true;
}

int64_t tl_track_pid(const tl_trace *t, uint32_t index)
{
    const tl_track *track = tl_trace_track(t, index);
    return track && track->has_pid ? track->pid : TL_TRACK_NO_PID;
}

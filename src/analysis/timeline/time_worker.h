/* What one thread makes of the calls that it reads: gives each to everything that wants it. */
#ifndef TL_ANALYSIS_TIME_WORKER_H
#define TL_ANALYSIS_TIME_WORKER_H

#include "analysis/timeline/time_data.h"
#include "op/call_rows.h"

/* What is known of a track. */
typedef struct tl_time_track_state {
    tl_time_track all;
    tl_slice_wait wait;
    uint64_t latest; /* in the current part */
    uint32_t part;   /* 1 + its number */
} tl_time_track_state;

typedef struct tl_time_worker {
    const tl_time_options *options;
    tl_time_data data;
    tl_longest longest;
    tl_time_stretch *stretch; /* where the last call ended */
    tl_time_track_state *track;
    uint32_t ntrack;
    bool ready;
} tl_time_worker;

/* For calls of `tracks` tracks. False when memory runs out, as below. tl_time_worker_fini() in any case. */
bool tl_time_worker_init(tl_time_worker *w, const tl_time_options *o, uint32_t tracks);
void tl_time_worker_fini(tl_time_worker *w);
/* Calls of a part of the source, in the order of a scan. */
bool tl_time_worker_add(tl_time_worker *w, const tl_call_rows *r, uint32_t part);
/* Several parts have ended: what comes next may be anywhere. */
bool tl_time_worker_flush(tl_time_worker *w);
/* Adds all of another one. */
bool tl_time_worker_merge(tl_time_worker *into, tl_time_worker *from);
/* Takes the result. */
bool tl_time_worker_finish(tl_time_worker *w, tl_time_data *out);

#endif

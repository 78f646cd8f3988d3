/* What happened when: all calls of a trace, or those of a range of it, as bounded data that a picture can show, in one
 * pass. The result is the same for any number of threads. */
#ifndef TL_ANALYSIS_TIME_DATA_H
#define TL_ANALYSIS_TIME_DATA_H

#include "analysis/timeline/exemplars.h"
#include "analysis/timeline/grid.h"
#include "analysis/timeline/heat.h"
#include "analysis/timeline/longest.h"
#include "analysis/timeline/self_slices.h"
#include "analysis/timeline/time_stretch.h"
#include "op/call_places.h"
#include "op/source_impl.h"

typedef struct tl_time_options {
    uint64_t from, to; /* ticks: [from, to) */
    bool whole;        /* that is all of the trace: calls outside count at its ends. Else only the part of a call in the
                          range counts, in slices and grid; calls that touch it are among the longest */
    uint32_t slices, columns, heat_columns;   /* at most; 0: not wanted */
    uint32_t slots, heat_rows, slow_rows;     /* of the places */
    uint32_t lanes, grid_lanes;               /* at most; see lanes.h */
    uint32_t longest;                         /* calls, at most */
    const uint64_t (*near)[TL_EXEMPLAR_NEAR]; /* [slow_rows] durations */
    const tl_call_places *places;
    const tl_time_place *place; /* by tl_call_rows.place: that number */
    const tl_select *select;    /* or NULL */
    unsigned threads;           /* 0: as many as there are processors */
} tl_time_options;

typedef struct tl_time_track {
    uint64_t begin, end; /* of its calls */
    bool any;
} tl_time_track;

typedef struct tl_time_data {
    tl_self_slices slices;
    tl_grid grid;
    tl_heat heat;
    tl_exemplar_row *slow; /* [slow_rows] tl_exemplar.place is tl_call_rows.place */
    tl_long_result longest;
    tl_lanes lanes;       /* calls and ticks of all, not only of the longest */
    tl_time_track *track; /* [ntrack] by trace track */
    uint32_t ntrack;
} tl_time_data;

/* The range of all calls, by reading them, if the trace does not know it. *any is false without calls. */
int tl_time_range(tl_source *s, uint64_t *from, uint64_t *to, bool *any, tl_error *e);
/* After tl_call_scan_prepare(). Errors: as tl_call_scan_open(). tl_time_data_fini() in any case. */
int tl_time_data_make(tl_time_data *out, tl_source *s, const tl_time_options *o, tl_error *e);
void tl_time_data_fini(tl_time_data *d);

#endif

/* Processor time that each track used in each measured interval. Times are ns (or ticks, see tl_runtime_time()).
 *
 * Memory: 40 bytes per measurement, 16 per pause. */
#ifndef TL_ANALYSIS_CPU_TABLE_H
#define TL_ANALYSIS_CPU_TABLE_H

#include "analysis/runtime/runtime_events.h"
#include "base/hash.h"
#include "base/wide_sum.h"

typedef struct tl_cpu_point {
    uint64_t begin, end;
    bool has_begin;
    uint32_t track; /* of tl_cpu.track */
    uint64_t used;  /* us */
    bool negative;  /* the clock went back, and nothing counts as used */
} tl_cpu_point;

#define TL_CPU_NS_PER_US 1000u

typedef struct tl_cpu_track {
    const char *name;
    tl_sum used;                   /* ns, of the points that have a begin; and the time that they cover, which is */
    tl_sum elapsed, elapsed_minus; /* elapsed - elapsed_minus: time may go back */
    uint32_t first, n;             /* its points, in the order of the input */
    uint32_t negative;             /* how many of them are negative */
} tl_cpu_track;

/* Recording was suspended from .. to. */
typedef struct tl_cpu_pause {
    uint64_t from, to;
} tl_cpu_pause;

typedef struct tl_cpu {
    tl_cpu_track *track; /* by name */
    uint32_t n;
    tl_cpu_point *point;
    uint32_t npoint, capacity;
    tl_cpu_pause *pause;
    uint32_t npause, pause_capacity;
    bool is_paused; /* the last pause has no end yet */
    bool has_span;  /* of the points, with their begins: */
    uint64_t first, last;
    tl_strings strings;
} tl_cpu;

/* Reads one input into a zeroed table. A point counts if its end is selected. Errors: as tl_runtime_read(). */
int tl_cpu_read(void *table, tl_source *s, const tl_select *select, tl_error *e);

/* The load of a track: a picture of n columns over a time range. value[i]: processors used, 1.0 is one; or
 * TL_CPU_NO_DATA; or TL_CPU_GAP if recording was suspended for most of a column. Errors: TL_ENOMEM. */
#define TL_CPU_NO_DATA (-1.0)
#define TL_CPU_GAP     (-2.0)
int tl_cpu_columns(const tl_cpu *c, uint32_t track, uint64_t from, uint64_t to, double *value, unsigned n, tl_error *e);
/* The highest value of a point. */
double tl_cpu_peak(const tl_cpu *c, uint32_t track);
void tl_cpu_fini(void *table);

#endif

/* Gauges: quantities over time from events of managed runtimes (tl_role), for the counter tracks of time lines.
 *
 *   TL_ROLE_CPU           "CPU" in %, of the track: 100 * used / interval, over the interval that was measured
 *   TL_ROLE_ALLOCATION    "allocated" bytes, of the process: all so far, without those while recording was paused
 *   TL_ROLE_LIVE_OBJECTS  "live" bytes, "live objects": of the process
 *   TL_ROLE_HEAP_SIZES    "heap NAME" bytes and "heap NAME reserved" bytes, for each generation: of the process */
#ifndef TL_MODEL_GAUGE_H
#define TL_MODEL_GAUGE_H

#include "base/pair_map.h"
#include "model/trace_impl.h"

/* Names of generations; further ones are left out. Runtimes have four. */
#define TL_GAUGE_PARTS_MAX 64u

#define TL_DROP_NO_INTERVAL "processor times of no interval"
#define TL_DROP_MANY_PARTS  "sizes of generations beyond 64 names"
#define TL_DROP_TYPES       "lists of objects by type (written as their sums)"

typedef struct tl_gauge {
    uint32_t id;        /* which gauge of the track or process, < 8 * TL_GAUGE_PARTS_MAX */
    bool of_process;    /* otherwise of the track */
    const char *name;   /* "CPU", "heap" */
    const char *part;   /* "GEN0", or NULL */
    const char *suffix; /* "reserved", or NULL */
    const char *unit;   /* "%", "bytes", "count" */
    uint32_t track;     /* of the event */
    uint64_t ts;        /* ticks; does not go back for one gauge of a track or process */
    bool is_real;
    uint64_t value;
    double real;
} tl_gauge;

/* False: memory ran out. */
typedef bool tl_gauge_write(void *arg, const tl_gauge *g);

typedef struct tl_gauges {
    const tl_trace *trace;
    tl_gauge_write *write;
    void *arg;
    struct tl_gauge_track *track;
    uint32_t ntrack;
    tl_pair_map processes; /* part of the trace and pid -> index of `process` */
    struct tl_gauge_process *process;
    uint32_t nprocess;
    tl_strings names;
    const char *part[TL_GAUGE_PARTS_MAX];
    uint32_t nparts;
    uint64_t no_interval, too_many_parts, types;
} tl_gauges;

void tl_gauges_init(tl_gauges *g, const tl_trace *t, tl_gauge_write *write, void *arg); /* after zeroing */
void tl_gauges_fini(tl_gauges *g);

/* Is the class shown as gauges? */
bool tl_gauge_class(const tl_class *c);
/* Adds an event of such a class. */
bool tl_gauges_event(tl_gauges *g, const tl_batch *b, uint32_t i);
/* Ends the last values of gauges that hold for an interval. */
bool tl_gauges_finish(tl_gauges *g);

#endif

/* sam str lines, whatever the source of the samples. */
#ifndef TL_FORMAT_TRACELOG_WRITE_SAMPLE_H
#define TL_FORMAT_TRACELOG_WRITE_SAMPLE_H

#include "format/tracelog/tracelog_write.h"

/* What stands in front of the frames of a sample. */
typedef struct tracelog_sample {
    bool known; /* the iid; else "?" */
    uint64_t iid;
    unsigned digits; /* of the iid */
    uint64_t ms, count;
    tracelog_change change;
} tracelog_sample;

/* Writes the line of a thread whose stack was set already. `iids`: of its functions; NULL: their numbers. */
void tracelog_put_sample(tl_pen *pen, const tracelog_writer *w, const tracelog_sample *s, const tracelog_thread *thread,
                         const tl_hash *iids);

/* Before a sample of so many ms each (0: recorded while paused): says so if readers would take it for another one, such
 * as in parts of logs that have lost the line that did. */
void tracelog_change_pace(tl_pen *pen, tracelog_writer *w, uint64_t period_ms, uint64_t ms);
TL_ALWAYS_INLINE void tracelog_put_pace(tl_pen *pen, tracelog_writer *w, uint64_t period_ms, uint64_t ms)
{
    if (TL_UNLIKELY(w->pace.paused != (period_ms == 0) || (period_ms != 0 && period_ms != w->pace.period_ms)))
        tracelog_change_pace(pen, w, period_ms, ms);
}

/* What readers make of the value of prf cfg SamplingTimeoutMs. */
uint64_t tracelog_period_ms(const char *text, size_t n);

/* The time of an event in the log. */
uint64_t tracelog_write_ms(tracelog_writer *w, uint64_t ts);

#endif

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
void tracelog_put_sample(tl_text_writer *tw, const tracelog_writer *w, const tracelog_sample *s,
                         const tracelog_thread *thread, const tl_hash *iids);

/* Before a sample: says what readers would else take it for another one by, such as in parts of logs that have lost the
 * line that did. Of one that counts, the ms that each of its samples stands for; of others 0, and whether it tells of
 * calls. */
void tracelog_change_pace(tl_text_writer *tw, tracelog_writer *w, uint64_t period_ms, bool calls);
TL_ALWAYS_INLINE void tracelog_put_pace(tl_text_writer *tw, tracelog_writer *w, uint64_t period_ms, bool calls)
{
    const tracelog_pace *p = &w->pace;
    if (TL_UNLIKELY(p->instrumented != (period_ms == 0) || (period_ms == 0 && p->no_execution == calls) ||
                    (period_ms != 0 && period_ms != p->period_ms)))
        tracelog_change_pace(tw, w, period_ms, calls);
}

/* What readers make of the value of prf cfg SamplingTimeoutMs. */
uint64_t tracelog_period_ms(const char *text, size_t n);

/* The time of an event in the log. */
uint64_t tracelog_write_ms(tracelog_writer *w, uint64_t ts);

#endif

/* sam str lines for samples of any source. */
#ifndef TL_FORMAT_TRACELOG_WRITE_SAMPLE_H
#define TL_FORMAT_TRACELOG_WRITE_SAMPLE_H

#include "format/tracelog/tracelog_write.h"

/* What precedes the frames of a sample. */
typedef struct tracelog_sample {
    bool known; /* has the iid; otherwise "?" */
    uint64_t iid;
    unsigned digits; /* of the iid */
    uint64_t ms, count;
    tracelog_change change;
} tracelog_sample;

/* Writes the line of a thread whose stack is already set. `iids`: of its functions; NULL: their numbers. */
void tracelog_put_sample(tl_text_writer *tw, const tracelog_writer *w, const tracelog_sample *s,
                         const tracelog_thread *thread, const tl_hash *iids);

/* Before a sample: writes settings that readers would otherwise get wrong, such as in parts of logs that lack the
 * original line. For one that counts, the ms that each of its samples represents; for others 0, and whether it is
 * calls. */
void tracelog_change_pace(tl_text_writer *tw, tracelog_writer *w, uint64_t period_ms, bool calls);
TL_ALWAYS_INLINE void tracelog_put_pace(tl_text_writer *tw, tracelog_writer *w, uint64_t period_ms, bool calls)
{
    const tracelog_pace *p = &w->pace;
    if (TL_UNLIKELY(p->instrumented != (period_ms == 0) || (period_ms == 0 && p->no_execution == calls) ||
                    (period_ms != 0 && period_ms != p->period_ms)))
        tracelog_change_pace(tw, w, period_ms, calls);
}

/* How readers interpret the value of prf cfg SamplingTimeoutMs. */
uint64_t tracelog_period_ms(const char *text, size_t n);

/* The time of an event in the log. */
uint64_t tracelog_write_ms(tracelog_writer *w, uint64_t ts);

#endif

/* sam str lines: a count, and the difference of the stack from the previous one. */
#include "format/tracelog/tracelog_write_sample.h"

#include <string.h>

#include "format/tracelog/tracelog_scan.h"
#include "model/label.h"

uint64_t tracelog_write_ms(tracelog_writer *w, uint64_t ts)
{
    enum { NS_PER_MS = 1000000, MS_PER_S = 1000 };
    if (TL_UNLIKELY(ts < w->base)) {
        w->losses.before_begin++;
        return 0;
    }
    uint64_t ms = ts - w->base;
    if (w->context.trace->scale.hz != MS_PER_S) {
        const uint64_t ns = tl_scale_ns(&w->context.trace->scale, ms);
        ms = ns / NS_PER_MS;
        w->losses.rounded += ns % NS_PER_MS != 0;
    }
    if (TL_LIKELY(ms <= TRACELOG_MS_MAX))
        return ms;
    w->losses.too_late++;
    return TRACELOG_MS_MAX;
}

uint64_t tracelog_period_ms(const char *text, size_t n)
{
    uint64_t ms;
    return tracelog_parse_number(text, n, &ms) && ms > 0 && ms <= TRACELOG_PERIOD_MAX ? ms : TRACELOG_DEFAULT_PERIOD;
}

void tracelog_change_pace(tl_text_writer *tw, tracelog_writer *w, uint64_t period_ms, bool calls)
{
    tracelog_pace *p = &w->pace;
    if (p->instrumented != (period_ms == 0)) {
        p->instrumented = !p->instrumented;
        TL_TEXT_PUT(tw, "prf cfg CollectionMethod ");
        if (p->instrumented)
            TL_TEXT_PUT(tw, "Instrumentation\n");
        else
            TL_TEXT_PUT(tw, "Sampling\n");
    }
    if (p->instrumented && p->no_execution == calls) {
        p->no_execution = !calls;
        TL_TEXT_PUT(tw, "prf cfg ExecutionTraceEnabled ");
        tl_text_char(tw, calls ? 'T' : 'F');
        tl_text_char(tw, '\n');
    }
    if (period_ms != 0 && period_ms != w->pace.period_ms) {
        w->pace.period_ms = period_ms;
        TL_TEXT_PUT(tw, "prf cfg SamplingTimeoutMs ");
        tl_text_room(tw, TRACELOG_NUMBER_ROOM);
        tw->p = tl_put_u64(tw->p, period_ms);
        *tw->p++ = '\n';
    }
}

TL_ALWAYS_INLINE char *put_call_point(char *p, const tracelog_writer *w, const tracelog_level *at)
{
    *p++ = ':';
    if (TL_UNLIKELY(!(at->flags & TL_FRAME_IP))) {
        *p++ = '?';
        return p;
    }
    if (TL_UNLIKELY(at->flags & TL_FRAME_LINE && at->ip <= UINT32_MAX))
        return tracelog_put_short(p, at->ip);
    return tracelog_put_hex(p, at->ip, w->pointer_digits, TRACELOG_UPPER);
}

static void put_frames(tl_text_writer *tw, const tracelog_writer *w, const tracelog_thread *thread, uint32_t from,
                       const tl_hash *iids)
{
    for (uint32_t i = from; i < thread->n; i++) {
        const tracelog_level *at = &thread->level[i];
        tl_text_room(tw, 2 * TRACELOG_NUMBER_ROOM);
        char *p = tw->p;
        *p++ = ' ';
        if (TL_LIKELY(at->flags & TL_FRAME_FUNCTION))
            p = tracelog_put_short(p, iids ? tl_hash_get(iids, at->function) : at->function);
        else
            *p++ = '?';
        if (at->flags & TL_FRAME_IP)
            p = put_call_point(p, w, at);
        tw->p = p;
    }
}

void tracelog_put_sample(tl_text_writer *tw, const tracelog_writer *w, const tracelog_sample *s,
                         const tracelog_thread *thread, const tl_hash *iids)
{
    tl_text_room(tw, 6 * TRACELOG_NUMBER_ROOM);
    char *p = tw->p;
    p = TL_PUT(p, "sam str ");
    if (TL_LIKELY(s->known))
        p = tracelog_put_hex(p, s->iid, s->digits, TRACELOG_UPPER);
    else
        *p++ = '?';
    *p++ = ' ';
    p = tl_put_u64(p, s->ms);
    *p++ = ' ';
    p = tl_put_u64(p, s->count);
    *p++ = ' ';
    p = tl_put_u64(p, s->change.kept);
    *p++ = ':';
    p = tl_put_u64(p, s->change.size);
    if (s->change.moved)
        p = put_call_point(p, w, &thread->level[s->change.kept - 1]);
    tw->p = p;
    put_frames(tw, w, thread, s->change.kept, iids);
    tl_text_char(tw, '\n');
}

/* Writes data of our own recorder: its notes, in separate buffers before all others, each with one event of whole
 * lines, so that names survive a conversion; and the payload of instants and counters. */
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/xray/fdr_layout.h"
#include "format/xray/fdr_typed.h"
#include "format/xray/fdr_write.h"
#include "model/recording.h"

enum { BIG = false, PREAMBLE = 5 * FDR_METADATA_SIZE };
enum { LINES_MAX = (int)FDR_BUFFER_MAX - 5 * FDR_METADATA_SIZE - FDR_WORD_SIZE };

static uint8_t *metadata(uint8_t *p, int kind)
{
    p[0] = FDR_BYTE0(kind, BIG);
    return p;
}

/* As many whole lines as fit into one buffer, or one line that is longer. */
static size_t lines_for_a_buffer(const char *text, size_t left)
{
    size_t n = 0;
    while (n < left) {
        const char *feed = memchr(text + n, '\n', left - n);
        const size_t line = feed ? (size_t)(feed - (text + n)) + 1 : left - n;
        if (n > 0 && line > (size_t)LINES_MAX - n)
            break;
        n += line;
        if (n > (size_t)LINES_MAX)
            break;
    }
    return n;
}

/* The preamble of a buffer and the marker of its event. Time and wall time are those at the begin of the recording. */
static void put_buffer(const fdr_writer *w, const tl_recording *r, size_t n)
{
    uint8_t head[PREAMBLE + FDR_METADATA_SIZE + FDR_WORD_SIZE] = {0}, *p = head;
    const uint64_t begin = r->clock.begin, micros = tl_scale_ns(&w->context.trace->scale, begin) / 1000;
    const uint64_t payload = FDR_WORD_SIZE + (uint64_t)n;
    tl_store64(metadata(p, FDR_BUFFER_EXTENTS) + FDR_BUFFER_EXTENTS_BYTES, PREAMBLE + payload, BIG);
    p += FDR_METADATA_SIZE;
    tl_store32(metadata(p, FDR_NEW_BUFFER) + FDR_NEW_BUFFER_TID, (uint32_t)r->process.pid, BIG);
    p += FDR_METADATA_SIZE;
    tl_store64(metadata(p, FDR_WALLTIME) + FDR_WALLTIME_SECONDS, micros / 1000000, BIG);
    tl_store32(p + FDR_WALLTIME_MICROSECONDS, (uint32_t)(micros % 1000000), BIG);
    p += FDR_METADATA_SIZE;
    tl_store32(metadata(p, FDR_PID) + FDR_PID_PID, (uint32_t)r->process.pid, BIG);
    p += FDR_METADATA_SIZE;
    tl_store64(metadata(p, FDR_NEW_CPU_ID) + FDR_NEW_CPU_ID_TSC, begin, BIG);
    p += FDR_METADATA_SIZE;
    tl_store32(metadata(p, FDR_CUSTOM_EVENT) + FDR_EVENT_SIZE, (uint32_t)payload, BIG);
    memcpy(p + FDR_METADATA_SIZE, FDR_WORD_NOTE, FDR_WORD_SIZE);
    tl_output_write(w->context.out, head, sizeof head);
}

void fdr_write_notes(const fdr_writer *w)
{
    const tl_recording *r = w->context.trace->recording;
    for (size_t at = 0; at < r->n;) {
        const size_t n = lines_for_a_buffer(r->text + at, r->n - at);
        put_buffer(w, r, n);
        tl_output_write(w->context.out, r->text + at, n);
        at += n;
    }
}

bool fdr_write_known(fdr_writer *w, const tl_batch *b, uint32_t i, uint64_t *type, tl_value *data)
{
    const tl_trace *t = w->context.trace;
    const tl_recording_event *known = fdr_typed_event(t, &t->cls[b->cls[i]]);
    const tl_value *v = b->val ? b->v + b->val[i] : NULL;
    const uint64_t size = v ? fdr_typed_size(known, v, b->v + b->val[i + 1]) : UINT64_MAX;
    *type = known->id;
    if (size > INT32_MAX) { /* counted by the caller */
        data->n = UINT32_MAX;
        return true;
    }
    if (!TL_GROW(w->payload, 0, (size_t)size, w->payload_capacity))
        return false;
    fdr_typed_put(known, v, w->payload);
    *data = (tl_value){.type = TL_BYTES, .n = (uint32_t)size, .as.p = w->payload};
    return true;
}

/* What fuzz targets of readers write from an open source: no input may surprise a writer. */
#ifndef TL_FUZZ_WRITE_H
#define TL_FUZZ_WRITE_H

#include <stdint.h>
#include <stdlib.h>

#include "model/format_impl.h"
#include "op/source_impl.h"

/* The cost of writing an event: its values, and the frames of stacks. */
static uint32_t fuzz_cost(const tl_batch *b, uint32_t event)
{
    uint32_t cost = 1;
    for (uint32_t v = b->val[event]; v < b->val[event + 1]; v++)
        cost += b->v[v].type == TL_STACK ? 1 + b->v[v].n : 1;
    return cost;
}

/* Writes events in the order that the format wants, up to the cost `most`: writing is the slow part. */
static int fuzz_write_some(const tl_format *f, void *writer, tl_source *s, const bool *keep, uint32_t most, tl_error *e)
{
    const bool ordered = tl_format_wants_order(f, tl_source_trace(s));
    const tl_batch *b;
    tl_merge *m = NULL;
    int status = ordered ? tl_merge_open(&m, s, e) : 0;
    for (uint32_t cost = 0; status >= 0 && cost < most;) {
        uint32_t from = 0, to = 0;
        if ((ordered ? tl_merge_next(m, &b, &from, &to, e) : tl_source_next(s, &b, e)) <= 0)
            break;
        to = ordered ? to : b->n;
        for (uint32_t i = from; status >= 0 && i < to && cost < most; i++)
            if (keep[b->cls[i]]) {
                status = f->event_writer->write(writer, b, i, i + 1, e);
                cost += fuzz_cost(b, i);
            }
    }
    tl_merge_close(m);
    return status;
}

/* The events in another format, through its interface. Free the bytes; NULL: they cannot be written, or this build
 * lacks the format. */
static uint8_t *fuzz_written(tl_source *s, const tl_write_options *options, uint32_t most, size_t *n)
{
    const tl_format *f = tl_format_by_name(options->to);
    const tl_event_writer *w = f ? f->event_writer : NULL;
    const tl_trace *t = tl_source_trace(s);
    tl_output *out = NULL;
    tl_error e;
    tl_drops drops = {0};
    if (!w)
        return NULL;
    void *writer = calloc(1, w->size);
    bool *keep = calloc((size_t)tl_trace_classes(t) + 1, sizeof *keep);
    if (!writer || !keep || tl_output_open_memory(&out, TL_PLAIN, &e) < 0)
        abort();
    const tl_write_context context = {.out = out, .trace = t, .drops = &drops, .options = options};
    int status = w->create(writer, &context, &e);
    for (uint32_t i = 0; status >= 0 && i < tl_trace_classes(t); i++)
        keep[i] = w->accept(writer, tl_trace_class(t, i)) == TL_ACCEPT_KEEP;
    status = status < 0 ? status : fuzz_write_some(f, writer, s, keep, most, &e);
    if (status >= 0)
        status = w->finish(writer, &e);
    w->discard(writer);
    free(writer);
    free(keep);
    free(drops.drop);
    uint8_t *bytes = NULL;
    if (status >= 0 && tl_output_finish(out, &e) >= 0)
        bytes = tl_output_take_memory(out, n);
    tl_output_close(out);
    return bytes;
}

#endif

/* Goes over the sources of a dataset for a scan. */
#include "op/scan/source_walk.h"

int tl_source_walk_read(tl_source_walk *w, tl_error *e)
{
    for (;;) {
        if (w->ask->stop && w->ask->stop(w->ask->stop_arg))
            return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "stopped");
        int status = w->is_open ? w->reading->read(w->scan, e) : 0;
        if (status != 0)
            return status;
        w->reading->close(w->scan);
        w->is_open = false;
        if (w->next == w->dataset->n)
            return 0;
        status = w->reading->open(w->scan, w->next++, e);
        if (status < 0)
            return status;
        w->is_open = status > 0;
    }
}

uint32_t tl_source_walk_parts(const tl_dataset *d, uint32_t (*streams)(const tl_source *s), tl_scan_part *out,
                              uint32_t most)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        const tl_source *s = d->source[i];
        const uint32_t of_source = streams(s);
        for (uint32_t k = 0; k < of_source; k++, n++)
            if (n < most)
                out[n] = (tl_scan_part){i, k, 1, s->reader->stream_weight ? s->reader->stream_weight(s->state, k) : 1};
    }
    return n;
}

uint64_t tl_scan_begin(const tl_trace *t)
{
    uint64_t begin = 0, end;
    if (!t->clock.from_zero)
        tl_trace_range(t, &begin, &end);
    return begin;
}

int tl_scan_goes_back(const tl_source *s, tl_error *e)
{
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s goes back in time: write ORDER BY +ts in place of ORDER BY ts",
                   tl_source_name(s));
}

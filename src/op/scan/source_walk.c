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

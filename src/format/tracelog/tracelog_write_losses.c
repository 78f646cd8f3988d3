/* Losses of a written log, in words. */
#include "format/tracelog/tracelog_write_losses.h"

void tracelog_losses_report(const tracelog_losses *l, tl_drops *drops)
{
    const struct {
        const char *what;
        uint64_t n;
    } drop[] = {
        {"statuses of compilations (fun cmf)", l->status},
        {"values that do not fit their place (written as unknown or 0)", l->odd},
        {"line breaks in names and texts (written as spaces)", l->breaks},
        {"bytes that are not UTF-8 (written as U+0080 to U+00FF)", l->bad_text},
        {"frames deeper than 65536", l->too_deep},
        {"frames whose function has a name but no number (written as unknown)", l->no_number},
        {"frames that were there before (written as calls that begin)", l->no_begin},
        {"threads with the number of another one (written as one)", l->same_iid},
        {"the clock's frequency, which is not known (a tick counts as 1 ns)", l->ticks},
        {"times that are not whole milliseconds (rounded)", l->rounded},
        {"times before the begin (moved there)", l->before_begin},
        {"times after 9223372036854 ms (moved there)", l->too_late},
        {"times that went back (moved forward)", l->moved},
        {"exits of functions that were not open", l->unmatched_exits},
        {"calls without an exit of their own (closed with their caller)", l->closed_early},
        {"arguments and other fields of calls", l->fields},
        {"names of threads", l->thread_name},
        {"process ids other than the first", l->other_process},
        {"files and lines of functions", l->source_line},
    };
    for (size_t i = 0; i < TL_COUNT(drop); i++)
        tl_drops_add(drops, drop[i].what, drop[i].n);
}

/* Finds the part of a trace that a slice is. */
#include "cli/convert_slice.h"

#include <string.h>

#include "analysis/instruction/snapshot_find.h"
#include "cli/message.h"
#include "model/histogram.h"
#include "model/trace_impl.h"

const tl_format *tl_slice_format(void)
{
    for (const tl_format *const *f = tl_format_list; *f; f++)
        if ((*f)->writes_slices)
            return *f;
    return NULL;
}

int tl_slice_check(const tl_arguments *a)
{
    const char *problem = NULL;
    if (!a->has_slice && a->slice_insns)
        problem = "-n is how long a slice is: say with --slice-at where it begins";
    else if (!a->has_slice)
        return TL_EXIT_DONE;
    else if (!a->slice_insns)
        problem = "--slice-at: say with -n how many instructions the slice has";
    else if (tl_to_stdout(a))
        problem = "--slice-at: say with -o where the slice is written";
    else if (a->time || a->insns)
        problem = "--slice-at says which part of the time is meant: give it without --time and --insns";
    else if (a->file.n > 1)
        problem = "--slice-at: a slice is of one trace";
    else if (a->follow)
        problem = "--follow: --slice-at needs the whole trace";
    if (problem)
        tl_say_error(NULL, "%s", problem);
    return problem ? TL_EXIT_USAGE : TL_EXIT_DONE;
}

int tl_slice_select(tl_selection *s, const tl_arguments *a, tl_reading *r)
{
    tl_error e = {0};
    tl_select *o = &s->select;
    uint64_t begin = 0, end, ts;
    if (tl_snapshot_find(r->source, o, a->slice_at, &ts, &e) < 0)
        return tl_say_failure(r->path, &e);
    if (!tl_trace_clock(r->trace)->from_zero)
        (void)tl_trace_range(r->trace, &begin, &end);
    o->has_from = o->has_to = true;
    o->time_from = ts - begin;
    o->time_to = tl_add_saturated(o->time_from, a->slice_insns);
    return TL_EXIT_DONE;
}

/* Finds the part of a trace for a slice, and writes what a cut by TIME leaves. */
#include "cli/convert_slice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/snapshot_find.h"
#include "base/text/number.h"
#include "cli/message.h"
#include "model/histogram.h"

const tl_format *tl_slice_format(void)
{
    for (const tl_format *const *f = tl_format_list; *f; f++)
        if ((*f)->event_writer && (*f)->event_writer->slices)
            return *f;
    return NULL;
}

int tl_slice_check(const tl_arguments *a)
{
    const char *problem = NULL;
    tl_when when;
    tl_error e = {0};
    if (!a->slice_at && a->slice_insns)
        problem = "-n is how long a slice is: say with --slice-at where it begins";
    else if (!a->slice_at)
        return TL_EXIT_DONE;
    else if (tl_parse_when(&when, "--slice-at", a->slice_at, &e) < 0)
        problem = e.message;
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

/* From a snapshot on. */
static int by_number(tl_selection *s, const tl_arguments *a, uint64_t number, tl_reading *r)
{
    tl_error e = {0};
    tl_select *o = &s->select;
    uint64_t begin = 0, end, ts;
    if (!a->slice_insns) {
        tl_say_error(NULL, "--slice-at: say with -n how many instructions the slice has");
        return TL_EXIT_USAGE;
    }
    if (tl_snapshot_find(r->source, o, number, &ts, &e) < 0)
        return tl_say_failure(r->path, &e);
    if (!tl_trace_clock(r->trace)->from_zero)
        (void)tl_trace_range(r->trace, &begin, &end);
    o->has_from = o->has_to = true;
    o->time_from = ts - begin;
    o->time_to = tl_add_saturated(o->time_from, a->slice_insns);
    return TL_EXIT_DONE;
}

/* Reports a track that a reader of the slice might miss. */
static void say_track(const tl_slice *slice, const tl_cli *c, const tl_trace *t, uint32_t i)
{
    const tl_time_cut *cut = &slice->cut[i];
    const tl_cut_snapshot *s = &slice->snapshot[i];
    const char *name = tl_trace_track(t, i)->name, *kind = tl_trace_track(t, i)->is_cpu ? "" : "thread ";
    char at[32];
    if (cut->kind == TL_CUT_ENDED)
        tl_say(c, NULL, "%s%s ended before, at TIME %" PRIu64 ": it is left out", kind, name, cut->last);
    else if (cut->kind == TL_CUT_BEGIN)
        tl_say(c, NULL, "%s%s begins later, at TIME %" PRIu64 ": it is there from its begin", kind, name, cut->first);
    else if (s->has_none)
        tl_say(c, NULL, "%s%s is cut before instruction %s, and has no snapshot before: its registers are not known",
               kind, name, tl_human_grouped(at, sizeof at, cut->at));
    else if (s->unknown)
        tl_say(c, NULL, "%s%s is cut before instruction %s: %" PRIu32 " of its registers are not known, and are 0",
               kind, name, tl_human_grouped(at, sizeof at, cut->at), s->unknown);
    else
        tl_say_more(c, NULL, "%s%s is cut before instruction %s", kind, name, tl_human_grouped(at, sizeof at, cut->at));
}

/* All threads at one TIME. */
static int by_time(tl_slice *slice, tl_selection *s, const tl_cli *c, uint64_t time, tl_reading *r)
{
    tl_error e = {0};
    tl_select *o = &s->select;
    const tl_trace *t = r->trace;
    uint64_t from = UINT64_MAX, to = 0;
    slice->by_time = true;
    slice->insns = c->args->slice_insns ? c->args->slice_insns : UINT64_MAX;
    slice->ntrack = tl_trace_tracks(t);
    slice->cut = calloc((size_t)slice->ntrack + 1, sizeof *slice->cut);
    slice->snapshot = calloc((size_t)slice->ntrack + 1, sizeof *slice->snapshot);
    int status = slice->cut && slice->snapshot ? tl_time_cuts_find(slice->cut, r->source, o, time, &e)
                                               : tl_fail(&e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a slice");
    for (uint32_t i = 0; status == 0 && i < slice->ntrack; i++) {
        const tl_time_cut *cut = &slice->cut[i];
        if (cut->kind == TL_CUT_HERE && cut->at > 0)
            status = tl_cut_snapshot_make(&slice->snapshot[i], r->source, i, cut->at, &e);
        if (status == 0 && cut->kind != TL_CUT_NONE)
            say_track(slice, c, t, i);
        if (cut->kind != TL_CUT_HERE && cut->kind != TL_CUT_BEGIN)
            continue;
        const uint64_t end = tl_add_saturated(cut->at, slice->insns);
        from = cut->at < from ? cut->at : from;
        to = end > to ? end : to;
    }
    if (status < 0)
        return tl_say_failure(r->path, &e);
    o->has_from = o->has_to = true;
    o->time_from = from;
    o->time_to = to;
    return TL_EXIT_DONE;
}

int tl_slice_select(tl_slice *slice, tl_selection *s, const tl_cli *c, const tl_format *f, tl_reading *r)
{
    const tl_arguments *a = c->args;
    tl_when when;
    tl_error e = {0};
    uint64_t value;
    if (tl_parse_when(&when, "--slice-at", a->slice_at, &e) < 0 || tl_when_ticks(&when, r->trace, &value, &e) < 0)
        return tl_say_failure(NULL, &e);
    const bool several = tl_trace_is_ranked(r->trace) && tl_time_cut_tracks(r->source, &s->select) > 1;
    if (a->slice_at[0] != '+' && !several)
        return by_number(s, a, value, r);
    if (!f->event_writer->slices) {
        tl_say_error(NULL, "--slice-at: format %s does not hold several threads that are cut at a TIME; write %s",
                     f->name, tl_slice_format() ? tl_slice_format()->name : "another");
        return TL_EXIT_USAGE;
    }
    return by_time(slice, s, c, value, r);
}

/* The events of a run after the cut: the next of them in [*at, to), all of one track. */
static bool next_part(const tl_slice *slice, const tl_batch *b, uint32_t *at, uint32_t to, uint32_t *end)
{
    uint32_t i = *at;
    for (; i < to; i++) {
        const tl_time_cut *cut = &slice->cut[b->track[i]];
        const bool taken = cut->kind == TL_CUT_HERE || cut->kind == TL_CUT_BEGIN;
        if (taken && b->ts[i] >= cut->at && b->ts[i] - cut->at < slice->insns)
            break;
    }
    *at = i;
    if (i == to)
        return false;
    const tl_time_cut *cut = &slice->cut[b->track[i]];
    while (i < to && b->track[i] == b->track[*at] && b->ts[i] >= cut->at && b->ts[i] - cut->at < slice->insns)
        i++;
    *end = i;
    return true;
}

int tl_slice_write(tl_slice *slice, tl_out *out, const tl_run *run, uint32_t n, uint64_t *events, tl_error *e)
{
    int status = 0;
    for (uint32_t k = 0; status == 0 && k < n; k++) {
        const tl_batch *b = run[k].batch;
        for (uint32_t at = run[k].from, end; status == 0 && next_part(slice, b, &at, run[k].to, &end); at = end) {
            tl_cut_snapshot *s = &slice->snapshot[b->track[at]];
            const tl_run part[] = {{&s->batch, 0, s->batch.n}, {b, at, end}};
            const bool begins = s->batch.n > 0;
            status = tl_out_write(out, begins ? part : part + 1, begins ? 2 : 1, e);
            *events += s->batch.n + (end - at);
            s->batch.n = 0; /* once */
        }
    }
    return status;
}

void tl_slice_fini(tl_slice *slice)
{
    for (uint32_t i = 0; slice->snapshot && i < slice->ntrack; i++)
        tl_cut_snapshot_fini(&slice->snapshot[i]);
    free(slice->snapshot);
    free(slice->cut);
    *slice = (tl_slice){0};
}

/* Finds in each stream the first instruction with a later TIME. */
#include "analysis/instruction/time_cut.h"

#include <inttypes.h>

#include "analysis/instruction/insn_classes.h"
#include "op/call_select.h"
#include "op/source_impl.h"

typedef struct search {
    tl_insn_classes classes;
    tl_time_cut *cut;
    uint64_t time;
    bool insns, times; /* of the stream: has it any? */
} search;

/* One event; true: the cut is found. */
static bool visit(search *q, tl_time_cut *cut, const tl_batch *b, uint32_t i)
{
    const tl_insn_what what = tl_insn_what_is(&q->classes, b->cls[i]);
    q->insns = q->insns || what == TL_IS_INSN;
    if (what != TL_IS_ORDER)
        return false;
    if (!q->times)
        cut->first = b->key[i];
    if (!q->times || b->key[i] > cut->last)
        cut->last = b->key[i];
    q->times = true;
    if (b->key[i] <= q->time) {
        cut->kind = TL_CUT_HERE; /* so far */
        return false;
    }
    if (cut->kind == TL_CUT_HERE)
        cut->at = b->ts[i];
    else
        cut->kind = TL_CUT_BEGIN;
    return true;
}

static int read_stream(search *q, tl_source *s, uint32_t stream, const tl_select *select, tl_error *e)
{
    tl_cursor *c = NULL;
    const tl_batch *b;
    const tl_track *track = NULL;
    tl_time_cut *cut = NULL;
    bool found = false;
    q->insns = q->times = false;
    const tl_want want = tl_source_want(s, false);
    int status = tl_cursor_open_want(&c, s, stream, &want, NULL, e);
    while (status == 0 && !found && (status = tl_cursor_next(c, &b, e)) > 0) {
        track = &s->trace.track[b->track[0]]; /* a stream is of one track */
        status = 0;
        if (select && !tl_select_insn_track(select, track))
            break;
        cut = &q->cut[b->track[0]];
        for (uint32_t i = 0; !found && i < b->n; i++)
            found = visit(q, cut, b, i);
    }
    tl_cursor_close(c);
    if (status < 0 || !cut || !q->insns)
        return status;
    if (!q->times)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s%s has no TIMEs to cut it by",
                       track->is_cpu ? "" : "thread ", track->name);
    if (!found)
        cut->kind = TL_CUT_ENDED;
    return 0;
}

/* Is a thread cut, or does one end and one begin? Otherwise the TIME is not within the trace. */
static int check_range(const tl_time_cut *cut, uint32_t n, uint64_t time, tl_error *e)
{
    uint64_t first = UINT64_MAX, last = 0;
    bool here = false, later = false, ended = false;
    for (uint32_t i = 0; i < n; i++) {
        if (cut[i].kind == TL_CUT_NONE)
            continue;
        here = here || cut[i].kind == TL_CUT_HERE;
        later = later || cut[i].kind == TL_CUT_BEGIN;
        ended = ended || cut[i].kind == TL_CUT_ENDED;
        first = cut[i].first < first ? cut[i].first : first;
        last = cut[i].last > last ? cut[i].last : last;
    }
    if (here || (later && ended))
        return 0;
    if (later)
        return tl_fail(e, TL_ENOMATCH, TL_NO_OFFSET, "TIME %" PRIu64 " is before the first one, %" PRIu64, time, first);
    if (ended)
        return tl_fail(e, TL_ENOMATCH, TL_NO_OFFSET, "nothing is later than TIME %" PRIu64 ": the last one is %" PRIu64,
                       time, last);
    return tl_fail(e, TL_ENOMATCH, TL_NO_OFFSET, "there are no instructions to cut");
}

int tl_time_cuts_find(tl_time_cut *cut, tl_source *s, const tl_select *select, uint64_t time, tl_error *e)
{
    search q = {.cut = cut, .time = time};
    int status = 0;
    for (uint32_t i = 0; i < s->trace.ntrack; i++)
        cut[i] = (tl_time_cut){0};
    (void)tl_insn_classes_find(&q.classes, &s->trace);
    for (uint32_t i = 0; status == 0 && i < tl_source_streams(s); i++)
        status = read_stream(&q, s, i, select, e);
    return status < 0 ? status : check_range(cut, s->trace.ntrack, time, e);
}

uint32_t tl_time_cut_tracks(const tl_source *s, const tl_select *select)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->trace.ntrack; i++)
        n += !select || tl_select_insn_track(select, &s->trace.track[i]);
    return n;
}

/* Counts the snapshots of a track, which are in short streams of their own. */
#include "analysis/instruction/snapshot_find.h"

#include <inttypes.h>

#include "op/call_select.h"
#include "op/source_impl.h"

typedef struct search {
    const tl_source *source;
    const tl_select *select;
    uint64_t number, seen, ts;
    bool found;
    uint32_t track; /* the track that has them; UINT32_MAX: none so far */
} search;

static bool is_snapshot(const search *q, const tl_batch *b, uint32_t i)
{
    return q->source->trace.cls[b->cls[i]].role == TL_ROLE_SNAPSHOT;
}

static int count(search *q, const tl_batch *b, tl_error *e)
{
    const tl_trace *t = &q->source->trace;
    for (uint32_t i = 0; i < b->n; i++) {
        const uint32_t track = b->track[i];
        if (!is_snapshot(q, b, i) || (q->select && !tl_select_insn_track(q->select, &t->track[track])))
            continue;
        if (q->track != UINT32_MAX && q->track != track)
            return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s%s and %s both have snapshots; choose a %s",
                           t->track[track].is_cpu ? "" : "threads ", t->track[q->track].name, t->track[track].name,
                           t->track[track].is_cpu ? "processor" : "thread");
        q->track = track;
        if (q->seen++ == q->number) {
            q->ts = b->ts[i];
            q->found = true;
        }
    }
    return 0;
}

/* A stream that does not begin with snapshots has none: it may be very long. */
static int read_stream(search *q, tl_source *s, uint32_t stream, tl_error *e)
{
    tl_cursor *c = NULL;
    const tl_batch *b;
    bool first = true;
    const tl_want want = tl_source_want(s, false);
    int status = tl_cursor_open_want(&c, s, stream, &want, NULL, e);
    while (status == 0 && (status = tl_cursor_next(c, &b, e)) > 0) {
        if (first && !is_snapshot(q, b, 0)) {
            status = 0;
            break;
        }
        first = false;
        status = count(q, b, e);
    }
    tl_cursor_close(c);
    return status;
}

int tl_snapshot_find(tl_source *s, const tl_select *select, uint64_t number, uint64_t *ts, tl_error *e)
{
    search q = {.source = s, .select = select, .number = number, .track = UINT32_MAX};
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < tl_source_streams(s); i++)
        status = read_stream(&q, s, i, e);
    if (status < 0)
        return status;
    if (q.seen == 0)
        return tl_fail(e, TL_ENOMATCH, TL_NO_OFFSET, "there are no snapshots%s",
                       select && select->nthread ? " of that thread"
                       : select && select->ncpu  ? " of that processor"
                                                 : ", neither in it nor beside it");
    if (!q.found)
        return tl_fail(e, TL_ENOMATCH, TL_NO_OFFSET,
                       "there is no snapshot %" PRIu64 ": there are %" PRIu64 ", counted from 0", number, q.seen);
    *ts = q.ts;
    return 0;
}

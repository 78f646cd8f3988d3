/* Merging the streams of a source by time: a tournament of streams that hands out runs of events.
 *
 * Many runs are found at a time: until a stream's batch is used up, nothing has to be read, and a tight loop over the
 * columns of times costs much less than finding each run on request. */
#include <stdlib.h>

#include "base/compiler.h"
#include "op/reorder.h"
#include "op/stream_reader.h"
#include "op/tournament.h"

/* A stream of the merge. */
typedef struct head {
    const tl_batch *batch; /* NULL: not begun */
    const uint64_t *time;  /* the order: the batch's column of times, or of ranks */
    uint64_t after;        /* time of the event after `at`, if any */
    uint32_t at;           /* first event that is not in a run yet */
} head;

#define OPEN_AT_ONCE 64u  /* up to this many streams keep their cursors from the start */
#define PLANNED_MAX  256u /* runs found at once: they stay in a first-level cache */

struct tl_merge {
    tl_source *source;
    tl_reorder *reorder; /* for a source with one unsorted stream: does everything; else NULL */
    tl_stream_reader *stream_reader;
    head *head; /* by stream */
    tl_tournament streams;
    bool used_up; /* the batch of the winner, whose stream must be read on */
    uint32_t planned, handed_out;
    tl_run plan[PLANNED_MAX];
};

TL_ALWAYS_INLINE void go_to(head *h, uint32_t at)
{
    const uint32_t last = h->batch->n - 1;
    h->at = at;
    h->after = h->time[at < last ? at + 1 : last];
}

/* Reads the next batch of a stream. 1: there is one, 0: it has ended, < 0: error. */
static int refill(tl_merge *m, uint32_t stream, tl_error *e)
{
    head *h = &m->head[stream];
    int status = tl_stream_reader_next(m->stream_reader, stream, &h->batch, e);
    if (status > 0) {
        h->time = h->batch->rank ? h->batch->rank : h->batch->ts;
        go_to(h, 0);
    }
    return status;
}

/* Opens the streams, and reads the first batch of each. */
static int open_streams(tl_merge *m, const tl_want *want, const tl_limit *limit, tl_error *e)
{
    tl_source *s = m->source;
    const uint32_t streams = tl_source_streams(s);
    m->head = calloc((size_t)streams + 1, sizeof *m->head);
    int status = m->head && tl_tournament_init(&m->streams, streams)
                     ? tl_stream_reader_open(&m->stream_reader, s, want, limit, e)
                     : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to merge %u streams", streams);
    for (uint32_t i = 0; status >= 0 && i < streams; i++) {
        status = refill(m, i, e);
        if (status <= 0)
            continue;
        tl_tournament_add(&m->streams, i, m->head[i].time[0]);
        /* Of very many short streams only those that overlap in time should take memory. */
        if (streams > OPEN_AT_ONCE && tl_stream_reader_rewinds(m->stream_reader)) {
            tl_stream_reader_rewind(m->stream_reader, i);
            m->head[i].batch = NULL;
        }
    }
    if (status < 0)
        return status;
    tl_tournament_start(&m->streams);
    return 0;
}

int tl_merge_open_want(tl_merge **out, tl_source *s, const tl_want *want, const tl_limit *limit, tl_error *e)
{
    const uint32_t streams = tl_source_streams(s);
    tl_merge *m = calloc(1, sizeof *m);
    if (!m)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to merge %u streams", streams);
    m->source = s;
    int status;
    if (s->follow) /* reads nothing before it is needed: it would wait */
        status = tl_stream_reader_open(&m->stream_reader, s, want, limit, e);
    else if (s->reader->unsorted && streams == 1)
        status = tl_reorder_open(&m->reorder, s, 0, want, limit, e);
    else
        status = open_streams(m, want, limit, e);
    if (status < 0) {
        tl_merge_close(m);
        return status;
    }
    *out = m;
    return 0;
}

int tl_merge_open(tl_merge **out, tl_source *s, tl_error *e)
{
    return tl_merge_open_want(out, s, NULL, NULL, e);
}

/* Two streams: alternating runs. */
static void plan_two(tl_merge *m)
{
    tl_tournament *t = &m->streams;
    head *low = &m->head[t->player[0]], *high = &m->head[t->player[1]];
    const uint64_t *x = low->time, *y = high->time;
    const uint32_t nx = low->batch->n, ny = high->batch->n;
    uint32_t i = low->at, j = high->at;
    tl_run *r = m->plan, *const full = m->plan + PLANNED_MAX - 1;
    while (i < nx && j < ny && r < full) {
        uint32_t from = i;
        while (i < nx && x[i] <= y[j])
            i++;
        *r = (tl_run){low->batch, from, i};
        r += i > from;
        if (i == nx)
            break;
        from = j;
        while (j < ny && y[j] < x[i])
            j++;
        *r = (tl_run){high->batch, from, j};
        r += j > from;
    }
    m->planned = (uint32_t)(r - m->plan);
    m->used_up = i == nx || j == ny;
    /* A used-up stream wins, so that it is read on; otherwise the one with the next event. */
    const uint32_t second = m->used_up ? j == ny : y[j] < x[i];
    t->lost[second] = t->player[0];
    t->lost[!second] = t->player[1];
    if (i < nx) {
        go_to(low, i);
        t->lost_time[second] = x[i];
    }
    if (j < ny) {
        go_to(high, j);
        t->lost_time[!second] = y[j];
    }
}

/* One stream: the rest of its batch. */
static void plan_one(tl_merge *m)
{
    head *h = &m->head[tl_tournament_winner(&m->streams)];
    m->plan[0] = (tl_run){h->batch, h->at, h->batch->n};
    m->planned = 1;
    m->used_up = true;
}

/* The end of the winner's run: the first event that does not come before those of the others. */
TL_ALWAYS_INLINE uint32_t run_end(const tl_tournament *t, const head *h, uint32_t end)
{
    const uint64_t *const time = h->time;
    const uint32_t n = h->batch->n;
    uint64_t limit;
    const bool wins = tl_tournament_winner(t) < tl_tournament_second(t, &limit); /* equal times */
    if (wins)
        while (end < n && time[end] <= limit)
            end++;
    else
        while (end < n && time[end] < limit)
            end++;
    return end;
}

/* Any number of streams. Looks for a long run only if the same stream wins twice: while streams alternate, there is
 * none. */
static void plan_many(tl_merge *m)
{
    tl_tournament *t = &m->streams;
    uint32_t n = 0, winner = tl_tournament_winner(t), last = UINT32_MAX;
    bool used_up = false;
    while (n < PLANNED_MAX) {
        head *h = &m->head[winner];
        const tl_batch *b = h->batch;
        if (!b)
            break;
        const uint32_t from = h->at;
        uint64_t next = h->after;
        tl_run *r;
        if (winner == last) {
            r = &m->plan[n - 1];
            r->to = run_end(t, h, from + 1);
            next = h->time[r->to < b->n ? r->to : from];
        } else {
            r = &m->plan[n++];
            r->batch = b;
            r->from = from;
            r->to = from + 1;
        }
        go_to(h, r->to);
        used_up = r->to == b->n;
        if (used_up)
            break;
        last = winner;
        winner = tl_tournament_again(t, winner, next);
    }
    m->used_up = used_up;
    m->planned = n;
}

/* When following: events as they come, or a run without events. */
static int plan_followed(tl_merge *m, tl_error *e)
{
    const tl_batch *b;
    int status = tl_stream_reader_next(m->stream_reader, 0, &b, e);
    if (status > 0) {
        m->plan[0] = (tl_run){b, 0, b->n};
        m->planned = 1;
    }
    return status;
}

/* Finds the next runs of all streams. */
static int plan_merged(tl_merge *m, tl_error *e)
{
    tl_tournament *t = &m->streams;
    if (m->used_up) {
        const uint32_t stream = tl_tournament_winner(t);
        int status = refill(m, stream, e);
        if (status < 0)
            return status;
        m->used_up = false;
        if (status > 0)
            tl_tournament_again(t, stream, m->head[stream].time[0]);
        else
            tl_tournament_out(t);
    }
    if (t->playing == 0)
        return 0;
    const uint32_t stream = tl_tournament_winner(t);
    if (!m->head[stream].batch) {
        int status = refill(m, stream, e);
        if (status <= 0)
            return status < 0 ? status : tl_fail(e, TL_EIO, TL_NO_OFFSET, "the file changed while it was read");
    }
    if (t->playing == 2 && m->head[t->player[0]].batch && m->head[t->player[1]].batch)
        plan_two(m);
    else if (t->playing == 1)
        plan_one(m);
    else
        plan_many(m);
    return 1;
}

/* Finds the next runs. > 0: found some; 0: the end; < 0: error. */
static int plan(tl_merge *m, tl_error *e)
{
    int status;
    m->planned = m->handed_out = 0;
    if (m->reorder) {
        status = tl_reorder_plan(m->reorder, m->plan, PLANNED_MAX, e);
        m->planned = status > 0 ? (uint32_t)status : 0;
    } else {
        status = m->source->follow ? plan_followed(m, e) : plan_merged(m, e);
    }
    if (status == 0)
        tl_trace_sort_damage(&m->source->trace);
    return status;
}

int tl_merge_next(tl_merge *m, const tl_batch **batch, uint32_t *from, uint32_t *to, tl_error *e)
{
    if (m->handed_out == m->planned) {
        int status = plan(m, e);
        if (status <= 0)
            return status;
    }
    const tl_run *r = &m->plan[m->handed_out++];
    *batch = r->batch;
    *from = r->from;
    *to = r->to;
    return 1;
}

int tl_merge_runs(tl_merge *m, const tl_run **run, uint32_t *n, tl_error *e)
{
    if (m->handed_out == m->planned) {
        int status = plan(m, e);
        if (status <= 0)
            return status;
    }
    *run = &m->plan[m->handed_out];
    *n = m->planned - m->handed_out;
    m->handed_out = m->planned;
    return 1;
}

void tl_merge_close(tl_merge *m)
{
    if (!m)
        return;
    if (m->reorder) {
        tl_reorder_close(m->reorder);
        tl_trace_sort_damage(&m->source->trace); /* for what was read, even if not everything was */
    }
    tl_stream_reader_close(m->stream_reader);
    free(m->head);
    tl_tournament_fini(&m->streams);
    free(m);
}

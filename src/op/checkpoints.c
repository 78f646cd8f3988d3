/* Notes what is open while a pass runs, and begins there later. */
#include "op/checkpoints.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "op/callstack_state.h"
#include "op/insn_calls.h"
#include "op/sample_profile.h"

/* At first; most traces are small, and their streams have few. */
#define FIRST_EVERY  512u
/* Stacks so deep that there is no room for this many are left out. */
#define LEAST_POINTS 16u

typedef struct checkpoint {
    uint64_t time;
    uint64_t bytes;
    tl_open_calls open; /* in the same block */
} checkpoint;

typedef struct stream_points {
    checkpoint **point; /* [n] by time */
    uint32_t n, capacity;
    uint64_t bytes, most;
    uint64_t every, since; /* events between two, and since the last one */
    uint64_t latest;       /* of all events so far */
    bool any;
    bool unsorted;        /* an event was earlier than the one before */
    uint64_t exits, open; /* unmatched; before the end, how many the matcher had at the begin */
    uint64_t late_ends;   /* the same: what comes after a range ended calls within */
    uint32_t *track;      /* [ntrack] that began */
    uint32_t ntrack;
    bool failed; /* no memory for that: nothing is known of this stream */
} stream_points;

struct tl_checkpoints {
    stream_points *stream;
    uint32_t nstream;
    int64_t *function; /* [nfunction] ids of all that were entered */
    uint32_t nfunction, function_capacity;
    bool complete;
    uint32_t users; /* sources */
};

bool tl_source_keep_checkpoints(tl_source *s)
{
    const uint32_t n = tl_source_streams(s);
    if (s->checkpoints || s->follow)
        return true;
    tl_checkpoints *c = calloc(1, sizeof *c);
    if (!c || !(c->stream = calloc((size_t)n + 1, sizeof *c->stream))) {
        free(c);
        return false;
    }
    c->nstream = n;
    c->users = 1;
    uint64_t all = 0;
    for (uint32_t i = 0; i < n; i++)
        all += (s->reader->stream_weight ? s->reader->stream_weight(s->state, i) >> 10 : 0) + 1;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t weight = (s->reader->stream_weight ? s->reader->stream_weight(s->state, i) >> 10 : 0) + 1;
        c->stream[i].most = (uint64_t)((double)TL_CHECKPOINT_BYTES_MOST * ((double)weight / (double)all));
    }
    s->checkpoints = c;
    tl_checkpoints_every(c, FIRST_EVERY);
    return true;
}

/* Do they read the same events? Fields and processors are no events, but packets may be. */
static bool reads_the_same(const tl_source *a, const tl_source *b)
{
    const tl_want *x = &a->want, *y = &b->want;
    return a->reader == b->reader && tl_source_streams(a) == tl_source_streams(b) && a->follow == b->follow &&
           x->packets == y->packets && x->strict == y->strict && x->resync == y->resync &&
           x->companions == y->companions && x->calls == y->calls;
}

void tl_source_share_checkpoints(tl_source *s, tl_source *other)
{
    if (s->checkpoints || !other->checkpoints || !reads_the_same(s, other))
        return;
    s->checkpoints = other->checkpoints;
    s->checkpoints->users++;
}

void tl_source_read_whole(tl_source *s, bool whole)
{
    s->whole = whole;
}

void tl_checkpoints_every(tl_checkpoints *c, uint64_t events)
{
    for (uint32_t i = 0; i < c->nstream; i++)
        c->stream[i].every = events;
}

static void forget(stream_points *s)
{
    checkpoint *last = s->point[--s->n];
    s->bytes -= last->bytes;
    free(last);
}

static void clear(stream_points *s)
{
    const stream_points kept = {.most = s->most, .every = s->every};
    while (s->n)
        forget(s);
    free(s->point);
    free(s->track);
    *s = kept;
}

void tl_checkpoints_free(tl_checkpoints *c)
{
    if (!c || --c->users > 0)
        return;
    for (uint32_t i = 0; i < c->nstream; i++)
        clear(&c->stream[i]);
    free(c->stream);
    free(c->function);
    free(c);
}

uint64_t tl_checkpoints_bytes(const tl_checkpoints *c)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; c && i < c->nstream; i++)
        sum += c->stream[i].bytes;
    return sum;
}

/* ---- writing ---- */

tl_checkpoints *tl_checkpoints_wanted(tl_source *s)
{
    tl_checkpoints *c = s->checkpoints;
    if (!c || c->complete || s->discovery || tl_samples_wanted(&s->trace) || tl_insn_calls_wanted(&s->trace))
        return NULL;
    c->nfunction = 0;
    for (uint32_t i = 0; i < c->nstream; i++) /* a pass may have ended early */
        clear(&c->stream[i]);
    return c;
}

/* Every second one goes, and from now on there are half as many. */
static void thin_out(stream_points *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (i % 2) {
            s->point[kept++] = s->point[i];
            continue;
        }
        s->bytes -= s->point[i]->bytes;
        free(s->point[i]);
    }
    s->n = kept;
    s->every *= 2;
}

/* Without memory, or for a stack that is too deep, there is one less. */
static void note(stream_points *s, const tl_callstack *calls, uint64_t time)
{
    tl_open_calls open = {0};
    tl_callstack_measure(calls, &open.nstack, &open.ncall);
    const uint64_t bytes =
        sizeof(checkpoint) + open.nstack * (uint64_t)sizeof *open.stack + open.ncall * (uint64_t)sizeof *open.call;
    s->since = 0;
    if (bytes > s->most / LEAST_POINTS)
        return;
    while (s->n >= TL_CHECKPOINTS_MOST || s->bytes + bytes > s->most)
        thin_out(s);
    checkpoint *p = TL_GROW(s->point, s->n, 1, s->capacity) ? malloc((size_t)bytes) : NULL;
    if (!p)
        return;
    open.call = (tl_open_call *)(p + 1);
    open.stack = (tl_open_stack *)(open.call + open.ncall);
    *p = (checkpoint){time, bytes, open};
    tl_callstack_save(calls, &open);
    s->bytes += bytes;
    s->point[s->n++] = p;
}

/* Events from .. to-1 of a batch; borrows from it. */
static tl_batch part_of(const tl_batch *b, uint32_t from, uint32_t to)
{
    tl_batch part = *b;
    part.n = to - from;
    part.ts += from;
    part.key += from;
    part.cls += from;
    part.track += from;
    part.first += from;
    part.aux = b->aux ? b->aux + from : NULL;
    part.rank = b->rank ? b->rank + from : NULL;
    part.cpu = b->cpu ? b->cpu + from : NULL;
    part.val = b->val ? b->val + from : NULL;
    return part;
}

/* Looks at the times of events, and forgets what they make wrong. */
static void see(stream_points *s, const uint64_t *ts, uint32_t n)
{
    uint64_t before = s->any ? s->latest : 0, least = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (TL_UNLIKELY(ts[i] < before)) {
            s->unsorted = true;
            least = ts[i] < least ? ts[i] : least;
        } else {
            before = ts[i];
        }
    }
    s->latest = before;
    s->any = true;
    while (TL_UNLIKELY(s->n && s->point[s->n - 1]->time > least))
        forget(s);
}

int tl_checkpoints_add(tl_checkpoints *c, uint32_t stream, tl_callstack *calls, const tl_batch *b, tl_error *e)
{
    stream_points *s = &c->stream[stream];
    int status = 0;
    for (uint32_t i = 0; i < b->n && status == 0;) {
        /* Events of one time stay together. */
        if (s->since >= s->every && b->ts[i] > s->latest)
            note(s, calls, b->ts[i]);
        const uint64_t left = s->since < s->every ? s->every - s->since : 1;
        const uint32_t n = left < b->n - i ? (uint32_t)left : b->n - i;
        const tl_batch part = part_of(b, i, i + n);
        see(s, part.ts, n);
        status = tl_callstack_add(calls, &part, e);
        s->since += n;
        i += n;
    }
    return status;
}

void tl_checkpoints_begin(tl_checkpoints *c, uint32_t stream, const tl_callstack *calls, const tl_profile *p)
{
    stream_points *s = &c->stream[stream];
    s->exits = p->unmatched_exits;
    s->open = p->unmatched_open;
    s->late_ends = tl_callstack_late_ends(calls);
}

void tl_checkpoints_finish(tl_checkpoints *c, uint32_t stream, tl_callstack *calls, const tl_profile *p)
{
    stream_points *s = &c->stream[stream];
    const uint32_t *begun = tl_callstack_begun(calls, &s->ntrack);
    s->track = tl_alloc((size_t)s->ntrack + 1, sizeof *s->track);
    s->failed = !s->track;
    if (s->track && s->ntrack)
        memcpy(s->track, begun, s->ntrack * sizeof *begun);
    tl_callstack_finish(calls);
    s->exits = p->unmatched_exits - s->exits;
    s->open = p->unmatched_open - s->open;
    s->late_ends = tl_callstack_late_ends(calls) - s->late_ends;
}

bool tl_checkpoints_meet(tl_checkpoints *c, const tl_profile *p)
{
    if (!TL_GROW(c->function, c->nfunction, p->nfunction, c->function_capacity))
        return false;
    for (uint32_t i = 0; i < p->nfunction; i++)
        c->function[c->nfunction++] = p->function[i].id;
    return true;
}

void tl_checkpoints_complete(tl_checkpoints *c)
{
    bool failed = false;
    for (uint32_t i = 0; i < c->nstream; i++)
        failed = failed || c->stream[i].failed;
    c->complete = !failed;
}

/* ---- reading ---- */

const tl_checkpoints *tl_checkpoints_for(const tl_source *s, const tl_select *select)
{
    const bool bounded = select && (select->has_from || select->has_to);
    return bounded && s->checkpoints && s->checkpoints->complete && !s->whole ? s->checkpoints : NULL;
}

/* The last one at or before a time; NULL: none. */
static const checkpoint *last_before(const stream_points *s, uint64_t time)
{
    uint32_t from = 0, to = s->n;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (s->point[middle]->time <= time)
            from = middle + 1;
        else
            to = middle;
    }
    return from ? s->point[from - 1] : NULL;
}

int tl_call_part_begin(tl_call_part *part, const tl_checkpoints *c, uint32_t stream, tl_callstack *calls,
                       const tl_profile *p, tl_error *e)
{
    const stream_points *s = &c->stream[stream];
    *part = (tl_call_part){.exits = p->unmatched_exits, .open = p->unmatched_open};
    tl_callstack_range(calls, &part->from, &part->to);
    const checkpoint *first = last_before(s, part->from);
    bool ok = true;
    if (s->late_ends)
        part->to = UINT64_MAX;
    part->from = first ? first->time : 0;
    part->limit = (tl_limit){.set = true, .from = part->from, .to = part->to};
    part->ends = !s->unsorted && part->to < UINT64_MAX;
    for (uint32_t i = 0; i < s->ntrack && ok; i++)
        ok = tl_callstack_begin(calls, s->track[i]);
    if (ok && first)
        ok = tl_callstack_restore(calls, &first->open);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match calls");
}

void tl_call_part_cut(tl_call_part *part, const tl_batch *b, tl_batch *cut)
{
    uint32_t from = 0, to = b->n;
    while (!part->begun && from < b->n && b->ts[from] < part->from)
        from++;
    part->begun = from < b->n;
    if (part->ends && b->n && b->ts[b->n - 1] >= part->to)
        for (to = from; to < b->n && b->ts[to] < part->to;)
            to++;
    part->ended = to < b->n;
    *cut = part_of(b, from, to);
}

void tl_call_part_finish(const tl_call_part *part, const tl_checkpoints *c, uint32_t stream, tl_profile *p)
{
    p->unmatched_exits = part->exits + c->stream[stream].exits;
    p->unmatched_open = part->open + c->stream[stream].open;
}

bool tl_checkpoints_meet_all(const tl_checkpoints *c, tl_callstack *calls)
{
    bool ok = true;
    for (uint32_t i = 0; i < c->nfunction && ok; i++)
        ok = tl_callstack_meet(calls, c->function[i]);
    return ok;
}

/* Counting a whole trace: events of each class and track, and their times. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/pool.h"
#include "op/source_impl.h"

typedef struct counting {
    tl_source *source;
    uint32_t *order;  /* streams, heaviest first */
    tl_count *worker; /* one per thread */
    tl_error *error;  /* one per thread; the first failure is reported */
    uint32_t *failed; /* one per thread: the task that failed, UINT32_MAX: none */
    bool has_format;  /* some classes are not counted */
} counting;

static int count_init(tl_count *c, const tl_trace *t, tl_error *e)
{
    *c = (tl_count){0};
    size_t tracks = (size_t)t->ntrack + 1, classes = (size_t)t->ncls + 1;
    c->by_class = calloc(classes, sizeof *c->by_class);
    c->by_track = calloc(tracks, sizeof *c->by_track);
    c->begin = tl_alloc(tracks, sizeof *c->begin);
    c->end = calloc(tracks, sizeof *c->end);
    if (!c->by_class || !c->by_track || !c->begin || !c->end) {
        tl_count_free(c);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to count the events of %u threads", t->ntrack);
    }
    memset(c->begin, 0xff, tracks * sizeof *c->begin);
    return 0;
}

void tl_count_free(tl_count *c)
{
    free(c->by_class);
    free(c->by_track);
    free(c->begin);
    free(c->end);
    *c = (tl_count){0};
}

static void count_batch(tl_count *c, const tl_trace *t, const tl_batch *b, bool has_format)
{
    /* Local copies: the compiler cannot know that counting does not change these. */
    const uint32_t all = b->n, *const tracks = b->track, *const cls = b->cls;
    const uint64_t *const ts = b->ts;
    uint64_t *const by_class = c->by_class;
    for (uint32_t i = 0; i < all;) {
        /* Consecutive events of one track share the lookups. */
        const uint32_t track = tracks[i];
        uint64_t begin = c->begin[track], end = c->end[track], n = 0;
        for (; i < all && tracks[i] == track; i++) {
            by_class[cls[i]]++;
            if (has_format && t->cls[cls[i]].kind == TL_FORMAT)
                continue;
            n++;
            begin = ts[i] < begin ? ts[i] : begin;
            end = ts[i] > end ? ts[i] : end;
        }
        c->by_track[track] += n;
        c->begin[track] = begin;
        c->end[track] = end;
    }
}

static int count_stream(void *arg, unsigned worker, uint32_t i)
{
    counting *w = arg;
    tl_error *e = &w->error[worker];
    tl_cursor *c = NULL;
    const tl_batch *b;
    int status = tl_cursor_open(&c, w->source, w->order[i], e);
    tl_count *count = &w->worker[worker];
    tl_tally tally = {count->by_class, count->by_track, count->begin, count->end};
    if (status == 0 && w->source->reader->stream_tally)
        w->source->reader->stream_tally(c->state, &tally);
    while (status == 0 && (status = tl_cursor_next(c, &b, e)) > 0) {
        count_batch(&w->worker[worker], &w->source->trace, b, w->has_format);
        status = 0;
    }
    tl_cursor_close(c);
    if (status < 0 && w->failed[worker] == UINT32_MAX)
        w->failed[worker] = i;
    return status;
}

static void add(tl_count *into, const tl_count *from, const tl_trace *t)
{
    for (uint32_t i = 0; i < t->ncls; i++)
        into->by_class[i] += from->by_class[i];
    for (uint32_t i = 0; i < t->ntrack; i++) {
        into->by_track[i] += from->by_track[i];
        into->begin[i] = from->begin[i] < into->begin[i] ? from->begin[i] : into->begin[i];
        into->end[i] = from->end[i] > into->end[i] ? from->end[i] : into->end[i];
    }
}

/* Extends [*begin, *end] by the times that the reader knows. */
static void widen(uint64_t *begin, uint64_t *end, uint64_t known_begin, uint64_t known_end)
{
    *begin = known_begin < *begin ? known_begin : *begin;
    *end = known_end > *end ? known_end : *end;
}

static void sum_up(tl_count *c, const tl_trace *t)
{
    bool known = false;
    uint64_t begin, end;
    c->first = UINT64_MAX;
    for (uint32_t i = 0; i < t->ntrack; i++) {
        const tl_track *track = &t->track[i];
        if (track->has_range)
            widen(&c->begin[i], &c->end[i], track->begin, track->end);
        if (!c->by_track[i] && !track->has_range) {
            c->begin[i] = 0;
            continue;
        }
        known = true;
        c->events += c->by_track[i];
        widen(&c->first, &c->last, c->begin[i], c->end[i]);
    }
    if (tl_trace_range(t, &begin, &end)) {
        known = true;
        widen(&c->first, &c->last, begin, end);
    }
    if (!known)
        c->first = 0;
}

int tl_count_known(const tl_trace *t, tl_count *out, tl_error *e)
{
    int status = count_init(out, t, e);
    if (status == 0)
        sum_up(out, t);
    return status;
}

int tl_source_count(tl_source *s, unsigned threads, tl_count *out, tl_error *e)
{
    const tl_trace *t = &s->trace;
    unsigned n = threads ? threads : 1;
    counting w = {.source = s, .order = tl_source_by_weight(s)};
    for (uint32_t i = 0; i < s->trace.ncls; i++)
        w.has_format = w.has_format || s->trace.cls[i].kind == TL_FORMAT;
    w.worker = calloc(n, sizeof *w.worker);
    w.error = calloc(n, sizeof *w.error);
    w.failed = tl_alloc(n, sizeof *w.failed);
    int status = w.order && w.worker && w.error && w.failed
                     ? 0
                     : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to count events");
    for (unsigned i = 0; status == 0 && i < n; i++) {
        w.failed[i] = UINT32_MAX;
        status = count_init(&w.worker[i], t, e);
    }
    if (status == 0 && (status = tl_parallel(n, tl_source_streams(s), count_stream, &w)) < 0) {
        unsigned first = 0;
        for (unsigned i = 1; i < n; i++)
            if (w.failed[i] < w.failed[first])
                first = i;
        if (e)
            *e = w.error[first];
    }
    if (status == 0) {
        for (unsigned i = 1; i < n; i++)
            add(&w.worker[0], &w.worker[i], t);
        sum_up(&w.worker[0], t);
        *out = w.worker[0];
        w.worker[0] = (tl_count){0};
    }
    tl_trace_sort_damage(&s->trace);
    for (unsigned i = 0; w.worker && i < n; i++)
        tl_count_free(&w.worker[i]);
    free(w.worker);
    free(w.error);
    free(w.failed);
    free(w.order);
    return status;
}

/* The events of one or several sources as one sequence of runs: selected, ordered, and with the ids of one trace. */
#include "traceloom/events.h"

#include <stdlib.h>
#include <string.h>

#include "op/call_select.h"
#include "op/event_select.h"
#include "op/join.h"
#include "op/stream_reader.h"

/* One source of the sequence, and its next run. */
typedef struct feed {
    tl_source *source;
    tl_merge *merge;                 /* if ordered, else ... */
    tl_stream_reader *stream_reader; /* ... one stream after another: */
    uint32_t stream, last;           /* the next one, and that after the last; or there are fewer */
    tl_event_select *select;
    const tl_batch *batch;
    uint32_t at, end;  /* the next run: selected events [at, end) */
    uint32_t next, to; /* read, but not examined yet */
    bool done;
} feed;

struct tl_events {
    feed *feed;
    uint32_t n;
    bool ordered;
    uint64_t begin;
    tl_join *join;    /* several sources; else NULL */
    tl_select select; /* for several sources: the caller's selection, with a score of our own ... */
    bool *matched;    /* ... for all sources together, or NULL if the caller has one */
    tl_run one;       /* for tl_events_runs() */
};

/* Reads the next run, selected or not. 1, 0 at the end, < 0. */
static int read_on(feed *f, tl_error *e)
{
    if (f->merge)
        return tl_merge_next(f->merge, &f->batch, &f->next, &f->to, e);
    int status = 0;
    while (f->stream < f->last && f->stream < tl_source_streams(f->source) &&
           (status = tl_stream_reader_next(f->stream_reader, f->stream, &f->batch, e)) == 0)
        f->stream++;
    f->next = 0;
    f->to = status > 0 ? f->batch->n : 0;
    if (status == 0)
        tl_trace_sort_damage(&f->source->trace);
    return status;
}

/* Takes the next selected run of a feed. 1, 0 at the end, < 0. */
static int advance(feed *f, tl_error *e)
{
    for (;;) {
        if (f->next < f->to) {
            f->at = f->next;
            if (!f->select) {
                f->end = f->next = f->to;
                return 1;
            }
            if (tl_event_select_run(f->select, f->batch, &f->at, f->to, &f->end, &f->next))
                return 1;
        }
        int status = read_on(f, e);
        if (status > 0 && f->next == f->to && f->source->follow) { /* nothing new yet */
            f->at = f->end = f->next;
            return 1;
        }
        if (status <= 0) {
            f->done = true;
            f->next = f->to = 0;
            return status < 0 ? status : f->select ? tl_event_select_check(f->select, e) : 0;
        }
    }
}

/* The tick that times count from, or UINT64_MAX if it has no times; reads everything if the reader does not know. */
static int find_begin(tl_source *s, uint64_t *begin, tl_error *e)
{
    uint64_t end;
    *begin = 0;
    if (s->trace.clock.from_zero || tl_trace_range(&s->trace, begin, &end) || s->follow)
        return 0;
    tl_count count;
    int status = tl_source_count(s, s->want.threads, &count, e);
    if (status < 0)
        return status;
    bool known = count.events > 0;
    for (uint32_t i = 0; i < s->trace.ntrack; i++)
        known = known || s->trace.track[i].has_range;
    *begin = known ? count.first : UINT64_MAX;
    tl_count_free(&count);
    return 0;
}

/* Opens a feed for reading, only within the selected time if possible. */
static int open_feed(feed *f, bool ordered, const tl_want *want, tl_error *e)
{
    tl_limit limit = {0};
    tl_want all = want ? *want : f->source->want;
    if (f->select)
        limit.set = tl_event_select_limit(f->select, &limit.from, &limit.to);
    if (f->source->numbers)
        limit.from = 0;
    all.fields = all.fields || (f->select && tl_event_select_fields(f->select));
    return ordered ? tl_merge_open_want(&f->merge, f->source, &all, &limit, e)
                   : tl_stream_reader_open(&f->stream_reader, f->source, &all, &limit, e);
}

/* A pattern need not match in every source: the result is known after all of them. */
static int keep_score(tl_events *v, const tl_select **select, tl_error *e)
{
    v->select = **select;
    *select = &v->select;
    if (v->select.matched)
        return 0;
    const size_t patterns = v->select.nfunc + v->select.nnot + v->select.nthread + v->select.ncls;
    v->matched = v->select.matched = calloc(patterns + 1, sizeof *v->matched);
    return v->matched ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a selection");
}

/* TL_ENOMATCH if one of n patterns matched in no source. */
static int check_score(const tl_events *v, size_t first, size_t n, tl_error *e)
{
    tl_select strict = v->select;
    strict.matched = NULL;
    int status = 0;
    for (size_t i = first; status == 0 && i < first + n; i++)
        status = tl_select_settle(&strict, i, v->matched[i], e);
    return status;
}

/* The same for threads and classes, as far as known before the first event. */
static int check_score_of_names(const tl_events *v, tl_error *e)
{
    const size_t functions = v->select.nfunc + v->select.nnot, threads = v->select.nthread;
    bool later = false;
    for (uint32_t i = 0; i < v->n; i++)
        later = later || tl_event_select_says_thread(v->feed[i].select);
    const int status = later ? 0 : check_score(v, functions, threads, e);
    return status < 0 ? status : check_score(v, functions + threads, v->select.ncls, e);
}

int tl_events_open(tl_events **out, tl_source *const *s, uint32_t n, const tl_select *select, bool ordered, tl_error *e)
{
    return tl_events_open_want(out, s, n, select, ordered, NULL, e);
}

/* `first` and `last` as in feeds. */
static int open_streams(tl_events **out, tl_source *const *s, uint32_t n, uint32_t first, uint32_t last,
                        const tl_select *select, bool ordered, const tl_want *want, tl_error *e)
{
    tl_events *v = calloc(1, sizeof *v);
    feed *feeds = calloc(n, sizeof *feeds);
    uint64_t *begin = calloc(n, sizeof *begin);
    int status = v && feeds && begin ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to read events");
    if (status == 0) {
        *v = (tl_events){.feed = feeds, .n = n, .ordered = ordered, .begin = UINT64_MAX};
        feeds = NULL;
    }
    if (status == 0 && select)
        status = tl_event_select_can_apply(s, n, select, e);
    for (uint32_t i = 0; status == 0 && i < n; i++) {
        v->feed[i] = (feed){.source = s[i], .stream = first, .last = last};
        status = find_begin(s[i], &begin[i], e);
        v->begin = begin[i] < v->begin ? begin[i] : v->begin;
    }
    if (v && v->begin == UINT64_MAX) /* no events at all */
        v->begin = 0;
    if (status == 0 && n > 1)
        status = tl_join_new(&v->join, s, n, begin, &v->begin, e);
    if (status == 0 && n > 1 && select)
        status = keep_score(v, &select, e);
    for (uint32_t i = 0; status == 0 && i < n; i++) {
        feed *f = &v->feed[i];
        if (select)
            status = tl_event_select_new(&f->select, s[i], select, v->join ? tl_join_begin(v->join, i) : begin[i],
                                         v->join ? tl_join_early(v->join, i) : 0, e);
        if (status == 0)
            status = open_feed(f, ordered, want, e);
    }
    if (status == 0 && v->matched)
        status = check_score_of_names(v, e);
    for (uint32_t i = 0; status == 0 && i < n && !s[i]->follow; i++) { /* it would wait */
        status = advance(&v->feed[i], e);
        status = status < 0 ? status : 0;
    }
    free(feeds);
    free(begin);
    if (status < 0) {
        tl_events_close(v);
        return status;
    }
    *out = v;
    return 0;
}

int tl_events_open_want(tl_events **out, tl_source *const *s, uint32_t n, const tl_select *select, bool ordered,
                        const tl_want *want, tl_error *e)
{
    return open_streams(out, s, n, 0, UINT32_MAX, select, ordered, want, e);
}

int tl_events_open_part(tl_events **out, tl_source *s, uint32_t first, uint32_t n, const tl_select *select,
                        const tl_want *want, tl_error *e)
{
    return open_streams(out, &s, 1, first, first + n, select, false, want, e);
}

void tl_events_close(tl_events *v)
{
    if (!v)
        return;
    for (uint32_t i = 0; v->feed && i < v->n; i++) {
        tl_merge_close(v->feed[i].merge);
        tl_stream_reader_close(v->feed[i].stream_reader);
        tl_event_select_free(v->feed[i].select);
    }
    tl_join_free(v->join);
    free(v->matched);
    free(v->feed);
    free(v);
}

const tl_trace *tl_events_trace(const tl_events *v)
{
    return v->join ? tl_join_trace(v->join) : &v->feed[0].source->trace;
}

uint64_t tl_events_begin(const tl_events *v)
{
    return v->begin;
}

/* Time of a feed's next event, on the clock of the joined trace. */
static uint64_t feed_time(const tl_events *v, uint32_t i, uint32_t at)
{
    return tl_join_time(v->join, i, v->feed[i].batch->ts[at]);
}

/* The feed with the next run; *limit: the time of the second feed, which ends the run if events are ordered. */
static feed *choose_feed(tl_events *v, uint32_t *index, uint64_t *limit)
{
    feed *best = NULL;
    uint64_t best_time = 0;
    *limit = UINT64_MAX;
    for (uint32_t i = 0; i < v->n; i++) {
        feed *f = &v->feed[i];
        if (f->done)
            continue;
        if (!v->ordered) {
            *index = i;
            return f;
        }
        uint64_t time = feed_time(v, i, f->at);
        if (!best || time < best_time) {
            *limit = best ? best_time : UINT64_MAX;
            best = f;
            best_time = time;
            *index = i;
        } else if (time < *limit) {
            *limit = time;
        }
    }
    return best;
}

int tl_events_next(tl_events *v, const tl_batch **batch, uint32_t *from, uint32_t *to, tl_error *e)
{
    if (!v->join) {
        feed *f = &v->feed[0];
        if (f->done)
            return 0;
        if (f->at == f->end) {
            int status = advance(f, e);
            if (status <= 0)
                return status;
        }
        *batch = f->batch;
        *from = f->at;
        *to = f->at = f->end;
        return 1;
    }
    for (uint32_t i = 0; i < v->n; i++) /* the feed used last may need refilling */
        if (!v->feed[i].done && v->feed[i].at == v->feed[i].end) {
            int status = advance(&v->feed[i], e);
            if (status < 0)
                return status;
        }
    uint32_t index = 0;
    uint64_t limit;
    feed *f = choose_feed(v, &index, &limit);
    if (!f)
        return v->matched ? check_score(v, 0, v->select.nfunc + v->select.nnot + v->select.nthread, e) : 0;
    uint32_t end = f->end;
    if (v->ordered)
        for (end = f->at + 1; end < f->end && feed_time(v, index, end) <= limit;)
            end++;
    *batch = tl_join_batch(v->join, index, f->batch, f->at, end);
    *from = 0;
    *to = end - f->at;
    f->at = end;
    return 1;
}

int tl_events_runs(tl_events *v, const tl_run **run, uint32_t *n, tl_error *e)
{
    feed *f = &v->feed[0];
    if (!v->join && f->merge && !f->select && !f->done && f->at == f->end && f->next == f->to) {
        int status = tl_merge_runs(f->merge, run, n, e);
        f->done = status <= 0;
        return status;
    }
    int status = tl_events_next(v, &v->one.batch, &v->one.from, &v->one.to, e);
    if (status > 0) {
        *run = &v->one;
        *n = 1;
    }
    return status;
}

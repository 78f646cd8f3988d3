/* What every fuzz target of a reader checks about an open source: the promises of the public headers. */
#ifndef TL_FUZZ_PROMISES_H
#define TL_FUZZ_PROMISES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "traceloom/traceloom.h"

/* A finding must stop the fuzzer: these are promises of the headers. */
static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

static inline uint64_t fuzz_iterate(tl_source *s)
{
    const tl_trace *t = tl_source_trace(s);
    const tl_batch *b;
    tl_error e;
    uint64_t events = 0;
    int status;
    while ((status = tl_source_next(s, &b, &e)) > 0) {
        promise(b->n > 0 && b->n <= TL_BATCH_MAX, "a batch has 1 .. TL_BATCH_MAX events");
        for (uint32_t i = 0; i < b->n; i++) {
            const tl_class *c = tl_trace_class(t, b->cls[i]);
            promise(c != NULL, "every event has a class");
            promise(tl_trace_track(t, b->track[i]) != NULL, "every event has a track");
            promise(!b->val || (b->val[i] <= b->val[i + 1] && b->val[i + 1] <= b->nval), "values lie on the tape");
            events += c->kind != TL_FORMAT;
        }
    }
    return events;
}

static inline void fuzz_merge(tl_source *s, uint64_t events)
{
    tl_merge *m = NULL;
    tl_error e;
    if (tl_merge_open(&m, s, &e) < 0)
        return;
    const tl_batch *b;
    uint32_t from, to;
    uint64_t merged = 0;
    int status;
    while ((status = tl_merge_next(m, &b, &from, &to, &e)) > 0) {
        promise(from < to && to <= b->n, "a run lies in its batch");
        for (uint32_t i = from; i < to; i++)
            merged += tl_trace_class(tl_source_trace(s), b->cls[i])->kind != TL_FORMAT;
    }
    promise(status < 0 || merged == events, "merging keeps every event");
    tl_merge_close(m);
}

static inline void fuzz_profile(tl_source *s)
{
    tl_profile *p = NULL;
    tl_error e;
    const tl_profile_options options = {.threads = 1};
    if (tl_profile_from_source(&p, s, &options, &e) < 0)
        return;
    for (uint32_t place = 1; place < tl_profile_places(p); place++) {
        tl_stat stat;
        tl_profile_stat(p, place, &stat);
        promise(tl_profile_parent(p, place) < place, "parents come before children");
        if (tl_profile_has_histogram(p) && stat.calls > 0) {
            const uint64_t middle = tl_profile_percentile(p, place, 500);
            promise(stat.min <= middle && middle <= stat.max, "a percentile lies between min and max");
        }
    }
    tl_profile_free(p);
}

#endif

/* Compares several readings of one open trace at once with one reading: together_check ROUNDS THREADS PATH...
 *
 * Two cursors of each stream, with and without fields and processors, take turns in random steps; so do two tl_merge
 * and two tl_events; and two threads read all streams at once. All must give the events that a single reading gives.
 * Without fields, only what all readings have is compared. Prints the number of events. */
#include <pthread.h>

#include "trace_check.h"

typedef struct check {
    trace_check *trace;
    tl_source *source;
    digests *full, *bare; /* by stream */
    digests merged;
} check;

static const tl_want rich = {.fields = true, .cpu = true}, bare = {0};

static int fail(check *c, const char *what, uint32_t stream, const digests *got, const digests *expected)
{
    printf("%s: %s %u: %zu events, expected %zu\n", c->trace->path, what, stream, got->n, expected->n);
    c->trace->failed = true;
    return 0;
}

/* Several readings that take turns. */
typedef struct reading {
    tl_cursor *cursor;
    tl_merge *merge;
    tl_events *events;
    digests got;
    bool ended;
} reading;

static int step(reading *r, tl_error *e)
{
    const tl_batch *b;
    uint32_t from = 0, to = 0;
    int status = r->cursor  ? tl_cursor_next(r->cursor, &b, e)
                 : r->merge ? tl_merge_next(r->merge, &b, &from, &to, e)
                            : tl_events_next(r->events, &b, &from, &to, e);
    if (status > 0)
        digests_add(&r->got, b, from, r->cursor ? b->n : to);
    r->ended = status <= 0;
    return status < 0 ? status : 0;
}

static int take_turns(check *c, reading *r, uint32_t n, tl_error *e)
{
    int status = 0;
    for (uint32_t left = n; status == 0 && left > 0;) {
        reading *x = &r[draw(&c->trace->random, n)];
        for (uint64_t steps = draw(&c->trace->random, 5); status == 0 && steps > 0 && !x->ended; steps--)
            status = step(x, e);
        left = 0;
        for (uint32_t i = 0; i < n; i++)
            left += !r[i].ended;
    }
    return status;
}

static void close_readings(reading *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        tl_cursor_close(r[i].cursor);
        tl_merge_close(r[i].merge);
        tl_events_close(r[i].events);
        digests_free(&r[i].got);
    }
}

/* Two rich cursors and a bare one on a stream, and one on another. */
static int check_cursors(check *c, uint32_t stream, tl_error *e)
{
    const uint32_t other = (uint32_t)draw(&c->trace->random, tl_source_streams(c->source));
    reading r[4] = {0};
    int status = tl_cursor_open_want(&r[0].cursor, c->source, stream, &rich, NULL, e);
    for (uint32_t i = 1; status == 0 && i < 4; i++)
        status = tl_cursor_open_want(&r[i].cursor, c->source, i == 3 ? other : stream, i == 2 ? &bare : &rich, NULL, e);
    if (status == 0)
        status = take_turns(c, r, 4, e);
    for (uint32_t i = 0; status == 0 && i < 4; i++) {
        const digests *expected = i == 2 ? &c->bare[stream] : &c->full[i == 3 ? other : stream];
        if (!digests_equal(&r[i].got, expected))
            fail(c, i == 2 ? "bare cursor" : "cursor", stream, &r[i].got, expected);
    }
    close_readings(r, 4);
    return status;
}

/* Two of tl_merge, and two of tl_events, which are ordered, too, at once. */
static int check_merges(check *c, tl_error *e)
{
    reading r[4] = {0};
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < 4; i++)
        status = i < 2 ? tl_merge_open_want(&r[i].merge, c->source, &rich, NULL, e)
                       : tl_events_open_want(&r[i].events, &c->source, 1, NULL, true, &rich, e);
    if (status == 0)
        status = take_turns(c, r, 4, e);
    for (uint32_t i = 0; status == 0 && i < 4; i++)
        if (!digests_equal(&r[i].got, &c->merged))
            fail(c, i < 2 ? "merge" : "events", i, &r[i].got, &c->merged);
    close_readings(r, 4);
    return status;
}

typedef struct thread {
    check *check;
    digests got;
    uint32_t wrong; /* its first stream with other events, or UINT32_MAX */
    int status;
    tl_error error;
    bool bare, backwards;
} thread;

static void *read_all(void *arg)
{
    thread *t = arg;
    const uint32_t n = tl_source_streams(t->check->source);
    for (uint32_t k = 0; k < n && t->status == 0 && t->wrong == UINT32_MAX; k++) {
        const uint32_t i = t->backwards ? n - 1 - k : k;
        t->status = read_stream(t->check->source, i, t->bare ? &bare : &rich, NULL, &t->got, &t->error);
        if (t->status == 0 && !digests_equal(&t->got, t->bare ? &t->check->bare[i] : &t->check->full[i]))
            t->wrong = i;
    }
    return NULL;
}

static int check_threads(check *c, tl_error *e)
{
    enum { THREADS = 3 };
    thread t[THREADS];
    pthread_t id[THREADS];
    int status = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        t[i] = (thread){.check = c, .wrong = UINT32_MAX, .bare = i == 2, .backwards = i == 1};
        if (pthread_create(&id[i], NULL, read_all, &t[i]) != 0)
            abort();
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(id[i], NULL);
        if (t[i].status < 0) {
            status = t[i].status;
            *e = t[i].error;
        } else if (t[i].wrong != UINT32_MAX) {
            fail(c, "thread", i, &t[i].got, t[i].bare ? &c->bare[t[i].wrong] : &c->full[t[i].wrong]);
        }
        digests_free(&t[i].got);
    }
    return status;
}

static int read_alone(check *c, tl_error *e)
{
    const uint32_t n = tl_source_streams(c->source);
    reading r = {0};
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < n; i++) {
        status = read_stream(c->source, i, &rich, NULL, &c->full[i], e);
        if (status == 0)
            status = read_stream(c->source, i, &bare, NULL, &c->bare[i], e);
        c->trace->all += c->full[i].n;
        if (status == 0 && c->full[i].n != c->bare[i].n)
            fail(c, "bare stream", i, &c->bare[i], &c->full[i]);
    }
    if (status == 0)
        status = tl_merge_open_want(&r.merge, c->source, &rich, NULL, e);
    while (status == 0 && !r.ended)
        status = step(&r, e);
    digests_copy(&c->merged, &r.got);
    close_readings(&r, 1);
    return status;
}

/* What is wanted on opening does not decide what a cursor can read. */
static int check_trace(trace_check *trace, tl_error *e)
{
    const uint32_t n = tl_source_streams(trace->source);
    check all = {.trace = trace, .source = trace->source}, *const c = &all;
    c->full = calloc((size_t)n + 1, sizeof *c->full);
    c->bare = calloc((size_t)n + 1, sizeof *c->bare);
    if (!c->full || !c->bare)
        abort();
    int status = read_alone(c, e);
    trace->read = trace->all;
    for (uint64_t k = 0; status == 0 && k < trace->number; k++) {
        for (uint32_t i = 0; status == 0 && i < n && i < 8; i++)
            status = check_cursors(c, i, e);
        if (status == 0)
            status = check_merges(c, e);
        if (status == 0)
            status = check_threads(c, e);
    }
    for (uint32_t i = 0; i < n; i++) {
        digests_free(&c->full[i]);
        digests_free(&c->bare[i]);
    }
    free(c->full);
    free(c->bare);
    digests_free(&c->merged);
    return status;
}

int main(int argc, char **argv)
{
    return check_traces(argc, argv, check_trace);
}

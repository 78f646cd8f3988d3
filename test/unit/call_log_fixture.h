/* Random logs of calls, and the rows that a matcher makes of them that searches its stack from top to bottom. */
#ifndef TL_TEST_CALL_LOG_FIXTURE_H
#define TL_TEST_CALL_LOG_FIXTURE_H

#include "call_rows_fixture.h"
#include "make_xray.h"
#include "random_profile.h"

enum { THREADS = 5, FUNCTIONS = 7, RECORDS = 7000 };

/* ---- the model ---- */

typedef struct record {
    bool enter;
    int64_t function;
    uint64_t ts;
    int32_t cpu;
} record;

typedef struct open_call {
    record entry;
    uint64_t id, children;
} open_call;

static inline row close_call(open_call *stack, size_t *depth, uint64_t ts, uint64_t exit, int64_t tid, bool ended)
{
    const open_call *c = &stack[--*depth];
    const uint64_t ticks = ended && ts > c->entry.ts ? ts - c->entry.ts : 0;
    row one;
    memset(&one, 0, sizeof one);
    one.id = c->id, one.exit = exit, one.parent = *depth ? c[-1].id : UINT64_MAX;
    one.begin = c->entry.ts, one.end = c->entry.ts + ticks;
    one.self = ticks > c->children ? ticks - c->children : 0;
    one.function = c->entry.function, one.caller = *depth ? c[-1].entry.function : -1;
    one.depth = (uint32_t)*depth + 1, one.place = UINT32_MAX;
    one.tid = tid;
    one.cpu = c->entry.cpu;
    one.flags = ended ? 1 : 3;
    for (size_t i = 0; i < *depth; i++)
        if (stack[i].entry.function == one.function)
            one.flags &= TL_CALL_OPEN;
    if (*depth)
        stack[*depth - 1].children += ticks;
    return one;
}

/* Adds the calls of a thread. */
static inline void model(rows *out, const record *r, size_t n, uint32_t stream, int64_t tid)
{
    open_call *stack = calloc(n + 1, sizeof *stack);
    size_t depth = 0;
    assert_non_null(stack);
    for (size_t i = 0; i < n; i++) {
        const uint64_t id = ((uint64_t)stream << 40) + i;
        size_t at = depth;
        if (r[i].enter) {
            stack[depth++] = (open_call){.entry = r[i], .id = id};
            continue;
        }
        while (at > 0 && stack[at - 1].entry.function != r[i].function)
            at--;
        out->exits += at == 0;
        while (at > 0 && depth >= at) {
            out->open += depth > at;
            const row one = close_call(stack, &depth, r[i].ts, depth > at ? UINT64_MAX : id, tid, true);
            add_row(out, &one);
        }
    }
    while (depth > 0) {
        out->open++;
        const row one = close_call(stack, &depth, 0, UINT64_MAX, tid, false);
        add_row(out, &one);
    }
    free(stack);
}

/* ---- logs of calls ---- */

typedef struct log {
    made made;
    record record[THREADS][RECORDS];
    size_t n[THREADS];
    uint64_t now;
} log;

static inline log *new_log(uint64_t hz)
{
    log *l = calloc(1, sizeof *l);
    assert_non_null(l);
    made_header(&l->made, 3, BASIC_TYPE, hz, 0);
    return l;
}

static inline void put(log *l, uint32_t thread, bool enter, int64_t function)
{
    made_basic(&l->made, enter ? BASIC_ENTER : BASIC_EXIT, (int32_t)function, l->now, thread + 1, 1);
    const int32_t cpu = (int32_t)(l->made.n / BASIC_RECORD_SIZE % 3);
    l->made.data[l->made.n - BASIC_RECORD_SIZE + BASIC_FUNCTION_CPU] = (uint8_t)cpu;
    l->record[thread][l->n[thread]++] = (record){.enter = enter, .function = function, .ts = l->now, .cpu = cpu};
}

/* Calls of several threads, some without entry or exit; the clock goes back now and then. */
static inline log *random_log(uint64_t seed, uint64_t hz)
{
    log *l = new_log(hz);
    static int64_t stack[THREADS][RECORDS];
    size_t depth[THREADS] = {0};
    for (int i = 0; i < RECORDS; i++) {
        const uint64_t x = fixture_random(&seed);
        const uint32_t t = (uint32_t)(x % THREADS);
        l->now += x >> 8 & 63;
        if ((x >> 16 & 127) == 0)
            l->now -= l->now > 1000 ? 1000 : 0;
        if ((x >> 24 & 15) == 0) {
            put(l, t, x >> 40 & 1, 1 + (int64_t)(x >> 32 & 255) % FUNCTIONS);
        } else if (depth[t] == 0 || (x >> 24 & 1)) {
            stack[t][depth[t]] = 1 + (int64_t)(x >> 32 & 255) % FUNCTIONS;
            put(l, t, true, stack[t][depth[t]++]);
        } else {
            put(l, t, false, stack[t][--depth[t]]);
        }
    }
    return l;
}

/* Which thread a stream is of. */
static inline int64_t thread_of_stream(tl_source *s, uint32_t stream)
{
    tl_cursor *c = NULL;
    const tl_batch *b = NULL;
    tl_error e = {0};
    must(tl_cursor_open(&c, s, stream, &e), &e);
    assert_int_equal(tl_cursor_next(c, &b, &e), 1);
    const int64_t tid = s->trace.track[b->track[0]].tid;
    tl_cursor_close(c);
    return tid;
}

static inline rows model_of(const log *l, tl_source *s)
{
    rows all = {0};
    for (uint32_t i = 0; i < tl_source_streams(s); i++) {
        const int64_t tid = thread_of_stream(s, i);
        model(&all, l->record[tid - 1], l->n[tid - 1], i, tid);
    }
    return all;
}

#endif

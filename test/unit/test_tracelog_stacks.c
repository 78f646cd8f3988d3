/* Stacks of TraceLog over many batches, against stacks kept as arrays: the lasting part is rebuilt on the way. */
#include <unistd.h>

#include "format/tracelog/tracelog_replay.h"
#include "format/tracelog/tracelog_write_stack.h"
#include "scratch.h"
#include "tracelog_fixture.h"
#include "traceloom/sink.h"

enum { THREADS = 64, DEPTH = 500, FUNCTIONS = 40, LINES = 6000, NAMED = 600 };

typedef struct array_frame {
    uint32_t function, name, ip;
} array_frame;

typedef struct array_stack {
    array_frame frame[DEPTH];
    uint32_t depth, same; /* frames that have been the same since the last batch ended */
} array_stack;

typedef struct model {
    array_stack stack[THREADS];
    uint32_t name[FUNCTIONS + 1];
    uint32_t random;
} model;

static uint32_t below(model *m, uint32_t most)
{
    return random_below(&m->random, most);
}

/* A line that names a function, or one that changes a stack: usually a little, sometimes a lot. */
static uint32_t next_line(model *m, unsigned i, log_text *log)
{
    if (i % NAMED == 0) {
        const uint32_t function = 1 + below(m, FUNCTIONS);
        m->name[function] = i + 1;
        text_add(log, "fun nam %#x \"%u\" \"\" \"\"\n", function, i + 1);
    }
    const uint32_t thread = below(m, THREADS), before = m->stack[thread].depth;
    array_stack *s = &m->stack[thread];
    const bool much = below(m, 8) == 0;
    const uint32_t popped = below(m, much ? before + 1 : 4);
    s->depth -= popped < before ? popped : before;
    text_add(log, "sam str %#x 1 1 %u:%u", thread + 1, s->depth, before);
    uint32_t same = s->depth;
    if (s->depth > 0 && below(m, 8) == 0)
        text_add(log, ":%#x", s->frame[--same].ip = 1 + below(m, 1000));
    s->same = s->same < same ? s->same : same;
    for (uint32_t n = below(m, much ? DEPTH / 2 : 4); n > 0 && s->depth < DEPTH; n--) {
        array_frame *f = &s->frame[s->depth++];
        *f = (array_frame){.function = 1 + below(m, FUNCTIONS), .ip = below(m, 3)};
        text_add(log, f->ip ? " %#x:%#x" : " %#x", f->function, f->ip);
    }
    text_add(log, "\n");
    return thread;
}

static void check_stack(model *m, uint32_t thread, const tl_value *v)
{
    const array_stack *s = &m->stack[thread];
    assert_int_equal(v->type, TL_STACK);
    assert_int_equal(v->n, s->depth);
    const tl_frame *f = v->as.p;
    for (uint32_t depth = s->depth; depth > 0; depth--, f = f->caller) {
        const array_frame *a = &s->frame[depth - 1];
        assert_non_null(f);
        assert_int_equal(f->depth, depth);
        assert_int_equal(f->function, a->function);
        assert_int_equal(f->flags, TL_FRAME_FUNCTION | (a->ip ? TL_FRAME_IP : 0));
        assert_int_equal(f->ip, a->ip);
        const uint32_t name = m->name[a->function];
        assert_int_equal(f->name ? strtoul(f->name, NULL, 10) : 0, name);
        ((tl_frame *)(uintptr_t)f)->memo = 1; /* as makers of profiles do: it changes nothing in the log */
    }
    assert_null(f);
}

/* The number of frames that differ from the last time. */
static uint64_t fresh_frames(model *m)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        n += m->stack[i].depth - m->stack[i].same;
        m->stack[i].same = m->stack[i].depth;
    }
    return n;
}

/* Reads all lines of a model's log, made again from its seed, into the sink in runs of any length. */
static void read_log(tl_source *s, uint32_t seed, tl_sink *sink)
{
    model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->random = seed;
    log_text unused = {0};
    tl_error e = {0};
    const tl_batch *b;
    int status;
    unsigned line = 0;
    uint64_t lasting = 0;
    while ((status = tl_source_next(s, &b, &e)) > 0) {
        for (uint32_t i = 0, n; sink && i < b->n; i += n) {
            n = i + 100 < b->n ? 100 : b->n - i;
            assert_int_equal(tl_sink_write(sink, b, i, i + n, &e), 0);
        }
        for (uint32_t i = 0; i < b->n; i++) {
            const tl_value *last = &b->v[b->val[i + 1] - 1];
            if (last->type != TL_STACK)
                continue;
            unused.n = 0;
            const uint32_t thread = next_line(m, line++, &unused);
            check_stack(m, thread, last);
        }
        lasting += fresh_frames(m);
    }
    assert_int_equal(status, 0);
    assert_int_equal(line, LINES);
    assert_true(lasting > TRACELOG_LASTING_LEAST + THREADS + 2 * THREADS * DEPTH); /* so it was rebuilt */
    assert_int_equal(tl_trace_damage_count(tl_source_trace(s)), 0);
    assert_int_equal(tl_trace_notes(tl_source_trace(s)), 0);
    text_free(&unused);
    free(m);
}

static void stacks_last_over_batches(void **state)
{
    for (unsigned threads = 1; threads <= 3; threads++) {
        model *m = calloc(1, sizeof *m);
        log_text log = {0};
        assert_non_null(m);
        m->random = threads;
        for (unsigned i = 0; i < LINES; i++)
            next_line(m, i, &log);
        free(m);
        const tl_want want = {.fields = true, .threads = threads};
        tl_source *s = open_log_text(log.p, log.n, &want);
        tl_sink *sink = NULL;
        tl_error e = {0};
        assert_int_equal(tl_sink_open(&sink, "copy.log", tl_source_trace(s), &(tl_write_options){.to = "tracelog"}, &e),
                         0);
        read_log(s, threads, sink);
        assert_int_equal(tl_sink_finish(sink, &e), 0);
        tl_sink_close(sink);
        tl_source_close(s);
        text_free(&log);
        assert_int_equal(tl_source_open(&s, "copy.log", &(tl_open_options){.want = want}, &e), 0);
        read_log(s, threads, NULL);
        tl_source_close(s);
        unlink("copy.log");
    }
}

/* What the writer finds that a thread keeps of its stack when it is 1, the middle, 3. */
static uint32_t kept_with(tracelog_threads *t, tl_arena *batch, tl_arena *of_frames, uint64_t middle)
{
    tl_arena_reset(of_frames);
    tl_frame *f = tl_arena_alloc(of_frames, 3 * sizeof *f);
    assert_non_null(f);
    const uint64_t function[] = {1, middle, 3};
    for (uint32_t i = 0; i < 3; i++)
        f[i] = (tl_frame){.caller = i ? &f[i - 1] : NULL,
                          .function = function[i],
                          .depth = i + 1,
                          .flags = TL_FRAME_FUNCTION,
                          .lasts = batch != of_frames};
    uint64_t too_deep = 0;
    tracelog_change change;
    for (unsigned again = 0; again < 2; again++) {
        tracelog_threads_run(t, &(tl_batch){.arena = batch});
        assert_true(
            tracelog_stack_set(t, tracelog_threads_get(t, true, 7), &f[2], TRACELOG_KEPT_UNKNOWN, &change, &too_deep));
        if (again)
            assert_int_equal(change.kept, 3);
        else
            f->memo = change.kept;
    }
    return f->memo;
}

/* A frame at the address of a former one is another frame, whether in a batch or lasting. */
static void frames_at_the_same_address(void **state)
{
    tracelog_threads t = {0};
    tl_arena batch = {0};
    assert_int_equal(kept_with(&t, &batch, &batch, 2), 0);
    assert_int_equal(kept_with(&t, &batch, &batch, 2), 3);
    assert_int_equal(kept_with(&t, &batch, &batch, 4), 1);
    tl_shared_arena *stays = tl_shared_arena_new();
    assert_non_null(stays);
    tl_arena_hold(&batch, stays);
    assert_int_equal(kept_with(&t, &batch, &stays->arena, 4), 3);
    assert_int_equal(kept_with(&t, &batch, &stays->arena, 5), 1);
    tl_shared_arena_release(stays);
    tl_arena_fini(&batch);
    tracelog_threads_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_at_the_same_address),
        cmocka_unit_test_setup_teardown(stacks_last_over_batches, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

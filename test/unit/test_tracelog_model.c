/* Stacks of TraceLog samples against a simple model: thousands of events, many threads, changing names, and lines that
 * are lost or unreadable. */
#include "tracelog_fixture.h"

enum { THREADS = 40, DEEPEST = 14, FUNCTIONS = 12, EVENTS = 9000 };

typedef struct model_frame {
    uint64_t function, ip;
    uint32_t flags;
} model_frame;

typedef struct model_thread {
    model_frame frame[DEEPEST];
    uint32_t depth;
} model_thread;

typedef struct model {
    model_thread thread[THREADS];
    unsigned name[FUNCTIONS]; /* 0: none */
    unsigned names;
    uint32_t seed, skipped;
    log_text log, expected;
} model;

static void model_name(model *m, unsigned ms)
{
    const uint32_t f = random_below(&m->seed, FUNCTIONS);
    m->name[f] = random_below(&m->seed, 3) || !m->names ? ++m->names : m->names; /* sometimes two have the same */
    text_add(&m->log, "fun nam 0x%x \"n%u\" \"\" \"\"\n", (unsigned)f, m->name[f]);
    text_add(&m->expected, "fun.nam %u process 0x%x \"n%u\" \"\" \"\"\n", ms, (unsigned)f, m->name[f]);
}

static model_frame model_new(model *m)
{
    const uint32_t f = random_below(&m->seed, FUNCTIONS), ip = random_below(&m->seed, 4);
    model_frame made = {.flags = f ? TL_FRAME_FUNCTION : 0u, .function = f};
    text_add(&m->log, f ? " 0x%x" : " ?", (unsigned)f);
    if (ip) {
        made.flags |= TL_FRAME_IP;
        made.ip = ip;
        text_add(&m->log, ip == 1 ? ":0x%04x" : ":%x", (unsigned)ip);
    } else if (random_below(&m->seed, 2)) {
        text_add(&m->log, ":?");
    }
    return made;
}

static void model_sample(model *m, unsigned ms)
{
    const uint32_t thread = random_below(&m->seed, random_below(&m->seed, 4) ? 3 : THREADS);
    model_thread *t = &m->thread[thread];
    uint32_t size = t->depth;
    if (random_below(&m->seed, 200) == 0) /* a line is lost */
        size = random_below(&m->seed, DEEPEST);
    const uint32_t kept = random_below(&m->seed, 4) && size ? size - random_below(&m->seed, size < 2 ? size : 2)
                                                            : random_below(&m->seed, size + 1);
    text_add(&m->log, "sam str 0x%x %u 1 %u:%u", (unsigned)thread, ms, (unsigned)kept, (unsigned)size);
    for (; t->depth < kept; t->depth++)
        t->frame[t->depth] = (model_frame){0};
    t->depth = kept;
    if (kept && random_below(&m->seed, 3) == 0) {
        const uint32_t ip = random_below(&m->seed, 5);
        t->frame[kept - 1].ip = ip;
        t->frame[kept - 1].flags = (t->frame[kept - 1].flags & TL_FRAME_FUNCTION) | (ip ? TL_FRAME_IP : 0u);
        text_add(&m->log, ip ? ":0x%x" : ":?", (unsigned)ip);
    }
    for (uint32_t n = random_below(&m->seed, 4); n > 0 && t->depth < DEEPEST; n--) {
        const model_frame made = model_new(m);
        t->frame[t->depth++] = made;
    }
    text_add(&m->log, "%s\n", random_below(&m->seed, 50) ? "" : "\r");
    text_add(&m->expected, "sam.str %u thread 0x%x key 10 0x%x %u 1 %u [", ms, (unsigned)thread, (unsigned)thread, ms,
             (unsigned)kept);
    for (uint32_t i = t->depth; i-- > 0;) {
        const model_frame *f = &t->frame[i];
        text_add(&m->expected, i + 1 < t->depth ? " " : "");
        text_add(&m->expected, f->flags & TL_FRAME_FUNCTION ? "%x" : "?", (unsigned)f->function);
        if ((f->flags & TL_FRAME_FUNCTION) && m->name[f->function])
            text_add(&m->expected, "=n%u", m->name[f->function]);
        if (f->flags & TL_FRAME_IP)
            text_add(&m->expected, "@%x", (unsigned)f->ip);
    }
    text_add(&m->expected, "]\n");
}

static model *make_model(void)
{
    model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->seed = 99;
    for (unsigned ms = 0; ms < EVENTS; ms++) {
        if (ms && random_below(&m->seed, 120) == 0) {
            model_name(m, ms - 1);
        }
        model_sample(m, ms);
        if (random_below(&m->seed, 100) == 0)
            text_add(&m->log, "sam str 0x1 %u 1 0:0 0x1 0x2 %s\n", ms, m->skipped++ % 2 ? "0x" : "oops");
    }
    return m;
}

static void free_model(model *m)
{
    text_free(&m->log);
    text_free(&m->expected);
    free(m);
}

/* Thousands of events: stacks continue from batch to batch and from block to block. */
static void as_the_model(void **state)
{
    static const tl_want wants[] = {{.fields = true}, {.fields = true, .late = true}, {.fields = true, .threads = 3}};
    model *m = make_model();
    assert_true(m->log.n > 4 * 65536);
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        log_text got = {0};
        tl_source *s = open_log_text(m->log.p, m->log.n, &wants[i]);
        assert_int_equal(show_events(&got, s, NULL, NULL), 0);
        for (size_t k = 0; k < got.n && k < m->expected.n; k++)
            if (got.p[k] != m->expected.p[k])
                fail_msg("got \"%.120s\", expected \"%.120s\"", got.p + (k < 60 ? 0 : k - 60),
                         m->expected.p + (k < 60 ? 0 : k - 60));
        assert_int_equal(got.n, m->expected.n);
        text_free(&got);
        tl_source_close(s);
    }
    free_model(m);
}

/* Without values, events and damage are otherwise the same. */
static void without_fields(void **state)
{
    model *m = make_model();
    tl_source *s[2];
    const tl_batch *b[2];
    log_text damage[2] = {{0}};
    int status[2];
    for (unsigned way = 0; way < 2; way++)
        s[way] = open_log_text(m->log.p, m->log.n, &(const tl_want){.fields = way == 0});
    while ((status[0] = tl_source_next(s[0], &b[0], NULL)) > 0) {
        assert_int_equal(tl_source_next(s[1], &b[1], NULL), 1);
        assert_int_equal(b[0]->n, b[1]->n);
        const size_t bytes = b[0]->n * sizeof(uint64_t);
        assert_memory_equal(b[0]->ts, b[1]->ts, bytes);
        assert_memory_equal(b[0]->key, b[1]->key, bytes);
        assert_memory_equal(b[0]->cls, b[1]->cls, bytes / 2);
        assert_memory_equal(b[0]->track, b[1]->track, bytes / 2);
    }
    assert_int_equal(status[0], 0);
    assert_int_equal(tl_source_next(s[1], &b[1], NULL), 0);
    for (unsigned way = 0; way < 2; way++) {
        show_damage(&damage[way], tl_source_trace(s[way]));
        tl_source_close(s[way]);
    }
    assert_int_equal(damage[0].n, damage[1].n);
    assert_true(damage[0].n > 1000);
    assert_memory_equal(damage[0].p, damage[1].p, damage[0].n);
    text_free(&damage[0]);
    text_free(&damage[1]);
    free_model(m);
}

/* Stacks of one batch share their common frames: otherwise memory would grow with the depth of every stack. */
static void common_callers_are_shared(void **state)
{
    log_text log = {0};
    const tl_batch *b;
    text_add(&log, "sam str 0x1 0 1 0:0 0x1 0x2 0x3\n");
    for (unsigned i = 1; i < 3000; i++)
        text_add(&log, "sam str 0x1 %u 1 2:3 0x%x\n", i, i % 9);
    tl_source *s = open_log_text(log.p, log.n, &(const tl_want){.fields = true});
    uint32_t batches = 0;
    for (; tl_source_next(s, &b, NULL) > 0; batches++) {
        const tl_frame *first = b->v[b->val[0] + 4].as.p;
        for (uint32_t i = 0; i < b->n; i++) {
            const tl_frame *f = b->v[b->val[i] + 4].as.p;
            assert_ptr_equal(f->caller, first->caller);
            assert_int_equal(f->memo, 0);
        }
    }
    assert_true(batches > 2);
    tl_source_close(s);
    text_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_model),
        cmocka_unit_test(without_fields),
        cmocka_unit_test(common_callers_are_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

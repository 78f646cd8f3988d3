/* Two scans of the samples of one log at once, each with a profile of its own: neither may see the other's places. */
#include "op/sample_stack.h"
#include "random_profile.h"
#include "tracelog_fixture.h"

enum { LINES = 20000, FUNCTIONS = 30, DEPTH = 20 };

typedef struct scan {
    tl_cursor *cursor;
    tl_profile *p;
    tl_sample_stack stack;
    uint64_t samples;
    bool ended;
} scan;

/* Stacks that share callers over many batches. */
static void write_log(log_text *log, uint32_t seed)
{
    uint32_t depth[3] = {0};
    for (unsigned i = 0; i < LINES; i++) {
        const uint32_t thread = random_below(&seed, 3), before = depth[thread], popped = random_below(&seed, 4);
        uint32_t now = popped < before ? before - popped : 0;
        text_add(log, "sam str %#x %u 1 %u:%u", thread + 1, i / 10, now, before);
        for (uint32_t n = random_below(&seed, 4); n > 0 && now < DEPTH; n--, now++)
            text_add(log, " %#x", 1 + random_below(&seed, FUNCTIONS));
        text_add(log, "\n");
        depth[thread] = now;
    }
}

/* `before`: functions that the profile has at first, so that numbers of places differ. */
static void begin(scan *x, tl_source *s, unsigned before)
{
    const tl_want want = {.fields = true};
    x->p = fixture_new();
    for (unsigned i = 0; i < before; i++)
        assert_int_not_equal(tl_profile_child(x->p, 0, fixture_function(x->p, 1000 + i, "x")), TL_HASH_NONE);
    tl_sample_stack_init(&x->stack, x->p, s, false);
    assert_int_equal(tl_cursor_open_want(&x->cursor, s, 0, &want, NULL, NULL), 0);
}

static void step(scan *x)
{
    const tl_batch *b;
    const int status = tl_cursor_next(x->cursor, &b, NULL);
    assert_true(status >= 0);
    x->ended = status == 0;
    tl_sample_stack_batch(&x->stack);
    for (uint32_t i = 0; status > 0 && i < b->n; i++) {
        const tl_value *v = &b->v[b->val[i + 1] - 1];
        if (v->type != TL_STACK)
            continue;
        uint32_t place = tl_sample_stack_place(&x->stack, 0, v->as.p);
        for (const tl_frame *f = v->as.p; f; f = f->caller, place = tl_profile_parent(x->p, place)) {
            assert_in_range(place, 1, tl_profile_places(x->p) - 1);
            assert_int_equal(x->p->function[tl_profile_function(x->p, place)].id, f->function);
        }
        assert_int_equal(place, 0);
        x->samples++;
    }
}

static void end(scan *x)
{
    tl_cursor_close(x->cursor);
    tl_sample_stack_fini(&x->stack);
    tl_profile_free(x->p);
}

static void scans_take_turns(void **state)
{
    for (unsigned threads = 1; threads <= 3; threads++) {
        const tl_want want = {.threads = threads};
        log_text log = {0};
        uint32_t random = threads;
        scan x[2] = {0};
        write_log(&log, threads);
        tl_source *s = open_log_text(log.p, log.n, &want);
        begin(&x[0], s, 0);
        begin(&x[1], s, 77);
        while (!x[0].ended || !x[1].ended) {
            scan *next = &x[random_below(&random, 2)];
            if (!next->ended)
                step(next);
        }
        assert_int_equal(x[0].samples, LINES);
        assert_int_equal(x[1].samples, LINES);
        end(&x[0]);
        end(&x[1]);
        tl_source_close(s);
        text_free(&log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

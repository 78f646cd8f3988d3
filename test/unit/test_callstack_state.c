/* A matcher that begins with what another one had open goes on like it: stacks too deep for the logs of
 * test_checkpoints.c. */
#include "check.h"
#include "model/profile_impl.h"
#include "model/trace_impl.h"
#include "op/callstack_state.h"

typedef struct deep {
    tl_trace trace;
    tl_class cls[2];
    tl_track track;
    tl_profile *p;
    tl_callstack *calls;
} deep;

static void deep_new(deep *d)
{
    static const tl_profile_options all = {.flat = true};
    tl_error e = {0};
    *d = (deep){.cls = {{.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "enter"},
                        {.kind = TL_EXIT, .key = TL_KEY_FUNCTION, .name = "exit"}},
                .track = {.name = "t"}};
    d->trace = (tl_trace){.ncls = 2, .ntrack = 1};
    d->trace.cls = d->cls;
    d->trace.track = &d->track;
    must(tl_profile_new(&d->p, &d->trace.clock, &e), &e);
    must(tl_callstack_new(&d->calls, d->p, &d->trace, &all, TL_EXITS_MISSING, &e), &e);
}

static void deep_free(deep *d)
{
    tl_callstack_free(d->calls);
    tl_profile_free(d->p);
}

/* n times the same event. */
static void deep_add(deep *d, bool enter, uint64_t function, uint32_t n)
{
    enum { MOST = 1024 };
    static uint64_t ts[MOST], key[MOST];
    static uint32_t cls[MOST], track[MOST];
    tl_error e = {0};
    for (uint32_t i = 0; i < MOST; i++)
        ts[i] = 7, key[i] = function, cls[i] = !enter;
    while (n) {
        const tl_batch b = {
            .trace = &d->trace, .n = n < MOST ? n : MOST, .ts = ts, .key = key, .cls = cls, .track = track};
        must(tl_callstack_add(d->calls, &b, &e), &e);
        n -= b.n;
    }
}

static void deep_copy(const deep *from, deep *to)
{
    tl_open_calls open = {0};
    tl_callstack_measure(from->calls, &open.nstack, &open.ncall);
    open.stack = calloc(open.nstack + 1, sizeof *open.stack);
    open.call = calloc(open.ncall + 1, sizeof *open.call);
    assert_true(open.stack && open.call);
    tl_callstack_save(from->calls, &open);
    assert_true(tl_callstack_restore(to->calls, &open));
    free(open.stack);
    free(open.call);
}

/* Entries beyond the limit, whose exits are skipped. */
static void test_entries_beyond_the_limit(void **state)
{
    deep a, b;
    deep_new(&a), deep_new(&b);
    for (uint64_t f = 0; f < 1024; f++) /* each less often than in a loop */
        deep_add(&a, true, f, TL_STACK_DEPTH_MAX / 1024);
    deep_add(&a, true, 5000, 9);
    deep_copy(&a, &b);
    deep_add(&a, false, 1023, 10);
    deep_add(&b, false, 1023, 10);
    assert_int_equal(tl_callstack_depth(a.calls, 0), TL_STACK_DEPTH_MAX - 1);
    assert_int_equal(tl_callstack_depth(b.calls, 0), TL_STACK_DEPTH_MAX - 1);
    deep_free(&a), deep_free(&b);
}

/* A stack that was deeper has room, and so is not unwound when it is as deep as a loop makes it. */
static void test_stacks_that_were_deeper(void **state)
{
    for (int way = 0; way < 2; way++) {
        deep a, b;
        deep_new(&a), deep_new(&b);
        deep_add(&a, true, 1, TL_STACK_UNWIND_DEPTH);
        deep_add(&a, true, 2, 1);
        deep_add(&a, false, 2, 1);
        if (way)
            deep_add(&a, false, 1, TL_STACK_UNWIND_DEPTH); /* nothing is open */
        deep_copy(&a, &b);
        deep_add(&a, true, 1, way ? TL_STACK_UNWIND_DEPTH + 2 : 2);
        deep_add(&b, true, 1, way ? TL_STACK_UNWIND_DEPTH + 2 : 2);
        assert_int_equal(tl_callstack_depth(a.calls, 0), TL_STACK_UNWIND_DEPTH + 2);
        assert_int_equal(tl_callstack_depth(b.calls, 0), TL_STACK_UNWIND_DEPTH + 2);
        deep_free(&a), deep_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_entries_beyond_the_limit),
                                       cmocka_unit_test(test_stacks_that_were_deeper)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

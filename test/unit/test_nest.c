/* Stacks of open calls, against the plainest implementation. */
#include "check.h"
#include "model/nest.h"
#include "model/trace_impl.h"

static void test_random_calls(void **state)
{
    enum { EVENTS = 200000 };
    uint64_t *plain = malloc(EVENTS * sizeof *plain);
    assert_non_null(plain);
    unsigned seed = 1;
    for (unsigned functions = 1; functions <= 400; functions *= 20) {
        tl_nest nest = {0};
        uint32_t n = 0;
        uint64_t unmatched = 0;
        for (unsigned i = 0; i < EVENTS; i++) {
            seed = seed * 1103515245 + 12345;
            unsigned random = seed >> 10;
            uint64_t function = random % functions;
            tl_nest_track *t = tl_nest_get(&nest, 3);
            assert_non_null(t);
            if (random / 1024 % 8 < 5 && n < 5000) {
                assert_int_equal(tl_nest_enter(&nest, t, function), TL_NEST_OPENED);
                plain[n++] = function;
                continue;
            }
            uint32_t up = 1;
            while (up <= n && plain[n - up] != function)
                up++;
            uint32_t expected = up <= n ? up : 0;
            unmatched += expected == 0;
            if (expected > 100) /* a stack that is always emptied never gets deep */
                continue;
            assert_int_equal(tl_nest_exit(&nest, t, function), expected);
            for (; expected > 0; expected--)
                assert_int_equal(tl_nest_pop(t), plain[--n]);
            assert_int_equal(t->n, n);
        }
        assert_int_equal(nest.unmatched_exits, unmatched);
        tl_nest_fini(&nest);
    }
    free(plain);
}

static void test_depth_limit(void **state)
{
    tl_nest nest = {0};
    tl_nest_track *t = tl_nest_get(&nest, 0);
    assert_non_null(t);
    for (uint32_t i = 0; i < 1u << 20; i++)
        assert_int_equal(tl_nest_enter(&nest, t, 1), TL_NEST_OPENED);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(tl_nest_enter(&nest, t, 1), TL_NEST_TOO_DEEP);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(tl_nest_exit(&nest, t, 1), 0); /* one of those that were too deep */
    assert_int_equal(nest.unmatched_exits, 0);
    assert_int_equal(nest.too_deep, 3);
    assert_int_equal(tl_nest_exit(&nest, t, 1), 1);
    tl_nest_fini(&nest);
}

static void test_time(void **state)
{
    tl_nest nest = {0};
    tl_nest_track *t = tl_nest_get(&nest, 0);
    assert_non_null(t);
    static const uint64_t ts[] = {0, 5, 5, 4, UINT64_MAX, 6}, expected[] = {0, 5, 5, 5, UINT64_MAX, UINT64_MAX};
    for (size_t i = 0; i < 6; i++)
        assert_true(tl_nest_time(&nest, t, ts[i]) == expected[i]);
    assert_int_equal(nest.moved, 2);
    tl_nest_fini(&nest);
}

static void test_tracks(void **state)
{
    tl_nest nest = {0};
    assert_null(tl_nest_get(&nest, TL_TRACKS_MAX));
    assert_null(tl_nest_get(&nest, UINT32_MAX));
    for (uint32_t i = 0; i < 3000; i += 7) {
        tl_nest_track *t = tl_nest_get(&nest, i);
        assert_non_null(t);
        assert_int_equal(tl_nest_enter(&nest, t, i), TL_NEST_OPENED);
    }
    for (uint32_t i = 0; i < 3000; i++)
        assert_int_equal(tl_nest_get(&nest, i)->n, i % 7 == 0);
    tl_nest_fini(&nest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_calls),
        cmocka_unit_test(test_depth_limit),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_tracks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

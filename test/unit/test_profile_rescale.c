/* Rescaling: laws of merging hold afterwards, what is at its limits, samples, what is refused; and regrouping by name.
 */
#include "random_profile.h"

static tl_profile *profile_at(uint64_t *seed, uint64_t hz, bool per_thread, bool has_histogram)
{
    tl_profile *p = fixture_random_profile(seed, per_thread, has_histogram);
    p->clock.hz = hz;
    tl_scale_init(&p->scale, hz);
    return p;
}

static void must_rescale(tl_profile *p, uint64_t hz)
{
    tl_error e;
    must(tl_profile_rescale(p, hz, &e), &e);
}

/* Saving checks each histogram against the calls, the shortest and the longest. */
static void test_any_order_and_grouping(void **state)
{
    static const uint64_t clocks[] = {1, 24000000, 999999937, 1000000000, 2112000000, 3600000001u, UINT64_MAX};
    uint64_t seed = 3;
    for (int i = 0; i < 100; i++) {
        tl_profile *p[3];
        for (int k = 0; k < 3; k++) {
            p[k] = profile_at(&seed, clocks[fixture_random(&seed) % TL_COUNT(clocks)], i & 1, i & 2);
            must_rescale(p[k], 1000000000);
            assert_string_equal(tl_profile_clock(p[k])->name, "rescaled");
            assert_int_equal(tl_profile_clock(p[k])->hz, 1000000000);
        }
        tl_profile *ab = sum_of(p[0], p[1]), *bc = sum_of(p[1], p[2]), *cb = sum_of(p[2], p[1]);
        tl_profile *ab_c = sum_of(ab, p[2]), *a_bc = sum_of(p[0], bc), *cb_a = sum_of(cb, p[0]);
        assert_same_profile(ab_c, a_bc);
        assert_same_profile(ab_c, cb_a);
        tl_profile *all[] = {p[0], p[1], p[2], ab, bc, cb, ab_c, a_bc, cb_a};
        for (size_t k = 0; k < TL_COUNT(all); k++)
            tl_profile_free(all[k]);
    }
}

static void test_the_same_clock_changes_no_number(void **state)
{
    uint64_t seed = 4;
    tl_profile *p = profile_at(&seed, 1000000000, false, true), *before = copy_of(p);
    must_rescale(p, 1000000000);
    assert_false(p->rescaled);
    before->clock.name = p->clock.name;
    assert_same_profile(before, p);
    tl_profile_free(before);
    tl_profile_free(p);
}

/* Three calls of 5, 7 and 7000 ticks at 2 GHz: 2.5 and 3.5 ns are rounded to even. */
static void test_rounding(void **state)
{
    tl_profile *p = fixture_new();
    const uint32_t place = fixture_place(p, 0, "a");
    fixture_call(p, place, 5, 5, true);
    fixture_call(p, place, 7, 7, true);
    fixture_call(p, place, 7000, 7000, true);
    must_rescale(p, 1000000000);
    tl_stat s;
    tl_profile_stat(p, place, &s);
    assert_int_equal(s.calls, 3);
    assert_int_equal(s.total, 3506);
    assert_int_equal(s.min, 2);
    assert_int_equal(s.max, 3500);
    assert_int_equal(tl_hist_get(&p->stat[place].hist, 2), 1);
    assert_int_equal(tl_hist_get(&p->stat[place].hist, 4), 1);
    assert_int_equal(tl_hist_get(&p->stat[place].hist, tl_hist_bucket(3500)), 1);
    assert_true(p->rescaled);
    tl_profile_free(p);
}

static void test_limits_stay(void **state)
{
    tl_profile *p = fixture_new();
    const uint32_t place = fixture_place(p, 0, "a"), other = fixture_place(p, 0, "ab");
    fixture_call(p, place, UINT64_MAX, UINT64_MAX, true);
    fixture_call(p, other, UINT64_MAX - 1, 0, true);
    p->clock.hz = 1;
    must_rescale(p, 1000000000); /* saturates */
    tl_stat s;
    tl_profile_stat(p, other, &s);
    assert_int_equal(s.max, UINT64_MAX);
    p->clock.hz = 1000000000;
    must_rescale(p, 1);
    tl_profile_stat(p, place, &s);
    assert_int_equal(s.total, UINT64_MAX);
    assert_int_equal(s.max, UINT64_MAX);
    tl_profile_free(copy_of(p));
    tl_profile_free(p);
}

static void test_what_is_refused(void **state)
{
    tl_profile *p = fixture_new();
    tl_error e;
    assert_int_equal(tl_profile_rescale(p, 0, &e), TL_EINVAL);
    p->clock.hz = 0;
    assert_int_equal(tl_profile_rescale(p, 1000000000, &e), TL_EUNSUPPORTED);
    assert_string_equal(p->clock.name, "tsc");
    assert_false(p->rescaled);
    tl_profile_free(p);
}

static void test_samples(void **state)
{
    tl_profile *p = fixture_new();
    tl_error e;
    must(tl_profile_make_sampled(p, tl_sample_weight, TL_SAMPLE_WEIGHTS, &e), &e);
    const uint32_t place = fixture_place(p, 0, "ab");
    for (uint32_t k = 0; k < TL_SAMPLE_WEIGHTS; k++)
        tl_profile_weigh(p, place, k, 1000);
    p->has_span = true;
    p->begin = 20;
    p->end = 4000;
    must(tl_profile_choose_weight(p, NULL, &e), &e);
    must_rescale(p, 1000000000);
    for (uint32_t k = 0; k < TL_SAMPLE_WEIGHTS; k++)
        assert_int_equal(tl_profile_weight_self(p, place, k), k == TL_WEIGHT_TIME ? 500 : 1000);
    tl_stat s;
    tl_profile_stat(p, tl_profile_parent(p, place), &s);
    assert_int_equal(s.total, 500);
    assert_int_equal(p->begin, 10);
    assert_int_equal(p->end, 2000);
    tl_profile_free(copy_of(p));
    tl_profile_free(p);
}

/* f and g of two builds: the same names meet, with their durations; functions without a name stay apart. */
static void test_builds_meet_by_name(void **state)
{
    tl_profile *p = fixture_new(), *q = NULL;
    tl_error e;
    for (unsigned i = 0; i < 4; i++) {
        const tl_function f = {.id = i, .name = i < 2 ? "f" : NULL, .module = i % 2 ? "aa" : "bb", .line = i};
        const uint32_t place = tl_profile_child(p, 0, tl_profile_add_function(p, &f));
        fixture_call(p, place, 100 + i, 100 + i, true);
    }
    must(tl_profile_regroup(&q, p, TL_GROUP_ACROSS_BUILDS, &e), &e);
    assert_int_equal(tl_profile_functions(q), 3);
    assert_true(tl_profile_has_histogram(q));
    tl_stat s;
    tl_profile_function_stat(q, 0, &s);
    assert_string_equal(tl_profile_get_function(q, 0)->name, "f");
    assert_null(tl_profile_get_function(q, 0)->module);
    assert_int_equal(s.calls, 2);
    assert_int_equal(s.total, 201);
    assert_int_equal(s.min, 100);
    assert_int_equal(s.max, 101);
    tl_profile_free(copy_of(q));
    tl_profile_free(q);
    tl_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order_and_grouping),
        cmocka_unit_test(test_the_same_clock_changes_no_number),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_limits_stay),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_builds_meet_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Sums, percentiles, amounts over time, and the matching of begins and ends, used by the tables of managed runtimes. */
#include "analysis/runtime/latest_names.h"
#include "analysis/runtime/open_begins.h"
#include "analysis/runtime/over_time.h"
#include "analysis/runtime/quantiles.h"
#include "base/wide_sum.h"
#include "check.h"

static void check_text(tl_sum s, const char *expected)
{
    char text[TL_SUM_TEXT];
    assert_string_equal(tl_sum_text(text, s), expected);
}

static void sums_are_exact_beyond_64_bits(void **state)
{
    tl_sum s = {0};
    check_text(s, "0");
    tl_sum_add(&s, 999999999);
    check_text(s, "999999999");
    tl_sum_add(&s, 1);
    check_text(s, "1000000000");
    s = tl_sum_of(UINT64_MAX);
    check_text(s, "18446744073709551615");
    assert_int_equal(tl_sum_u64(s), UINT64_MAX);
    tl_sum_add(&s, 1);
    check_text(s, "18446744073709551616");
    assert_int_equal(tl_sum_u64(s), UINT64_MAX);
    s = tl_sum_of(0);
    for (int i = 0; i < 1000; i++)
        tl_sum_add(&s, UINT64_MAX);
    check_text(s, "18446744073709551615000");
    check_text((tl_sum){UINT64_MAX, UINT64_MAX}, "340282366920938463463374607431768211455");
    check_text(tl_sum_times(UINT64_MAX, 1000), "18446744073709551615000");
    check_text(tl_sum_times(UINT64_C(0x100000001), UINT32_MAX), "18446744073709551615");
    check_text((tl_sum){1, 0}, "18446744073709551616");
    check_text((tl_sum){0, 1000000000000000000}, "1000000000000000000");
}

static void sums_compare_and_subtract(void **state)
{
    const tl_sum small = {0, UINT64_MAX}, large = {1, 0}, larger = {1, 5};
    assert_true(tl_sum_compare(small, large) < 0);
    assert_true(tl_sum_compare(larger, large) > 0);
    assert_int_equal(tl_sum_compare(large, large), 0);
    check_text(tl_sum_minus(larger, small), "6");
    check_text(tl_sum_minus(large, small), "1");
    tl_sum both = small;
    tl_sum_join(&both, large);
    check_text(both, "36893488147419103231");
    assert_true(tl_sum_double(large) == 18446744073709551616.0);
}

static void percentiles_are_nearest_ranks(void **state)
{
    tl_quantile_set s = {0};
    tl_quantiles q = tl_quantiles_of_set(&s);
    assert_int_equal(q.count, 0);
    for (uint64_t v = 200; v > 0; v--)
        assert_int_equal(tl_quantile_set_add(&s, (v + 1) / 2, NULL), 0); /* 1 1 2 2 .. 100 100 */
    q = tl_quantiles_of_set(&s);
    assert_int_equal(s.n, 100); /* equal ones are kept once */
    assert_int_equal(q.count, 200);
    check_text(q.total, "10100");
    assert_int_equal(q.min, 1);
    assert_int_equal(q.p50, 50);
    assert_int_equal(q.p90, 90);
    assert_int_equal(q.p99, 99);
    assert_int_equal(q.max, 100);
    tl_quantile_set_fini(&s);

    uint64_t seven[] = {13, 8, 28, 14, 26, 11, 19};
    q = tl_quantiles_of(seven, 7);
    assert_int_equal(q.p50, 14);
    assert_int_equal(q.p90, 28);
    assert_int_equal(q.min, 8);
    uint64_t ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    q = tl_quantiles_of(ten, 10);
    assert_int_equal(q.p50, 5);
    assert_int_equal(q.p90, 9);
    assert_int_equal(q.p99, 10);
    uint64_t huge[] = {UINT64_MAX, UINT64_MAX};
    check_text(tl_quantiles_of(huge, 2).total, "36893488147419103230");
}

static void both_ways_to_percentiles_agree(void **state)
{
    uint64_t value[257], x = 1;
    for (unsigned n = 1; n < 257; n++) {
        tl_quantile_set s = {0};
        for (unsigned i = 0; i < n; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            value[i] = x >> 60;
            assert_int_equal(tl_quantile_set_add(&s, value[i], NULL), 0);
        }
        const tl_quantiles a = tl_quantiles_of_set(&s), b = tl_quantiles_of(value, n);
        assert_int_equal(a.count, b.count);
        assert_int_equal(a.min, b.min);
        assert_int_equal(a.p50, b.p50);
        assert_int_equal(a.p90, b.p90);
        assert_int_equal(a.p99, b.p99);
        assert_int_equal(a.max, b.max);
        assert_int_equal(tl_sum_compare(a.total, b.total), 0);
        tl_quantile_set_fini(&s);
    }
}

static void amounts_keep_their_sum_while_bins_widen(void **state)
{
    tl_over_time *t = calloc(1, sizeof *t);
    assert_non_null(t);
    assert_true(tl_over_time_sum(t, 0, UINT64_MAX) == 0);
    tl_over_time_add(t, 5, 1);
    tl_over_time_add(t, 1000, 2);
    assert_int_equal(t->width, 1);
    assert_true(tl_over_time_sum(t, 0, 1000) == 1);
    assert_true(tl_over_time_sum(t, 0, 1001) == 3);
    tl_over_time_add(t, 5000000, 4);
    assert_true(tl_over_time_sum(t, 0, 2500000) == 3);
    assert_true(tl_over_time_sum(t, 2500000, 5000001) == 4);
    tl_over_time_add(t, UINT64_MAX, 8);
    assert_true(tl_over_time_sum(t, 0, UINT64_MAX) == 15);
    assert_true(tl_over_time_sum(t, UINT64_MAX / 2, UINT64_MAX) == 8);
    assert_int_equal(t->last, UINT64_MAX);
    free(t);
}

static void intervals_are_round(void **state)
{
    assert_int_equal(tl_round_interval(0, 10), 1);
    assert_int_equal(tl_round_interval(10, 10), 1);
    assert_int_equal(tl_round_interval(11, 10), 2);
    assert_int_equal(tl_round_interval(21, 10), 5);
    assert_int_equal(tl_round_interval(51, 10), 10);
    assert_int_equal(tl_round_interval(972000000, 16), 100000000);
    assert_int_equal(tl_round_interval(UINT64_MAX, 16), UINT64_C(2000000000000000000));
    assert_int_equal(tl_round_interval(UINT64_MAX, 1), UINT64_MAX);
}

static void ends_take_the_latest_begin_of_their_key(void **state)
{
    tl_begins b;
    uint32_t v = 99;
    assert_int_equal(tl_begins_init(&b, 2, NULL), 0);
    assert_false(tl_begins_take(&b, 0, 1, &v));
    assert_int_equal(tl_begins_add(&b, 0, 1, 10, NULL), 0);
    assert_int_equal(tl_begins_add(&b, 0, 2, 20, NULL), 0);
    assert_int_equal(tl_begins_add(&b, 0, 1, 11, NULL), 0);
    assert_int_equal(tl_begins_add(&b, 1, 1, 30, NULL), 0);
    assert_true(tl_begins_take(&b, 0, 1, &v));
    assert_int_equal(v, 11);
    assert_true(tl_begins_take(&b, 0, 1, &v));
    assert_int_equal(v, 10);
    assert_false(tl_begins_take(&b, 0, 1, &v));
    assert_true(tl_begins_take(&b, 1, 1, &v));
    assert_int_equal(v, 30);
    assert_true(tl_begins_take(&b, 0, 2, &v));
    assert_int_equal(v, 20);
    assert_false(tl_begins_take(&b, 7, 2, &v)); /* no such class */
    assert_int_equal(tl_begins_add(&b, 7, 2, 1, NULL), 0);
    tl_begins_fini(&b);
}

static void entries_of_begins_are_used_again(void **state)
{
    tl_begins b;
    uint32_t v;
    assert_int_equal(tl_begins_init(&b, 1, NULL), 0);
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(tl_begins_add(&b, 0, i % 7, i, NULL), 0);
        if (i >= 3) {
            assert_true(tl_begins_take(&b, 0, (i - 3) % 7, &v));
            assert_int_equal(v, i - 3);
        }
    }
    assert_true(b.n <= 5);
    tl_begins_fini(&b);
}

static void a_million_open_begins(void **state)
{
    tl_begins b;
    uint32_t v = 0;
    assert_int_equal(tl_begins_init(&b, 1, NULL), 0);
    for (uint32_t i = 0; i < 1000000; i++)
        assert_int_equal(tl_begins_add(&b, 0, 0, i, NULL), 0);
    for (uint32_t i = 1000000; i-- > 0;) {
        assert_true(tl_begins_take(&b, 0, 0, &v));
        if (v != i)
            fail_msg("%u instead of %u", v, i);
    }
    tl_begins_fini(&b);
}

static void the_latest_name_counts(void **state)
{
    tl_names t = {0};
    tl_strings strings = {0};
    const tl_value one = {.type = TL_HEX, .as.u = 1}, none = {.type = TL_NULL},
                   a = {.type = TL_STRING, .n = 1, .as.p = "ab"}, b = {.type = TL_STRING, .n = 2, .as.p = "bcd"},
                   empty = {.type = TL_STRING};
    assert_null(tl_names_get(&t, 1));
    assert_int_equal(tl_names_set(&t, &strings, &one, &a, NULL), 0);
    assert_string_equal(tl_names_get(&t, 1), "a");
    assert_int_equal(tl_names_set(&t, &strings, &one, &b, NULL), 0);
    assert_int_equal(tl_names_set(&t, &strings, &none, &a, NULL), 0);
    assert_int_equal(tl_names_set(&t, &strings, &one, &none, NULL), 0);
    assert_int_equal(tl_names_set(&t, &strings, &one, NULL, NULL), 0);
    assert_int_equal(tl_names_set(&t, &strings, NULL, &a, NULL), 0);
    assert_string_equal(tl_names_get(&t, 1), "bc");
    assert_null(tl_names_get(&t, 0));
    assert_int_equal(tl_names_set(&t, &strings, &one, &empty, NULL), 0);
    assert_string_equal(tl_names_get(&t, 1), "");
    tl_names_fini(&t);
    tl_strings_fini(&strings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_beyond_64_bits),
        cmocka_unit_test(sums_compare_and_subtract),
        cmocka_unit_test(percentiles_are_nearest_ranks),
        cmocka_unit_test(both_ways_to_percentiles_agree),
        cmocka_unit_test(amounts_keep_their_sum_while_bins_widen),
        cmocka_unit_test(intervals_are_round),
        cmocka_unit_test(ends_take_the_latest_begin_of_their_key),
        cmocka_unit_test(entries_of_begins_are_used_again),
        cmocka_unit_test(a_million_open_begins),
        cmocka_unit_test(the_latest_name_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

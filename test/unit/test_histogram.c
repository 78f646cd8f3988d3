/* Histograms: buckets, both ways to store counts, wide counts, merging, and the stated error of percentiles. */
#include "check.h"
#include "model/histogram.h"

#define VALUES 20000u

static uint64_t random_state;

static uint64_t random_u64(void)
{
    random_state += 0x9e3779b97f4a7c15u;
    uint64_t x = random_state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void test_buckets_round_trip(void **state)
{
    uint64_t expected_low = 0;
    for (uint32_t b = 0; b < TL_HIST_BUCKETS; b++) {
        uint64_t low = tl_hist_low(b), high = tl_hist_high(b), middle = tl_hist_middle(b);
        assert_true(low == expected_low); /* no gap, no overlap */
        assert_true(low <= middle && middle <= high);
        assert_int_equal(tl_hist_bucket(low), b);
        assert_int_equal(tl_hist_bucket(middle), b);
        assert_int_equal(tl_hist_bucket(high), b);
        expected_low = high + 1;
    }
    assert_true(expected_low == 0); /* the last bucket ends at 2^64 - 1 */
    assert_int_equal(tl_hist_bucket(UINT64_MAX), TL_HIST_BUCKETS - 1);
}

static void test_buckets_are_exact_below_512(void **state)
{
    for (uint32_t v = 0; v < 512; v++) {
        assert_int_equal(tl_hist_bucket(v), v);
        assert_int_equal(tl_hist_high(v), v);
    }
}

static void test_middle_is_within_a_percent(void **state)
{
    for (uint32_t b = 512; b < TL_HIST_BUCKETS; b++) {
        uint64_t low = tl_hist_low(b), high = tl_hist_high(b), middle = tl_hist_middle(b);
        assert_true(middle - low <= low / 500); /* 0.2 % */
        assert_true(high - middle <= low / 500);
    }
}

static void test_empty(void **state)
{
    tl_hist h = {0};
    assert_int_equal(tl_hist_sum(&h), 0);
    assert_int_equal(tl_hist_next(&h, 0), TL_HIST_BUCKETS);
    assert_int_equal(tl_hist_get(&h, 5), 0);
    assert_int_equal(tl_hist_percentile(&h, 500, 3, 4), 0);
    assert_true(tl_hist_merge(&h, &h));
    assert_int_equal(tl_hist_sum(&h), 0);
    tl_hist_fini(&h);
}

/* Counts in a plain array, the model of the histogram. */
static void assert_counts(const tl_hist *h, const uint64_t count[static TL_HIST_BUCKETS])
{
    uint64_t sum = 0;
    uint32_t next = tl_hist_next(h, 0), at = 0;
    tl_hist_pair pair;
    for (uint32_t b = 0; b < TL_HIST_BUCKETS; b++) {
        assert_true(tl_hist_get(h, b) == count[b]);
        sum = tl_add_saturated(sum, count[b]);
        if (count[b]) {
            assert_true(tl_hist_each(h, &at, &pair) && pair.bucket == b && pair.count == count[b]);
            assert_int_equal(next, b);
            next = tl_hist_next(h, b + 1);
        }
    }
    assert_int_equal(next, TL_HIST_BUCKETS);
    assert_false(tl_hist_each(h, &at, &pair));
    assert_true(tl_hist_sum(h) == sum);
}

/* Values of different kinds: all equal, close together, far apart, two clusters with rare outliers. */
static uint64_t habit_value(unsigned habit)
{
    switch (habit) {
    case 0:
        return 1000;
    case 1:
        return 5000 + random_u64() % 3000;
    case 2:
        return random_u64() >> (random_u64() % 64);
    case 3:
        return random_u64() % 100 ? 100 + random_u64() % 30 : 1000000 + random_u64() % 1000000000;
    default:
        return UINT64_MAX - random_u64() % 1000;
    }
}

#define HABITS 5u

static void test_adding_counts_every_value(void **state)
{
    for (unsigned habit = 0; habit < HABITS; habit++) {
        static uint64_t count[TL_HIST_BUCKETS];
        memset(count, 0, sizeof count);
        tl_hist h = {0};
        for (uint32_t i = 0; i < VALUES; i++) {
            uint64_t v = habit_value(habit);
            count[tl_hist_bucket(v)]++;
            assert_true(tl_hist_add(&h, v));
            if (i < 70 || i % 1000 == 0)
                assert_counts(&h, count);
        }
        assert_counts(&h, count);
        tl_hist_fini(&h);
        assert_null(h.count);
    }
}

static void test_one_call_costs_one_entry(void **state)
{
    tl_hist h = {0};
    assert_true(tl_hist_add(&h, 123456));
    assert_int_equal(h.n, 0);
    assert_int_equal(h.used, 1);
    assert_int_equal(1u << h.capacity_log2, 1);
    assert_true(tl_hist_add(&h, 1234567890)); /* far away: no window of a thousand buckets */
    assert_int_equal(h.n, 0);
    assert_int_equal(h.used, 2);
    tl_hist_fini(&h);
}

static void test_busy_and_dense_become_windows(void **state)
{
    tl_hist busy = {0}, dense = {0};
    for (int i = 0; i < 100; i++)
        assert_true(tl_hist_add(&busy, 1) && tl_hist_add(&busy, 1000000000));
    assert_true(busy.n > 1000);
    for (uint64_t v = 0; v < 10; v++)
        assert_true(tl_hist_add(&dense, 2 * v));
    assert_int_equal(dense.n, 32);
    assert_int_equal(dense.first, 0);
    tl_hist_fini(&busy);
    tl_hist_fini(&dense);
}

static void test_a_window_becomes_a_list_again_for_one_outlier(void **state)
{
    tl_hist h = {0};
    for (uint64_t v = 0; v < 4; v++)
        assert_true(tl_hist_add(&h, v));
    assert_int_equal(h.n, 16);
    assert_true(tl_hist_add(&h, UINT64_MAX));
    assert_int_equal(h.n, 0);
    assert_int_equal(h.used, 5);
    for (uint64_t v = 0; v < 4; v++)
        assert_int_equal(tl_hist_get(&h, (uint32_t)v), 1);
    assert_int_equal(tl_hist_get(&h, TL_HIST_BUCKETS - 1), 1);
    tl_hist_fini(&h);
}

static void test_counts_beyond_32_bits(void **state)
{
    tl_hist h = {0};
    for (int i = 0; i < 100; i++)
        assert_true(tl_hist_add(&h, 50));
    assert_true(h.n && !h.wide);
    assert_true(tl_hist_add_slow(&h, 50, UINT32_MAX - 101u));
    assert_true(tl_hist_add(&h, 50));
    assert_false(h.wide);
    assert_true(tl_hist_get(&h, 50) == UINT32_MAX);
    assert_true(tl_hist_add(&h, 50)); /* the fast path must not wrap */
    assert_true(h.wide);
    assert_true(tl_hist_get(&h, 50) == (uint64_t)UINT32_MAX + 1);
    assert_true(tl_hist_add(&h, 50));
    assert_true(tl_hist_add(&h, 300)); /* a wide window grows */
    assert_true(h.wide && h.n > 16);
    assert_true(tl_hist_get(&h, 50) == (uint64_t)UINT32_MAX + 2);
    assert_true(tl_hist_get(&h, tl_hist_bucket(300)) == 1);
    assert_true(tl_hist_add_slow(&h, 50, UINT64_MAX));
    assert_true(tl_hist_get(&h, 50) == UINT64_MAX); /* and stops at the end */
    assert_true(tl_hist_sum(&h) == UINT64_MAX);
    tl_hist_fini(&h);
}

static void test_merge_is_a_sum(void **state)
{
    static uint64_t count[TL_HIST_BUCKETS];
    for (unsigned a = 0; a < HABITS; a++) {
        for (unsigned b = 0; b < HABITS; b++) {
            memset(count, 0, sizeof count);
            tl_hist h[2] = {{.n = 0}, {.n = 0}};
            uint64_t n[2] = {1 + random_u64() % 40, 1 + random_u64() % 3000};
            for (unsigned which = 0; which < 2; which++) {
                for (uint64_t i = 0; i < n[which]; i++) {
                    uint64_t v = habit_value(which ? b : a);
                    count[tl_hist_bucket(v)]++;
                    assert_true(tl_hist_add(&h[which], v));
                }
            }
            tl_hist sum = {0};
            assert_true(tl_hist_merge(&sum, &h[0]) && tl_hist_merge(&sum, &h[1]));
            assert_counts(&sum, count);
            assert_true(tl_hist_merge(&h[1], &h[0]));
            assert_counts(&h[1], count);
            for (uint32_t i = 0; i < TL_HIST_BUCKETS; i++)
                count[i] *= 2;
            assert_true(tl_hist_merge(&sum, &sum)); /* with itself */
            assert_counts(&sum, count);
            tl_hist_fini(&h[0]);
            tl_hist_fini(&h[1]);
            tl_hist_fini(&sum);
        }
    }
}

static void test_merge_widens(void **state)
{
    const tl_hist_pair many[] = {{.count = UINT32_MAX, .bucket = 3}, {.count = 7, .bucket = 4}};
    tl_hist a = {0}, b = {0};
    assert_true(tl_hist_assign(&a, many, 2) && tl_hist_assign(&b, many, 2));
    assert_true(a.n && !a.wide);
    assert_true(tl_hist_merge(&a, &b));
    assert_true(a.wide);
    assert_true(tl_hist_get(&a, 3) == 2 * (uint64_t)UINT32_MAX);
    assert_true(tl_hist_get(&a, 4) == 14);
    tl_hist_fini(&a);
    tl_hist_fini(&b);
}

static void test_reserved_merge_keeps_its_room(void **state)
{
    for (unsigned habit = 0; habit < HABITS; habit++) {
        tl_hist a = {0}, b = {0};
        for (int i = 0; i < 30; i++)
            assert_true(tl_hist_add(&a, habit_value(2)) && tl_hist_add(&b, habit_value(habit)));
        assert_true(tl_hist_reserve(&a, &b));
        const void *before = a.count;
        tl_hist_add_all(&a, &b);
        assert_ptr_equal(before, a.count); /* nothing was allocated */
        assert_int_equal(tl_hist_sum(&a), 60);
        tl_hist_fini(&a);
        tl_hist_fini(&b);
    }
}

static void test_assign_takes_memory_by_entries(void **state)
{
    const tl_hist_pair ends[] = {{.count = 5, .bucket = 0}, {.count = UINT64_MAX, .bucket = TL_HIST_BUCKETS - 1}};
    tl_hist h = {0};
    assert_true(tl_hist_assign(&h, ends, 2));
    assert_int_equal(h.n, 0);
    assert_int_equal(tl_hist_get(&h, 0), 5);
    assert_true(tl_hist_get(&h, TL_HIST_BUCKETS - 1) == UINT64_MAX);
    assert_true(tl_hist_sum(&h) == UINT64_MAX);
    tl_hist_fini(&h);
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void assert_percentiles(const tl_hist *h, const uint64_t *sorted, uint32_t n)
{
    static const unsigned permille[] = {0, 1, 10, 250, 500, 750, 900, 950, 990, 999, 1000, 5000};
    for (size_t i = 0; i < sizeof permille / sizeof *permille; i++) {
        uint64_t p = permille[i] > 1000 ? 1000 : permille[i];
        uint64_t rank = (p * n + 999) / 1000;
        uint64_t exact = sorted[rank ? rank - 1 : 0];
        uint64_t got = tl_hist_percentile(h, permille[i], sorted[0], sorted[n - 1]);
        uint64_t error = got > exact ? got - exact : exact - got;
        assert_true(error <= exact / 100);
        assert_true(got >= sorted[0] && got <= sorted[n - 1]);
        if (rank <= 1 || rank == n)
            assert_true(got == exact);
    }
}

static void test_percentiles_are_within_a_percent(void **state)
{
    static uint64_t value[VALUES];
    for (unsigned habit = 0; habit < HABITS; habit++) {
        static const uint32_t sizes[] = {1, 2, 3, 10, 99, 100, 101, 1000, VALUES};
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            tl_hist h = {0};
            for (uint32_t i = 0; i < sizes[k]; i++) {
                value[i] = habit_value(habit);
                assert_true(tl_hist_add(&h, value[i]));
            }
            qsort(value, sizes[k], sizeof *value, compare_u64);
            assert_percentiles(&h, value, sizes[k]);
            tl_hist_fini(&h);
        }
    }
}

/* The middle of a bucket never exceeds the longest value, nor falls below the shortest. */
static void test_percentiles_stay_between_min_and_max(void **state)
{
    const uint64_t value[] = {1u << 20, (1u << 20) + 4095}; /* the first and the last of a bucket */
    for (int i = 0; i < 2; i++) {
        tl_hist h = {0};
        for (int k = 0; k < 3; k++)
            assert_true(tl_hist_add(&h, value[i]));
        assert_int_equal(tl_hist_percentile(&h, 500, value[i], value[i]), value[i]);
        tl_hist_fini(&h);
    }
}

static void test_percentile_of_huge_counts(void **state)
{
    const tl_hist_pair pairs[] = {{.count = UINT64_MAX - 10, .bucket = 7}, {.count = 10, .bucket = 90}};
    tl_hist h = {0};
    assert_true(tl_hist_assign(&h, pairs, 2));
    assert_int_equal(tl_hist_percentile(&h, 999, 7, 90), 7); /* rank * 1000 does not fit 64 bits */
    assert_int_equal(tl_hist_percentile(&h, 1000, 7, 90), 90);
    tl_hist_fini(&h);
}

static void test_total_adds_many(void **state)
{
    static tl_hist_total total;
    static uint64_t count[TL_HIST_BUCKETS];
    memset(count, 0, sizeof count);
    tl_hist_total_start(&total, 100, 9000);
    for (int k = 0; k < 10; k++) {
        tl_hist h = {0};
        for (int i = 0; i < 50; i++) {
            uint64_t v = 100 + random_u64() % 8901;
            count[tl_hist_bucket(v)]++;
            assert_true(tl_hist_add(&h, v));
        }
        tl_hist_total_add(&total, &h);
        tl_hist_fini(&h);
    }
    assert_counts(&total.hist, count);
    tl_hist outside = {0};
    assert_true(tl_hist_add(&outside, UINT64_MAX));
    tl_hist_total_add(&total, &outside); /* breaks the promise: left out, not written beyond the array */
    assert_counts(&total.hist, count);
    tl_hist_fini(&outside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets_round_trip),
        cmocka_unit_test(test_buckets_are_exact_below_512),
        cmocka_unit_test(test_middle_is_within_a_percent),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_adding_counts_every_value),
        cmocka_unit_test(test_one_call_costs_one_entry),
        cmocka_unit_test(test_busy_and_dense_become_windows),
        cmocka_unit_test(test_a_window_becomes_a_list_again_for_one_outlier),
        cmocka_unit_test(test_counts_beyond_32_bits),
        cmocka_unit_test(test_merge_is_a_sum),
        cmocka_unit_test(test_merge_widens),
        cmocka_unit_test(test_reserved_merge_keeps_its_room),
        cmocka_unit_test(test_assign_takes_memory_by_entries),
        cmocka_unit_test(test_percentiles_are_within_a_percent),
        cmocka_unit_test(test_percentiles_stay_between_min_and_max),
        cmocka_unit_test(test_percentile_of_huge_counts),
        cmocka_unit_test(test_total_adds_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

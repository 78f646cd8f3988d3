/* The law of ranks against all ways to deal values to two sides, and adjusted p by hand. */
#include "check.h"

#include <math.h>

#include "analysis/compare/multiple.h"
#include "analysis/compare/shift.h"

#define CLOSE 1e-12

/* U of each way to choose which of n + m ranks are the second sample's. */
static void count_ways(uint32_t n, uint32_t m, double *ways, double *all)
{
    for (uint32_t chosen = 0; chosen < 1u << (n + m); chosen++) {
        uint32_t u = 0, taken = 0;
        if ((uint32_t)__builtin_popcount(chosen) != m)
            continue;
        for (uint32_t rank = 0; rank < n + m; rank++) {
            u += chosen >> rank & 1 ? rank - taken : 0;
            taken += chosen >> rank & 1;
        }
        ways[u]++;
        ++*all;
    }
}

static void test_all_ways(void **state)
{
    for (uint32_t n = 1; n <= 7; n++)
        for (uint32_t m = 1; m <= 7; m++) {
            double ways[50] = {0}, all = 0, below = 0;
            tl_rank_law l;
            count_ways(n, m, ways, &all);
            assert_int_equal(tl_rank_law_init(&l, n, m, NULL), 0);
            for (uint32_t u = 0; u <= n * m; u++) {
                below += ways[u];
                assert_true(fabs(l.below[u] - below / all) < CLOSE);
                const double low = u < n * m - u ? u : n * m - u;
                double p = 0;
                for (uint32_t v = 0; v <= (uint32_t)low; v++)
                    p += 2 * ways[v] / all;
                assert_true(fabs(tl_rank_law_p(&l, u, 0) - (p < 1 ? p : 1)) < CLOSE);
            }
            tl_rank_law_fini(&l);
        }
}

static void test_ends_of_intervals(void **state)
{
    static const uint32_t known[][2] = {{1, 0}, {2, 0}, {3, 0}, {4, 1}, {5, 3}, {6, 6}, {10, 24}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        tl_rank_law l;
        assert_int_equal(tl_rank_law_init(&l, known[i][0], known[i][0], NULL), 0);
        assert_int_equal(tl_rank_law_k(&l, TL_SHIFT_TAIL), known[i][1]);
        tl_rank_law_fini(&l);
    }
}

/* The normal law goes on where the exact one ends. */
static void test_large_samples(void **state)
{
    tl_rank_law exact, normal;
    assert_int_equal(tl_rank_law_init(&exact, TL_RANK_EXACT_MAX, TL_RANK_EXACT_MAX, NULL), 0);
    assert_non_null(exact.below);
    assert_int_equal(tl_rank_law_init(&normal, TL_RANK_EXACT_MAX + 1, TL_RANK_EXACT_MAX, NULL), 0);
    assert_null(normal.below);
    assert_true(fabs(tl_rank_law_p(&exact, 950, 0) - 0.0388) < 0.001);
    assert_true(fabs(tl_rank_law_p(&normal, 970, 0) - tl_rank_law_p(&normal, 51 * 50 - 970, 0)) < CLOSE);
    const double k = tl_rank_law_k(&exact, TL_SHIFT_TAIL), more = tl_rank_law_k(&normal, TL_SHIFT_TAIL);
    assert_true(more > k && more < k * 1.04);
    tl_rank_law_fini(&exact);
    tl_rank_law_fini(&normal);
}

static void test_ties(void **state)
{
    const double base[] = {1, 1, 2, 2}, newer[] = {2, 2, 3, 3}, same[] = {5, 5, 5, 5};
    tl_rank_law l;
    assert_int_equal(tl_rank_law_init(&l, 4, 4, NULL), 0);
    /* U 14 of 16; ties 2, 4, 2: variance 16/12 * (9 - 72/56) */
    assert_true(fabs(tl_shift_p(&l, base, newer, 0) - erfc(5.5 / sqrt(2 * 16.0 / 12 * (9 - 72.0 / 56)))) < CLOSE);
    assert_true(tl_shift_p(&l, same, same, 0) >= 1);
    assert_true(fabs(tl_shift_p(&l, base, newer, 1) - 1) < CLOSE); /* moved by 1 they are the same */
    tl_rank_law_fini(&l);
}

static void test_adjust(void **state)
{
    const double p[] = {0.04, 0.001, 0.03, 0.5, 0.012};
    const double bh[] = {0.05, 0.005, 0.05, 0.5, 0.03}, holm[] = {0.09, 0.005, 0.09, 0.5, 0.048};
    double q[5];
    assert_int_equal(tl_adjust(TL_ADJUST_FALSE_SHARE, p, q, 5, NULL), 0);
    for (int i = 0; i < 5; i++)
        assert_true(fabs(q[i] - bh[i]) < CLOSE);
    assert_int_equal(tl_adjust(TL_ADJUST_ANY_FALSE, p, q, 5, NULL), 0);
    for (int i = 0; i < 5; i++)
        assert_true(fabs(q[i] - holm[i]) < CLOSE);
    assert_int_equal(tl_adjust(TL_ADJUST_ANY_FALSE, p, q, 0, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_ways), cmocka_unit_test(test_ends_of_intervals),
                                       cmocka_unit_test(test_large_samples), cmocka_unit_test(test_ties),
                                       cmocka_unit_test(test_adjust)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

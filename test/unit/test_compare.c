/* Comparisons: which functions are one, what changed, and when that is called a difference. */
#include "compare_fixture.h"

static const tl_compare_options all_rows = {.has_min_share = true};

/* n runs of main, which calls `name` a thousand times for about `ticks`. */
static void add_runs(side *s, size_t n, const char *name, double ticks, double spread, uint64_t *seed)
{
    char stack[128];
    snprintf(stack, sizeof stack, "main;%s", name);
    for (size_t i = 0; i < n; i++) {
        const uint64_t each = (uint64_t)(ticks * exp(spread * random_normal(seed)));
        tl_profile *p = add_run(s);
        add_calls(p, stack, 1000, each);
        add_outer(p, "main", 1000 * each, 0);
    }
}

static void test_slower(void **state)
{
    side base = {.n = 0}, newer = {.n = 0};
    uint64_t seed = 1;
    add_runs(&base, 10, "serve", 10000, 0.01, &seed);
    add_runs(&newer, 10, "serve", 12000, 0.01, &seed);
    tl_compare *c = compared_with(&base, &newer, NULL);
    const tl_compare_row *r = find_row(c, "serve", "p50");
    assert_non_null(r);
    assert_int_equal(r->verdict, TL_VERDICT_MORE);
    assert_true(r->change > 0.18 && r->change < 0.22 && r->low > 0.15 && r->high < 0.25 && r->q < 0.001);
    assert_true(r->low < r->change && r->change < r->high);
    assert_string_equal(verdict(c, "serve", "calls"), "exact");
    assert_string_equal(tl_compare_unit(c), "ns");
    assert_int_equal(tl_compare_runs(c, 0), 10);
    assert_null(tl_compare_get_row(c, tl_compare_rows(c)));
    assert_int_equal(tl_compare_get_row(c, 0)->verdict, TL_VERDICT_MORE); /* first what matters */
    tl_compare_free(c);
    /* Exchanged: the mirror image. */
    c = compared_with(&newer, &base, NULL);
    const tl_compare_row *m = find_row(c, "serve", "p50");
    assert_int_equal(m->verdict, TL_VERDICT_LESS);
    assert_string_equal(tl_compare_verdict_text(m), "faster");
    assert_true(m->change > 1 / 1.22 - 1 && m->change < 1 / 1.18 - 1);
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

static const char *mirrored(tl_verdict v)
{
    static const char *const text[] = {[TL_VERDICT_EXACT] = "exact",
                                       [TL_VERDICT_NEW] = "gone",
                                       [TL_VERDICT_GONE] = "new",
                                       [TL_VERDICT_SAME] = "same",
                                       [TL_VERDICT_MORE] = "faster fewer",
                                       [TL_VERDICT_LESS] = "slower more",
                                       [TL_VERDICT_A_LITTLE_MORE] = "slightly faster slightly fewer",
                                       [TL_VERDICT_A_LITTLE_LESS] = "slightly slower slightly more",
                                       [TL_VERDICT_UNCLEAR] = "unclear",
                                       [TL_VERDICT_DIFFERS] = "differs in these runs"};
    return text[v];
}

/* A side of random profiles of ten functions, of which some are of one side only. */
static void add_random(side *s, size_t n, unsigned skip, uint64_t *seed)
{
    for (size_t i = 0; i < n; i++) {
        tl_profile *p = add_run(s);
        for (unsigned f = 0; f < 10; f++) {
            char stack[32];
            snprintf(stack, sizeof stack, "main;f%u", f);
            const double slow = f == 3 ? 1.0 + skip * 0.1 : 1;
            if (f != skip)
                add_calls(p, stack, 20 + (f == 5 ? fixture_random(seed) % 5 : 0) + (f == 6 ? skip : 0),
                          (uint64_t)(slow * 1000 * (f + 1) * exp(0.03 * random_normal(seed))));
        }
    }
}

static void test_mirror(void **state)
{
    for (uint64_t seed = 1; seed < 40; seed++) {
        side base = {.n = 0}, newer = {.n = 0};
        uint64_t numbers = seed;
        add_random(&base, 1 + (size_t)seed % 12, 1, &numbers);
        add_random(&newer, 1 + (size_t)seed * 7 % 12, 2, &numbers);
        tl_compare *c = compared_with(&base, &newer, NULL), *d = compared_with(&newer, &base, NULL);
        assert_int_equal(tl_compare_rows(c), tl_compare_rows(d));
        assert_true(tl_compare_rows(c) > 20);
        for (size_t i = 0; i < tl_compare_rows(c); i++) {
            const tl_compare_row *r = tl_compare_get_row(c, i), *m = find_row(d, r->function, r->metric);
            assert_non_null(m);
            assert_contains(mirrored(r->verdict), tl_compare_verdict_text(m));
            assert_true(isnan(r->change) == isnan(m->change) && r->runs == m->runs);
            assert_true(isnan(r->change) || fabs((1 + r->change) * (1 + m->change) - 1) < 1e-9);
            assert_true(isnan(r->low) || fabs((1 + r->low) * (1 + m->high) - 1) < 1e-9);
            assert_true(isnan(r->q) ? isnan(m->q) : r->q == m->q);
        }
        tl_compare_free(c);
        tl_compare_free(d);
        side_free(&base);
        side_free(&newer);
    }
}

static void test_same(void **state)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        side base = {.n = 0};
        uint64_t numbers = seed;
        add_random(&base, (size_t)seed, 1, &numbers);
        tl_compare *c = compared_with(&base, &base, &all_rows);
        assert_true(tl_compare_rows(c) >= 30);
        for (size_t i = 0; i < tl_compare_rows(c); i++) {
            const tl_verdict v = tl_compare_get_row(c, i)->verdict;
            assert_true(v == TL_VERDICT_SAME || v == TL_VERDICT_EXACT);
        }
        tl_compare_free(c);
        side_free(&base);
    }
}

/* Few runs prove nothing. */
static void test_few_runs(void **state)
{
    for (size_t n = 1; n <= 4; n++) {
        side base = {.n = 0}, newer = {.n = 0};
        uint64_t seed = n;
        add_runs(&base, n, "serve", 10000, 0.001, &seed);
        add_runs(&newer, n, "serve", 20000, 0.001, &seed);
        tl_compare *c = compared_with(&base, &newer, NULL);
        const tl_compare_row *r = find_row(c, "serve", "p50");
        assert_true(isnan(r->low) == (n < 4) && isnan(r->q) == (n < 4));
        assert_true(fabs(r->change - 1) < 0.02);
        assert_string_equal(tl_compare_verdict_text(r), n < 4 ? "differs in these runs" : "slower");
        assert_contains(tl_compare_warning(c, 0), n < 4 ? "fewer than 4 runs" : "fewer than 5 runs");
        tl_compare_free(c);
        side_free(&base);
        side_free(&newer);
    }
}

static void test_counts_are_exact(void **state)
{
    side base = {.n = 0}, newer = {.n = 0};
    for (int i = 0; i < 5; i++) {
        tl_profile *p = add_run(&base), *q = add_run(&newer);
        add_calls(p, "main;hash", 1996, 100);
        add_calls(q, "main;hash", 3699, 60);
        add_calls(p, "main;part", 1000, 100);
        add_calls(q, "main;part", 1010, 100);
    }
    tl_compare *c = compared_with(&base, &newer, &all_rows);
    const tl_compare_row *r = find_row(c, "hash", "calls");
    assert_true(r->exact && fabs(r->change - (3699.0 / 1996 - 1)) < 1e-9 && isnan(r->low) && isnan(r->q));
    assert_string_equal(tl_compare_verdict_text(r), "more");
    assert_string_equal(verdict(c, "part", "calls"), "slightly more");
    assert_true(find_row(c, "hash", "p50")->mix_changed && !find_row(c, "part", "p50")->mix_changed);
    assert_false(find_row(c, "hash", "calls")->mix_changed);
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

/* 0 has no logarithm: differences, and no percentage of nothing. */
static void test_zeros(void **state)
{
    side base = {.n = 0}, newer = {.n = 0};
    for (int i = 0; i < 6; i++) {
        tl_profile *p = add_run(&base), *q = add_run(&newer);
        add_calls(p, "main;idle", 10, 0);
        add_calls(q, "main;idle", 10, 500);
        add_calls(p, "main;work", 10, 1000);
        add_calls(q, "main;work", 10, 1000);
        if (i > 2)
            add_calls(q, "main;often", 10, 1000); /* in half of the runs of NEW only */
        add_calls(q, "main;fresh", 1, 1000);
        add_calls(p, "main;old", 1, 1000);
        add_calls(p, "main;old;older", 2, 1000);
    }
    tl_compare *c = compared_with(&base, &newer, &all_rows);
    const tl_compare_row *r = find_row(c, "idle", "p50");
    assert_true(isnan(r->change) && r->verdict == TL_VERDICT_MORE);
    assert_string_equal(verdict(c, "work", "p50"), "same");
    assert_string_equal(verdict(c, "often", "calls"), "unclear");
    assert_string_equal(verdict(c, "often", "p50"), "no row");
    assert_string_equal(verdict(c, "fresh", "calls"), "new");
    assert_string_equal(verdict(c, "old", "calls"), "gone");
    assert_true(isnan(find_row(c, "old", "calls")->change));
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

static void test_small_functions_are_left_out(void **state)
{
    side base = {.n = 0};
    for (int i = 0; i < 4; i++) {
        tl_profile *p = add_run(&base);
        add_calls(p, "main;big", 2, 1000000);
        add_calls(p, "main;small", 2, 4000);
    }
    tl_compare *c = compared_with(&base, &base, NULL);
    assert_non_null(find_row(c, "big", "p50"));
    assert_null(find_row(c, "small", "p50"));
    tl_compare_free(c);
    c = compared_with(&base, &base, &(tl_compare_options){.has_min_share = true, .min_share = 0.001});
    assert_non_null(find_row(c, "small", "p50"));
    tl_compare_free(c);
    side_free(&base);
}

/* More runs than an unclear comparison had are proposed, and as many as the formula says. */
static void test_unclear(void **state)
{
    side base = {.n = 0}, newer = {.n = 0};
    uint64_t seed = 5;
    add_runs(&base, 10, "serve", 10000, 0.3, &seed);
    add_runs(&newer, 10, "serve", 10000, 0.3, &seed);
    tl_compare *c = compared_with(&base, &newer, NULL);
    const tl_compare_row *r = find_row(c, "serve", "p50");
    assert_string_equal(tl_compare_verdict_text(r), "unclear");
    const double half = (log1p(r->high) - log1p(r->low)) / 2, d = fmax(fabs(log1p(r->change)), log1p(0.05));
    assert_int_equal(r->runs, (uint32_t)ceil(10 * pow(1.43 * half / d, 2)));
    assert_true(r->runs > 10);
    tl_compare_free(c);
    c = compared_with(&base, &newer, &(tl_compare_options){.has_noise = true, .noise = 2});
    assert_string_equal(verdict(c, "serve", "p50"), "same");
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

static void test_metrics(void **state)
{
    static const struct {
        tl_compare_per per;
        const char *has, *lacks;
    } per[] = {{TL_PER_DEFAULT, "percall", "self"},
               {TL_PER_CALL, "p99", "total"},
               {TL_PER_RUN, "self", "p50"},
               {TL_PER_SHARE, "self-share", "total"}};
    side base = {.n = 0};
    for (int i = 0; i < 4; i++) {
        tl_profile *p = add_run(&base);
        add_calls(p, "a", 3, 100);
        add_calls(p, "b", 1, 100); /* whose percentiles are its time per call */
    }
    for (size_t i = 0; i < sizeof per / sizeof *per; i++) {
        tl_compare *c = compared_with(&base, &base, &(tl_compare_options){.per = per[i].per});
        assert_non_null(find_row(c, "a", per[i].has));
        assert_null(find_row(c, "a", per[i].lacks));
        assert_non_null(find_row(c, "a", "calls"));
        assert_null(find_row(c, "b", "p50"));
        if (per[i].per == TL_PER_SHARE)
            assert_true(fabs(find_row(c, "a", "share")->new_median - 0.75) < 1e-9);
        tl_compare_free(c);
    }
    side_free(&base);
}

static void test_paths(void **state)
{
    side base = {.n = 0}, newer = {.n = 0};
    for (int i = 0; i < 6; i++) {
        tl_profile *p = add_run(&base), *q = add_run(&newer);
        add_calls(p, "main;a;work", 10, 1000);
        add_calls(p, "main;b;work", 10, 1000);
        add_calls(q, "main;b;work", 10, 2000); /* in another order of places */
        add_calls(q, "main;a;work", 10, 1000);
    }
    tl_compare *c = compared_with(&base, &newer, &(tl_compare_options){.paths = true});
    assert_string_equal(verdict(c, "main;a;work", "p50"), "same");
    assert_string_equal(verdict(c, "main;b;work", "p50"), "slower");
    assert_string_equal(find_row(c, "main;b;work", "p50")->function, "work");
    tl_compare_free(c);
    side_free(&base);
    side_free(&newer);
}

static void test_refused(void **state)
{
    side base = {.n = 0}, other = {.n = 0};
    static tl_compare_run many[TL_COMPARE_RUNS_MAX + 1];
    tl_compare *c = NULL;
    tl_error e = {0};
    add_calls(add_run(&base), "main", 1, 10);
    tl_profile *p = add_run(&other);
    p->clock.hz = 0;
    assert_int_equal(tl_compare_new(&c, base.run, 0, base.run, 1, NULL, &e), TL_EINVAL);
    assert_int_equal(tl_compare_new(&c, base.run, 1, other.run, 1, NULL, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "ticks");
    for (size_t i = 0; i <= TL_COMPARE_RUNS_MAX; i++)
        many[i] = base.run[0];
    assert_int_equal(tl_compare_new(&c, base.run, 1, many, TL_COMPARE_RUNS_MAX + 1, NULL, &e), TL_EINVAL);
    must(tl_compare_new(&c, base.run, 1, many, TL_COMPARE_RUNS_MAX, NULL, &e), &e);
    tl_compare_free(c);
    c = NULL;
    const tl_compare_options bad[] = {{.has_noise = true, .noise = -1},
                                      {.has_min_share = true, .min_share = 2},
                                      {.nmap = 1, .map = (const char *const[]){"main"}},
                                      {.nmap = 1, .map = (const char *const[]){"main=none"}}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(tl_compare_new(&c, base.run, 1, base.run, 1, &bad[i], &e), TL_EINVAL);
    assert_null(c);
    tl_compare_free(NULL);
    side_free(&base);
    side_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slower),
                                       cmocka_unit_test(test_mirror),
                                       cmocka_unit_test(test_same),
                                       cmocka_unit_test(test_few_runs),
                                       cmocka_unit_test(test_counts_are_exact),
                                       cmocka_unit_test(test_zeros),
                                       cmocka_unit_test(test_small_functions_are_left_out),
                                       cmocka_unit_test(test_unclear),
                                       cmocka_unit_test(test_metrics),
                                       cmocka_unit_test(test_paths),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

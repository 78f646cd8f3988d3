/* Simulated runs of which the truth is known: how often the same program is called different, and how often a change is
 * found. Fixed seeds, so that the answers are always the same. */
#include "compare_fixture.h"

#define FUNCTIONS 12

/* How runs of one program differ. */
typedef struct spread {
    double own;    /* of each function, in logs */
    double common; /* of all functions of a run together */
    double slow;   /* some runs, one in four, are slower by this: two modes */
} spread;

static const spread spreads[] = {{0.02, 0, 0},   {0.1, 0, 0},    {0.2, 0, 0},
                                 {0.02, 0.1, 0}, {0.01, 0.2, 0}, {0.02, 0, 0.3}};

static const char *name_of(unsigned f)
{
    static char name[16];
    snprintf(name, sizeof name, "f%u", f);
    return name;
}

/* Two calls of each function takes as long as a percentile of many would; `factor` is the truth of f0. */
static void simulate(side *s, size_t runs, const spread *how, double factor, uint64_t *seed)
{
    for (size_t i = 0; i < runs; i++) {
        tl_profile *p = add_run(s);
        const double of_run = how->common * random_normal(seed) + (fixture_random(seed) % 4 == 0 ? how->slow : 0);
        for (unsigned f = 0; f < FUNCTIONS; f++) {
            const double truth = 1e6 * (f + 1) * (f ? 1 : factor);
            add_calls(p, name_of(f), 2, (uint64_t)(truth * exp(of_run + how->own * random_normal(seed))));
        }
    }
}

static bool is_difference(tl_verdict v)
{
    return v == TL_VERDICT_MORE || v == TL_VERDICT_LESS;
}

/* At most 1 % of rows are called slower or faster, and at most 1 % of gates fail, though nothing changed. */
static void test_same_program(void **state)
{
    enum { COMPARISONS = 400 };
    uint64_t seed = 20261126;
    for (size_t k = 0; k < sizeof spreads / sizeof *spreads; k++) {
        size_t rows = 0, wrong = 0, failed = 0, failed_all = 0;
        for (int i = 0; i < COMPARISONS; i++) {
            side base = {.n = 0}, newer = {.n = 0};
            const size_t runs = i % 2 ? 5 : 10;
            simulate(&base, runs, &spreads[k], 1, &seed);
            simulate(&newer, runs, &spreads[k], 1, &seed);
            tl_compare *c = compared_with(&base, &newer, NULL);
            for (size_t r = 0; r < tl_compare_rows(c); r++, rows++)
                wrong += is_difference(tl_compare_get_row(c, r)->verdict);
            const tl_gate *g;
            tl_error e = {0};
            must(tl_compare_gate(c, "p50(f3) > +5%", TL_GATE_INTERVAL, &g, &e), &e);
            failed += g->status == TL_GATE_FAILED;
            must(tl_compare_gate(c, "p50(*) > +5%", TL_GATE_INTERVAL, &g, &e), &e);
            assert_int_equal(g->n, FUNCTIONS);
            failed_all += g->status == TL_GATE_FAILED;
            tl_compare_free(c);
            side_free(&base);
            side_free(&newer);
        }
        print_message("spread %zu: %zu of %zu rows, %zu and %zu of %d gates\n", k, wrong, rows, failed, failed_all,
                      COMPARISONS);
        assert_true(rows == (size_t)COMPARISONS * FUNCTIONS * 5);
        assert_true(wrong * 100 <= rows);
        /* The chance that an interval lies wholly above the truth is 2.5 %; with less spread than the gate's 5 %, less.
         */
        const size_t most = spreads[k].own + spreads[k].common > 0.15 ? 25 : 10;
        assert_true(failed * 1000 <= most * COMPARISONS && failed_all * 1000 <= most * COMPARISONS);
    }
}

/* How many of some comparisons find a change of f0. */
static int found(size_t runs, double factor, const spread *how, int comparisons, uint64_t seed)
{
    int n = 0;
    for (int i = 0; i < comparisons; i++) {
        side base = {.n = 0}, newer = {.n = 0};
        simulate(&base, runs, how, 1, &seed);
        simulate(&newer, runs, how, factor, &seed);
        tl_compare *c = compared_with(&base, &newer, NULL);
        const tl_verdict v = find_row(c, "f0", "p50")->verdict;
        n += v == TL_VERDICT_MORE || v == TL_VERDICT_A_LITTLE_MORE;
        tl_compare_free(c);
        side_free(&base);
        side_free(&newer);
    }
    return n;
}

static void test_power(void **state)
{
    enum { COMPARISONS = 200 };
    const spread how = {.own = 0.01};
    static const double factors[] = {1, 1.02, 1.05, 1.17};
    int last = -1;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        const int n = found(10, factors[i], &how, COMPARISONS, 7);
        print_message("factor %.2f: %d of %d\n", factors[i], n, COMPARISONS);
        assert_true(n >= last);
        last = n;
    }
    assert_int_equal(found(10, 1, &how, COMPARISONS, 7), 0);
    assert_true(found(10, 1.05, &how, COMPARISONS, 8) >= COMPARISONS * 95 / 100);
    assert_int_equal(found(6, 1.17, &how, COMPARISONS, 9), COMPARISONS);
    last = -1;
    for (size_t runs = 4; runs <= 10; runs += 2) {
        const int n = found(runs, 1.15, &(spread){.own = 0.08}, COMPARISONS, 10);
        print_message("%zu runs: %d of %d\n", runs, n, COMPARISONS);
        assert_true(n > last);
        last = n;
    }
}

/* A run of a machine that does other work: some part of the calls, another one in each run, takes six times as long. */
static void simulate_disturbed(side *s, size_t runs, double ticks, uint64_t *seed)
{
    for (size_t i = 0; i < runs; i++) {
        tl_profile *p = add_run(s);
        const double share = 0.1 + 0.8 * random_unit(seed);
        for (unsigned k = 0; k < 1000; k++) {
            const double time = ticks * exp(0.01 * random_normal(seed)) * (random_unit(seed) < share ? 6 : 1);
            add_calls(p, "f0", 1, (uint64_t)time);
        }
    }
}

/* There p1 finds 5 % with 10 + 10 runs, where the median does not. */
static void test_disturbed(void **state)
{
    enum { COMPARISONS = 60 };
    uint64_t seed = 11;
    int of_p1 = 0, of_p50 = 0, wrong = 0;
    for (int i = 0; i < 2 * COMPARISONS; i++) {
        side base = {.n = 0}, newer = {.n = 0};
        simulate_disturbed(&base, 10, 3000, &seed);
        simulate_disturbed(&newer, 10, i % 2 ? 3150 : 3000, &seed);
        tl_compare *c = compared_with(&base, &newer, &(tl_compare_options){.noise = 0.02, .has_noise = true});
        const tl_verdict p1 = find_row(c, "f0", "p1")->verdict, p50 = find_row(c, "f0", "p50")->verdict;
        of_p1 += i % 2 && (p1 == TL_VERDICT_MORE || p1 == TL_VERDICT_A_LITTLE_MORE);
        of_p50 += i % 2 && (p50 == TL_VERDICT_MORE || p50 == TL_VERDICT_A_LITTLE_MORE);
        wrong += i % 2 == 0 && p1 != TL_VERDICT_SAME;
        tl_compare_free(c);
        side_free(&base);
        side_free(&newer);
    }
    print_message("p1: %d, p50: %d of %d; %d not the same\n", of_p1, of_p50, COMPARISONS, wrong);
    assert_true(of_p1 * 100 >= COMPARISONS * 95 && of_p50 * 2 < of_p1 && wrong * 20 <= COMPARISONS);
}

/* The advice is right: with as many runs as an unclear comparison asks for, most changes are found. */
static void test_advice(void **state)
{
    enum { COMPARISONS = 100 };
    const spread how = {.own = 0.08};
    uint64_t seed = 3;
    int asked = 0, told = 0;
    for (int i = 0; i < COMPARISONS; i++) {
        side base = {.n = 0}, newer = {.n = 0};
        simulate(&base, 6, &how, 1, &seed);
        simulate(&newer, 6, &how, 1.15, &seed);
        tl_compare *c = compared_with(&base, &newer, NULL);
        const tl_compare_row *r = find_row(c, "f0", "p50");
        const size_t runs = r->verdict == TL_VERDICT_UNCLEAR ? r->runs : 0;
        assert_true(runs == 0 || runs > 6);
        tl_compare_free(c);
        side_free(&base);
        side_free(&newer);
        if (runs == 0 || runs > SIDE_RUNS)
            continue;
        asked++;
        told += found(runs, 1.15, &how, 1, (uint64_t)i);
    }
    print_message("%d of %d\n", told, asked);
    assert_true(asked > COMPARISONS / 4 && told * 100 >= asked * 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_program), cmocka_unit_test(test_power),
                                       cmocka_unit_test(test_disturbed), cmocka_unit_test(test_advice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

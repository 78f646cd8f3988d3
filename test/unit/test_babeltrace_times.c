/* Times in the text style of babeltrace2: of the day, differences, and clocks of any frequency. */
#include "babeltrace_fixture.h"

static void test_times(void **state)
{
    static const uint64_t time[] = {
        1, 2, 2, 1000000001, 2999999999u, 100000000000u, 259200000000005u, 4611686018427387904u};
    fixture f;
    rich_init(&f);
    start(&f);
    for (size_t i = 0; i < TL_COUNT(time); i++)
        add_bare(&f, time[i]);
    fixture_expect(&f, FIRST "bare: \n"
                             "[00:00:00.000000002] (+0.000000001) bare: \n"
                             "[00:00:00.000000002] (+0.000000000) bare: \n"
                             "[00:00:01.000000001] (+0.999999999) bare: \n"
                             "[00:00:02.999999999] (+1.999999998) bare: \n"
                             "[00:01:40.000000000] (+97.000000001) bare: \n"
                             "[00:00:00.000000005] (+259100.000000005) bare: \n"
                             "[23:53:38.427387904] (+4611426818.427387899) bare: \n");
}

/* Times that go back, lie before 1970, or are too large. */
static void test_odd_times(void **state)
{
    fixture f;
    rich_init(&f);
    start(&f);
    add_bare(&f, (uint64_t)INT64_MAX + 1);
    add_bare(&f, 1000000000);
    add_bare(&f, 5);
    add_bare(&f, UINT64_MAX);
    add_bare(&f, 6);
    fixture_expect(&f, "[Error] " UNKNOWN "bare: \n"
                       "[00:00:01.000000000] " UNKNOWN "bare: \n"
                       "[00:00:00.000000005] (+18446744072.709551621) bare: \n"
                       "[Error] (+18446744072.709551621) bare: \n"
                       "[00:00:00.000000006] (+0.000000001) bare: \n");
    rich_init(&f);
    f.trace.clock.utc_offset_ns = -49999999993;
    f.trace.clock.has_utc = true;
    start(&f);
    add_bare(&f, 0);
    add_bare(&f, 49500000000);
    add_bare(&f, 5000000000 + 90000000000);
    fixture_expect(&f, "[-49.999999993] " UNKNOWN "bare: \n"
                       "[-0.499999993] (+49.500000000) bare: \n" /* babeltrace2 loses the sign there */
                       "[00:00:45.000000007] (+45.500000000) bare: \n");
    rich_init(&f);
    f.trace.clock.utc_offset_ns = 1;
    start(&f);
    add_bare(&f, (uint64_t)INT64_MAX);
    fixture_expect(&f, "[Error] " UNKNOWN "bare: \n");
}

/* Exact, and rounded down, whatever tick 0 is: the fractions come from Python. */
static void test_other_clocks(void **state)
{
    static const uint64_t value[] = {0, 1, 3, 1000, 123456789012345, 9007199254740993, 1152921504606846977};
    fixture f;
    rich_init(&f);
    tl_trace_set_clock(&f.trace, "c", 2593993000);
    f.trace.clock.utc_offset_ns = 3000000001;
    start(&f);
    for (size_t i = 0; i < TL_COUNT(value); i++)
        add_bare(&f, value[i]);
    fixture_expect(&f, "[00:00:03.000000001] " UNKNOWN "bare: \n"
                       "[00:00:03.000000001] (+0.000000000) bare: \n"
                       "[00:00:03.000000002] (+0.000000001) bare: \n"
                       "[00:00:03.000000386] (+0.000000384) bare: \n"
                       "[13:13:16.339308297] (+47593.339307911) bare: \n"
                       "[04:32:12.823072381] (+3424736.483764084) bare: \n"
                       "[04:37:00.353264630] (+440985887.530192249) bare: \n");
    rich_init(&f);
    tl_trace_set_clock(&f.trace, "c", 3);
    start(&f);
    add_bare(&f, 2);
    add_bare(&f, 999999999999);
    add_bare(&f, 27670116110);
    add_bare(&f, 27670116111);
    fixture_expect(&f, "[00:00:00.666666666] " UNKNOWN "bare: \n"
                       "[Error] " UNKNOWN "bare: \n"
                       "[23:47:16.666666666] (+9223372036.000000000) bare: \n"
                       "[Error] (+9223372036.000000000) bare: \n");
}

/* The origin of the clock need not be 1970; a part of a ns is not lost. */
static void test_origins(void **state)
{
    fixture f;
    rich_init(&f);
    tl_trace_set_clock(&f.trace, "c", 3);
    f.trace.origin = (tl_origin){.known = true, .ns = 5, .rest = 2};
    start(&f);
    for (uint64_t i = 0; i < 3; i++)
        add_bare(&f, i);
    fixture_expect(&f, "[00:00:00.000000005] " UNKNOWN "bare: \n"
                       "[00:00:00.333333339] (+0.333333334) bare: \n"
                       "[00:00:00.666666672] (+0.333333333) bare: \n");
}

static void test_timeless(void **state)
{
    fixture f;
    rich_init(&f);
    start(&f);
    add_bare(&f, 1);
    fixture_event(&f, RICH_TIMELESS, 0, -1, 100, 0, NULL, 0);
    add_bare(&f, 3);
    fixture_expect(&f, FIRST "bare: \ntimeless: \n[00:00:00.000000003] (+0.000000002) bare: \n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),   cmocka_unit_test(test_odd_times), cmocka_unit_test(test_other_clocks),
        cmocka_unit_test(test_origins), cmocka_unit_test(test_timeless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The recorder's clock, with a simulated counter and kernel clock: the speed of the counter. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <time.h>

#include "rt/rt_clock.h"

/* ---- a machine ---- */

static uint64_t elapsed;   /* since the machine began; each look at a clock takes STEP_NS */
static uint64_t per_ns;    /* ticks of the counter; 0: stopped */
static unsigned interrupt; /* one in so many readings takes much longer; 0: none */
static unsigned looks;

enum { STEP_NS = 100, LONG_NS = 50000, UNIX = 1000000007 };

static void look(void)
{
    looks++;
    elapsed += interrupt && looks % interrupt == 0 ? LONG_NS : STEP_NS;
}

static uint64_t made_up_counter(void)
{
    look();
    return elapsed * per_ns;
}

static long made_up_time(clockid_t which, struct timespec *t)
{
    look();
    const uint64_t now = elapsed + (which == CLOCK_REALTIME ? UNIX : 0);
    *t = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
    return 0;
}

#undef RT_SYS2
#define RT_SYS2(number, which, time) made_up_time(which, time)
#define rt_counter                   made_up_counter
#include "rt/rt_clock.c"

static int begin(void **state)
{
    tl_rt_clock = (rt_clock){.hz = 0};
    elapsed = 5000000000;
    per_ns = 3;
    interrupt = looks = 0;
    return 0;
}

/* ---- its speed ---- */

#if defined(__x86_64__)
static void test_the_counter_is_measured(void **state)
{
    assert_string_equal(tl_rt_clock_start("tsc"), "tsc");
    assert_true(tl_rt_clock.counter);
    assert_int_equal(tl_rt_clock.hz, 3000000000);
    assert_int_equal(tl_rt_clock.ticks0, 3 * tl_rt_clock.raw0);
    assert_true(tl_rt_clock.unix0 - tl_rt_clock.raw0 - UNIX <= (2 * TRIES + 2) * 3 * STEP_NS);
    assert_true(elapsed - tl_rt_clock.raw0 >= FIRST_NS);
    assert_true(elapsed - tl_rt_clock.raw0 < 2 * FIRST_NS);
}

/* Interrupted readings are not used, wherever they are among the others. */
static void test_interrupted_readings_do_not_count(void **state)
{
    for (unsigned every = 4; every < 14; every++) {
        begin(NULL);
        interrupt = every;
        assert_string_equal(tl_rt_clock_start("tsc"), "tsc");
        assert_int_equal(tl_rt_clock.hz, 3000000000);
        assert_int_equal(tl_rt_clock.ticks0, 3 * tl_rt_clock.raw0);
    }
}

static void test_a_counter_that_stands_still(void **state)
{
    per_ns = 0;
    assert_string_equal(tl_rt_clock_start("tsc"), "monotonic_raw");
    assert_false(tl_rt_clock.counter);
    assert_int_equal(tl_rt_clock.hz, 1000000000);
    assert_int_equal(tl_rt_clock.ticks0, tl_rt_clock.raw0);
}
#endif

static void test_without_a_counter(void **state)
{
    assert_string_equal(tl_rt_clock_start("monotonic"), "monotonic_raw");
    assert_false(tl_rt_clock.counter);
    assert_int_equal(tl_rt_clock.hz, 1000000000);
    assert_int_equal(tl_rt_clock.ticks0, elapsed);
    assert_int_equal(tl_rt_clock.raw0, elapsed);
    assert_int_equal(tl_rt_clock.unix0, elapsed - STEP_NS + UNIX);
    per_ns = 7;
    elapsed += 1000000000;
    assert_int_equal(tl_rt_clock_refine(), 1000000000);
}

static void test_it_is_measured_again(void **state)
{
    tl_rt_clock_start("tsc");
    tl_rt_clock.hz = 17;
    tl_rt_clock.raw0 = elapsed; /* too little time since then */
    tl_rt_clock.ticks0 = per_ns * elapsed;
    assert_int_equal(tl_rt_clock_refine(), 17);
    elapsed += UINT64_C(100) * 365 * 86400 * 1000000000 / 10; /* ten years */
    const uint64_t hz = tl_rt_clock_refine();
    assert_true(hz > 2999999999 - 3 && hz < 3000000000 + 3);
    assert_int_equal(tl_rt_clock.hz, hz);
}

static void test_rates(void **state)
{
    assert_int_equal(rate(3, 2), 1500000000);
    assert_int_equal(rate(1, 3), 333333333);
    assert_int_equal(rate(2, 3), 666666667);
    assert_int_equal(rate(5, 0), 0);
    assert_int_equal(rate(UINT64_MAX, UINT64_MAX), 1000000000);
    assert_int_equal(rate(UINT64_MAX, UINT64_MAX / 2), 2000000000);
}
#else
RT_SKIPPED(test_without_a_counter)
RT_SKIPPED(test_it_is_measured_again)
RT_SKIPPED(test_rates)
#define begin NULL
#endif

#if !RT_HERE || !defined(__x86_64__)
#define NOT_MEASURED(name) RT_SKIPPED_BECAUSE(name, "only the counter of x86-64 does not say how fast it is")
NOT_MEASURED(test_the_counter_is_measured)
NOT_MEASURED(test_interrupted_readings_do_not_count)
NOT_MEASURED(test_a_counter_that_stands_still)
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_the_counter_is_measured, begin),
        cmocka_unit_test_setup(test_interrupted_readings_do_not_count, begin),
        cmocka_unit_test_setup(test_a_counter_that_stands_still, begin),
        cmocka_unit_test_setup(test_without_a_counter, begin),
        cmocka_unit_test_setup(test_it_is_measured_again, begin),
        cmocka_unit_test_setup(test_rates, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The table of processor time, and its picture. */
#include "runtime_fixture.h"

#include "analysis/runtime/cpu_table.h"

#define MS UINT64_C(1000000)

static void read_cpu(tl_cpu *c, const tl_select *select)
{
    tl_error e = {0};
    tl_source *s = rt_source();
    memset(c, 0, sizeof *c);
    must(tl_cpu_read(c, s, select, &e), &e);
    tl_source_close(s);
}

static void used(uint32_t track, uint64_t since, uint64_t ts, uint64_t us)
{
    rt_add(RT_CPU, track, ts, since, RT_U(us));
}

static void points_by_track(void **state)
{
    tl_cpu c;
    rt_reset();
    used(RT_TWO, TL_SINCE_UNKNOWN, 10, 7000);
    used(RT_PROCESS, 0, 10, 9500);
    used(RT_TWO, 10, 20, 5000);
    used(RT_PROCESS, 10, 15, 500);
    used(RT_PROCESS, 15, 12, 100); /* time goes back */
    read_cpu(&c, NULL);
    assert_int_equal(c.n, 2);
    assert_string_equal(c.track[0].name, "process");
    assert_int_equal(c.track[0].n, 3);
    assert_int_equal(c.track[0].used.low, 10100000);
    assert_int_equal(c.track[0].elapsed.low, 15 * MS);
    assert_int_equal(c.track[0].elapsed_minus.low, 3 * MS);
    assert_int_equal(c.point[c.track[0].first + 1].begin, 10 * MS);
    assert_int_equal(c.point[c.track[0].first + 1].end, 15 * MS);
    assert_string_equal(c.track[1].name, "thread 0x2");
    const tl_cpu_point *two = &c.point[c.track[1].first];
    assert_false(two[0].has_begin);
    assert_int_equal(two[0].used, 7000);
    assert_int_equal(c.track[1].used.low, 5000000); /* only of points with a begin */
    assert_int_equal(c.track[1].elapsed.low, 10 * MS);
    assert_int_equal(c.first, 0);
    assert_int_equal(c.last, 20 * MS);
    tl_cpu_fini(&c);
}

static void chosen(void **state)
{
    tl_cpu c;
    const char *const thread[] = {"thread *"};
    const tl_select select = {.time_from = 15, .has_from = true, .thread = thread, .nthread = 1};
    rt_reset();
    used(RT_PROCESS, 0, 20, 9);
    used(RT_ONE, 0, 10, 9);
    used(RT_ONE, 10, 20, 8);
    read_cpu(&c, &select);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.npoint, 1);
    assert_int_equal(c.track[0].used.low, 8000);
    tl_cpu_fini(&c);
    rt_reset();
    read_cpu(&c, NULL);
    assert_int_equal(c.n, 0);
    tl_cpu_fini(&c);
}

static void check_columns(const tl_cpu *c, uint32_t track, const double *expected)
{
    double value[10];
    assert_int_equal(tl_cpu_columns(c, track, 0, 100 * MS, value, 10, NULL), 0);
    for (unsigned i = 0; i < 10; i++)
        if (value[i] < expected[i] - 1e-9 || value[i] > expected[i] + 1e-9)
            fail_msg("column %u: %g instead of %g", i, value[i], expected[i]);
}

static void columns_of_a_picture(void **state)
{
    tl_cpu c;
    rt_reset();
    used(RT_PROCESS, 0, 100, 200000); /* two processors */
    used(RT_ONE, 10, 25, 15000);
    used(RT_ONE, 25, 30, 0);
    used(RT_ONE, 30, 50, 10000);
    read_cpu(&c, NULL);
    const double n = TL_CPU_NO_DATA;
    check_columns(&c, 0, (const double[]){2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
    check_columns(&c, 1, (const double[]){n, 1, 0.5, 0.5, 0.5, n, n, n, n, n});
    assert_true(tl_cpu_peak(&c, 0) > 1.999 && tl_cpu_peak(&c, 0) < 2.001);
    tl_cpu_fini(&c);
}

static void pauses_are_gaps(void **state)
{
    tl_cpu c;
    rt_reset();
    rt_bare(RT_RESUME, RT_PROCESS, 1, 0); /* it was not paused */
    used(RT_PROCESS, 0, 20, 20000);
    rt_bare(RT_PAUSE, RT_PROCESS, 28, 0);
    rt_bare(RT_PAUSE, RT_PROCESS, 30, 0); /* again: it is paused already */
    rt_bare(RT_RESUME, RT_PROCESS, 50, 0);
    used(RT_PROCESS, 20, 70, 50000);
    rt_bare(RT_PAUSE, RT_PROCESS, 72, 0); /* to the end */
    used(RT_PROCESS, 70, 90, 20000);
    read_cpu(&c, NULL);
    const double gap = TL_CPU_GAP;
    assert_int_equal(c.npause, 2);
    check_columns(&c, 0, (const double[]){1, 1, 1, gap, gap, 1, 1, gap, gap, TL_CPU_NO_DATA});
    tl_cpu_fini(&c);
}

static void hostile_times(void **state)
{
    tl_cpu c;
    double value[10];
    rt_reset();
    used(RT_ONE, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX);
    used(RT_ONE, 0, UINT64_MAX, 1);
    used(RT_ONE, 5, 5, 1);
    read_cpu(&c, NULL);
    assert_int_equal(c.npoint, 3);
    assert_int_equal(c.last, UINT64_MAX); /* saturated */
    assert_int_equal(tl_cpu_columns(&c, 0, c.first, c.last, value, 10, NULL), 0);
    char text[TL_SUM_TEXT];
    assert_string_equal(tl_sum_text(text, c.track[0].used), "18446744073709551617000");
    tl_cpu_fini(&c);
}

static void many_points(void **state)
{
    tl_cpu c;
    rt_reset();
    rt.repeat = 30000;
    rt.batch = 7;
    used(RT_TWO, 0, 10, 1);
    used(RT_ONE, 10, 20, 2);
    used(RT_TWO, 10, 20, 3);
    read_cpu(&c, NULL);
    assert_int_equal(c.npoint, 90000);
    assert_int_equal(c.track[1].n, 60000);
    for (uint32_t i = 0; i < c.track[1].n; i++)
        if (c.point[c.track[1].first + i].used != (i % 2 ? 3 : 1))
            fail_msg("point %u is out of order", i);
    tl_cpu_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_by_track), cmocka_unit_test(chosen),        cmocka_unit_test(columns_of_a_picture),
        cmocka_unit_test(pauses_are_gaps), cmocka_unit_test(hostile_times), cmocka_unit_test(many_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

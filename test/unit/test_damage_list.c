/* Tests of a trace's list of damage: entries kept, and entries counted. */
#include "check.h"
#include "model/trace_impl.h"

/* Some answers need two passes over the events: each place counts once, kept or not. */
static void test_second_pass_counts_nothing(void **state)
{
    enum { PLACES = TL_DAMAGE_KEPT + 500 };
    tl_trace t;
    tl_trace_init(&t);
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < PLACES; i++)
            assert_int_equal(tl_trace_add_damage(&t, NULL, i, 1, "some.rule", "place %d", (int)i), 0);
    assert_int_equal(tl_trace_damages(&t), TL_DAMAGE_KEPT);
    assert_int_equal(tl_trace_damage_count(&t), PLACES);
    tl_trace_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_pass_counts_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

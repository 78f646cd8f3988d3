/* Frames of a stack: their order, and their names. */
#include "stack_fixture.h"

static void test_order(void **state)
{
    tl_stack_frames s = {0};
    tl_value v = stack_value(&stack_unknown);
    assert_true(tl_stack_frames_set(&s, &v));
    assert_int_equal(s.n, 3);
    assert_ptr_equal(s.frame[0], &stack_unknown);
    assert_ptr_equal(s.frame[2], &stack_main);
    v.n = 2; /* the value's number counts, and the chain */
    assert_true(tl_stack_frames_set(&s, &v));
    assert_int_equal(s.n, 2);
    v.n = UINT32_MAX;
    assert_true(tl_stack_frames_set(&s, &v));
    assert_int_equal(s.n, 3);
    v = stack_value(NULL);
    v.n = 7;
    assert_true(tl_stack_frames_set(&s, &v));
    assert_int_equal(s.n, 0);
    tl_stack_frames_fini(&s);
    assert_null(s.frame);
}

static void test_deep(void **state)
{
    tl_stack_frames s = {0};
    tl_frame *f = stack_deep(STACK_DEEP, NULL);
    const tl_value v = stack_value(&f[STACK_DEEP - 1]);
    assert_true(tl_stack_frames_set(&s, &v));
    assert_int_equal(s.n, STACK_DEEP);
    for (uint32_t i = 0; i < STACK_DEEP; i++)
        assert_ptr_equal(s.frame[i], &f[STACK_DEEP - 1 - i]);
    tl_stack_frames_fini(&s);
    free(f);
}

static void test_labels(void **state)
{
    char buffer[TL_FRAME_LABEL_ROOM];
    const tl_frame largest = {.function = UINT64_MAX, .flags = TL_FRAME_FUNCTION};
    assert_string_equal(tl_frame_label(&stack_fib, buffer), "Fib");
    assert_string_equal(tl_frame_label(&stack_unnamed, buffer), "0x1f");
    assert_string_equal(tl_frame_label(&stack_unknown, buffer), "?");
    assert_string_equal(tl_frame_label(&largest, buffer), "0xffffffffffffffff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

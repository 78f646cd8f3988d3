/* Folded stacks: exact text, escaping, threads, and very deep trees. */
#include "profile_fixture.h"

extern const tl_format tl_format_folded;

static void write_folded(profiled *f)
{
    write_with(f, tl_format_folded.profile_writer->write);
}

static void test_example(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_example(&f, 0);
    write_folded(&f);
    assert_string_equal(f.text, "main 300\nmain;a 450\nmain;a;b 250\n");
    assert_int_equal(dropped(&f, "call counts"), 3);
    assert_int_equal(dropped(&f, "latency histograms"), 3);
    profiled_fini(&f);
}

static void test_times_are_converted(void **state)
{
    profiled f;
    profiled_init(&f, 500000000);
    add_example(&f, 0);
    write_folded(&f);
    assert_string_equal(f.text, "main 600\nmain;a 900\nmain;a;b 500\n");
    profiled_fini(&f);
    profiled_init(&f, 0);
    add_example(&f, 0);
    write_folded(&f);
    assert_string_equal(f.text, "main 300\nmain;a 450\nmain;a;b 250\n");
    profiled_fini(&f);
}

static void test_names(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_call(&f, add_call(&f, 0, add_function(&f, -7, NULL, NULL, 0), 3, 1),
             add_function(&f, 2, "a;b\nc\td e", NULL, 0), 2, 2);
    write_folded(&f);
    assert_string_equal(f.text, "#-7 1\n#-7;a:b c d e 2\n");
    profiled_fini(&f);
}

static void test_stacks_without_time_are_counted(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_call(&f, add_call(&f, 0, add_function(&f, 1, "main", NULL, 0), 5, 0), add_function(&f, 2, "a", NULL, 0), 5, 5);
    write_folded(&f);
    assert_string_equal(f.text, "main;a 5\n");
    assert_int_equal(dropped(&f, "stacks without self time"), 1);
    profiled_fini(&f);
}

static void test_threads_are_roots(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    uint32_t b = add_thread(&f, "thread 8", 5, 8), a = add_thread(&f, "thread;7", 5, 7);
    add_example(&f, b);
    add_call(&f, a, 0, 9, 9);
    write_folded(&f);
    assert_string_equal(f.text, "thread:7;main 9\nthread 8;main 300\nthread 8;main;a 450\nthread 8;main;a;b 250\n");
    profiled_fini(&f);
}

static void test_empty(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    write_folded(&f);
    assert_string_equal(f.text, "");
    assert_int_equal(f.drops.n, 0);
    profiled_fini(&f);
}

/* Lines of 30,000 nested places would be 2 GB; they are cut in the middle, without losing time. */
static void test_deep_stacks_are_cut(void **state)
{
    enum { DEPTH = 30000 };
    profiled f;
    profiled_init(&f, 1000000000);
    add_chain(&f, DEPTH);
    tl_place_tree t;
    tl_place_walk w;
    uint32_t longest;
    assert_int_equal(tl_place_tree_init(&t, f.p, NULL), 0);
    assert_int_equal(tl_place_tree_longest(&t, tl_place_has_self, 1000 * DEPTH, &longest, NULL), 0);
    assert_in_range(longest, 1000, 1020);
    assert_int_equal(tl_place_tree_longest(&t, tl_place_has_self, UINT64_C(1) << 40, &longest, NULL), 0);
    assert_int_equal(longest, UINT32_MAX);
    assert_int_equal(tl_place_tree_longest(&t, tl_place_has_self, 1, &longest, NULL), 0);
    assert_int_equal(longest, TL_STACK_CUT_LEAST);

    assert_int_equal(tl_place_walk_init(&w, &t, NULL), 0);
    while (w.depth < 100)
        assert_true(tl_place_walk_next(&w));
    assert_int_equal(tl_place_walk_frames(&w, 64), 64);
    assert_int_equal(tl_place_walk_frame(&w, 64, 0), w.stack[0]);
    assert_int_equal(tl_place_walk_frame(&w, 64, 31), w.stack[31]);
    assert_int_equal(tl_place_walk_frame(&w, 64, 32), w.stack[68]);
    assert_int_equal(tl_place_walk_frame(&w, 64, 63), w.stack[99]);
    tl_place_walk_fini(&w);
    tl_place_tree_fini(&t);
    profiled_fini(&f);
}

static void test_a_million_levels(void **state)
{
    enum { DEPTH = 1000000 };
    profiled f;
    profiled_init(&f, 1000000000);
    add_chain(&f, DEPTH);
    tl_place_tree t;
    tl_place_walk w;
    assert_int_equal(tl_place_tree_init(&t, f.p, NULL), 0);
    assert_int_equal(t.depth, DEPTH);
    assert_int_equal(t.weight[0], DEPTH);
    assert_int_equal(tl_place_walk_init(&w, &t, NULL), 0);
    uint32_t entered = 0, left = 0;
    while (tl_place_walk_next(&w)) {
        entered += !w.leaving;
        left += w.leaving;
    }
    assert_int_equal(entered, DEPTH);
    assert_int_equal(left, DEPTH);
    tl_place_walk_fini(&w);
    tl_place_tree_fini(&t);
    profiled_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_times_are_converted),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_stacks_without_time_are_counted),
        cmocka_unit_test(test_threads_are_roots),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_deep_stacks_are_cut),
        cmocka_unit_test(test_a_million_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Graphviz call graphs: nodes, edges, escaping, and omissions. */
#include "profile_fixture.h"

extern const tl_format tl_format_dot;

static void write_dot(profiled *f)
{
    write_with(f, tl_format_dot.profile_writer->write);
}

static void test_example(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_example(&f, 0);
    f.options.title = "a \"title\"";
    write_dot(&f);
    assert_contains(f.text, "digraph calls {\n  label=\"a \\\"title\\\"\\n1.00 us in 4 calls; nothing left out\";\n");
    assert_contains(f.text,
                    "  n1 [label=\"main\\nself 300 ns (30.0 %)\\ntotal 1.00 us (100.0 %)\\n1 call\", "
                    "tooltip=\"main\\ncalls 1\\nself 300 ns\\ntotal 1000 ns\", fillcolor=\"0.080 0.433 1.000\"];\n");
    assert_contains(f.text, "  n2 [label=\"a\\nself 450 ns (45.0 %)\\ntotal 700 ns (70.0 %)\\n2 calls\"");
    assert_contains(f.text, "  n1 -> n2 [label=\" 2 x\\n 700 ns\", tooltip=\"main -> a\\ncalls 2\\ntotal 700 ns\", "
                            "penwidth=4.7, weight=71];\n");
    assert_contains(f.text, "  n2 -> n3 [label=\" 1 x\\n 250 ns\"");
    assert_int_equal(dropped(&f, "small"), 0);
    assert_int_equal(dropped(&f, "stacks"), 3);
    profiled_fini(&f);
}

static void test_names_are_escaped_and_cut(void **state)
{
    profiled f;
    profiled_init(&f, 0);
    char name[80], shown[64];
    memset(name, 'x', 59);
    strcpy(name + 59, "\xc3\xa4zzzz");
    add_call(&f, 0, add_function(&f, 1, "q\"b\\n\n\xff", NULL, 0), 10, 10);
    add_call(&f, 0, add_function(&f, 2, name, NULL, 0), 5, 5);
    write_dot(&f);
    assert_contains(f.text, "label=\"q\\\"b\\\\n \xc3\xbf\\nself 10 ticks");
    memset(shown, 'x', 59);
    strcpy(shown + 59, "...");
    assert_contains(f.text, shown); /* not cut within a character */
    assert_contains(f.text, "tooltip=\"xxx");
    assert_contains(f.text, "x\xc3\xa4zzzz\\ncalls 1");
    profiled_fini(&f);
}

static void test_small_functions_are_left_out(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    uint32_t place = add_call(&f, 0, add_function(&f, 1000, "main", NULL, 0), 100000, 99000);
    add_call(&f, place, add_function(&f, 1001, "kept", NULL, 0), 600, 600);
    add_call(&f, place, add_function(&f, 1002, "gone", NULL, 0), 400, 400);
    write_dot(&f);
    assert_contains(f.text, "label=\"kept");
    assert_lacks(f.text, "gone");
    assert_contains(f.text, "shown: 2 of 3 functions (99.6 %) and 1 of 1 kinds of calls between them");
    assert_int_equal(dropped(&f, "small functions"), 1);
    profiled_fini(&f);

    profiled_init(&f, 1000000000);
    for (int64_t i = 0; i < 150; i++)
        add_call(&f, 0, add_function(&f, i, NULL, NULL, 0), 1, 1);
    write_dot(&f);
    assert_contains(f.text, "shown: 100 of 150 functions");
    assert_contains(f.text, "n100 [label=\"#99\\n"); /* equal ones in canonical order */
    assert_lacks(f.text, "#100\\n");
    assert_int_equal(dropped(&f, "small functions"), 50);
    profiled_fini(&f);
}

static void test_recursion_is_a_loop(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    uint32_t function = add_function(&f, 1, "fib", NULL, 0);
    add_call(&f, add_call(&f, 0, function, 10, 6), function, 4, 4);
    write_dot(&f);
    assert_contains(f.text, "total 10 ns (100.0 %)\\n2 calls");
    assert_contains(f.text, "n1 -> n1 [label=\" 1 x\"");
    profiled_fini(&f);
}

static void test_no_time_at_all(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_call(&f, add_call(&f, 0, add_function(&f, 1, "main", NULL, 0), 0, 0), add_function(&f, 2, "a", NULL, 0), 0, 0);
    write_dot(&f);
    assert_contains(f.text, "label=\"main\\nself 0 ns (0.0 %)");
    assert_contains(f.text, "n1 -> n2");
    profiled_fini(&f);
    profiled_init(&f, 1000000000);
    write_dot(&f);
    assert_contains(f.text, "nothing left out");
    assert_lacks(f.text, "n1");
    profiled_fini(&f);
}

/* Shares of numbers beyond 32 bits. */
static void test_large_times(void **state)
{
    profiled f;
    profiled_init(&f, 0);
    uint32_t place = add_call(&f, 0, add_function(&f, 1, "main", NULL, 0), UINT64_MAX, UINT64_MAX / 2);
    add_call(&f, place, add_function(&f, 2, "a", NULL, 0), UINT64_MAX / 2 + 1, UINT64_MAX / 2 + 1);
    write_dot(&f);
    assert_contains(f.text, " (50.0 %)\\ntotal");
    assert_contains(f.text, "self 9223372036854775807 ticks\\ntotal 18446744073709551615 ticks");
    profiled_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_names_are_escaped_and_cut),
        cmocka_unit_test(test_small_functions_are_left_out),
        cmocka_unit_test(test_recursion_is_a_loop),
        cmocka_unit_test(test_no_time_at_all),
        cmocka_unit_test(test_large_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

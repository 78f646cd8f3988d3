/* Callgrind files: exact text, recursion, and sums. */
#include "profile_fixture.h"

#include "model/callgraph.h"

extern const tl_format tl_format_callgrind;

static void write_callgrind(profiled *f)
{
    write_with(f, tl_format_callgrind.profile_writer->write);
}

static void test_example(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_example(&f, 0);
    f.p->exe = "./app";
    f.options.title = "two\nlines";
    write_callgrind(&f);
    assert_string_equal(f.text, "# callgrind format\nversion: 1\ncreator: traceloom\ndesc: two lines\ncmd: ./app\n"
                                "positions: line\nevent: ns : Time in ns\nevent: Calls : Calls\nevents: ns Calls\n"
                                "summary: 1000 4\n\nob=(1) ./app\nfl=(1) ???\n"
                                "\nfl=(2) app.c\nfn=(2) main\n10 300 1\ncfn=(3) a\ncalls=2 20\n10 700 3\n"
                                "\nfl=(2)\nfn=(3)\n20 450 2\ncfi=(3) b.c\ncfn=(4) b\ncalls=1 30\n20 250 1\n"
                                "\nfl=(3)\nfn=(4)\n30 250 1\n"
                                "\nfl=(1)\nfn=(1) (root)\n0 0 0\ncfi=(2)\ncfn=(2)\ncalls=1 10\n0 1000 4\n");
    assert_int_equal(dropped(&f, "stacks"), 3);
    assert_int_equal(dropped(&f, "latency histograms"), 3);
    profiled_fini(&f);
}

/* main -> f -> g -> f -> h: the callers of every function add up to the time of its outermost calls. */
static void test_recursion_counts_once(void **state)
{
    profiled p;
    profiled_init(&p, 1000000000);
    uint32_t m = add_function(&p, 1, "main", NULL, 0), f = add_function(&p, 2, "f", NULL, 0),
             g = add_function(&p, 3, "g", NULL, 0), h = add_function(&p, 4, "h", NULL, 0);
    uint32_t at = add_call(&p, 0, m, 100, 10);
    at = add_call(&p, at, f, 90, 10);
    at = add_call(&p, at, g, 80, 20);
    at = add_call(&p, at, f, 60, 20);
    add_call(&p, at, f, 15, 15); /* and itself */
    add_call(&p, at, h, 25, 25);

    tl_place_tree tree;
    tl_callgraph graph;
    assert_int_equal(tl_place_tree_init(&tree, p.p, NULL), 0);
    assert_int_equal(tl_callgraph_init(&graph, &tree, NULL), 0);
    const uint64_t total[] = {100, 90, 80, 25}, self[] = {10, 45, 20, 25}, calls[] = {1, 3, 1, 1};
    uint64_t into[4] = {0};
    for (uint32_t i = 0; i < graph.nedge; i++)
        into[graph.edge[i].callee] += graph.edge[i].total;
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(graph.node[i].total, total[i]);
        assert_int_equal(graph.node[i].self, self[i]);
        assert_int_equal(graph.node[i].calls, calls[i]);
        assert_int_equal(into[i], total[i]);
    }
    assert_int_equal(graph.self, 100);
    assert_int_equal(graph.calls, 6);
    tl_callgraph_fini(&graph);
    tl_place_tree_fini(&tree);

    write_callgrind(&p);
    assert_contains(p.text, "fn=(2) main\n0 10 1\ncfn=(3) f\ncalls=1 0\n0 90 5\n");
    assert_contains(p.text, "fn=(3)\n0 45 3\ncfn=(3)\ncalls=1 0\n0 0 0\ncfn=(4) g\ncalls=1 0\n0 80 4\ncfn=(5) h\n");
    assert_contains(p.text, "fn=(4)\n0 20 1\ncfn=(3)\ncalls=1 0\n0 0 0\n");
    assert_contains(p.text, "summary: 100 6\n");
    profiled_fini(&p);
}

/* Threads meet functions in an order that differs from run to run, which must not change the file. */
static void test_order_of_functions_is_no_matter(void **state)
{
    profiled f[2];
    for (unsigned i = 0; i < 2; i++) {
        profiled_init(&f[i], 1000000000);
        if (i == 1) {
            add_function(&f[i], 3, "b", "b.c", 30);
            add_function(&f[i], 2, "a", "app.c", 20);
        }
        add_example(&f[i], 0);
        write_callgrind(&f[i]);
    }
    assert_int_equal(f[1].p->function[0].id, 3);
    assert_string_equal(f[0].text, f[1].text);
    profiled_fini(&f[0]);
    profiled_fini(&f[1]);
}

/* A call that never ended has no time of its own, but that of its callees. */
static void test_open_calls_show_what_was_seen(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    uint32_t m = add_function(&f, 1, "main", NULL, 0);
    uint32_t place = tl_profile_child(f.p, 0, m);
    add_call(&f, place, add_function(&f, 2, "a", NULL, 0), 40, 40);
    write_callgrind(&f);
    assert_contains(f.text, "fn=(2) main\n0 0 0\ncfn=(3) a\ncalls=1 0\n0 40 1\n");
    assert_contains(f.text, "fn=(1) (root)\n0 0 0\ncfn=(2)\ncalls=0 0\n0 40 1\n");
    profiled_fini(&f);
}

static void test_ticks(void **state)
{
    profiled f;
    profiled_init(&f, 0);
    add_example(&f, 0);
    write_callgrind(&f);
    assert_contains(f.text, "\nevents: ticks Calls\nsummary: 1000 4\n");
    profiled_fini(&f);
}

/* The summary is the sum of the numbers in the file, which are rounded one by one. */
static void test_summary_is_exact(void **state)
{
    profiled f;
    profiled_init(&f, 2000000000); /* a tick is half a ns */
    for (int64_t i = 1; i <= 3; i++)
        add_call(&f, 0, add_function(&f, i, NULL, NULL, 0), 3, 3); /* 1.5 ns, rounded to even: 2 */
    write_callgrind(&f);
    assert_contains(f.text, "summary: 6 3\n");
    assert_contains(f.text, "fn=(2) #1\n0 2 1\n");
    profiled_fini(&f);
}

static void test_a_million_levels(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_chain(&f, 1000000);
    write_callgrind(&f);
    assert_contains(f.text, "summary: 1000000 1000000\n");
    assert_contains(f.text, "cfn=(3) odd\ncalls=500000 0\n0 999999 999999\n");
    profiled_fini(&f);
}

static void test_empty(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    write_callgrind(&f);
    assert_contains(f.text, "events: ns Calls\nsummary: 0 0\n");
    assert_lacks(f.text, "(root)");
    assert_int_equal(f.drops.n, 0);
    profiled_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_recursion_counts_once),
        cmocka_unit_test(test_order_of_functions_is_no_matter),
        cmocka_unit_test(test_open_calls_show_what_was_seen),
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_summary_is_exact),
        cmocka_unit_test(test_a_million_levels),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Flame graphs: boxes, data, escaping, and which places are shown. */
#include "profile_fixture.h"

#include "format/svg/svg_layout.h"

extern const tl_format tl_format_svg;

static void write_svg(profiled *f)
{
    write_with(f, tl_format_svg.profile_writer->write);
}

static void test_example(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_example(&f, 0);
    f.options.title = "a <title> & more";
    write_svg(&f);
    assert_contains(f.text, "<title>a &lt;title&gt; &amp; more</title>");
    assert_contains(f.text, "1.00 us in 4 calls, all 3 places</text>");
    assert_contains(
        f.text, "<g class=\"f\"><title>main\n1 call\ntotal 1.00 us (100.00 %)\nself 300 ns\np50 1.00 us, p99 1.00 us"
                "</title><rect x=\"0.00\" y=\"114\" width=\"1200.00\" height=\"17\" rx=\"2\" class=\"c");
    assert_contains(f.text, "<title>a\n2 calls\ntotal 700 ns (70.00 %)\nself 450 ns\np50 ");
    assert_contains(f.text, "<rect x=\"0.00\" y=\"132\" width=\"840.00\"");
    assert_contains(f.text, "\"unit\":\"ns\"");
    assert_contains(f.text, "\"names\":[[\"all\",\"\",");
    assert_contains(f.text, "[\"main\",\"app.c:10\",");
    assert_contains(f.text, "\"f\":[0,1,2,3],\n\"d\":[0,1,2,3],\n\"x\":[0,0,0,0],\n\"w\":[1000,1000,700,250],\n"
                            "\"c\":[0,1,2,1],\n\"s\":[0,300,450,250],\n\"p\":[0,1000,");
    assert_int_equal(dropped(&f, "places"), 0);
    assert_int_equal(dropped(&f, "latency histograms"), 3);
    profiled_fini(&f);
}

static void test_without_histogram_there_are_no_percentiles(void **state)
{
    profiled f;
    profiled_init(&f, 0);
    f.p->has_histogram = false;
    add_example(&f, 0);
    write_svg(&f);
    assert_contains(f.text, "self 300 ticks</title>");
    assert_contains(f.text, "\"unit\":\"ticks\"");
    assert_lacks(f.text, "p50 1");
    assert_lacks(f.text, "\"p\":[");
    profiled_fini(&f);
}

static void test_names_cannot_break_out(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_call(&f, 0, add_function(&f, 1, "]]></script><b>&\"'\\\x01\xff\xef\xbf\xbf", "<f>", 3), 10, 10);
    write_svg(&f);
    assert_contains(f.text, "<title>]]&gt;&lt;/script&gt;&lt;b&gt;&amp;&quot;&#39;\\ \xc3\xbf \n1 call");
    assert_contains(
        f.text, "[\"]]\\u003e\\u003c/script\\u003e\\u003cb\\u003e&\\u0022'\\u005c \xc3\xbf \",\"\\u003cf\\u003e:3\",");
    assert_lacks(f.text, "<b>");
    profiled_fini(&f);
}

static void test_text_fits_its_box(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    uint32_t place = add_call(&f, 0, add_function(&f, 1, "main", NULL, 0), 1200, 1000);
    add_call(&f, place, add_function(&f, 2, "abcdefghijklmnopqrstuvwxyz", NULL, 0), 100, 100);
    add_call(&f, place, add_function(&f, 3, "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", NULL, 0),
             60, 60);
    add_call(&f, place, add_function(&f, 4, "narrow", NULL, 0), 20, 20);
    write_svg(&f);
    assert_contains(f.text, ">abcdefghijk\xe2\x80\xa6</text>"); /* 100 points: 12 cells */
    assert_contains(f.text,
                    ">\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe2\x80\xa6</text>"); /* 7 cells, wide ones are two */
    assert_lacks(f.text, ">narrow</text>");
    profiled_fini(&f);
}

static void test_siblings_stand_by_width(void **state)
{
    profiled f;
    svg_layout l;
    tl_place_tree t;
    profiled_init(&f, 1000000000);
    uint32_t small = add_call(&f, 0, add_function(&f, 1, "small", NULL, 0), 10, 10),
             large = add_call(&f, 0, add_function(&f, 2, "large", NULL, 0), 30, 5),
             inside = add_call(&f, large, add_function(&f, 3, "inside", NULL, 0), 25, 25),
             same = add_call(&f, 0, add_function(&f, 4, "same", NULL, 0), 10, 10);
    add_call(&f, 0, add_function(&f, 5, "timeless", NULL, 0), 0, 0);
    assert_int_equal(tl_place_tree_init(&t, f.p, NULL), 0);
    assert_int_equal(svg_layout_init(&l, &t, NULL), 0);
    const svg_box expected[] = {
        {0, 0, 0, 50}, {large, 1, 0, 30}, {inside, 2, 0, 25}, {small, 1, 30, 10}, {same, 1, 40, 10}};
    assert_int_equal(l.n, 5);
    for (uint32_t i = 0; i < l.n; i++) {
        assert_int_equal(l.box[i].place, expected[i].place);
        assert_int_equal(l.box[i].depth, expected[i].depth);
        assert_int_equal(l.box[i].x, expected[i].x);
        assert_int_equal(l.box[i].width, expected[i].width);
    }
    assert_int_equal(l.left_out, 0);
    svg_layout_fini(&l);
    tl_place_tree_fini(&t);
    profiled_fini(&f);
}

/* A frame that never ended is as wide as its visible callees. */
static void test_open_calls_are_as_wide_as_their_callees(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    uint32_t place = tl_profile_child(f.p, 0, add_function(&f, 1, "main", NULL, 0));
    add_call(&f, place, add_function(&f, 2, "a", NULL, 0), 40, 40);
    write_svg(&f);
    assert_contains(f.text, "\"w\":[40,40,40]");
    profiled_fini(&f);
}

static void test_at_most_so_many_boxes(void **state)
{
    enum { WIDE = 6000, LEVELS = 5 };
    profiled f;
    svg_layout l;
    tl_place_tree t;
    profiled_init(&f, 1000000000);
    uint32_t function[LEVELS];
    for (int64_t i = 0; i < LEVELS; i++)
        function[i] = add_function(&f, i, NULL, NULL, 0);
    for (int64_t i = 0; i < WIDE; i++) {
        uint32_t place = add_call(&f, 0, add_function(&f, 100 + i, NULL, NULL, 0), LEVELS + 1, 1);
        for (int64_t k = 0; k < LEVELS; k++)
            place = add_call(&f, place, function[k], (uint64_t)(LEVELS - k), 1);
    }
    assert_int_equal(tl_place_tree_init(&t, f.p, NULL), 0);
    assert_int_equal(svg_layout_init(&l, &t, NULL), 0);
    assert_int_equal(l.n, SVG_BOXES_MAX);
    assert_int_equal(l.places, WIDE * (LEVELS + 1));
    assert_int_equal(l.left_out, l.places - (SVG_BOXES_MAX - 1));
    assert_int_equal(l.self_out, l.left_out);
    assert_int_equal(l.narrowest, 3);
    assert_false(l.too_deep);
    for (uint32_t i = 1; i < l.n; i++) /* each box lies in the last one before it of the level above */
        assert_true(l.box[i].depth <= l.box[i - 1].depth + 1);
    svg_layout_fini(&l);
    tl_place_tree_fini(&t);
    profiled_fini(&f);
}

static void test_a_million_levels(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_chain(&f, 1000000);
    write_svg(&f);
    assert_contains(f.text,
                    "shown are 1,000 of 1,000,000 places, from 999 us on; the others hold 99.90 % of the self time; "
                    "nothing deeper than 1000 levels");
    profiled_fini(&f);
}

static void test_large_times_and_no_time(void **state)
{
    profiled f;
    profiled_init(&f, 0);
    uint32_t place = add_call(&f, 0, add_function(&f, 1, "main", NULL, 0), UINT64_MAX, UINT64_MAX / 2);
    add_call(&f, place, add_function(&f, 2, "a", NULL, 0), UINT64_MAX / 2 + 1, UINT64_MAX / 2 + 1);
    write_svg(&f);
    assert_contains(f.text, "width=\"600.00\"");
    profiled_fini(&f);
    profiled_init(&f, 1000000000);
    add_call(&f, 0, add_function(&f, 1, "main", NULL, 0), 0, 0);
    write_svg(&f);
    assert_contains(f.text, "0 ns in 1 call, all 0 places");
    assert_contains(f.text, "\"w\":[0]");
    profiled_fini(&f);
}

static void test_threads_are_boxes(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    add_example(&f, add_thread(&f, "thread 7", 5, 7));
    write_svg(&f);
    assert_contains(f.text, "[\"thread 7\",\"\",");
    assert_contains(f.text, "\"d\":[0,1,2,3,4]");
    profiled_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_without_histogram_there_are_no_percentiles),
        cmocka_unit_test(test_names_cannot_break_out),
        cmocka_unit_test(test_text_fits_its_box),
        cmocka_unit_test(test_siblings_stand_by_width),
        cmocka_unit_test(test_open_calls_are_as_wide_as_their_callees),
        cmocka_unit_test(test_at_most_so_many_boxes),
        cmocka_unit_test(test_a_million_levels),
        cmocka_unit_test(test_large_times_and_no_time),
        cmocka_unit_test(test_threads_are_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The output of `report --by gc, jit, alloc, heap, cpu`, as JSON and as text, for windows of several widths; and the
 * options it refuses. */
#include "runtime_fixture.h"

#include "answer_fixture.h"
#include "cli/report/report_table.h"
#include "scratch.h"

static const tl_ask no_options;

/* The output of a table for a window of this width; 0: for a file; free(). */
static char *make(const tl_table_kind *kind, const tl_ask *options, unsigned width, const tl_view *view)
{
    tl_ask ask = *options;
    ask.tty = width != 0;
    ask.width = width ? width : 100;
    tl_source *s = rt_source();
    char *text = answer_of(kind, s, &ask, view);
    tl_source_close(s);
    return text;
}

static void check_json(const tl_table_kind *kind, const char *expected)
{
    char *text = make(kind, &no_options, 0, &tl_view_json), whole[4096];
    snprintf(whole, sizeof whole, "{\"schema\":1,%s\n", expected + 1);
    assert_string_equal(text, whole);
    free(text);
}

static void json_of_nothing(void **state)
{
    rt_reset();
    check_json(&tl_table_gc, "{\"unit\":\"ns\",\"collections\":[],\"induced\":0,\"by_generation\":{\"gen0\":0,\"gen1\":"
                             "0,\"gen2\":0,\"loh\":0},\"pause\":{\"count\":0,\"total\":0,\"min\":null,\"p50\":null,"
                             "\"p90\":null,\"p99\":null,\"max\":null},\"heap\":[],\"unmatched\":{\"ends\":0,\"open\":"
                             "0}}");
    check_json(&tl_table_jit, "{\"unit\":\"ns\",\"methods\":[],\"compile\":{\"count\":0,\"total\":0,\"min\":null,"
                              "\"p50\":null,\"p90\":null,\"p99\":null,\"max\":null},\"unmatched\":{\"ends\":0,"
                              "\"open\":0}}");
    check_json(&tl_table_alloc,
               "{\"unit\":\"bytes\",\"classes\":[],\"count\":0,\"bytes\":0,\"sampling\":null,\"live\":null}");
    check_json(&tl_table_heap, "{\"unit\":\"bytes\",\"snapshots\":[],\"growth\":null}");
    check_json(&tl_table_cpu, "{\"unit\":\"ns\",\"tracks\":[]}");
}

/* A little of everything; numbers beyond 64 bits. */
static void fill(void)
{
    static const tl_frame frame = {.function = 5, .flags = TL_FRAME_FUNCTION};
    rt_reset();
    rt_add(RT_TYPE, RT_PROCESS, 0, 0, RT_H(1), RT_S("Node"));
    rt_add(RT_FUNCTION, RT_PROCESS, 0, 0, RT_H(5), RT_S("Work:Fib"));
    rt_add(RT_GC, RT_ONE, 10, 0, RT_S("induced"), RT_S("ttff"));
    rt_bare(RT_GC_END, RT_ONE, 30, 0);
    rt_add(RT_GC, RT_ONE, 40, 0, RT_NONE, RT_S("tfff"));
    rt_add(RT_SIZES, RT_PROCESS, 40, 0, RT_L(1), RT_ST(3), RT_S("GEN0"), RT_U(5), RT_U(UINT64_MAX));
    rt_add(RT_SIZES, RT_PROCESS, 45, 0, RT_L(1), RT_ST(3), RT_S("GEN0"), RT_U(10), RT_U(20));
    rt_add(RT_JIT, RT_ONE, 50, 3, RT_H(0xa));
    rt_add(RT_CODE, RT_PROCESS, 50, 0, RT_L(2), RT_ST(2), RT_H(1), RT_H(UINT64_MAX), RT_ST(2), RT_H(1), RT_H(1),
           RT_H(5), RT_H(0xa));
    rt_add(RT_JIT_END, RT_ONE, 54, 3, RT_H(0xa), RT_H(0));
    rt_sample_of(RT_ONE, 55, &frame);
    rt_add(RT_ALLOC, RT_ONE, 56, 10, RT_U(0), RT_L(2), RT_OBJECT(RT_H(1), UINT64_MAX, UINT64_MAX, RT_H(0x700)),
           RT_OBJECT(RT_H(1), 1, 1, RT_NONE));
    rt_add(RT_LIVE, RT_PROCESS, 60, 0, RT_L(1), RT_OBJECT(RT_H(1), 1, 100, RT_NONE));
    rt_add(RT_LIVE, RT_PROCESS, 70, 0, RT_L(1), RT_OBJECT(RT_NONE, 2, 50, RT_NONE));
    rt_add(RT_CPU, RT_PROCESS, 80, TL_SINCE_UNKNOWN, RT_U(1));
    rt_add(RT_CPU, RT_PROCESS, 90, 80, RT_U(UINT64_MAX));
    rt_add(RT_CPU, RT_PROCESS, 70, 90, RT_U(7));
}

static void json_is_exact(void **state)
{
    fill();
    check_json(
        &tl_table_gc,
        "{\"unit\":\"ns\",\"collections\":[{\"begin\":10000000,\"end\":30000000,\"pause\":20000000,\"track\":"
        "\"thread 0x1\",\"reason\":\"induced\",\"generations\":\"ttff\"},{\"begin\":40000000,\"end\":null,"
        "\"pause\":null,\"track\":\"thread 0x1\",\"reason\":null,\"generations\":\"tfff\"}],\"induced\":1,"
        "\"by_generation\":{\"gen0\":2,\"gen1\":1,\"gen2\":0,\"loh\":0},\"pause\":{\"count\":1,\"total\":20000000,"
        "\"min\":20000000,\"p50\":20000000,\"p90\":20000000,\"p99\":20000000,\"max\":20000000},\"heap\":[{\"ts\":"
        "40000000,\"generations\":[{\"name\":\"GEN0\",\"alloc\":5,\"reserved\":18446744073709551615}]},{\"ts\":"
        "45000000,\"generations\":[{\"name\":\"GEN0\",\"alloc\":10,\"reserved\":20}]}],\"unmatched\":{\"ends\":0,"
        "\"open\":1}}");
    check_json(&tl_table_jit,
               "{\"unit\":\"ns\",\"methods\":[{\"id\":\"0xa\",\"iid\":\"0x5\",\"name\":\"Work:Fib\",\"compiled\":1,"
               "\"searched\":0,\"failed\":0,\"total\":4000000,\"max\":4000000,\"code_bytes\":18446744073709551616}],"
               "\"compile\":{\"count\":1,\"total\":4000000,\"min\":4000000,\"p50\":4000000,\"p90\":4000000,\"p99\":"
               "4000000,\"max\":4000000},\"unmatched\":{\"ends\":0,\"open\":0}}");
    check_json(&tl_table_alloc,
               "{\"unit\":\"bytes\",\"classes\":[{\"iid\":\"0x1\",\"name\":\"Node\",\"count\":18446744073709551616,"
               "\"bytes\":18446744073709551616}],\"count\":18446744073709551616,\"bytes\":18446744073709551616,"
               "\"sampling\":null,\"live\":{"
               "\"ts\":70000000,\"classes\":[{\"iid\":null,\"name\":null,\"count\":2,\"bytes\":50}]}}");
    check_json(
        &tl_table_heap,
        "{\"unit\":\"bytes\",\"snapshots\":[{\"ts\":60000000,\"count\":1,\"bytes\":100},{\"ts\":70000000,"
        "\"count\":2,\"bytes\":50}],\"growth\":{\"from\":60000000,\"to\":70000000,\"classes\":[{\"iid\":null,"
        "\"name\":null,\"count\":2,\"bytes\":50,\"count_before\":0,\"bytes_before\":0},{\"iid\":\"0x1\",\"name\":"
        "\"Node\",\"count\":0,\"bytes\":0,\"count_before\":1,\"bytes_before\":100}]}}");
    check_json(&tl_table_cpu,
               "{\"unit\":\"ns\",\"tracks\":[{\"track\":\"process\",\"used\":18446744073709551622000,\"elapsed\":"
               "-10000000,\"points\":[{\"begin\":null,\"end\":80000000,\"used\":1000},{\"begin\":80000000,\"end\":"
               "90000000,\"used\":18446744073709551615000},{\"begin\":90000000,\"end\":70000000,\"used\":7000}]}]}");
}

static void rows_of_json_and_their_order(void **state)
{
    rt_reset();
    rt_add(RT_ALLOC, RT_ONE, 56, 10, RT_U(0), RT_L(2), RT_OBJECT(RT_H(1), 9, 10, RT_NONE),
           RT_OBJECT(RT_H(2), 1, 20, RT_NONE));
    const tl_ask top = {.has_top = true, .top = 1}, calls = {.sort = "calls"};
    char *text = make(&tl_table_alloc, &top, 0, &tl_view_json);
    assert_string_equal(
        text, "{\"schema\":1,\"unit\":\"bytes\",\"classes\":[{\"iid\":\"0x2\",\"name\":null,\"count\":1,\"bytes\":20}]"
              ",\"count\":10,\"bytes\":30,\"sampling\":null,\"live\":null}\n");
    free(text);
    text = make(&tl_table_alloc, &calls, 0, &tl_view_json);
    assert_contains(text, "\"classes\":[{\"iid\":\"0x1\"");
    free(text);
}

static void check_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

/* No line is wider than the window. */
static void check_width(const char *text, unsigned width)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (tl_text_width(line, strcspn(line, "\n")) > width)
            fail_msg("wider than %u: %.*s", width, (int)strcspn(line, "\n"), line);
}

static void text_says_the_numbers(void **state)
{
    const struct {
        const tl_table_kind *table;
        const char *part[6];
    } expected[] = {
        {&tl_table_gc,
         {"2 collections (1 induced), 20.0 ms of pauses in 90.0 ms (22.2 %)", "1 without end", "gen 0-1, induced",
          "longest pauses", "thread 0x1", "GEN0"}},
        {&tl_table_jit,
         {"1 method in 90.0 ms: 1 compiled, 0 found", "compiling took 4.00 ms: p50 4.00 ms", "Work:Fib", "thread 0x1",
          "100.0 %", "compiled"}},
        {&tl_table_alloc,
         {"of 1 class in 90.0 ms", "in the heap at 70.0 ms: 50 B in 2 objects", "Node", "Work:Fib  Work.cs:7",
          "by place", "over time"}},
        {&tl_table_heap,
         {"2 snapshots of the heap: 100 B at 60.0 ms, 50 B at 70.0 ms", "-50 B", "+50 B", "-100 B", "Node", "?"}},
        {&tl_table_cpu, {"processor time of 1 track", "process", "charts are full at 100 %", "used", "highest", "#"}},
    };
    fill();
    for (size_t i = 0; i < TL_COUNT(expected); i++)
        for (unsigned width = 0; width <= 120; width += 40) {
            char *text = make(expected[i].table, &no_options, width, &tl_view_table);
            for (size_t k = 0; k < TL_COUNT(expected[i].part) && (width == 0 || width >= 120); k++)
                check_has(text, expected[i].part[k]);
            if (width >= 80)
                check_width(text, width);
            free(text);
        }
}

static void texts_of_hostile_names(void **state)
{
    rt_reset();
    rt_add(RT_TYPE, RT_PROCESS, 0, 0, RT_H(1), RT_S("a\033[2Jb\n"));
    rt_add(RT_ALLOC, RT_ONE, 56, 10, RT_U(0), RT_L(1), RT_OBJECT(RT_H(1), 9, 10, RT_NONE));
    rt_add(RT_GC, RT_ONE, 57, 0, RT_S("\033[1m"), RT_S("t\033ft\n"));
    rt_bare(RT_GC_END, RT_ONE, 58, 0);
    char *text = make(&tl_table_alloc, &no_options, 80, &tl_view_table);
    check_has(text, "a?[2Jb?");
    assert_null(strchr(text, '\033'));
    free(text);
    text = make(&tl_table_gc, &no_options, 80, &tl_view_table);
    assert_null(strchr(text, '\033'));
    free(text);
}

static void the_rest_is_counted(void **state)
{
    rt_reset();
    for (uint64_t i = 0; i < 40; i++)
        rt_add(RT_ALLOC, RT_ONE, i, 10, RT_U(0), RT_L(1), RT_OBJECT(RT_H(i), 1, 100 + i, RT_NONE));
    char *text = make(&tl_table_alloc, &no_options, 80, &tl_view_table);
    check_has(text, "... 30 more classes; --top 0 shows all");
    check_has(text, "0x27");
    assert_lacks(text, "0x10");
    free(text);
    text = make(&tl_table_alloc, &no_options, 0, &tl_view_table);
    check_has(text, "0x10");
    free(text);
}

static void check_has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" is in:\n%s", part, text);
}

/* In a narrow window only the columns of the longest pauses stay. */
static void narrow_pauses(void **state)
{
    fill();
    char *text = make(&tl_table_gc, &no_options, 1, &tl_view_table);
    check_has(text, "\n  begin    pause  longest pauses\n");
    free(text);
}

/* The sign for a gap is explained if there is one. */
static void gaps_are_explained(void **state)
{
    for (int pause = 0; pause < 2; pause++) {
        rt_reset();
        for (uint64_t i = 0; i < 10; i++)
            rt_add(RT_CPU, RT_PROCESS, 10 * (i + 1), 10 * i, RT_U(5000));
        if (pause)
            rt_bare(RT_PAUSE, RT_PROCESS, 50, 0); /* to the end */
        char *text = make(&tl_table_cpu, &no_options, 0, &tl_view_table);
        check_has(text, "charts are full at 100 %");
        (pause ? check_has : check_has_not)(text, "~: recording was paused");
        free(text);
    }
}

static void lines_of_a_spark(void **state)
{
    const tl_terminal plain = {0}, unicode = {.unicode = true};
    const double value[] = {0, 0.124, 0.5, 1, 2, -1, -2};
    char buf[4 * 7 + 1];
    assert_string_equal(tl_text_spark(&plain, buf, value, 7), "__=## ~");
    assert_string_equal(tl_text_spark(&unicode, buf, value, 7), "▁▁▅██ ╌");
}

/* The whole command, on a file of the fixture's format. */
static int command(const tl_table_kind *kind, const tl_arguments *more)
{
    static const char *file[] = {"made.log", "made.log"};
    tl_arguments a = *more;
    a.verb = tl_verb_find("report");
    a.quiet = true;
    a.file.word = file;
    a.file.n = a.file.n ? a.file.n : 1;
    const tl_cli c = {.args = &a, .out = {.width = 80}};
    const tl_target to = tl_target_of(&c, a.json ? &tl_view_json : &tl_view_table, "out.txt");
    return tl_report_table(&c, kind, NULL, &to, false);
}

static void options_that_are_refused(void **state)
{
    const char *word[] = {"x"};
    scratch_write("made.log", "x", 1);
    fill();
    assert_int_equal(command(&tl_table_gc, &(tl_arguments){.func = {word, 1}}), TL_EXIT_USAGE);
    assert_int_equal(command(&tl_table_jit, &(tl_arguments){.not_func = {word, 1}}), TL_EXIT_USAGE);
    assert_int_equal(command(&tl_table_cpu, &(tl_arguments){.depth = 3}), TL_EXIT_USAGE);
    assert_int_equal(command(&tl_table_alloc, &(tl_arguments){.weight = "time"}), TL_EXIT_USAGE);
    assert_int_equal(command(&tl_table_heap, &(tl_arguments){.thread = {word, 1}}), TL_EXIT_USAGE);
    assert_int_equal(command(&tl_table_gc, &(tl_arguments){.sort = "total"}), TL_EXIT_USAGE);
    assert_int_equal(command(&tl_table_jit, &(tl_arguments){.sort = "p50"}), TL_EXIT_USAGE);
    assert_int_equal(command(&tl_table_cpu, &(tl_arguments){.file = {NULL, 2}}), TL_EXIT_USAGE);
    assert_int_equal(command(&tl_table_heap, &(tl_arguments){.file = {NULL, 2}}), TL_EXIT_USAGE);
    assert_int_equal(command(&tl_table_gc, &(tl_arguments){.thread = {word, 1}}), TL_EXIT_USAGE); /* matches nothing */
    const tl_arguments a = {0};
    const tl_cli c = {.args = &a};
    const tl_target to = tl_target_of(&c, &tl_view_table, "-");
    assert_int_equal(tl_report_table(&c, &tl_table_gc, NULL, &to, true), TL_EXIT_USAGE);
    assert_int_equal(scratch_files(0), 1); /* nothing was written */
}

static void whole_commands(void **state)
{
    scratch_write("made.log", "x", 1);
    fill();
    const tl_table_kind *const kind[] = {&tl_table_gc, &tl_table_jit, &tl_table_alloc, &tl_table_heap, &tl_table_cpu};
    for (size_t i = 0; i < TL_COUNT(kind); i++) {
        size_t n;
        assert_int_equal(command(kind[i], &(tl_arguments){.json = true}), TL_EXIT_DONE);
        char *text = scratch_read("out.txt", &n);
        assert_non_null(text);
        assert_memory_equal(text, "{\"schema\":1,\"unit\":\"", 20);
        assert_string_equal(text + n - 2, "}\n");
        free(text);
        assert_int_equal(command(kind[i], &(tl_arguments){.force = true}), TL_EXIT_DONE);
        text = scratch_read("out.txt", &n);
        assert_memory_equal(text, "made.log: made 1\n", 17);
        free(text);
        assert_int_equal(command(kind[i], &(tl_arguments){0}), TL_EXIT_USAGE); /* it exists */
        assert_int_equal(unlink("out.txt"), 0);
    }
    size_t n;
    assert_int_equal(command(&tl_table_alloc, &(tl_arguments){.file = {NULL, 2}, .json = true}), TL_EXIT_DONE);
    char *text = scratch_read("out.txt", &n);
    check_has(text, "\"bytes\":36893488147419103232,\"sampling\":null,\"live\":null");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_of_nothing),
        cmocka_unit_test(json_is_exact),
        cmocka_unit_test(rows_of_json_and_their_order),
        cmocka_unit_test(text_says_the_numbers),
        cmocka_unit_test(texts_of_hostile_names),
        cmocka_unit_test(the_rest_is_counted),
        cmocka_unit_test(narrow_pauses),
        cmocka_unit_test(gaps_are_explained),
        cmocka_unit_test(lines_of_a_spark),
        cmocka_unit_test_setup_teardown(options_that_are_refused, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(whole_commands, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Text: columns, indentation, and what hostile names may not do. */
#include "writer_fixture.h"

extern const tl_format tl_format_text;

static void test_layout(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    f.options.begin = 1000;
    assert_int_equal(fixture_create(&f, &tl_format_text), 0);
    tl_value args[] = {{.type = TL_LIST, .n = 2}, {.type = TL_U64, .as.u = 3}, {.type = TL_I64, .as.i = -1}};
    fixture_event(&f, ENTER, 0, 3, 1000, 1, NULL, 0);
    fixture_event(&f, ENTER_ARGS, 0, 3, 2000001234, 2, args, 3);
    fixture_custom(&f, 0, 3, 2000001235, "hi", 2);
    fixture_event(&f, TAIL_EXIT, 0, 3, 2000001236, 2, NULL, 0);
    fixture_event(&f, EXIT, 0, 3, 2000001237, 1, NULL, 0);
    fixture_event(&f, EXIT, 0, -1, 2000001238, 77, NULL, 0);
    tl_value opcode = {.type = TL_HEX, .as.u = 0x1f};
    fixture_event(&f, INSN, 1, -1, 2000001239, 0x4000, &opcode, 1);
    fixture_event(&f, EXIT, 0, -1, 999, 1, NULL, 0);
    fixture_finish(&f);
    assert_string_equal((char *)f.bytes, "     0.000000000  thread 7  cpu 3  -> main\n"
                                         "     2.000000234  thread 7  cpu 3    -> fib(3, -1)\n"
                                         "     2.000000235  thread 7  cpu 3      * xray.custom data=6869\n"
                                         "     2.000000236  thread 7  cpu 3    <- fib (xray.tail_exit)\n"
                                         "     2.000000237  thread 7  cpu 3  <- main\n"
                                         "     2.000000238  thread 7  <- #77\n"
                                         "     2.000000239  thread 8  * insn pc=0x4000 opcode=0x1f\n"
                                         "    -0.000000001  thread 7  <- main\n");
    fixture_fini(&f);
}

static void test_ticks(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    tl_trace_set_clock(&f.trace, "tsc", 0);
    assert_int_equal(fixture_create(&f, &tl_format_text), 0);
    fixture_call(&f, ENTER, 0, 12345, 1);
    fixture_call(&f, ENTER, 0, UINT64_MAX, 2);
    fixture_finish(&f);
    assert_string_equal((char *)f.bytes, "           12345  thread 7  cpu 0  -> main\n"
                                         "18446744073709551615  thread 7  cpu 0    -> fib\n");
    fixture_fini(&f);
}

static void test_hostile_text(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    tl_function function = {.id = 3, .name = "\x1b[2J\n\x7f\xff\xc2\x9b\xc3\xa9"};
    assert_int_equal(tl_trace_add_function(&f.trace, &function, NULL), 0);
    assert_int_equal(fixture_create(&f, &tl_format_text), 0);
    fixture_call(&f, ENTER, 0, 1, 3);
    tl_value v[] = {{.type = TL_STRUCT, .n = 2},
                    {.type = TL_I64, .as.i = 1},
                    {.type = TL_BOOL},
                    {.type = TL_STRING, .n = 2, .as.p = "a\r"},
                    {.type = TL_NULL}};
    fixture_event(&f, STRUCTURED, 0, -1, 2, 0, v, 5);
    fixture_finish(&f);
    assert_string_equal(
        (char *)f.bytes,
        "     0.000000001  thread 7  cpu 0  -> \\x1b[2J\\x0a\\x7f\\xff\\xc2\\x9b\xc3\xa9\n"
        "     0.000000002  thread 7    * structured point={\"x\":1,\"ok\":false} text=\"a\\x0d\" none=null\n");
    fixture_fini(&f);
}

/* Indentation ends somewhere, and comes back in step. */
static void test_depth(void **state)
{
    (void)state;
    enum { DEPTH = 3000 };
    fixture f;
    fixture_init(&f);
    assert_int_equal(fixture_create(&f, &tl_format_text), 0);
    for (unsigned i = 0; i < DEPTH; i++)
        fixture_call(&f, ENTER, 0, i, 1);
    for (unsigned i = 0; i < DEPTH; i++)
        fixture_call(&f, EXIT, 0, DEPTH + i, 1);
    fixture_finish(&f);
    size_t longest = 0;
    char *last = NULL;
    for (char *line = strtok((char *)f.bytes, "\n"); line; line = strtok(NULL, "\n")) {
        longest = strlen(line) > longest ? strlen(line) : longest;
        last = line;
    }
    assert_int_equal(longest, strlen("     0.000000001  thread 7  cpu 0  -> main") + 2 * 40);
    assert_string_equal(last, "     0.000005999  thread 7  cpu 0  <- main");
    fixture_fini(&f);
}

static void test_wide_track_names(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    tl_track track = {.name = "a stream with a name that is far too long for a column"};
    uint32_t index;
    assert_int_equal(tl_trace_add_track(&f.trace, &track, &index, NULL), 0);
    track.name = "thread 1000";
    assert_int_equal(tl_trace_add_track(&f.trace, &track, &index, NULL), 0);
    assert_int_equal(fixture_create(&f, &tl_format_text), 0);
    fixture_event(&f, ENTER, 0, -1, 1, 1, NULL, 0);
    fixture_event(&f, ENTER, 2, -1, 2, 1, NULL, 0);
    fixture_finish(&f);
    assert_string_equal((char *)f.bytes,
                        "     0.000000001  thread 7     -> main\n"
                        "     0.000000002  a stream with a name that is far too long for a column  -> main\n");
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),           cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_hostile_text),     cmocka_unit_test(test_depth),
        cmocka_unit_test(test_wide_track_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

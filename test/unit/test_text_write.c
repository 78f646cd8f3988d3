/* Text: columns, indentation, and hostile names. */
#include "rich_fixture.h"

#include <math.h>

extern const tl_format tl_format_text;

static void test_layout(void **state)
{
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
    fixture_expect(&f, "     0.000000000  thread 7  cpu 3  -> main\n"
                       "     2.000000234  thread 7  cpu 3    -> fib(3, -1)\n"
                       "     2.000000235  thread 7  cpu 3      * xray.custom data=6869\n"
                       "     2.000000236  thread 7  cpu 3    <- fib (xray.tail_exit)\n"
                       "     2.000000237  thread 7  cpu 3  <- main\n"
                       "     2.000000238  thread 7  <- #77\n"
                       "     2.000000239  thread 8  * insn pc=0x4000 opcode=0x1f\n"
                       "    -0.000000001  thread 7  <- main\n");
}

static void test_ticks(void **state)
{
    fixture f;
    fixture_init(&f);
    tl_trace_set_clock(&f.trace, "tsc", 0);
    assert_int_equal(fixture_create(&f, &tl_format_text), 0);
    fixture_call(&f, ENTER, 0, 12345, 1);
    fixture_call(&f, ENTER, 0, UINT64_MAX, 2);
    fixture_expect(&f, "           12345  thread 7  cpu 0  -> main\n"
                       "18446744073709551615  thread 7  cpu 0    -> fib\n");
}

static void test_hostile_text(void **state)
{
    fixture f;
    fixture_init(&f);
    tl_function function = {.id = 3, .name = "\x1b[2J\n\x7f\xff\xc2\x9b\xe2\x80\xae\xc3\xa9"};
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
        "     0.000000001  thread 7  cpu 0  -> \\x1b[2J\\x0a\\x7f\\xff\\xc2\\x9b\\xe2\\x80\\xae\xc3\xa9\n"
        "     0.000000002  thread 7    * structured point={x=1 ok=false} text=\"a\\x0d\" none=null\n");
    fixture_fini(&f);
}

/* Indentation has a limit, and comes back in step. */
static void test_depth(void **state)
{
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
    fixture_expect(&f, "     0.000000001  thread 7     -> main\n"
                       "     0.000000002  a stream with a name that is far too long for a column  -> main\n");
}

static void test_rich_fields(void **state)
{
    fixture f;
    rich_init(&f);
    assert_int_equal(fixture_create(&f, &tl_format_text), 0);
    rich_open_event(&f, 1);
    rich_other_event(&f, 2);
    rich_packed_event(&f, 3);
    rich_entry_event(&f, 4, 1);
    rich_entry_event(&f, 5, 77);
    fixture_event(&f, RICH_EMPTY, 0, -1, 6, 0, NULL, 0);
    fixture_expect(&f, "     0.000000001  thread 7  cpu 1  * open {stream.pid=-1 event.pid=7 ip=0xbeef} mode=READ|B "
                       "\"?(2) level=neg|all(0775) bits=A|B(5) either=5 list=[0x1, 0xab] real=0.1\n"
                       "     0.000000002  thread 8  * open mode=100 level=0600 bits=C(9223372036854775808) "
                       "maybe=\"?\\x1b\" either={x=0xff y=true} list=[] real=3.0\n"
                       "     0.000000003  thread 7  cpu 2  * packed {pid=9} text=\"x\"\n"
                       "     0.000000004  thread 7  -> main addr=0x1\n"
                       "     0.000000005  thread 7    -> #77 addr=0x4d\n"
                       "     0.000000006  thread 7      * empty\n");
}

/* The second kept from line to line: forwards, backwards, before the begin, with a wider column. */
static void test_seconds(void **state)
{
    static const uint64_t time[] = {5000000000, 5999999999,          6000000000, 5000000001,
                                    3999999999, 1000000004000000000, 4000000000};
    fixture f;
    fixture_init(&f);
    f.options.begin = 4000000000;
    assert_int_equal(fixture_create(&f, &tl_format_text), 0);
    for (size_t i = 0; i < TL_COUNT(time); i++)
        fixture_event(&f, LOSS, 0, -1, time[i], 0, NULL, 0);
    fixture_expect(&f, "     1.000000000  thread 7  * lost\n"
                       "     1.999999999  thread 7  * lost\n"
                       "     2.000000000  thread 7  * lost\n"
                       "     1.000000001  thread 7  * lost\n"
                       "    -0.000000001  thread 7  * lost\n"
                       "1000000000.000000000  thread 7  * lost\n"
                       "     0.000000000  thread 7  * lost\n");
}

static void test_values(void **state)
{
    static const struct {
        tl_value v;
        const char *text;
    } c[] = {
        {{.type = TL_F64, .as.f = NAN}, "NaN"},
        {{.type = TL_F64, .as.f = -INFINITY}, "-Infinity"},
        {{.type = TL_F64, .as.f = 1}, "1.0"},
        {{.type = TL_BOOL, .as.u = 1}, "true"},
        {{.type = TL_BYTES, .n = 2, .as.p = "\x01\xfe"}, "01fe"},
        {{.type = TL_BYTES}, ""},
        {{.type = TL_VARIANT, .n = 1}, "null"},
        {{.type = TL_STRUCT}, "{}"},
        {{.type = TL_LIST, .n = 9}, "[]"},
        {{.type = TL_STRUCT, .n = 9}, "[]"},
        {{.type = TL_STRING, .n = 18, .as.p = "12345678\xc3\xa9\xe2\x82\xac\x80\xc2\x85\xe2\x82"},
         "\"12345678\xc3\xa9\xe2\x82\xac\\x80\\xc2\\x85\\xe2\\x82\""},
    };
    for (size_t i = 0; i < TL_COUNT(c); i++) {
        static const tl_field field = {.name = "f", .type = TL_NULL};
        char expected[160];
        fixture f;
        fixture_init(&f);
        f.trace.cls[LOSS].field = &field;
        f.trace.cls[LOSS].nfield = 1;
        assert_int_equal(fixture_create(&f, &tl_format_text), 0);
        fixture_event(&f, LOSS, 0, -1, 0, 0, &c[i].v, 1);
        fixture_finish(&f);
        snprintf(expected, sizeof expected, "     0.000000000  thread 7  * lost f=%s\n", c[i].text);
        assert_string_equal((char *)f.bytes, expected);
        fixture_fini(&f);
    }
}

static void test_too_deep(void **state)
{
    enum { DEPTH = 100 };
    for (tl_type type = TL_LIST; type <= TL_VARIANT; type++) {
        fixture f;
        tl_value v[DEPTH + 2];
        fixture_init(&f);
        assert_int_equal(fixture_create(&f, &tl_format_text), 0);
        uint32_t n = rich_deep(v, DEPTH, type);
        v[n++] = (tl_value){.type = TL_U64, .as.u = 7};
        fixture_event(&f, TYPED, 0, -1, 1, 0, v, n);
        fixture_finish(&f);
        /* variants need no brackets: all of them are followed */
        assert_contains(f.bytes, type == TL_VARIANT ? "type=42 data=7\n" : "[...]");
        assert_contains(f.bytes, " data=7\n");
        fixture_fini(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),           cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_hostile_text),     cmocka_unit_test(test_depth),
        cmocka_unit_test(test_wide_track_names), cmocka_unit_test(test_rich_fields),
        cmocka_unit_test(test_seconds),          cmocka_unit_test(test_values),
        cmocka_unit_test(test_too_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* JSON lines: the exact text of every kind of event. */
#include "rich_fixture.h"

#include <math.h>

extern const tl_format tl_format_jsonl;

static void start(fixture *f)
{
    assert_int_equal(fixture_create(f, &tl_format_jsonl), 0);
}

static void test_calls(void **state)
{
    fixture f;
    fixture_init(&f);
    f.options.begin = 1000;
    start(&f);
    tl_value args[] = {{.type = TL_LIST, .n = 2}, {.type = TL_U64, .as.u = 3}, {.type = TL_U64, .as.u = UINT64_MAX}};
    tl_value none = {.type = TL_LIST};
    fixture_event(&f, ENTER, 0, 3, 1000, 1, NULL, 0);
    fixture_event(&f, ENTER_ARGS, 0, 3, 1001, 2, args, 3);
    fixture_event(&f, ENTER_ARGS, 1, 0, 1002, 9, &none, 1);
    fixture_event(&f, TAIL_EXIT, 0, -1, 1003, 2, NULL, 0);
    fixture_event(&f, EXIT, 0, 70000, 1000000999, 1, NULL, 0);
    fixture_finish(&f);
    assert_string_equal(
        (char *)f.bytes,
        "{\"ts\":0,\"class\":\"xray.enter\",\"track\":\"thread "
        "7\",\"cpu\":3,\"fields\":{\"function\":\"main\",\"id\":1}}\n"
        "{\"ts\":1,\"class\":\"xray.enter_args\",\"track\":\"thread "
        "7\",\"cpu\":3,\"fields\":{\"function\":\"fib\",\"id\":2,"
        "\"args\":[3,18446744073709551615]}}\n"
        "{\"ts\":2,\"class\":\"xray.enter_args\",\"track\":\"thread "
        "8\",\"cpu\":0,\"fields\":{\"function\":null,\"id\":9,"
        "\"args\":[]}}\n"
        "{\"ts\":3,\"class\":\"xray.tail_exit\",\"track\":\"thread 7\",\"fields\":{\"function\":\"fib\",\"id\":2}}\n"
        "{\"ts\":999999999,\"class\":\"xray.exit\",\"track\":\"thread "
        "7\",\"cpu\":70000,\"fields\":{\"function\":\"main\","
        "\"id\":1}}\n");
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

static void test_events(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    fixture_custom(&f, 0, 1, 5, "\x00\xff", 2);
    fixture_custom(&f, 0, 1, 5, NULL, 0);
    fixture_typed_event(&f, 0, -1, 6, 7, "hi", 2);
    tl_value opcode = {.type = TL_HEX, .as.u = 0xd65f03c0};
    fixture_event(&f, INSN, 0, -1, 7, 0x401000, &opcode, 1);
    fixture_event(&f, LOSS, 0, -1, 8, 0, NULL, 0);
    fixture_finish(&f);
    assert_string_equal(
        (char *)f.bytes,
        "{\"ts\":5,\"class\":\"xray.custom\",\"track\":\"thread 7\",\"cpu\":1,\"fields\":{\"data\":\"00ff\"}}\n"
        "{\"ts\":5,\"class\":\"xray.custom\",\"track\":\"thread 7\",\"cpu\":1,\"fields\":{\"data\":\"\"}}\n"
        "{\"ts\":6,\"class\":\"xray.typed\",\"track\":\"thread 7\",\"fields\":{\"type\":7,\"data\":\"6869\"}}\n"
        "{\"ts\":7,\"class\":\"insn\",\"track\":\"thread 7\",\"fields\":{\"pc\":\"0x401000\",\"opcode\":"
        "\"0xd65f03c0\"}}\n"
        "{\"ts\":8,\"class\":\"lost\",\"track\":\"thread 7\",\"fields\":{}}\n");
    fixture_fini(&f);
}

static void test_nested_values(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    tl_value v[] = {{.type = TL_STRUCT, .n = 2},
                    {.type = TL_I64, .as.i = INT64_MIN},
                    {.type = TL_BOOL, .as.u = 1},
                    {.type = TL_STRING, .n = 6, .as.p = "a\"\n\xc3\xa9\xff"},
                    {.type = TL_NULL}};
    fixture_event(&f, STRUCTURED, 0, -1, 1, 0, v, 5);
    const double number[] = {NAN, INFINITY, -INFINITY, 0.1, 1.0, 1e300};
    for (size_t i = 0; i < 6; i++) {
        tl_value counter[] = {{.type = TL_U64, .as.u = 1}, {.type = TL_STRING}, {.type = TL_F64, .as.f = number[i]}};
        fixture_event(&f, COUNTER, 0, -1, 2, 0, counter, 3);
    }
    fixture_finish(&f);
    const char *text = (char *)f.bytes;
    assert_contains(text, "\"fields\":{\"point\":{\"x\":-9223372036854775808,\"ok\":true},\"text\":\"a\\\"\\n\xc3\xa9"
                          "\\u00ff\",\"none\":null}}\n");
    static const char *const expected[] = {"\"NaN\"", "\"Infinity\"", "\"-Infinity\"", "0.1", "1.0", "1e+300"};
    for (size_t i = 0; i < 6; i++) {
        char member[64];
        snprintf(member, sizeof member, "{\"heap\":1,\"what\":\"\",\"load\":%s}}\n", expected[i]);
        assert_contains(text, member);
    }
    assert_int_equal(fixture_dropped(&f, "bytes that are not UTF-8"), 1);
    fixture_fini(&f);
}

/* A list in a list in a list, deeper than the writer follows: later values must still be read at their places. */
static void test_too_deep(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    enum { DEPTH = 100 };
    tl_value v[DEPTH + 1];
    for (unsigned i = 0; i < DEPTH; i++)
        v[i] = (tl_value){.type = TL_LIST, .n = 1};
    v[DEPTH] = (tl_value){.type = TL_U64, .as.u = 42};
    fixture_event(&f, ENTER_ARGS, 0, -1, 1, 1, v, DEPTH + 1);
    fixture_call(&f, EXIT, 0, 2, 1);
    fixture_finish(&f);
    assert_contains(f.bytes, "[[null]]");
    assert_lacks(f.bytes, "42");
    assert_contains(f.bytes, "{\"ts\":2,\"class\":\"xray.exit\"");
    fixture_fini(&f);
}

static void test_long_name_and_payload(void **state)
{
    fixture f;
    fixture_init(&f);
    enum { NAME = 100000, DATA = 50000 };
    char *name = malloc(NAME + 1);
    uint8_t *data = malloc(DATA);
    assert_true(name && data);
    memset(name, 'x', NAME);
    name[NAME] = 0;
    memset(data, 0xab, DATA);
    tl_function function = {.id = 3, .name = name};
    assert_int_equal(tl_trace_add_function(&f.trace, &function, NULL), 0);
    start(&f);
    fixture_call(&f, ENTER, 0, 1, 3);
    fixture_custom(&f, 0, 0, 2, data, DATA);
    fixture_call(&f, EXIT, 0, 3, 3);
    fixture_finish(&f);
    const char *text = (char *)f.bytes, *first = strchr(text, '\n'), *second = strchr(first + 1, '\n');
    assert_int_equal(first - text,
                     strlen("{\"ts\":1,\"class\":\"xray.enter\",\"track\":\"thread 7\",\"cpu\":0,\"fields\":"
                            "{\"function\":\"\",\"id\":3}}") +
                         NAME);
    assert_int_equal(second - first - 1, strlen("{\"ts\":2,\"class\":\"xray.custom\",\"track\":\"thread 7\",\"cpu\":0,"
                                                "\"fields\":{\"data\":\"\"}}") +
                                             2 * DATA);
    assert_string_equal(text + f.size - 12, "x\",\"id\":3}}\n");
    free(name);
    free(data);
    fixture_fini(&f);
}

static void test_times(void **state)
{
    fixture f;
    fixture_init(&f);
    tl_trace_set_clock(&f.trace, "tsc", 3);
    f.options.begin = 10;
    start(&f);
    fixture_call(&f, ENTER, 0, 11, 1);
    fixture_call(&f, ENTER, 0, 8, 1); /* before the begin: negative, not huge */
    fixture_finish(&f);
    assert_contains(f.bytes, "{\"ts\":333333333,");
    assert_contains(f.bytes, "{\"ts\":-666666667,");
    fixture_fini(&f);

    fixture_init(&f); /* no frequency: ticks */
    tl_trace_set_clock(&f.trace, "tsc", 0);
    start(&f);
    fixture_call(&f, ENTER, 0, UINT64_MAX, 1);
    fixture_finish(&f);
    assert_contains(f.bytes, "{\"ts\":18446744073709551615,");
    fixture_fini(&f);
}

static void test_accept(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    for (uint32_t i = 0; i < CLASSES; i++)
        assert_int_equal(f.format->event_writer->accept(f.writer, &f.trace.cls[i]),
                         i == FRAMING ? TL_ACCEPT_IGNORE : TL_ACCEPT_KEEP);
    assert_true(f.format->event_writer->ordered);
    fixture_finish(&f);
    assert_int_equal(f.size, 0);
    fixture_fini(&f);
}

/* Contexts, enumerations, flags, variants and absent values. */
static void test_rich_fields(void **state)
{
    fixture f;
    rich_init(&f);
    start(&f);
    rich_open_event(&f, 1);
    rich_other_event(&f, 2);
    rich_packed_event(&f, 3);
    fixture_event(&f, RICH_EMPTY, 0, -1, 4, 0, NULL, 0);
    fixture_expect(&f, "{\"ts\":1,\"class\":\"open\",\"track\":\"thread 7\",\"cpu\":1,\"fields\":{"
                       "\"mode\":{\"value\":2,\"labels\":[\"READ\",\"B "
                       "\\\"?\"]},\"level\":{\"value\":-3,\"labels\":[\"neg\",\"all\"]},"
                       "\"bits\":{\"value\":5,\"labels\":[\"A\",\"B\"]},\"either\":5,\"list\":[1,171],\"real\":0.1},"
                       "\"context\":{\"stream.pid\":-1,\"event.pid\":7,\"ip\":48879}}\n"
                       "{\"ts\":2,\"class\":\"open\",\"track\":\"thread 8\",\"fields\":{"
                       "\"mode\":{\"value\":100,\"labels\":[]},\"level\":{\"value\":-128,\"labels\":[]},"
                       "\"bits\":{\"value\":9223372036854775808,\"labels\":[\"C\"]},\"maybe\":\"?\\u001b\",\"either\":"
                       "{\"x\":-1,\"y\":true},"
                       "\"list\":[],\"real\":3.0}}\n"
                       "{\"ts\":3,\"class\":\"packed\",\"track\":\"thread "
                       "7\",\"cpu\":2,\"fields\":{\"text\":\"x\"},\"context\":{\"pid\":9}}\n"
                       "{\"ts\":4,\"class\":\"empty\",\"track\":\"thread 7\",\"fields\":{}}\n");
}

/* If a field has the key, only the name of the function is added, and only if the class has no field for it. */
static void test_key_is_field(void **state)
{
    static const tl_field named[] = {{.name = "function", .type = TL_STRING}};
    const tl_value name = {.type = TL_STRING, .n = 1, .as.p = "f"};
    fixture f;
    rich_init(&f);
    start(&f);
    rich_entry_event(&f, 1, 1);
    rich_entry_event(&f, 2, 77);
    fixture_event(&f, RICH_CALL, 0, -1, 3, 2, NULL, 0);
    fixture_flush(&f);
    f.trace.cls[RICH_BARE] = f.trace.cls[RICH_ENTRY];
    f.trace.cls[RICH_BARE].id = RICH_BARE;
    f.trace.cls[RICH_BARE].field = named;
    fixture_event(&f, RICH_BARE, 0, -1, 4, 1, &name, 1);
    fixture_finish(&f);
    assert_string_equal(
        (char *)f.bytes,
        "{\"ts\":1,\"class\":\"func_entry\",\"track\":\"thread 7\",\"fields\":{\"function\":\"main\",\"addr\":1}}\n"
        "{\"ts\":2,\"class\":\"func_entry\",\"track\":\"thread 7\",\"fields\":{\"addr\":77}}\n"
        "{\"ts\":3,\"class\":\"call\",\"track\":\"thread 7\",\"fields\":{\"function\":\"fib\",\"id\":2}}\n"
        "{\"ts\":4,\"class\":\"func_entry\",\"track\":\"thread 7\",\"fields\":{\"function\":\"f\"}}\n");
    fixture_fini(&f);
}

/* Many lines, and a line longer than the output's room. */
static void test_long_lists(void **state)
{
    enum { N = 40000, LINES = 3 };
    fixture f;
    tl_value *v = calloc(N + 1, sizeof *v);
    assert_non_null(v);
    v[0] = (tl_value){.type = TL_LIST, .n = N};
    for (uint32_t i = 1; i <= N; i++)
        v[i] = (tl_value){.type = i % 3 ? TL_U64 : TL_I64, .as.u = i};
    fixture_init(&f);
    start(&f);
    for (unsigned i = 0; i < LINES; i++)
        fixture_event(&f, ENTER_ARGS, 0, -1, 1, 1, v, N + 1);
    fixture_finish(&f);
    const char *p = (char *)f.bytes;
    for (unsigned line = 0; line < LINES; line++) {
        p = strchr(p, '[');
        assert_non_null(p);
        for (unsigned long i = 1; i <= N; i++) {
            char *end;
            assert_int_equal(strtoul(p + 1, &end, 10), i);
            p = end;
        }
        assert_memory_equal(p, "]}}\n", 4);
    }
    free(v);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_nested_values),
        cmocka_unit_test(test_too_deep),
        cmocka_unit_test(test_long_name_and_payload),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_accept),
        cmocka_unit_test(test_rich_fields),
        cmocka_unit_test(test_key_is_field),
        cmocka_unit_test(test_long_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

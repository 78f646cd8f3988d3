/* Comma-separated values: columns, quoting, and fields as JSON in one cell. */
#include "rich_fixture.h"

extern const tl_format tl_format_csv;

#define HEADER "ts,class,track,cpu,function,id,fields\n"

static void test_columns(void **state)
{
    fixture f;
    fixture_init(&f);
    f.options.begin = 100;
    assert_int_equal(fixture_create(&f, &tl_format_csv), 0);
    tl_value args[] = {{.type = TL_LIST, .n = 1}, {.type = TL_U64, .as.u = 3}};
    fixture_event(&f, ENTER, 0, 2, 100, 1, NULL, 0);
    fixture_event(&f, ENTER_ARGS, 0, 2, 101, 2, args, 2);
    fixture_event(&f, EXIT, 1, -1, 102, 99, NULL, 0);
    fixture_typed_event(&f, 0, 0, 103, 7, "hi", 2);
    tl_value opcode = {.type = TL_HEX, .as.u = 0x1f};
    fixture_event(&f, INSN, 0, -1, 104, 0x4000, &opcode, 1);
    fixture_event(&f, LOSS, 0, -1, 105, 0, NULL, 0);
    fixture_expect(&f, HEADER "0,xray.enter,thread 7,2,main,1,\n"
                              "1,xray.enter_args,thread 7,2,fib,2,\"{\"\"args\"\":[3]}\"\n"
                              "2,xray.exit,thread 8,,,99,\n"
                              "3,xray.typed,thread 7,0,,,\"{\"\"type\"\":7,\"\"data\"\":\"\"6869\"\"}\"\n"
                              "4,insn,thread 7,,,,\"{\"\"pc\"\":\"\"0x4000\"\",\"\"opcode\"\":\"\"0x1f\"\"}\"\n"
                              "5,lost,thread 7,,,,\n");
}

static void test_quoting(void **state)
{
    static const char *const name[] = {"a,b", "say \"hi\"", "two\nlines", " space", "\"", "f(int)"};
    static const char *const cell[] = {"\"a,b\"",    "\"say \"\"hi\"\"\"", "\"two\nlines\"",
                                       "\" space\"", "\"\"\"\"",           "f(int)"};
    for (size_t i = 0; i < 6; i++) {
        fixture f;
        fixture_init(&f);
        tl_function function = {.id = 3, .name = name[i]};
        assert_int_equal(tl_trace_add_function(&f.trace, &function, NULL), 0);
        assert_int_equal(fixture_create(&f, &tl_format_csv), 0);
        fixture_call(&f, ENTER, 0, 1, 3);
        fixture_finish(&f);
        char expected[128];
        snprintf(expected, sizeof expected, HEADER "1,xray.enter,thread 7,0,%s,3,\n", cell[i]);
        assert_string_equal((char *)f.bytes, expected);
        fixture_fini(&f);
    }
}

static void test_large_payload(void **state)
{
    enum { DATA = 200000 };
    uint8_t *data = calloc(1, DATA);
    assert_non_null(data);
    fixture f;
    fixture_init(&f);
    assert_int_equal(fixture_create(&f, &tl_format_csv), 0);
    fixture_custom(&f, 0, 0, 1, data, DATA);
    fixture_finish(&f);
    assert_int_equal(f.size, strlen(HEADER "1,xray.custom,thread 7,0,,,\"{\"\"data\"\":\"\"\"\"}\"\n") + 2 * DATA);
    free(data);
    fixture_fini(&f);
}

static void test_bad_text_is_counted(void **state)
{
    fixture f;
    fixture_init(&f);
    assert_int_equal(fixture_create(&f, &tl_format_csv), 0);
    tl_value v[] = {{.type = TL_STRUCT, .n = 0}, {.type = TL_STRING, .n = 2, .as.p = "\xff\xfe"}, {.type = TL_NULL}};
    fixture_event(&f, STRUCTURED, 0, -1, 1, 0, v, 3);
    assert_int_equal(f.format->event_writer->accept(f.writer, &f.trace.cls[FRAMING]), TL_ACCEPT_IGNORE);
    fixture_finish(&f);
    assert_contains(f.bytes, "\"\"text\"\":\"\"\\u00ff\\u00fe\"\"");
    assert_int_equal(fixture_dropped(&f, "bytes that are not UTF-8"), 2);
    fixture_fini(&f);
}

static void test_rich_fields(void **state)
{
    fixture f;
    rich_init(&f);
    assert_int_equal(fixture_create(&f, &tl_format_csv), 0);
    rich_open_event(&f, 1);
    rich_packed_event(&f, 2);
    rich_entry_event(&f, 3, 1);
    fixture_finish(&f);
    assert_string_equal(
        (char *)f.bytes, HEADER
        "1,open,thread 7,1,,,\"{\"\"mode\"\":{\"\"value\"\":2,\"\"labels\"\":[\"\"READ\"\",\"\"B \\\"\"?\"\"]},"
        "\"\"level\"\":{\"\"value\"\":-3,\"\"labels\"\":[\"\"neg\"\",\"\"all\"\"]},"
        "\"\"bits\"\":{\"\"value\"\":5,\"\"labels\"\":[\"\"A\"\",\"\"B\"\"]},\"\"either\"\":5,\"\"list\"\":[1,171],"
        "\"\"real\"\":0.1,\"\"context\"\":{\"\"stream.pid\"\":-1,\"\"event.pid\"\":7,\"\"ip\"\":48879}}\"\n"
        "2,packed,thread 7,2,,,\"{\"\"text\"\":\"\"x\"\",\"\"context\"\":{\"\"pid\"\":9}}\"\n"
        "3,func_entry,thread 7,,main,1,\"{\"\"addr\"\":1}\"\n");
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),       cmocka_unit_test(test_quoting),
        cmocka_unit_test(test_large_payload), cmocka_unit_test(test_bad_text_is_counted),
        cmocka_unit_test(test_rich_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

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

/* The columns of one class: context, a key, names that are columns already, long text, and events of other classes. */
static void test_columns_of_a_class(void **state)
{
    fixture f;
    fixture_init(&f);
    f.options.columns = &f.trace.cls[INSN];
    assert_int_equal(fixture_create(&f, &tl_format_csv), 0);
    assert_int_equal(f.format->event_writer->accept(f.writer, &f.trace.cls[ENTER]), TL_ACCEPT_DROP);
    assert_int_equal(f.format->event_writer->accept(f.writer, &f.trace.cls[FRAMING]), TL_ACCEPT_IGNORE);
    assert_int_equal(f.format->event_writer->accept(f.writer, &f.trace.cls[INSN]), TL_ACCEPT_KEEP);
    tl_value opcode = {.type = TL_HEX, .as.u = 0x1f};
    fixture_event(&f, INSN, 0, -1, 104, 0x4000, &opcode, 1);
    fixture_expect(&f, "ts,class,track,cpu,function,id,pc,opcode\n104,insn,thread 7,,,,0x4000,0x1f\n");

    fixture_init(&f);
    f.options.columns = &f.trace.cls[STRUCTURED];
    assert_int_equal(fixture_create(&f, &tl_format_csv), 0);
    tl_value v[] = {{.type = TL_STRUCT, .n = 2},
                    {.type = TL_I64, .as.i = -1},
                    {.type = TL_BOOL, .as.u = 1},
                    {.type = TL_STRING, .n = 4, .as.p = "a\",b"},
                    {.type = TL_NULL}};
    fixture_event(&f, STRUCTURED, 0, -1, 1, 0, v, 5);
    tl_value short_one[] = {{.type = TL_STRUCT, .n = 1},
                            {.type = TL_I64, .as.i = 5},
                            {.type = TL_STRING, .n = 2, .as.p = "\xff\xfe"},
                            {.type = TL_NULL}};
    fixture_event(&f, STRUCTURED, 0, -1, 2, 0, short_one, 4);
    tl_value absent[] = {{.type = TL_ABSENT}, {.type = TL_STRING, .n = 0, .as.p = ""}, {.type = TL_U64, .as.u = 9}};
    fixture_event(&f, STRUCTURED, 0, -1, 3, 0, absent, 3);
    fixture_expect(&f, "ts,class,track,cpu,function,id,point.x,point.ok,text,none\n"
                       "1,structured,thread 7,,,,-1,true,\"a\"\",b\",\n"
                       "2,structured,thread 7,,,,5,,\\u00ff\\u00fe,\n"
                       "3,structured,thread 7,,,,,,,9\n");
}

/* Structs that share their members: 2^12 columns would be too many, and 2^60 would take for ever. */
static void test_structs_that_multiply(void **state)
{
    enum { LEVELS = 60, FLAT = 10 };
    static tl_field member[LEVELS][2];
    static const tl_field leaf[] = {{.name = "a", .type = TL_U64}, {.name = "b", .type = TL_U64}};
    for (int i = 0; i < LEVELS; i++)
        for (int k = 0; k < 2; k++)
            member[i][k] =
                (tl_field){.name = k ? "b" : "a", .type = TL_STRUCT, .member = i ? member[i - 1] : leaf, .nmember = 2};
    static const struct {
        int level;
        size_t commas;
    } c[] = {{FLAT - 3, 5 + 512}, {FLAT - 2, 5 + 1024}, {FLAT - 1, 5 + 2}, {LEVELS - 1, 5 + 2}};
    for (size_t i = 0; i < TL_COUNT(c); i++) {
        const tl_class cls = {.kind = TL_INSTANT, .name = "many", .field = member[c[i].level], .nfield = 2};
        fixture f;
        fixture_trace(&f, "x", "c", 1000000000, &cls, 1);
        f.options.columns = &f.trace.cls[0];
        assert_int_equal(fixture_create(&f, &tl_format_csv), 0);
        fixture_finish(&f);
        size_t commas = 0;
        for (size_t k = 0; k < f.size; k++)
            commas += f.bytes[k] == ',';
        assert_int_equal(commas, c[i].commas);
        fixture_fini(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_quoting),
        cmocka_unit_test(test_large_payload),
        cmocka_unit_test(test_bad_text_is_counted),
        cmocka_unit_test(test_rich_fields),
        cmocka_unit_test(test_columns_of_a_class),
        cmocka_unit_test(test_structs_that_multiply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Chrome trace events: exact text, nesting, and corrections. */
#include "rich_fixture.h"

extern const tl_format tl_format_chrome;

#define BEGIN "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
#define NAMES                                                                                                          \
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":5,\"tid\":7,\"ts\":0,\"args\":{\"name\":\"app.xray\"}},\n"        \
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":5,\"tid\":7,\"ts\":0,\"args\":{\"name\":\"thread 7\"}},\n"
#define END "\n],\"metadata\":{\"time-unit\":\"ns\"}}\n"

/* A call's event of thread 7 as expected in the file. */
#define CALL(ph, name, ts) "{\"ph\":\"" ph "\",\"name\":\"" name "\",\"pid\":5,\"tid\":7,\"ts\":" ts "}"

static void start(fixture *f)
{
    assert_int_equal(fixture_create(f, &tl_format_chrome), 0);
}

static void test_exact_text(void **state)
{
    fixture f;
    fixture_init(&f);
    f.options.begin = 1000;
    start(&f);
    tl_value args[] = {{.type = TL_LIST, .n = 2}, {.type = TL_U64, .as.u = 3}, {.type = TL_U64, .as.u = 4}};
    fixture_event(&f, ENTER_ARGS, 0, 0, 1001, 2, args, 3);
    fixture_custom(&f, 0, 0, 1002, "hi", 2);
    tl_value counter[] = {
        {.type = TL_U64, .as.u = 9}, {.type = TL_STRING, .n = 1, .as.p = "x"}, {.type = TL_F64, .as.f = 0.5}};
    fixture_event(&f, COUNTER, 0, 0, 1003, 0, counter, 3);
    fixture_call(&f, EXIT, 0, 3501, 2);
    fixture_finish(&f);
    assert_string_equal((char *)f.bytes, BEGIN NAMES
                        "{\"ph\":\"B\",\"name\":\"fib\",\"pid\":5,\"tid\":7,\"ts\":0.001,\"args\":{\"args\":[3,4]}},\n"
                        "{\"ph\":\"i\",\"name\":\"xray.custom\",\"pid\":5,\"tid\":7,\"ts\":0.002,\"s\":\"t\","
                        "\"args\":{\"data\":\"6869\"}},\n"
                        "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":5,\"tid\":7,\"ts\":0.003,\"args\":{\"heap\":9,"
                        "\"load\":0.5}},\n" CALL("E", "fib", "2.501") END);
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

/* Counters have a curve for each number of the payload, but none for other fields and for the context. */
static void test_series_of_counters(void **state)
{
    static const tl_mapping label = {.label = "low", .low = 0, .high = 9};
    static const tl_field field[] = {{.name = "vtid", .type = TL_U64, .context = TL_SCOPE_PAYLOAD - TL_SCOPE_STREAM},
                                     {.name = "count", .type = TL_U64, .mapping = &label, .nmapping = 1},
                                     {.name = "address", .type = TL_HEX},
                                     {.name = "balance", .type = TL_I64},
                                     {.name = "text", .type = TL_STRING},
                                     {.name = "load", .type = TL_F64},
                                     {.name = "none", .type = TL_U64},
                                     {.name = "on", .type = TL_BOOL},
                                     {.name = "list", .type = TL_LIST},
                                     {.name = "last", .type = TL_BOOL}};
    static const tl_class cls = {
        .kind = TL_COUNTER, .name = "gauge", .field = field, .nfield = TL_COUNT(field), .ncontext = 1};
    const tl_value v[] = {{.type = TL_U64, .as.u = 16073},
                          {.type = TL_U64, .as.u = 7},
                          {.type = TL_HEX, .as.u = 0x10},
                          {.type = TL_I64, .as.i = -5},
                          {.type = TL_STRING, .n = 1, .as.p = "x"},
                          {.type = TL_F64, .as.f = 0.5},
                          {.type = TL_NULL},
                          {.type = TL_BOOL, .as.u = 1},
                          {.type = TL_LIST, .n = 1},
                          {.type = TL_U64, .as.u = 8},
                          {.type = TL_BOOL, .as.u = 0}};
    fixture f;
    fixture_init(&f);
    assert_int_equal(tl_trace_set_classes(&f.trace, &cls, 1, NULL), 0);
    start(&f);
    fixture_event(&f, 0, 0, 0, 1000, 0, v, TL_COUNT(v));
    fixture_expect(&f, BEGIN NAMES
                   "{\"ph\":\"C\",\"name\":\"gauge\",\"pid\":5,\"tid\":7,\"ts\":1.000,\"args\":{\"count\":7,"
                   "\"balance\":-5,\"load\":0.5,\"on\":1,\"last\":0}}" END);
}

static void test_empty(void **state)
{
    fixture f;
    fixture_init(&f);
    f.trace.clock.has_utc = true;
    f.trace.clock.utc_offset_ns = 1700000000000000000;
    f.options.begin = 5;
    start(&f);
    fixture_expect(&f, BEGIN "],\"metadata\":{\"time-unit\":\"ns\",\"begin-utc-ns\":1700000000000000005}}\n");
}

static void test_outer_exit_closes_inner_calls(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    fixture_call(&f, ENTER, 0, 1000, 1);
    fixture_call(&f, ENTER, 0, 2000, 2);
    fixture_call(&f, ENTER, 0, 3000, 2);
    fixture_call(&f, EXIT, 0, 4000, 1);
    fixture_finish(&f);
    assert_string_equal(
        (char *)f.bytes,
        BEGIN NAMES CALL("B", "main", "1.000") ",\n" CALL("B", "fib", "2.000") ",\n" CALL(
            "B", "fib", "3.000") ",\n" CALL("E", "fib", "4.000") ",\n" CALL("E", "fib", "4.000") ",\n" CALL("E", "main",
                                                                                                            "4.000")
            END);
    assert_int_equal(fixture_dropped(&f, "calls without an exit"), 2);
    fixture_fini(&f);
}

static void test_stray_exits_and_open_calls(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    fixture_call(&f, EXIT, 1, 1, 1); /* nothing of thread 8 is left, not even its name */
    fixture_call(&f, ENTER, 0, 1000, 1);
    fixture_call(&f, TAIL_EXIT, 0, 1500, 2);
    fixture_call(&f, ENTER, 0, 2000, 2);
    fixture_finish(&f);
    assert_string_equal((char *)f.bytes,
                        BEGIN NAMES CALL("B", "main", "1.000") ",\n" CALL("B", "fib", "2.000") ",\n" CALL(
                            "E", "fib", "2.000") ",\n" CALL("E", "main", "2.000") END);
    assert_int_equal(fixture_dropped(&f, "exits of functions that were not open"), 2);
    assert_int_equal(fixture_dropped(&f, "calls still open"), 2);
    fixture_fini(&f);
}

static void test_times(void **state)
{
    fixture f;
    fixture_init(&f);
    f.options.begin = 1000;
    start(&f);
    fixture_call(&f, ENTER, 0, 900, 1); /* before the begin */
    fixture_call(&f, ENTER, 0, 5000, 2);
    fixture_call(&f, EXIT, 0, 4000, 2); /* back in time */
    fixture_call(&f, EXIT, 0, UINT64_MAX, 1);
    fixture_finish(&f);
    assert_string_equal((char *)f.bytes,
                        BEGIN NAMES CALL("B", "main", "0.000") ",\n" CALL("B", "fib", "4.000") ",\n" CALL(
                            "E", "fib", "4.000") ",\n" CALL("E", "main", "18446744073709550.615") END);
    assert_int_equal(fixture_dropped(&f, "times that went back"), 1);
    assert_int_equal(fixture_dropped(&f, "times before the begin"), 1);
    fixture_fini(&f);
}

static void test_names_are_escaped(void **state)
{
    fixture f;
    fixture_init(&f);
    tl_function function = {.id = 3, .name = "operator\"\"_x\\"};
    assert_int_equal(tl_trace_add_function(&f.trace, &function, NULL), 0);
    f.options.title = "a \"title\"";
    start(&f);
    fixture_call(&f, ENTER, 0, 1, 3);
    fixture_call(&f, ENTER, 0, 2, 44);
    fixture_call(&f, EXIT, 0, 3, 44);
    fixture_call(&f, EXIT, 0, 3, 3);
    fixture_finish(&f);
    assert_contains(f.bytes, "\"args\":{\"name\":\"a \\\"title\\\"\"}");
    assert_contains(f.bytes, "{\"ph\":\"E\",\"name\":\"operator\\\"\\\"_x\\\\\",");
    assert_contains(f.bytes, "{\"ph\":\"B\",\"name\":\"#44\",");
    fixture_fini(&f);
}

/* Many open calls, then many exits of functions that are not open: must not search the stack each time. */
static void test_deep_stack_with_stray_exits(void **state)
{
    enum { DEPTH = 300000, EXITS = 300000 };
    fixture f;
    fixture_init(&f);
    start(&f);
    for (unsigned i = 0; i < DEPTH; i++)
        fixture_call(&f, ENTER, 0, i, 10 + i % 7);
    for (unsigned i = 0; i < EXITS; i++)
        fixture_call(&f, EXIT, 0, DEPTH + i, 1);
    fixture_call(&f, ENTER, 0, 2 * DEPTH, 1);
    fixture_call(&f, EXIT, 0, 2 * DEPTH, 1); /* now it is */
    fixture_call(&f, EXIT, 0, 2 * DEPTH + 1, 10);
    fixture_call(&f, EXIT, 0, 2 * DEPTH + 1, 1); /* and now no more */
    fixture_finish(&f);
    assert_int_equal(fixture_dropped(&f, "exits of functions that were not open"), EXITS + 1);
    uint64_t closed = (DEPTH - 1) % 7; /* above the topmost function 10 */
    assert_int_equal(fixture_dropped(&f, "calls without an exit"), closed);
    assert_int_equal(fixture_dropped(&f, "calls still open"), DEPTH - closed - 1);
    fixture_fini(&f);
}

static void test_tracks_without_ids(void **state)
{
    fixture f;
    fixture_init(&f);
    tl_track track = {.name = "stream"};
    uint32_t index;
    assert_int_equal(tl_trace_add_track(&f.trace, &track, &index, NULL), 0);
    start(&f);
    fixture_call(&f, ENTER, index, 1, 1);
    fixture_call(&f, EXIT, index, 2, 1);
    fixture_finish(&f);
    assert_contains(f.bytes, "{\"ph\":\"B\",\"name\":\"main\",\"pid\":1,\"tid\":3,\"ts\":0.001}");
    fixture_fini(&f);
}

static void test_long_names(void **state)
{
    enum { NAME = 70000 };
    char *name = malloc(NAME + 1);
    assert_non_null(name);
    memset(name, 'n', NAME);
    name[NAME] = 0;
    fixture f;
    fixture_init(&f);
    tl_function function = {.id = 3, .name = name};
    assert_int_equal(tl_trace_add_function(&f.trace, &function, NULL), 0);
    start(&f);
    fixture_call(&f, ENTER, 0, 1, 3);
    fixture_call(&f, EXIT, 0, 2, 3);
    fixture_finish(&f);
    size_t size = strlen(BEGIN NAMES CALL("B", "", "0.001") ",\n" CALL("E", "", "0.002") END) + 2 * (size_t)NAME;
    assert_int_equal(f.size, size);
    free(name);
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
    assert_lacks(f.format->suffixes, ".chrome.json");
    tl_value text[] = {{.type = TL_STRING, .n = 0}, {.type = TL_STRING, .n = 0}, {.type = TL_NULL}};
    fixture_event(&f, COUNTER, 0, 0, 1, 0, text, 3);
    fixture_finish(&f);
    assert_int_equal(fixture_dropped(&f, "counters without a number"), 1);
    fixture_fini(&f);
}

static void test_rich_fields(void **state)
{
    fixture f;
    rich_init(&f);
    start(&f);
    rich_packed_event(&f, 1);
    rich_open_event(&f, 2);
    fixture_event(&f, RICH_EMPTY, 0, -1, 3, 0, NULL, 0);
    fixture_flush(&f);
    f.trace.cls[RICH_OPEN].kind = TL_COUNTER;
    rich_open_event(&f, 4);
    fixture_finish(&f);
    assert_string_equal(
        (char *)f.bytes, BEGIN NAMES
        "{\"ph\":\"i\",\"name\":\"packed\",\"pid\":5,\"tid\":7,\"ts\":0.001,\"s\":\"t\",\"args\":{\"text\":\"x\","
        "\"context\":{\"pid\":9}}},\n"
        "{\"ph\":\"i\",\"name\":\"open\",\"pid\":5,\"tid\":7,\"ts\":0.002,\"s\":\"t\",\"args\":{"
        "\"mode\":{\"value\":2,\"labels\":[\"READ\",\"B "
        "\\\"?\"]},\"level\":{\"value\":-3,\"labels\":[\"neg\",\"all\"]},"
        "\"bits\":{\"value\":5,\"labels\":[\"A\",\"B\"]},\"either\":5,\"list\":[1,171],\"real\":0.1,"
        "\"context\":{\"stream.pid\":-1,\"event.pid\":7,\"ip\":48879}}},\n"
        "{\"ph\":\"i\",\"name\":\"empty\",\"pid\":5,\"tid\":7,\"ts\":0.003,\"s\":\"t\"},\n"
        "{\"ph\":\"C\",\"name\":\"open\",\"pid\":5,\"tid\":7,\"ts\":0.004,\"args\":{\"mode\":2,\"level\":-3,"
        "\"bits\":5,\"real\":0.1}}" END);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_text),
        cmocka_unit_test(test_series_of_counters),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_outer_exit_closes_inner_calls),
        cmocka_unit_test(test_stray_exits_and_open_calls),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_names_are_escaped),
        cmocka_unit_test(test_deep_stack_with_stray_exits),
        cmocka_unit_test(test_tracks_without_ids),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_accept),
        cmocka_unit_test(test_rich_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

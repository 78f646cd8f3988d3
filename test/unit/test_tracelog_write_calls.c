/* Calls and samples of other sources, written as TraceLogs. */
#include "tracelog_write_fixture.h"
#include "writer_fixture.h"

#define START                                                                                                          \
    "prf cfg CollectionMethod Sampling\n"                                                                              \
    "prf cfg SamplingTimeoutMs 1\n"                                                                                    \
    "prf cfg HighGranularityEnabled F\n"
#define CALLS START "prf cfg ExecutionTraceEnabled T\n"
#define APP   "apd crf 0x0000000000000001 5 0x00000000 \"app.xray\"\n"
#define THREAD_7                                                                                                       \
    "thr crt 0x0000000000000001 0x00000000\n"                                                                          \
    "thr aos 0x00000000 7\n"
#define THREAD_8                                                                                                       \
    "thr crt 0x0000000000000002 0x00000001\n"                                                                          \
    "thr aos 0x00000001 8\n"
#define INF(iid) "fun inf " iid " 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x00000000\n"
#define MAIN     INF("0x00000001") "fun nam 0x00000001 \"main\" \"\" \"\"\n"
#define FIB      INF("0x00000002") "fun nam 0x00000002 \"fib\" \"\" \"\"\n"

enum { MS = 1000000 };

static void create(fixture *f)
{
    assert_int_equal(fixture_create(f, &tracelog_door), 0);
}

static void test_no_calls(void **state)
{
    fixture f;
    fixture_init(&f);
    create(&f);
    fixture_expect(&f, CALLS APP);
}

/* Every change is a line, preceded by the milliseconds that began since the one before. */
static void test_calls(void **state)
{
    fixture f;
    fixture_init(&f);
    f.options.begin = 10 * MS;
    create(&f);
    fixture_call(&f, ENTER, 0, 10 * MS + 100, 1);
    fixture_call(&f, ENTER, 0, 12 * MS + 999999, 2);
    fixture_call(&f, ENTER, 0, 13 * MS - 1, 2); /* in the same ms */
    fixture_call(&f, EXIT, 0, 13 * MS, 2);
    fixture_call(&f, TAIL_EXIT, 0, 16 * MS, 2);
    fixture_call(&f, EXIT, 0, 16 * MS + 1, 1);
    fixture_call(&f, ENTER, 0, 20 * MS, 1); /* the time between belongs to no call */
    fixture_call(&f, EXIT, 0, 21 * MS, 1);
    fixture_finish(&f);
    assert_string_equal((const char *)f.bytes,
                        CALLS APP THREAD_7 MAIN "sam str 0x00000000 0 0 0:0 0x1\n" FIB "sam str 0x00000000 2 2 1:1\n"
                                                "sam str 0x00000000 2 0 1:1 0x2\n"
                                                "sam str 0x00000000 2 0 2:2 0x2\n"
                                                "sam str 0x00000000 3 1 3:3\n"
                                                "sam str 0x00000000 3 0 2:3\n"
                                                "sam str 0x00000000 6 3 2:2\n"
                                                "sam str 0x00000000 6 0 1:2\n"
                                                "sam str 0x00000000 6 0 0:1\n"
                                                "sam str 0x00000000 10 0 0:0 0x1\n"
                                                "sam str 0x00000000 11 1 1:1\n"
                                                "sam str 0x00000000 11 0 0:1\n");
    assert_int_equal(fixture_dropped(&f, "times that are not whole milliseconds"), 4);
    fixture_fini(&f);
}

static void test_calls_that_do_not_pair_up(void **state)
{
    fixture f;
    fixture_init(&f);
    f.options.begin = MS;
    create(&f);
    fixture_call(&f, EXIT, 0, MS, 1);
    fixture_call(&f, ENTER, 1, 3 * MS, 1);
    fixture_call(&f, ENTER, 1, 3 * MS, 9); /* without a name */
    fixture_call(&f, ENTER, 1, 2 * MS, 2); /* too early */
    fixture_call(&f, EXIT, 1, 5 * MS, 1);  /* closes all three */
    fixture_call(&f, ENTER, 0, 0, 2);      /* before the begin, and stays open */
    fixture_finish(&f);
    assert_string_equal((const char *)f.bytes, CALLS APP THREAD_7
                        "thr crt 0x0000000000000002 0x00000001\n"
                        "thr aos 0x00000001 8\n" MAIN
                        "sam str 0x00000001 2 0 0:0 0x1\n" INF("0x00000009") "sam str 0x00000001 2 0 1:1 0x9\n" FIB
                                                                             "sam str 0x00000001 2 0 2:2 0x2\n"
                                                                             "sam str 0x00000001 4 2 3:3\n"
                                                                             "sam str 0x00000001 4 0 0:3\n"
                                                                             "sam str 0x00000000 0 0 0:0 0x2\n");
    assert_int_equal(fixture_dropped(&f, "exits of functions"), 1);
    assert_int_equal(fixture_dropped(&f, "calls without an exit"), 2);
    assert_int_equal(fixture_dropped(&f, "times that went back"), 1);
    assert_int_equal(fixture_dropped(&f, "times before the begin"), 1);
    fixture_fini(&f);
}

static void test_what_calls_lose(void **state)
{
    fixture f;
    fixture_init(&f);
    uint32_t index;
    tl_track track[] = {{.name = "worker", .tid = 9, .has_tid = true, .pid = 6, .has_pid = true}, {.name = "main"}};
    tl_function function = {.id = 3, .name = "bad \xff\"\n\"", .address = 0x1234, .library = "lib a.so", .file = "a.c"};
    for (int i = 0; i < 2; i++)
        assert_int_equal(tl_trace_add_track(&f.trace, &track[i], &index, NULL), 0);
    assert_int_equal(tl_trace_add_function(&f.trace, &function, NULL), 0);
    f.trace.exe = "/bin/prog";
    f.trace.clock.has_utc = true;
    f.trace.clock.utc_offset_ns = INT64_C(1529911468049999999);
    f.options.version = "vs";
    create(&f);
    const tl_value none = {.type = TL_LIST};
    fixture_event(&f, ENTER_ARGS, 2, 0, 0, 3, &none, 1);
    fixture_call(&f, ENTER, 3, 0, UINT64_MAX); /* an id that is not an iid */
    fixture_call(&f, ENTER, 3, 0, UINT64_C(1) << 40);
    fixture_finish(&f);
    f.trace.exe = NULL;
    assert_string_equal((const char *)f.bytes,
                        "prf stm 2018-06-25 07:24:28.049 +00:00\n" CALLS
                        "apd crf 0x0000000000000001 0x5 0x00000000 \"prog\"\n"
                        "thr crt 0x0000000000000001 0x00000000\n"
                        "thr aos 0x00000000 9\n"
                        "mod ldf 0x0000000000000001 0x0000000000000000 0x0000000000000000 0x00000000 \"lib a.so\"\n"
                        "fun inf 0x00000003 0x0000000000001234 0x0000000000000000 0x0000000000000001 0x00000000\n"
                        "fun nam 0x00000003 \"bad \u00ff\" \"\" \"\" \"\"\n"
                        "sam str 0x00000000 0 0 0:0 0x3\n"
                        "thr crt 0x0000000000000002 0x00000001\n"
                        "mod ldf 0x0000000000000002 0x0000000000000000 0x0000000000000000 0x00000000 \"/bin/prog\"\n"
                        "fun inf 0x80000000 0x0000000000000000 0x0000000000000000 0x0000000000000002 0x00000000\n"
                        "sam str 0x00000001 0 0 0:0 0x80000000\n"
                        "fun inf 0x80000001 0x0000000000000000 0x0000000000000000 0x0000000000000002 0x00000000\n"
                        "sam str 0x00000001 0 0 1:1 0x80000001\n");
    assert_int_equal(fixture_dropped(&f, "names of threads"), 2);
    assert_int_equal(fixture_dropped(&f, "process ids"), 1);
    assert_int_equal(fixture_dropped(&f, "arguments"), 1);
    assert_int_equal(fixture_dropped(&f, "line breaks"), 1);
    assert_int_equal(fixture_dropped(&f, "bytes that are not UTF-8"), 1);
    assert_int_equal(fixture_dropped(&f, "files and lines"), 1);
    fixture_fini(&f);
}

/* Readers take no count beyond 32 bits, and no time beyond 2^63 ns. */
static void test_very_long_calls(void **state)
{
    fixture f;
    fixture_init(&f);
    tl_trace_set_clock(&f.trace, "seconds", 1);
    create(&f);
    fixture_call(&f, ENTER, 0, 0, 1);
    fixture_call(&f, EXIT, 0, 5000000, 1);
    fixture_call(&f, ENTER, 0, UINT64_MAX, 1);
    fixture_finish(&f);
    assert_string_equal((const char *)f.bytes, CALLS APP THREAD_7 MAIN "sam str 0x00000000 0 0 0:0 0x1\n"
                                                                       "sam str 0x00000000 5000000000 4294967295 1:1\n"
                                                                       "sam str 0x00000000 5000000000 705032705 1:1\n"
                                                                       "sam str 0x00000000 5000000000 0 0:1\n"
                                                                       "sam str 0x00000000 9223372036854 0 0:0 0x1\n");
    assert_int_equal(fixture_dropped(&f, "times after"), 1);
    fixture_fini(&f);
}

static void test_deep_calls(void **state)
{
    fixture f;
    fixture_init(&f);
    create(&f);
    for (uint32_t i = 0; i < TRACELOG_DEPTH_MAX + 2; i++)
        fixture_call(&f, ENTER, 0, 0, 1);
    for (uint32_t i = 0; i < 3; i++)
        fixture_call(&f, EXIT, 0, 0, 1);
    fixture_finish(&f);
    static const char end[] = "sam str 0x00000000 0 0 65535:65535 0x1\nsam str 0x00000000 0 0 65535:65536\n";
    assert_true(f.size > sizeof end);
    assert_string_equal((const char *)f.bytes + f.size - (sizeof end - 1), end);
    assert_int_equal(fixture_dropped(&f, "frames deeper"), 2);
    fixture_fini(&f);
}

/* ---- threads named by contexts */

static const tl_field context_fields[] = {
    {.name = "vpid", .type = TL_I64, .context = TL_SCOPE_PAYLOAD - TL_SCOPE_STREAM},
    {.name = "vtid", .type = TL_I64, .context = TL_SCOPE_PAYLOAD - TL_SCOPE_STREAM},
    {.name = "addr", .type = TL_U64, .base = 16}};
static const tl_class context_classes[] = {{.kind = TL_ENTER,
                                            .key = TL_KEY_FUNCTION,
                                            .flags = TL_CLASS_KEY_IS_FIELD,
                                            .by_address = true,
                                            .name = "func_entry",
                                            .field = context_fields,
                                            .nfield = 3,
                                            .ncontext = 2},
                                           {.kind = TL_EXIT,
                                            .key = TL_KEY_FUNCTION,
                                            .flags = TL_CLASS_KEY_IS_FIELD,
                                            .by_address = true,
                                            .name = "func_exit",
                                            .field = context_fields,
                                            .nfield = 3,
                                            .ncontext = 2}};

static void traced(fixture *f, uint32_t cls, uint32_t track, uint64_t ms, int64_t tid, uint64_t address)
{
    const tl_value v[] = {
        {.type = TL_I64, .as.i = 5}, {.type = TL_I64, .as.i = tid}, {.type = TL_U64, .as.u = address}};
    fixture_event(f, cls, track, 0, ms * MS, address, v, 3);
}

/* A thread moves from one processor, which has a track, to another. */
static void test_threads_of_contexts(void **state)
{
    fixture f;
    fixture_init(&f);
    assert_int_equal(tl_trace_set_classes(&f.trace, context_classes, 2, NULL), 0);
    create(&f);
    traced(&f, 0, 0, 0, 7, 0x1234);
    traced(&f, 0, 0, 1, 8, 0x1234);
    traced(&f, 1, 1, 2, 7, 0x1234);
    traced(&f, 1, 1, 2, 8, 0x1234);
    fixture_finish(&f);
    assert_string_equal((const char *)f.bytes, CALLS APP THREAD_7
                        "fun inf 0x00001234 0x0000000000001234 0x0000000000000000 0x0000000000000000 0x00000000\n"
                        "sam str 0x00000000 0 0 0:0 0x1234\n" THREAD_8 "sam str 0x00000001 1 0 0:0 0x1234\n"
                        "sam str 0x00000000 2 2 1:1\n"
                        "sam str 0x00000000 2 0 0:1\n"
                        "sam str 0x00000001 2 1 1:1\n"
                        "sam str 0x00000001 2 0 0:1\n");
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

/* Thread 2^32 + 7 of process 0 is not thread 7 of process 1. */
static void test_threads_of_processes(void **state)
{
    static const int64_t thread[][2] = {{1, 7}, {0, (INT64_C(1) << 32) + 7}, {1, 7}};
    fixture f;
    fixture_init(&f);
    assert_int_equal(tl_trace_set_classes(&f.trace, context_classes, 2, NULL), 0);
    create(&f);
    for (uint32_t i = 0; i < 3; i++) {
        const tl_value v[] = {{.type = TL_I64, .as.i = thread[i][0]},
                              {.type = TL_I64, .as.i = thread[i][1]},
                              {.type = TL_U64, .as.u = 0x1234}};
        fixture_event(&f, 0, 0, 0, i * MS, 0x1234, v, 3);
    }
    fixture_finish(&f);
    const char *text = (const char *)f.bytes;
    assert_contains(text, "sam str 0x00000000 0 0 0:0 0x1234\n");
    assert_contains(text, "sam str 0x00000001 1 0 0:0 0x1234\n");
    assert_contains(text, "sam str 0x00000000 2 0 1:1 0x1234\n");
    assert_lacks(text, "sam str 0x00000002");
    fixture_fini(&f);
}

/* ---- samples */

static const tl_field frame_fields[] = {
    {.name = "function", .type = TL_STRING}, {.name = "id", .type = TL_HEX}, {.name = "ip", .type = TL_HEX}};
static const tl_field sample_fields[] = {
    {.name = "stack", .type = TL_STACK, .member = frame_fields, .nmember = 3, .role = TL_FIELD_STACK},
    {.name = "n", .type = TL_U64, .role = TL_FIELD_COUNT}};
static const tl_class sample_classes[] = {
    {.kind = TL_SAMPLE, .key = TL_KEY_WEIGHT, .name = "sample", .field = sample_fields, .nfield = 2},
    {.kind = TL_SAMPLE, .key = TL_KEY_NONE, .name = "plain", .field = sample_fields, .nfield = 1},
    {.kind = TL_SAMPLE, .key = TL_KEY_WEIGHT, .name = "no stack", .field = sample_fields + 1, .nfield = 1},
    {.kind = TL_ENTER, .key = TL_KEY_FUNCTION, .name = "enter"}};

static void sampled(fixture *f, uint32_t cls, uint64_t ms, uint64_t weight_us, uint64_t count, const tl_frame *top)
{
    const tl_value v[] = {{.type = TL_STACK, .n = top ? top->depth : 0, .as.p = top}, {.type = TL_U64, .as.u = count}};
    fixture_event(f, cls, 0, 0, ms * MS, weight_us * 1000, v, 2);
}

static void test_samples(void **state)
{
    fixture f;
    fixture_init(&f);
    assert_int_equal(tl_trace_set_classes(&f.trace, sample_classes, 3, NULL), 0);
    create(&f);
    assert_int_equal(tracelog_accept(f.writer, &f.trace.cls[2]), TL_ACCEPT_DROP);
    tl_frame a = frame_on(NULL, 1), b = frame_at(&a, 77, 0xabc), nameless = {.caller = &b, .depth = 3, .name = "only"};
    b.name = "said by the frame";
    sampled(&f, 0, 1, 10000, 2, &b);
    sampled(&f, 0, 2, 10000, 1, &nameless);
    sampled(&f, 0, 3, 2500, 1, &a); /* periods that are not whole ms */
    sampled(&f, 0, 4, 2500, 3, &a);
    sampled(&f, 0, 5, 0, 1, &a); /* of weight 0 */
    sampled(&f, 0, 6, 0, 0, NULL);
    sampled(&f, 1, 7, 0, 0, &a); /* one sample, without a weight */
    sampled(&f, 0, 8, 1000, UINT64_C(1) << 32, &a);
    fixture_finish(&f);
    assert_string_equal(
        (const char *)f.bytes,
        START APP THREAD_7 MAIN INF("0x0000004D") "fun nam 0x0000004D \"said by the frame\" \"\" \"\"\n"
                                                  "prf cfg SamplingTimeoutMs 10\n"
                                                  "sam str 0x00000000 1 2 0:0 0x1 0x4d:0x0000000000000ABC\n"
                                                  "sam str 0x00000000 2 1 2:2 ?\n"
                                                  "prf cfg SamplingTimeoutMs 1\n"
                                                  "sam str 0x00000000 3 2 1:3\n"
                                                  "sam str 0x00000000 4 8 1:1\n"
                                                  "sam str 0x00000000 5 0 1:1\n"
                                                  "sam str 0x00000000 6 0 0:1\n"
                                                  "sam str 0x00000000 7 1 0:0 0x1\n"
                                                  "sam str 0x00000000 8 4294967295 1:1\n"
                                                  "sam str 0x00000000 8 1 1:1\n");
    assert_int_equal(fixture_dropped(&f, "frames whose function has a name"), 1);
    fixture_fini(&f);
}

/* A thread has one stack: that of its calls. */
static void test_calls_and_samples(void **state)
{
    fixture f;
    fixture_init(&f);
    assert_int_equal(tl_trace_set_classes(&f.trace, sample_classes, 4, NULL), 0);
    create(&f);
    assert_int_equal(tracelog_accept(f.writer, &f.trace.cls[0]), TL_ACCEPT_DROP);
    assert_int_equal(tracelog_accept(f.writer, &f.trace.cls[3]), TL_ACCEPT_KEEP);
    fixture_fini(&f);
}

/* ---- several inputs */

/* Numbers of the log stay; new parts get others. */
static void test_log_and_calls(void **state)
{
    fixture f;
    log_init(&f);
    f.trace.format = "several";
    tl_class cls[TRACELOG_RECORDS + 1];
    memcpy(cls, f.trace.cls, TRACELOG_RECORDS * sizeof *cls);
    cls[TRACELOG_RECORDS] = sample_classes[3];
    assert_int_equal(tl_trace_set_classes(&f.trace, cls, TRACELOG_RECORDS + 1, NULL), 0);
    create(&f);
    const tl_frame a = frame_on(NULL, 5);
    log_sample(&f, 1, 2, UINT64_MAX, &a);
    fixture_call(&f, TRACELOG_RECORDS, 1, 2, 5);
    log_sample(&f, 3, 2, UINT64_MAX, NULL);
    fixture_expect(&f, CALLS
                   "prf cfg SamplingTimeoutMs 10\n"
                   "sam str 0x00000001 1 2 0:0 0x5\n"
                   "thr crt 0x0000000040000001 0x40000000\n" INF("0x40000000") "sam str 0x40000000 2 0 0:0 0x40000000\n"
                                                                               "sam str 0x00000001 3 2 0:1\n");
}

/* Logs with several times of day: the earliest is 0. */
static void test_joined_logs(void **state)
{
    fixture f;
    log_init(&f);
    tl_trace_set_clock(&f.trace, "ns", 1000000000);
    f.trace.clock.has_utc = true;
    uint32_t index;
    assert_int_equal(tl_trace_add_track(&f.trace, &(tl_track){.name = "process"}, &index, NULL), 0);
    assert_int_equal(tl_trace_add_track(&f.trace, &(tl_track){.name = "thread 0x2"}, &index, NULL), 0);
    create(&f);
    const tl_value v[] = {{.type = TL_NULL}, {.type = TL_ABSENT}, {.type = TL_U64, .as.u = 4}};
    fixture_event(&f, tracelog_gch_gcf, 1, 0, 9 * MS, 0, v, 3);
    fixture_finish(&f);
    assert_string_equal((const char *)f.bytes, "prf stm 1970-01-01 00:00:00.000 +00:00\ngch gcf ? 9\n");
    assert_int_equal(fixture_dropped(&f, "threads with the number"), 1);
    fixture_fini(&f);
}

/* ---- the calendar */

static void test_times_of_day(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } time[] = {
        {0, "1970-01-01 00:00:00.000"},
        {-1, "1969-12-31 23:59:59.999"},
        {INT64_C(951782399999000000), "2000-02-28 23:59:59.999"},
        {INT64_C(951782400000000000), "2000-02-29 00:00:00.000"},
        {INT64_C(951868800000000000), "2000-03-01 00:00:00.000"},
        {INT64_C(4107542400000000000), "2100-03-01 00:00:00.000"},
        {INT64_C(-2203891200000000000), "1900-03-01 00:00:00.000"},
        {INT64_MAX, "2262-04-11 23:47:16.854"},
        {INT64_MIN, "1677-09-21 00:12:43.145"},
    };
    for (size_t i = 0; i < TL_COUNT(time); i++) {
        fixture f;
        char expected[64];
        fixture_init(&f);
        f.trace.clock.has_utc = true;
        f.trace.clock.utc_offset_ns = time[i].ns;
        create(&f);
        fixture_finish(&f);
        snprintf(expected, sizeof expected, "prf stm %s +00:00\n", time[i].text);
        assert_memory_equal(f.bytes, expected, strlen(expected));
        fixture_fini(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_calls),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_calls_that_do_not_pair_up),
        cmocka_unit_test(test_what_calls_lose),
        cmocka_unit_test(test_very_long_calls),
        cmocka_unit_test(test_deep_calls),
        cmocka_unit_test(test_threads_of_contexts),
        cmocka_unit_test(test_threads_of_processes),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_calls_and_samples),
        cmocka_unit_test(test_log_and_calls),
        cmocka_unit_test(test_joined_logs),
        cmocka_unit_test(test_times_of_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Chrome trace events of managed runtimes: spans, gauges, samples, threads without a number. */
#include "thorough.h"
#include "timeline_fixture.h"

extern const tl_format tl_format_chrome;

#define PLACE0 "\"pid\":5,\"tid\":7,\"ts\":"
#define PLACE1 "\"pid\":5,\"tid\":2,\"ts\":"

static void start(fixture *f)
{
    assert_int_equal(fixture_create(f, &tl_format_chrome), 0);
}

static void assert_has(const fixture *f, const char *text)
{
    if (!strstr((const char *)f->bytes, text))
        fail_msg("no %s in\n%s", text, (const char *)f->bytes);
}

static void assert_not(const fixture *f, const char *text)
{
    if (strstr((const char *)f->bytes, text))
        fail_msg("%s in\n%s", text, (const char *)f->bytes);
}

/* How often a text is in the file. */
static unsigned times(const fixture *f, const char *text)
{
    unsigned n = 0;
    for (const char *p = (const char *)f->bytes; (p = strstr(p, text)) != NULL; p++)
        n++;
    return n;
}

static size_t place_of(const fixture *f, const char *text)
{
    const char *p = strstr((const char *)f->bytes, text);
    assert_non_null(p);
    return (size_t)(p - (const char *)f->bytes);
}

static void test_collection(void **state)
{
    fixture f;
    rt_init(&f);
    start(&f);
    rt_gc_begin(&f, 0, 5);
    rt_gc_end(&f, 1, 9); /* on another thread */
    fixture_finish(&f);
    assert_has(&f, "{\"ph\":\"X\",\"name\":\"GC\",\"cat\":\"GC\"," PLACE0
                   "5000.000,\"dur\":4000.000,\"args\":{\"reason\":\"induced\",\"generations\":\"tfff\"}}");
    assert_not(&f, "gc.begin");
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

/* Times count from the tick that becomes 0; what began earlier begins there. */
static void test_begin(void **state)
{
    fixture f;
    rt_init(&f);
    f.options.begin = 3;
    start(&f);
    rt_gc_begin(&f, 0, 1);
    rt_gc_end(&f, 0, 4);
    rt_gc_begin(&f, 0, 5);
    rt_gc_end(&f, 0, 9);
    rt_two_items(&f, RT_ALLOC, 0, 10, 1, 10, 20);
    fixture_finish(&f);
    assert_has(&f, "\"GC\"," PLACE0 "0.000,\"dur\":1000.000,");
    assert_has(&f, "\"GC\"," PLACE0 "2000.000,\"dur\":4000.000,");
    assert_has(&f, "\"allocated\"," PLACE0 "7000.000,\"args\":{\"bytes\":30}");
    fixture_fini(&f);
}

static void test_compilation_has_a_name(void **state)
{
    fixture f;
    rt_init(&f);
    start(&f);
    rt_jit_begin(&f, 0, 1, 0xabc);
    rt_jit_end(&f, 0, 2, 0xabc);
    rt_got_code(&f, 2, 0xabc, 2);
    rt_jit_begin(&f, 0, 3, 0xabc); /* the id again, of another function */
    rt_jit_end(&f, 0, 4, 0xabc);
    rt_got_code(&f, 4, 0xabc, 1);
    rt_got_code(&f, 4, 0xabc, 2);  /* too late */
    rt_jit_begin(&f, 0, 5, 0xdef); /* never told */
    rt_jit_end(&f, 0, 5, 0xdef);
    rt_jit_begin(&f, 0, 6, 0x123); /* a function without name */
    rt_got_code(&f, 6, 0x123, 3);
    rt_jit_end(&f, 0, 7, 0x123);
    fixture_finish(&f);
    assert_has(&f, "{\"ph\":\"X\",\"name\":\"JIT fib\",\"cat\":\"JIT\"," PLACE0
                   "1000.000,\"dur\":1000.000,\"args\":{\"code\":\"0xabc\",\"status\":\"0x0\"}}");
    assert_has(&f, "\"JIT main\",\"cat\":\"JIT\"," PLACE0 "3000.000,");
    assert_has(&f, "\"JIT 0xdef\",\"cat\":\"JIT\"," PLACE0 "5000.000,\"dur\":0.000,");
    assert_has(&f, "\"JIT 0x3\",\"cat\":\"JIT\"," PLACE0 "6000.000,");
    assert_int_equal(times(&f, "\"ph\":\"X\""), 4);
    assert_int_equal(times(&f, "{\"ph\":\"i\",\"name\":\"code\""), 4); /* events of their own, too */
    fixture_fini(&f);
}

/* Nested ones are X, others are not: viewers require those of a thread to nest. */
static void test_overlapping_spans(void **state)
{
    fixture f;
    rt_init(&f);
    start(&f);
    rt_gc_begin(&f, 0, 1);
    rt_jit_begin(&f, 0, 2, 1);
    rt_got_code(&f, 2, 1, 1);
    rt_gc_end(&f, 0, 3);
    rt_jit_end(&f, 0, 4, 1);
    fixture_finish(&f);
    assert_has(&f,
               "{\"ph\":\"b\",\"name\":\"GC\",\"cat\":\"GC\",\"id\":\"0x1\"," PLACE0 "1000.000,\"args\":{\"reason\"");
    assert_has(&f, "{\"ph\":\"e\",\"name\":\"GC\",\"cat\":\"GC\",\"id\":\"0x1\"," PLACE0 "3000.000}");
    assert_has(&f, "{\"ph\":\"X\",\"name\":\"JIT main\",\"cat\":\"JIT\"," PLACE0 "2000.000,\"dur\":2000.000");
    fixture_fini(&f);
}

/* Of two that begin at once the outer one comes first, for viewers that keep the order. */
static void test_outer_span_first(void **state)
{
    fixture f;
    rt_init(&f);
    start(&f);
    rt_jit_begin(&f, 0, 1, 1);
    rt_jit_begin(&f, 0, 1, 2);
    rt_jit_end(&f, 0, 2, 2);
    rt_got_code(&f, 2, 2, 2);
    rt_jit_end(&f, 0, 3, 1);
    rt_got_code(&f, 3, 1, 1);
    fixture_finish(&f);
    assert_true(place_of(&f, "\"JIT main\"") < place_of(&f, "\"JIT fib\""));
    assert_int_equal(times(&f, "\"ph\":\"X\""), 2);
    fixture_fini(&f);
}

static void test_spans_without_other_half(void **state)
{
    fixture f;
    rt_init(&f);
    start(&f);
    rt_gc_end(&f, 0, 1);
    rt_jit_begin(&f, 0, 2, 1);
    rt_jit_end(&f, 0, 3, 2);
    rt_jit_begin(&f, 1, 8, 1); /* the same id again: the latest open one is ended first */
    rt_jit_end(&f, 1, 9, 1);
    fixture_finish(&f);
    assert_has(&f, "\"JIT 0x1\",\"cat\":\"JIT\"," PLACE0 "2000.000,\"dur\":7000.000");
    assert_has(&f, "\"JIT 0x1\",\"cat\":\"JIT\"," PLACE1 "8000.000,\"dur\":1000.000");
    assert_int_equal(fixture_dropped(&f, "ends whose begin"), 2);
    assert_int_equal(fixture_dropped(&f, "begins still open"), 1);
    fixture_fini(&f);
}

/* Names that never come do not block all others, ends that never come do not fill the memory. */
static void test_spans_are_bounded(void **state)
{
    const unsigned many = 20000 / (unsigned)one_in(8);
    fixture f;
    rt_init(&f);
    start(&f);
    for (unsigned i = 0; i < many; i++) {
        rt_jit_begin(&f, 0, i, i);
        rt_jit_end(&f, 0, i, i);
    }
    fixture_flush(&f);
    assert_true(tl_output_bytes(f.out) > (many - 300) * 80u);
    for (unsigned i = 0; i < 1000; i++)
        rt_jit_begin(&f, 1, many + i, i);
    fixture_finish(&f);
    assert_int_equal(fixture_dropped(&f, "begins beyond"), 1000 - 256);
    assert_int_equal(fixture_dropped(&f, "begins still open"), 256);
    assert_int_equal(times(&f, "\"ph\":\"X\""), many + 256);
    fixture_fini(&f);
}

static void test_gauges(void **state)
{
    fixture f;
    rt_init(&f);
    start(&f);
    rt_cpu_used(&f, 1, TL_SINCE_UNKNOWN, 10, 5000);
    rt_cpu_used(&f, 1, 10, 20, 2500);
    rt_cpu_used(&f, 1, 20, 30, 12345);
    rt_cpu_used(&f, 1, 40, 50, 0); /* after a pause */
    rt_cpu_used(&f, 1, 50, 50, 1);
    rt_two_items(&f, RT_ALLOC, 0, 60, 10, 100, 50);
    rt_two_items(&f, RT_ALLOC, 1, 55, 10, 1, 1); /* threads are not ordered among each other */
    rt_two_items(&f, RT_ALLOC, 1, 61, 0, 7, 7);  /* while paused */
    rt_two_items(&f, RT_LIVE, 0, 70, 0, 1000, 24);
    const tl_value heap[] = {{.type = TL_LIST, .n = 1},
                             {.type = TL_STRUCT, .n = 3},
                             rt_text("GEN0"),
                             {.type = TL_U64, .as.u = 9},
                             {.type = TL_U64, .as.u = 16}};
    rt_event(&f, RT_HEAP, 0, 80, 0, heap, 5);
    fixture_finish(&f);
    assert_has(&f, "{\"ph\":\"C\",\"name\":\"CPU thread 0x1\"," PLACE1 "10000.000,\"args\":{\"%\":25.0}}");
    assert_has(&f, PLACE1 "20000.000,\"args\":{\"%\":123.45}}");
    assert_has(&f, PLACE1 "30000.000,\"args\":{\"%\":0.0}}");
    assert_has(&f, PLACE1 "40000.000,\"args\":{\"%\":0.0}}");
    assert_int_equal(times(&f, "\"CPU thread 0x1\""), 5); /* the last one ends at 50 */
    assert_int_equal(fixture_dropped(&f, "processor times"), 1);
    assert_has(&f, "{\"ph\":\"C\",\"name\":\"allocated\"," PLACE0 "60000.000,\"args\":{\"bytes\":150}}");
    assert_has(&f, "{\"ph\":\"C\",\"name\":\"allocated\"," PLACE1 "60000.000,\"args\":{\"bytes\":152}}");
    assert_int_equal(times(&f, "\"allocated\""), 2);
    assert_has(&f, "{\"ph\":\"C\",\"name\":\"live\"," PLACE0 "70000.000,\"args\":{\"bytes\":1024}}");
    assert_has(&f, "{\"ph\":\"C\",\"name\":\"live objects\"," PLACE0 "70000.000,\"args\":{\"count\":3}}");
    assert_has(&f, "{\"ph\":\"C\",\"name\":\"heap GEN0\"," PLACE0 "80000.000,\"args\":{\"bytes\":9}}");
    assert_has(&f, "{\"ph\":\"C\",\"name\":\"heap GEN0 reserved\"," PLACE0 "80000.000,\"args\":{\"bytes\":16}}");
    assert_int_equal(fixture_dropped(&f, "lists of objects by type"), 4);
    fixture_fini(&f);
}

static void test_samples(void **state)
{
    fixture f;
    rt_init(&f);
    start(&f);
    const tl_frame main_frame = RT_FRAME(1, "main", NULL, 1), fib = RT_FRAME(2, "fib", &main_frame, 2),
                   nameless = RT_FRAME(9, NULL, &main_frame, 2);
    rt_sampled(&f, 0, 30, 10, 2, &fib);
    rt_sampled(&f, 0, 35, 10, 0, &main_frame);          /* sets the stack */
    rt_sampled(&f, 0, 36, 10, UINT64_MAX, &main_frame); /* the same */
    rt_sampled(&f, 0, 37, 0, 5, &main_frame);           /* paused */
    rt_sampled(&f, 0, 35, 10, 1, &nameless);            /* less than a period has passed */
    rt_sampled(&f, 0, 60, 10, 1, NULL);                 /* after a gap, without a frame */
    fixture_finish(&f);
    assert_has(&f, "{\"ph\":\"M\",\"cat\":\"__metadata\",\"name\":\"process_name\",");
    assert_has(&f, "{\"ph\":\"P\",\"name\":\"Profile\",\"cat\":\"v8\",\"id\":\"0x1\"," PLACE0
                   "0.000,\"args\":{\"data\":{\"startTime\":0}}}");
    assert_has(&f, "{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"cat\":\"v8\",\"id\":\"0x1\"," PLACE0
                   "30000.000,\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":["
                   "{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\",\"scriptId\":0}},"
                   "{\"id\":2,\"parent\":1,\"callFrame\":{\"functionName\":\"(idle)\",\"scriptId\":0}},"
                   "{\"id\":3,\"parent\":1,\"callFrame\":{\"functionName\":\"main\",\"scriptId\":0}},"
                   "{\"id\":4,\"parent\":3,\"callFrame\":{\"functionName\":\"fib\",\"scriptId\":0}}],"
                   "\"samples\":[4,4]},\"timeDeltas\":[10000,10000]}}}");
    assert_has(&f, "{\"data\":{\"cpuProfile\":{\"nodes\":["
                   "{\"id\":5,\"parent\":3,\"callFrame\":{\"functionName\":\"0x9\",\"scriptId\":0}}],"
                   "\"samples\":[5]},\"timeDeltas\":[10000]}}}"); /* from the end of the one before */
    assert_has(&f, "60000.000,\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[],\"samples\":[2,1]},"
                   "\"timeDeltas\":[5000,15000]}}}");
    assert_has(&f, "\"cpuProfile\":{\"samples\":[2]},\"timeDeltas\":[10000]}}}");
    assert_int_equal(times(&f, "\"ProfileChunk\""), 4);
    fixture_fini(&f);
}

static void test_samples_are_bounded(void **state)
{
    fixture f;
    rt_init(&f);
    start(&f);
    const tl_frame main_frame = RT_FRAME(1, "main", NULL, 1);
    rt_sampled(&f, 0, 30, UINT64_MAX, UINT32_MAX, &main_frame);
    fixture_finish(&f);
    assert_int_equal(fixture_dropped(&f, "samples beyond 1000"), UINT32_MAX - 1000u);
    assert_true(f.size < 20000);
    fixture_fini(&f);
}

/* An invented number must not be that of another thread. */
static void test_thread_numbers(void **state)
{
    fixture f;
    rt_init(&f);
    f.trace.track[0].tid = 2; /* the second track would be 2 */
    start(&f);
    const tl_value note = rt_text("x");
    rt_event(&f, RT_NOTE, 1, 1, 0, &note, 1);
    rt_event(&f, RT_NOTE, 0, 1, 0, &note, 1);
    fixture_finish(&f);
    assert_has(&f, "\"name\":\"note\",\"pid\":5,\"tid\":1048578,\"ts\":1000.000,\"s\":\"t\",\"args\":{\"text\":\"x\"}");
    assert_has(&f, "\"name\":\"thread_name\",\"pid\":5,\"tid\":1048578,\"ts\":0,\"args\":{\"name\":\"thread 0x1\"}");
    assert_has(&f, "\"name\":\"note\",\"pid\":5,\"tid\":2,");
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collection),
        cmocka_unit_test(test_begin),
        cmocka_unit_test(test_compilation_has_a_name),
        cmocka_unit_test(test_overlapping_spans),
        cmocka_unit_test(test_outer_span_first),
        cmocka_unit_test(test_spans_without_other_half),
        cmocka_unit_test(test_spans_are_bounded),
        cmocka_unit_test(test_gauges),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_samples_are_bounded),
        cmocka_unit_test(test_thread_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

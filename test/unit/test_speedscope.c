/* speedscope files made from events and from profiles. */
#include "timeline_fixture.h"
#include "writer_fixture.h"

#include "profile_fixture.h"
#include "traceloom/format.h"

extern const tl_format tl_format_speedscope;

/* The file without the parts that depend on the version. */
static void assert_file(const char *text, const char *expected)
{
    char head[200];
    snprintf(head, sizeof head,
             "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"traceloom %s\",",
             tl_version());
    assert_memory_equal(text, head, strlen(head));
    assert_string_equal(text + strlen(head), expected);
}

#define EVENTED(name)                                                                                                  \
    "{\"type\":\"evented\",\"name\":\"" name "\",\"unit\":\"nanoseconds\",\"startValue\":0,\"events\":["
#define OPEN(frame, at)  "\n{\"type\":\"O\",\"frame\":" #frame ",\"at\":" #at "}"
#define CLOSE(frame, at) "\n{\"type\":\"C\",\"frame\":" #frame ",\"at\":" #at "}"
#define FRAMES           "\"shared\":{\"frames\":[{\"name\":\"main\"},{\"name\":\"fib\"}]}}\n"

static void start(fixture *f)
{
    assert_int_equal(fixture_create(f, &tl_format_speedscope), 0);
}

static void test_events(void **state)
{
    fixture f;
    fixture_init(&f);
    f.options.begin = 1000;
    f.options.title = "t";
    start(&f);
    fixture_call(&f, ENTER, 0, 1000, 1);
    fixture_call(&f, ENTER, 0, 1100, 2);
    fixture_call(&f, TAIL_EXIT, 0, 1500, 2);
    fixture_call(&f, EXIT, 0, 2000, 1);
    fixture_finish(&f);
    assert_file((char *)f.bytes,
                "\"name\":\"t\",\"profiles\":[" EVENTED("thread 7") OPEN(0, 0) "," OPEN(1, 100) "," CLOSE(
                    1, 500) "," CLOSE(0, 1000) "],\"endValue\":1000}],\"activeProfileIndex\":0," FRAMES);
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

static void test_tracks_may_alternate(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    fixture_call(&f, ENTER, 1, 1, 1);
    fixture_call(&f, ENTER, 0, 2, 1);
    fixture_call(&f, ENTER, 1, 3, 2);
    fixture_call(&f, EXIT, 0, 4, 1);
    fixture_call(&f, EXIT, 1, 5, 2);
    fixture_call(&f, EXIT, 1, 6, 1);
    fixture_finish(&f);
    assert_file((char *)f.bytes,
                "\"profiles\":[" EVENTED("thread 7") OPEN(0, 2) "," CLOSE(0, 4) "],\"endValue\":4}," EVENTED("thread 8")
                    OPEN(0, 1) "," OPEN(1, 3) "," CLOSE(1, 5) "," CLOSE(
                        0, 6) "],\"endValue\":6}],\"activeProfileIndex\":1," FRAMES);
    fixture_fini(&f);
}

static void test_damaged_nesting_is_put_right(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    fixture_call(&f, EXIT, 0, 1, 2); /* stray */
    fixture_call(&f, ENTER, 0, 2, 1);
    fixture_call(&f, ENTER, 0, 3, 2);
    fixture_call(&f, EXIT, 0, 4, 1); /* closes 2 as well */
    fixture_call(&f, ENTER, 0, 5, 2);
    fixture_call(&f, ENTER, 0, 4, 1); /* back in time, and still open */
    fixture_finish(&f);
    assert_file((char *)f.bytes,
                "\"profiles\":[" EVENTED("thread 7")
                    OPEN(0, 2) "," OPEN(1, 3) "," CLOSE(1, 4) "," CLOSE(0, 4) "," OPEN(1, 5) "," OPEN(0, 5) "," CLOSE(
                        0, 5) "," CLOSE(1, 5) "],"
                                              "\"endValue\":5}],\"activeProfileIndex\":0," FRAMES);
    assert_int_equal(fixture_dropped(&f, "exits of functions that were not open"), 1);
    assert_int_equal(fixture_dropped(&f, "calls without an exit of their own"), 1);
    assert_int_equal(fixture_dropped(&f, "calls still open"), 2);
    assert_int_equal(fixture_dropped(&f, "times that went back"), 1);
    fixture_fini(&f);
}

static void test_times(void **state)
{
    fixture f;
    fixture_init(&f);
    f.options.begin = 10;
    start(&f);
    fixture_call(&f, ENTER, 0, 5, 1); /* before the begin */
    fixture_call(&f, EXIT, 0, UINT64_MAX, 1);
    fixture_finish(&f);
    const fixture *g = &f;
    assert_contains(g->bytes, OPEN(0, 0) "," CLOSE(0, 9223372036854775807) "],\"endValue\":9223372036854775807");
    assert_int_equal(fixture_dropped(&f, "times before the begin"), 1);
    assert_int_equal(fixture_dropped(&f, "times beyond"), 1);
    fixture_fini(&f);
}

static void test_classes(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    tl_accept (*accept)(void *, const tl_class *) = tl_format_speedscope.event_writer->accept;
    for (uint32_t i = 0; i < CLASSES; i++) {
        tl_accept expected = i <= ENTER_ARGS ? TL_ACCEPT_KEEP : i == FRAMING ? TL_ACCEPT_IGNORE : TL_ACCEPT_DROP;
        assert_int_equal(accept(f.writer, &f.trace.cls[i]), expected);
    }
    fixture_call(&f, ENTER, 0, 1, 1);
    tl_value args[] = {{.type = TL_LIST, .n = 0}};
    fixture_event(&f, ENTER_ARGS, 0, 0, 2, 1, args, 1);
    fixture_call(&f, EXIT, 0, 3, 1);
    fixture_call(&f, EXIT, 0, 4, 1);
    fixture_finish(&f);
    assert_int_equal(fixture_dropped(&f, "fields of calls"), 1);
    fixture_fini(&f);
}

/* More than the spool's memory and many chunks; the other track's events come in between. */
static void test_many_events(void **state)
{
    enum { CALLS = 100000 };
    fixture f;
    fixture_init(&f);
    start(&f);
    for (uint64_t i = 0; i < CALLS; i++) {
        fixture_call(&f, ENTER, i & 1, 10 * i, 1 + (i & 1));
        fixture_call(&f, EXIT, i & 1, 10 * i + 5, 1 + (i & 1));
    }
    fixture_finish(&f);
    const char *p = (const char *)f.bytes;
    for (uint64_t track = 0; track < 2; track++) {
        p = strstr(p, "\"events\":[");
        assert_non_null(p);
        p += strlen("\"events\":[");
        for (uint64_t i = track; i < CALLS; i += 2) {
            char expected[120];
            int n =
                snprintf(expected, sizeof expected,
                         "%s\n{\"type\":\"O\",\"frame\":%d,\"at\":%llu},\n{\"type\":\"C\",\"frame\":%d,\"at\":%llu}",
                         i == track ? "" : ",", (int)track, 10 * (unsigned long long)i, (int)track,
                         10 * (unsigned long long)i + 5);
            if (memcmp(p, expected, (size_t)n) != 0)
                fail_msg("call %d: %.100s", (int)i, p);
            p += n;
        }
    }
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

static void test_no_events(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    fixture_finish(&f);
    assert_file((char *)f.bytes, "\"profiles\":[],\"activeProfileIndex\":0,\"shared\":{\"frames\":[]}}\n");
    fixture_fini(&f);
}

/* Samples instead of calls: adjacent ones of a stack are one, other events are dropped by name. */
static void test_samples(void **state)
{
    fixture f;
    rt_init(&f);
    start(&f);
    for (uint32_t i = 0; i < RT_CLASSES; i++)
        assert_int_equal(tl_format_speedscope.event_writer->accept(f.writer, &f.trace.cls[i]),
                         i == RT_SAMPLE ? TL_ACCEPT_KEEP : TL_ACCEPT_DROP);
    const tl_frame main_frame = RT_FRAME(1, "main", NULL, 1), fib = RT_FRAME(2, NULL, &main_frame, 2),
                   again = RT_FRAME(1, "main", NULL, 1), unknown = {.depth = 1};
    rt_sampled(&f, 1, 30, 10, 2, &fib);
    rt_sampled(&f, 0, 30, 10, 1, &main_frame);
    rt_sampled(&f, 1, 40, 10, 1, &fib);
    rt_sampled(&f, 1, 41, 10, 0, &main_frame);
    rt_sampled(&f, 1, 42, 0, 7, &main_frame);
    rt_sampled(&f, 1, 50, 10, 1, &again);
    rt_sampled(&f, 1, 60, 5, 1, NULL);
    rt_sampled(&f, 1, 70, 5, 1, &unknown);
    fixture_finish(&f);
    assert_file(
        (char *)f.bytes,
        "\"profiles\":[{\"type\":\"sampled\",\"name\":\"thread 0x0\",\"unit\":\"nanoseconds\",\"startValue\":0,"
        "\"samples\":[[0]],\"weights\":[10000000],\"endValue\":10000000},"
        "{\"type\":\"sampled\",\"name\":\"thread 0x1\",\"unit\":\"nanoseconds\",\"startValue\":0,"
        "\"samples\":[[0,1],[0],[],[2]],\"weights\":[30000000,10000000,5000000,5000000],\"endValue\":50000000}],"
        "\"activeProfileIndex\":1,\"shared\":{\"frames\":[{\"name\":\"main\"},{\"name\":\"0x2\"},"
        "{\"name\":\"?\"}]}}\n");
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

/* More distinct samples than the spool keeps in memory. */
static void test_many_samples(void **state)
{
    enum { SAMPLES = 200000 };
    fixture f;
    rt_init(&f);
    start(&f);
    const tl_frame one = RT_FRAME(1, "main", NULL, 1), other = RT_FRAME(2, "fib", NULL, 1);
    for (unsigned i = 0; i < SAMPLES; i++)
        rt_sampled(&f, 0, i, 1, 1 + i, i & 1 ? &other : &one);
    fixture_finish(&f);
    const char *p = strstr((const char *)f.bytes, "\"weights\":[");
    assert_non_null(p);
    p += strlen("\"weights\":[");
    for (unsigned i = 0; i < SAMPLES; i++) {
        char expected[32];
        int n = snprintf(expected, sizeof expected, "%u000000%s", 1 + i, i + 1 < SAMPLES ? "," : "]");
        assert_memory_equal(p, expected, (size_t)n);
        p += n;
    }
    fixture_fini(&f);
}

static void test_profile(void **state)
{
    profiled f;
    profiled_init(&f, 1000000000);
    uint32_t quiet = add_thread(&f, "thread 6", 5, 6);
    add_example(&f, add_thread(&f, "thread 7", 5, 7));
    add_call(&f, quiet, 0, 7, 7);
    write_with(&f, tl_format_speedscope.profile_writer->write);
    assert_file(f.text,
                "\"profiles\":[{\"type\":\"sampled\",\"name\":\"thread 6\",\"unit\":\"nanoseconds\",\"startValue\":0,"
                "\"samples\":[[0]],\"weights\":[7],\"endValue\":7},"
                "{\"type\":\"sampled\",\"name\":\"thread 7\",\"unit\":\"nanoseconds\",\"startValue\":0,"
                "\"samples\":[[0],[0,1],[0,1,2]],\"weights\":[300,450,250],\"endValue\":1000}],"
                "\"activeProfileIndex\":1,\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"app.c\",\"line\":10},"
                "{\"name\":\"a\",\"file\":\"app.c\",\"line\":20},{\"name\":\"b\",\"file\":\"b.c\",\"line\":30}]}}\n");
    assert_int_equal(dropped(&f, "call counts"), 4);
    assert_int_equal(dropped(&f, "latency histograms"), 4);
    profiled_fini(&f);
}

static void test_profile_without_threads(void **state)
{
    profiled f;
    profiled_init(&f, 0);
    add_call(&f, add_call(&f, 0, add_function(&f, 1, "main", NULL, 0), 5, 0), add_function(&f, 2, NULL, NULL, 0), 5, 5);
    write_with(&f, tl_format_speedscope.profile_writer->write);
    assert_contains(f.text, "{\"type\":\"sampled\",\"name\":\"all threads\",\"unit\":\"none\",\"startValue\":0,"
                            "\"samples\":[[0,1]],\"weights\":[5],\"endValue\":5}]");
    assert_contains(f.text, "{\"name\":\"#2\"}");
    assert_int_equal(dropped(&f, "stacks without self time"), 1);
    profiled_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_tracks_may_alternate),
        cmocka_unit_test(test_damaged_nesting_is_put_right),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_many_events),
        cmocka_unit_test(test_no_events),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_many_samples),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_profile_without_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

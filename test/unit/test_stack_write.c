/* Stacks, begins and ends, and null values in the writers of text. */
#include <sys/resource.h>

#include "base/protobuf.h"
#include "stack_fixture.h"

extern const tl_format tl_format_text, tl_format_babeltrace, tl_format_jsonl, tl_format_csv;

static void check(const tl_format *format, const char *expected)
{
    fixture f;
    stack_init(&f);
    assert_int_equal(fixture_create(&f, format), 0);
    for (uint32_t i = 0; i < f.trace.ncls; i++)
        assert_int_equal(format->event_writer->accept(f.writer, &f.trace.cls[i]), TL_ACCEPT_KEEP);
    stack_events(&f);
    fixture_finish(&f);
    assert_string_equal((char *)f.bytes, expected);
    assert_int_equal(f.drops.n, 0);
    fixture_fini(&f);
}

static void test_text(void **state)
{
    check(&tl_format_text,
          "     0.000000001  thread 7  * sample thread=0x2 count=1 frames=[Work:Main \"x\" > 0x1f > ?]\n"
          "     0.000000002  thread 8  * sample thread=null count=null frames=[]\n"
          "     0.000000003  thread 7  * gc.begin (GC\\x1b begins) reason=null\n"
          "     0.000000004  thread 7  * gc.end (GC\\x1b ends)\n"
          "     0.000000005  thread 7  * cpu usage=9500\n");
}

static void test_text_says_where_the_innermost_is(void **state)
{
    fixture f;
    stack_init(&f);
    assert_int_equal(fixture_create(&f, &tl_format_text), 0);
    stack_event(&f, 1, &stack_fib);
    fixture_finish(&f);
    assert_string_equal(
        (char *)f.bytes,
        "     0.000000001  thread 7  * sample thread=0x2 count=1 frames=[Work:Main \"x\" > Fib @0xabc]\n");
    fixture_fini(&f);
}

static void test_babeltrace(void **state)
{
    check(&tl_format_babeltrace,
          "[00:00:00.000000001] (+?.?????????"
          ") sample: { thread = 0x2, count = 1, frames = [ [0] = { function = \"Work:Main \\\"x\\\"\", iid = 0x5, ip = "
          "null }, [1] = { function = null, iid = 0x1F, ip = 0x7F00 }, [2] = { function = null, iid = null, ip = null "
          "} ] }\n"
          "[00:00:00.000000002] (+0.000000001) sample: { thread = null, count = null, frames = [ ] }\n"
          "[00:00:00.000000003] (+0.000000001) gc.begin: { reason = null }\n"
          "[00:00:00.000000004] (+0.000000001) gc.end: \n"
          "[00:00:00.000000005] (+0.000000001) cpu: { usage = 9500 }\n");
}

static void test_jsonl(void **state)
{
    check(
        &tl_format_jsonl,
        "{\"ts\":1,\"class\":\"sample\",\"track\":\"thread 7\",\"fields\":{\"thread\":\"0x2\",\"count\":1,\"frames\":["
        "{\"function\":\"Work:Main \\\"x\\\"\",\"iid\":\"0x5\",\"ip\":null},"
        "{\"function\":null,\"iid\":\"0x1f\",\"ip\":\"0x7f00\"},{\"function\":null,\"iid\":null,\"ip\":null}]}}\n"
        "{\"ts\":2,\"class\":\"sample\",\"track\":\"thread 8\",\"fields\":{\"thread\":null,\"count\":null,\"frames\":["
        "]}}\n"
        "{\"ts\":3,\"class\":\"gc.begin\",\"track\":\"thread 7\",\"fields\":{\"reason\":null}}\n"
        "{\"ts\":4,\"class\":\"gc.end\",\"track\":\"thread 7\",\"fields\":{}}\n"
        "{\"ts\":5,\"class\":\"cpu\",\"track\":\"thread 7\",\"fields\":{\"usage\":9500}}\n");
}

static void test_csv(void **state)
{
    check(&tl_format_csv, "ts,class,track,cpu,function,id,fields\n"
                          "1,sample,thread 7,,,,\"{\"\"thread\"\":\"\"0x2\"\",\"\"count\"\":1,\"\"frames\"\":["
                          "{\"\"function\"\":\"\"Work:Main \\\"\"x\\\"\"\"\",\"\"iid\"\":\"\"0x5\"\",\"\"ip\"\":null},"
                          "{\"\"function\"\":null,\"\"iid\"\":\"\"0x1f\"\",\"\"ip\"\":\"\"0x7f00\"\"},"
                          "{\"\"function\"\":null,\"\"iid\"\":null,\"\"ip\"\":null}]}\"\n"
                          "2,sample,thread 8,,,,\"{\"\"thread\"\":null,\"\"count\"\":null,\"\"frames\"\":[]}\"\n"
                          "3,gc.begin,thread 7,,,,\"{\"\"reason\"\":null}\"\n"
                          "4,gc.end,thread 7,,,,\n"
                          "5,cpu,thread 7,,,,\"{\"\"usage\"\":9500}\"\n");
}

/* The deepest stack between two shallow ones: in order, whole, and without effect on the next. */
static void test_deep(void **state)
{
    const struct {
        const tl_format *format;
        const char *head, *first, *each, *last, *between;
        bool numbered;
        const char *empty; /* a line without frames, if it is another one; fields are columns */
    } cases[] = {
        {&tl_format_text, "", "     0.000000001  thread 7  * sample thread=0x2 count=1 frames=[", "f", "]\n", " > ", 0,
         NULL},
        {&tl_format_jsonl, "",
         "{\"ts\":1,\"class\":\"sample\",\"track\":\"thread "
         "7\",\"fields\":{\"thread\":\"0x2\",\"count\":1,\"frames\":[",
         "{\"function\":\"f\",\"iid\":\"0x%x\",\"ip\":null}", "]}}\n", ",", 1, NULL},
        {&tl_format_csv, "ts,class,track,cpu,function,id,fields\n",
         "1,sample,thread 7,,,,\"{\"\"thread\"\":\"\"0x2\"\",\"\"count\"\":1,\"\"frames\"\":[",
         "{\"\"function\"\":\"\"f\"\",\"\"iid\"\":\"\"0x%x\"\",\"\"ip\"\":null}", "]}\"\n", ",", 1, NULL},
        {&tl_format_csv, "ts,class,track,cpu,function,id,thread,count,frames\n", "1,sample,thread 7,,,,0x2,1,\"[",
         "{\"\"function\"\":\"\"f\"\",\"\"iid\"\":\"\"0x%x\"\",\"\"ip\"\":null}", "]\"\n", ",", 1,
         "1,sample,thread 7,,,,0x2,1,[]\n"},
    };
    static const uint32_t depth[] = {1, STACK_DEEP, 2, 0};
    tl_frame *frames = stack_deep(STACK_DEEP, "f");
    for (size_t k = 0; k < TL_COUNT(cases); k++) {
        tl_pb expected = {0};
        fixture f;
        stack_init(&f);
        if (cases[k].empty)
            f.options.columns = &f.trace.cls[STACK_SAMPLE];
        assert_int_equal(fixture_create(&f, cases[k].format), 0);
        tl_pb_raw(&expected, cases[k].head, strlen(cases[k].head));
        for (size_t d = 0; d < TL_COUNT(depth); d++) {
            stack_event(&f, 1, depth[d] ? &frames[depth[d] - 1] : NULL);
            if (!depth[d] && cases[k].empty) {
                tl_pb_raw(&expected, cases[k].empty, strlen(cases[k].empty));
                continue;
            }
            tl_pb_raw(&expected, cases[k].first, strlen(cases[k].first));
            for (uint32_t i = 0; i < depth[d]; i++) {
                char text[80];
                const int n = cases[k].numbered ? snprintf(text, sizeof text, cases[k].each, (unsigned)i)
                                                : snprintf(text, sizeof text, "%s", cases[k].each);
                tl_pb_raw(&expected, cases[k].between, i ? strlen(cases[k].between) : 0);
                tl_pb_raw(&expected, text, (size_t)n);
            }
            tl_pb_raw(&expected, cases[k].last, strlen(cases[k].last));
        }
        fixture_finish(&f);
        assert_int_equal(f.size, expected.n);
        assert_memory_equal(f.bytes, expected.data, f.size);
        tl_pb_fini(&expected);
        fixture_fini(&f);
    }
    free(frames);
}

static long most_memory(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss; /* KiB */
}

/* Frames share a long name in memory; the output of one event must not have to fit there. */
static void test_long_names_take_no_memory(void **state)
{
    enum { NAME = 100000, DEPTH = 2000, ROOM_KIB = 64 << 10 };
    static const tl_format *const formats[] = {&tl_format_text, &tl_format_babeltrace, &tl_format_jsonl,
                                               &tl_format_csv};
    char *name = malloc(NAME + 1);
    assert_non_null(name);
    memset(name, 'n', NAME);
    name[NAME] = '\0';
    tl_frame *frames = stack_deep(DEPTH, name);
    const long before = most_memory();
    for (size_t k = 0; k < TL_COUNT(formats); k++) {
        fixture f;
        stack_init(&f);
        f.format = formats[k];
        assert_int_equal(tl_output_open(&f.out, "/dev/null", true, TL_PLAIN, 0, NULL), 0);
        f.writer = calloc(1, f.format->event_writer->size);
        assert_non_null(f.writer);
        const tl_write_context context = {.out = f.out, .trace = &f.trace, .drops = &f.drops, .options = &f.options};
        assert_int_equal(f.format->event_writer->create(f.writer, &context, NULL), 0);
        stack_event(&f, 1, &frames[DEPTH - 1]);
        fixture_flush(&f);
        assert_int_equal(f.format->event_writer->finish(f.writer, NULL), 0);
        assert_true(tl_output_bytes(f.out) > (uint64_t)NAME * DEPTH);
        fixture_fini(&f);
        assert_in_range(most_memory() - before, 0, ROOM_KIB);
    }
    free(frames);
    free(name);
}

/* A name that is not UTF-8 is not passed on. */
static void test_hostile_names(void **state)
{
    const tl_frame bad = {.name = "a\xff\n", .depth = 1};
    fixture f;
    stack_init(&f);
    assert_int_equal(fixture_create(&f, &tl_format_jsonl), 0);
    stack_event(&f, 1, &bad);
    fixture_finish(&f);
    assert_contains(f.bytes, "[{\"function\":\"a\\u00ff\\n\",\"iid\":null,\"ip\":null}]");
    fixture_fini(&f);
    /* A byte 0, as hidden by tl_strings_get_text(). */
    const tl_frame zero = {.name = "a\xc0\x80z", .depth = 1};
    stack_init(&f);
    assert_int_equal(fixture_create(&f, &tl_format_jsonl), 0);
    stack_event(&f, 1, &zero);
    fixture_finish(&f);
    assert_contains(f.bytes, "[{\"function\":\"a\\u0000z\",\"iid\":null,\"ip\":null}]");
    fixture_fini(&f);
    stack_init(&f);
    assert_int_equal(fixture_create(&f, &tl_format_text), 0);
    stack_event(&f, 1, &bad);
    fixture_finish(&f);
    assert_contains(f.bytes, "frames=[a\\xff\\x0a]\n");
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_text_says_where_the_innermost_is),
        cmocka_unit_test(test_babeltrace),
        cmocka_unit_test(test_jsonl),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_long_names_take_no_memory),
        cmocka_unit_test(test_hostile_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Profiles written as TraceLogs: each stack's own values, as samples. */
#include "profile_fixture.h"

#include "format/tracelog/tracelog_write.h"

#define START(period)                                                                                                  \
    "prf cfg CollectionMethod Sampling\n"                                                                              \
    "prf cfg SamplingTimeoutMs " period "\n"                                                                           \
    "prf cfg HighGranularityEnabled F\n"
#define THREAD   "thr crt 0x0000000000000001 0x00000000\n"
#define INF(iid) "fun inf " iid " 0x0000000000000000 0x0000000000000000 0x0000000000000000 0x00000000\n"

static void assert_log(profiled *f, const char *expected)
{
    write_with(f, tracelog_write_profile);
    assert_string_equal(f->text, expected);
}

static void test_empty_profile(void **state)
{
    profiled f;
    profiled_init(&f, 1000);
    assert_log(&f, START("1"));
    assert_int_equal(f.drops.n, 0);
    profiled_fini(&f);
}

/* Every stack once, as the difference from the one before; ticks are ms here. */
static void test_calls(void **state)
{
    profiled f;
    profiled_init(&f, 1000);
    add_example(&f, 0);
    assert_log(&f, START("1") THREAD INF(
                       "0x00000001") "fun nam 0x00000001 \"main\" \"\" \"\"\n"
                                     "sam str 0x00000000 300 300 0:0 0x1\n" INF(
                                         "0x00000002") "fun nam 0x00000002 \"a\" \"\" \"\"\n"
                                                       "sam str 0x00000000 750 450 1:1 0x2\n" INF(
                                                           "0x00000003") "fun nam 0x00000003 \"b\" \"\" \"\"\n"
                                                                         "sam str 0x00000000 1000 250 2:2 0x3\n");
    assert_int_equal(dropped(&f, "call counts"), 3);
    assert_int_equal(dropped(&f, "latency histograms"), 3);
    assert_int_equal(dropped(&f, "files and lines"), 3);
    profiled_fini(&f);
}

static void test_threads(void **state)
{
    profiled f;
    profiled_init(&f, 1000);
    const uint32_t a = add_function(&f, 1, "a", NULL, 0), b = add_function(&f, 2, "b", NULL, 0);
    uint32_t root = add_thread(&f, "thread 7", 5, 7);
    add_call(&f, add_call(&f, root, a, 3, 1), b, 2, 2);
    root = add_thread(&f, "worker", 6, 8);
    add_call(&f, add_call(&f, root, a, 3, 0), b, 3, 3);
    add_call(&f, root, b, 4, 4);
    f.options.version = "vs";
    f.options.title = "what it is";
    assert_log(
        &f,
        START("1") "apd crf 0x0000000000000001 0x5 0x00000000 \"what it is\"\n" THREAD "thr aos 0x00000000 7\n" INF(
            "0x00000001") "fun nam 0x00000001 \"a\" \"\" \"\"\n"
                          "sam str 0x00000000 1 1 0:0 0x1\n" INF("0x00000002") "fun nam 0x00000002 \"b\" \"\" \"\"\n"
                                                                               "sam str 0x00000000 3 2 1:1 0x2\n"
                                                                               "thr crt 0x0000000000000002 0x00000001\n"
                                                                               "thr aos 0x00000001 8\n"
                                                                               "sam str 0x00000001 3 3 0:0 0x1 0x2\n"
                                                                               "sam str 0x00000001 7 4 0:2 0x2\n");
    assert_int_equal(dropped(&f, "names of threads"), 1);
    assert_int_equal(dropped(&f, "process ids"), 1);
    profiled_fini(&f);
}

/* Less than a ms is not lost, but added to the next one. */
static void test_rounding(void **state)
{
    profiled f;
    profiled_init(&f, 1000000);
    const uint32_t a = add_function(&f, 1, NULL, NULL, 0);
    uint32_t place = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 200; i++) {
        const uint64_t us = (uint64_t)i * 7919 % 2000;
        place = add_call(&f, place, a, us, us);
        sum += us;
    }
    write_with(&f, tracelog_write_profile);
    uint64_t counted = 0;
    for (const char *line = f.text; (line = strstr(line, "sam str 0x00000000 ")); line++) {
        unsigned long long ms, count;
        assert_int_equal(sscanf(line, "sam str 0x00000000 %llu %llu", &ms, &count), 2);
        counted += count;
        assert_int_equal(ms, counted);
    }
    assert_int_equal(counted, (sum + 500) / 1000);
    assert_true(dropped(&f, "times that are not whole milliseconds") > 100);
    profiled_fini(&f);
}

/* Ids that are not iids, and functions with a common one, get new numbers. */
static void test_numbers_of_functions(void **state)
{
    profiled f;
    profiled_init(&f, 1000);
    const tl_function function[] = {
        {.id = -1, .name = "negative"},          {.id = 5, .name = "five"},
        {.id = 5, .name = "another five"},       {.id = 5, .name = "five", .file = "a.c", .line = 7},
        {.id = 0, .flags = TL_FUNCTION_UNKNOWN}, {.id = 6, .name = "six", .library = "six.dll"},
    };
    uint32_t place = 0;
    for (size_t i = 0; i < TL_COUNT(function); i++) {
        const uint32_t index = tl_profile_add_function(f.p, &function[i]);
        place = add_call(&f, place, index, 1, i == TL_COUNT(function) - 1);
    }
    assert_log(
        &f,
        START("1") THREAD INF("0x80000000") "fun nam 0x80000000 \"negative\" \"\" \"\"\n" INF(
            "0x00000005") "fun nam 0x00000005 \"five\" \"\" \"\"\n" INF("0x80000001") "fun nam 0x80000001 \"another "
                                                                                      "five\" \"\" \"\"\n"
                                                                                      "mod ldf 0x0000000000000001 "
                                                                                      "0x0000000000000000 "
                                                                                      "0x0000000000000000 0x00000000 "
                                                                                      "\"six.dll\"\n"
                                                                                      "fun inf 0x00000006 "
                                                                                      "0x0000000000000000 "
                                                                                      "0x0000000000000000 "
                                                                                      "0x0000000000000001 0x00000000\n"
                                                                                      "fun nam 0x00000006 \"six\" \"\" "
                                                                                      "\"\"\n"
                                                                                      "sam str 0x00000000 1 1 0:0 "
                                                                                      "0x80000000 0x5 0x80000001 0x5 ? "
                                                                                      "0x6\n");
    profiled_fini(&f);
}

static uint32_t add_sampled(profiled *f, uint32_t parent, uint32_t function, uint64_t samples, uint64_t ms,
                            uint64_t bytes, uint64_t objects)
{
    const uint32_t place = function == TL_NO_FUNCTION ? parent : tl_profile_child(f->p, parent, function);
    assert_int_not_equal(place, TL_HASH_NONE);
    tl_profile_weigh(f->p, place, TL_WEIGHT_SAMPLES, samples);
    tl_profile_weigh(f->p, place, TL_WEIGHT_TIME, ms);
    tl_profile_weigh(f->p, place, TL_WEIGHT_ALLOC_SPACE, bytes);
    tl_profile_weigh(f->p, place, TL_WEIGHT_ALLOC_OBJECTS, objects);
    return place;
}

static void sampled_init(profiled *f)
{
    profiled_init(f, 1000);
    assert_int_equal(tl_profile_make_sampled(f->p, tl_sample_weight, TL_SAMPLE_WEIGHTS, NULL), 0);
    add_function(f, 1, "a", NULL, 0);
    add_function(f, 2, "b", NULL, 0);
}

#define A INF("0x00000001") "fun nam 0x00000001 \"a\" \"\" \"\"\n"
#define B INF("0x00000002") "fun nam 0x00000002 \"b\" \"\" \"\"\n"

/* Samples that all stand for the same time stay samples, for any chosen weight. */
static void test_samples(void **state)
{
    profiled f;
    sampled_init(&f);
    const uint32_t a = add_sampled(&f, 0, 0, 3, 30, 0, 0);
    add_sampled(&f, a, 1, 0, 0, 240, 10);
    add_sampled(&f, add_sampled(&f, a, 0, 0, 0, 0, 0), 1, 2, 20, 24, 0);
    f.p->samples = (tl_sample_counts){.counted = 9, .empty = 4, .paused = 7};
    assert_int_equal(tl_profile_choose_weight(f.p, "alloc_space", NULL), 0);
    assert_log(&f, START("10") THREAD "sam str 0x00000000 40 4 0:0\n" A "sam str 0x00000000 70 3 0:0 0x1\n" B
                                      "sam str 0x00000000 90 2 1:1 0x1 0x2\n"
                                      "sam mem 0x00000000 90 ?:0:24\n"
                                      "sam str 0x00000000 90 0 1:3 0x2\n"
                                      "sam mem 0x00000000 90 ?:10:240\n");
    assert_int_equal(f.drops.n, 0);
    profiled_fini(&f);
}

/* Otherwise their time counts. */
static void test_samples_of_several_periods(void **state)
{
    profiled f;
    sampled_init(&f);
    add_sampled(&f, 0, 0, 3, 30, 0, 0);
    add_sampled(&f, 0, 1, 3, 15, 0, 0);
    f.p->samples = (tl_sample_counts){.counted = 9, .empty = 3};
    assert_log(&f, START("1") THREAD A "sam str 0x00000000 30 30 0:0 0x1\n" B "sam str 0x00000000 45 15 0:1 0x2\n");
    assert_int_equal(dropped(&f, "samples with an empty stack"), 3);
    profiled_fini(&f);
}

/* Allocations with an empty stack, of no thread. */
static void test_allocations_of_nobody(void **state)
{
    profiled f;
    sampled_init(&f);
    add_sampled(&f, 0, TL_NO_FUNCTION, 0, 0, 99, 3);
    assert_log(&f, START("1") THREAD "sam str 0x00000000 0 0 0:0\nsam mem 0x00000000 0 ?:3:99\n");
    profiled_fini(&f);
}

/* Objects of no size are written; a stack with less than a ms and nothing else is not. */
static void test_objects_without_a_size(void **state)
{
    profiled f;
    sampled_init(&f);
    add_sampled(&f, 0, 0, 0, 0, 0, 3);
    assert_log(&f, START("1") THREAD A "sam str 0x00000000 0 0 0:0 0x1\nsam mem 0x00000000 0 ?:3:0\n");
    profiled_fini(&f);

    profiled_init(&f, 1000000);
    add_function(&f, 1, "a", NULL, 0);
    add_call(&f, 0, 0, 400, 400);
    write_with(&f, tracelog_write_profile);
    assert_lacks(f.text, "sam ");
    profiled_fini(&f);
}

static void test_very_deep_profile(void **state)
{
    profiled f;
    profiled_init(&f, 1000);
    add_chain(&f, TRACELOG_DEPTH_MAX + 5);
    write_with(&f, tracelog_write_profile);
    static const char end[] = "sam str 0x00000000 65541 1 65536:65536\n";
    assert_string_equal(f.text + f.n - (sizeof end - 1), end);
    assert_int_equal(dropped(&f, "frames deeper"), 5);
    profiled_fini(&f);
}

/* One line longer than the text kept in memory. */
static void test_line_of_a_deep_stack(void **state)
{
    static const char frame[] = " 0x11"; /* of the 17th function */
    const uint32_t length = sizeof frame - 1;
    profiled f;
    profiled_init(&f, 1000);
    uint32_t function = 0, place = 0;
    for (int64_t i = 1; i <= 17; i++) {
        function = add_function(&f, i, "f", NULL, 0);
        add_call(&f, 0, function, 1, 1);
    }
    for (uint32_t i = 1; i < TRACELOG_DEPTH_MAX; i++)
        place = tl_profile_child(f.p, place, function);
    add_call(&f, place, function, 1, 1);
    write_with(&f, tracelog_write_profile);
    const size_t all = (size_t)(TRACELOG_DEPTH_MAX - 1) * length;
    assert_true(f.n > all + 1);
    const char *at = f.text + f.n - 1 - all;
    for (uint32_t i = 1; i < TRACELOG_DEPTH_MAX; i++, at += length)
        assert_memory_equal(at, frame, length);
    assert_string_equal(at, "\n");
    profiled_fini(&f);
}

static void test_large_numbers(void **state)
{
    profiled f;
    profiled_init(&f, 1000);
    add_call(&f, 0, add_function(&f, 1, "a", NULL, 0), UINT64_MAX, UINT64_C(1) << 32);
    add_call(&f, 0, add_function(&f, 2, "b", NULL, 0), 1, 1);
    assert_log(&f, START("1") THREAD A "sam str 0x00000000 4294967296 4294967295 0:0 0x1\n"
                                       "sam str 0x00000000 4294967296 1 1:1\n" B
                                       "sam str 0x00000000 4294967297 1 0:1 0x2\n");
    profiled_fini(&f);
}

static void test_other_versions_are_refused(void **state)
{
    profiled f;
    profiled_init(&f, 1000);
    tl_output *out;
    tl_error e = {0};
    f.options.version = "saved";
    assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, NULL), 0);
    const tl_write_context context = {.out = out, .drops = &f.drops, .options = &f.options};
    assert_int_equal(tracelog_write_profile(&context, f.p, &e), TL_EINVAL);
    assert_contains(e.message, "saved");
    tl_output_close(out);
    profiled_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_profile),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_numbers_of_functions),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_samples_of_several_periods),
        cmocka_unit_test(test_allocations_of_nobody),
        cmocka_unit_test(test_objects_without_a_size),
        cmocka_unit_test(test_very_deep_profile),
        cmocka_unit_test(test_line_of_a_deep_stack),
        cmocka_unit_test(test_large_numbers),
        cmocka_unit_test(test_other_versions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

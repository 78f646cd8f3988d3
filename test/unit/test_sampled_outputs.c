/* Profiles of samples in formats made for calls: the chosen weight with its own unit, nothing named a call, correct
 * sums. pprof and tlp have tests of their own. */
#include "sampled_fixture.h"

#include "format/xray/xprof_write.h"
#include "model/profile_words.h"

extern const tl_format tl_format_folded, tl_format_callgrind, tl_format_dot, tl_format_svg, tl_format_speedscope;

static void test_folded(void **state)
{
    static const struct {
        const char *weight, *text;
    } expected[] = {
        {"time", "Main 10000000\nMain;Work 30000000\nMain;Work;? 10000000\nMain;Work;Main 20000000\n"},
        {"samples", "Main 1\nMain;Work 3\nMain;Work;? 1\nMain;Work;Main 2\n"},
        {"alloc_space", "Main;Work 100\nMain;0x7 3000\n"},
        {"alloc_objects", "Main;Work 2\nMain;0x7 1\n"},
    };
    for (size_t i = 0; i < TL_COUNT(expected); i++) {
        profiled f;
        sampled_init(&f, expected[i].weight);
        write_with(&f, tl_format_folded.profile_writer->write);
        assert_string_equal(f.text, expected[i].text);
        assert_int_equal(dropped(&f, TL_DROP_WEIGHTS), 3);
        assert_int_equal(dropped(&f, TL_DROP_EMPTY_STACKS), i < 2 ? 2 : 0);
        assert_int_equal(dropped(&f, "call counts"), 0);
        assert_int_equal(dropped(&f, "stacks without self time"), 0);
        profiled_fini(&f);
    }
}

static void test_callgrind_of_time(void **state)
{
    profiled f;
    sampled_init(&f, NULL);
    write_with(&f, tl_format_callgrind.profile_writer->write);
    assert_string_equal(f.text,
                        "# callgrind format\nversion: 1\ncreator: traceloom\n"
                        "positions: line\nevent: ns : Time in ns\nevent: Samples : Samples\nevents: ns Samples\n"
                        "summary: 70000000 7\n\nob=(1) traceloom\nfl=(1) ???\n"
                        "\nfl=(1)\nfn=(2) ?\n0 10000000 1\n"
                        "\nfl=(1)\nfn=(3) Main\n0 30000000 3\ncfn=(4) Work\ncalls=6 0\n0 60000000 6\n"
                        "\nfl=(1)\nfn=(4)\n0 30000000 3\ncfn=(2)\ncalls=1 0\n0 10000000 1\n"
                        "\nfl=(1)\nfn=(5) 0x7\n0 0 0\n"
                        "\nfl=(1)\nfn=(1) (root)\n0 0 0\ncfn=(3)\ncalls=7 0\n0 70000000 7\n");
    assert_int_equal(dropped(&f, TL_DROP_WEIGHTS), 3);
    assert_int_equal(dropped(&f, TL_DROP_EMPTY_STACKS), 2);
    profiled_fini(&f);
}

static void test_callgrind_of_memory(void **state)
{
    profiled f;
    sampled_init(&f, "alloc_space");
    write_with(&f, tl_format_callgrind.profile_writer->write);
    assert_contains(f.text, "event: bytes : Memory allocated in bytes\nevent: Allocations : Allocations\n"
                            "events: bytes Allocations\nsummary: 3100 3\n");
    assert_contains(f.text, "fn=(3) Main\n0 0 0\ncfn=(4) Work\ncalls=2 0\n0 100 2\ncfn=(5) 0x7\ncalls=1 0\n0 3000 1\n");
    assert_contains(f.text, "(root)\n0 0 0\ncfn=(3)\ncalls=3 0\n0 3100 3\n");
    profiled_fini(&f);
}

/* Then the counts are the only cost. */
static void test_callgrind_of_counts(void **state)
{
    profiled f;
    sampled_init(&f, "samples");
    write_with(&f, tl_format_callgrind.profile_writer->write);
    assert_contains(f.text, "positions: line\nevent: Samples : Samples\nevents: Samples\nsummary: 7\n");
    assert_contains(f.text, "fn=(3) Main\n0 3\ncfn=(4) Work\ncalls=6 0\n0 6\n");
    assert_contains(f.text, "(root)\n0 0\ncfn=(3)\ncalls=7 0\n0 7\n");
    profiled_fini(&f);
    sampled_init(&f, "alloc_objects");
    write_with(&f, tl_format_callgrind.profile_writer->write);
    assert_contains(f.text, "events: Allocations\nsummary: 3\n");
    profiled_fini(&f);
}

static void test_dot(void **state)
{
    profiled f;
    sampled_init(&f, NULL);
    write_with(&f, tl_format_dot.profile_writer->write);
    assert_contains(f.text, "label=\"70.0 ms in 7 samples; ");
    assert_contains(f.text, "[label=\"Main\\nself 30.0 ms (42.9 %)\\ntotal 70.0 ms (100.0 %)\\n7 samples\", "
                            "tooltip=\"Main\\nsamples 7\\nself 30000000 ns\\ntotal 70000000 ns\"");
    assert_contains(f.text, "[label=\"?\\nself 10.0 ms (14.3 %)\\ntotal 10.0 ms (14.3 %)\\n1 sample\"");
    assert_contains(f.text, "n1 -> n2 [label=\" 60.0 ms\", tooltip=\"Main -> Work\\nsamples 6\\ntotal 60000000 ns\"");
    assert_lacks(f.text, " x");
    profiled_fini(&f);

    sampled_init(&f, "alloc_space");
    write_with(&f, tl_format_dot.profile_writer->write);
    assert_contains(f.text, "label=\"3.0 KiB in 3 allocations; ");
    assert_contains(f.text, "tooltip=\"0x7\\nallocations 1\\nself 3000 bytes\\ntotal 3000 bytes\"");
    assert_lacks(f.text, " ns");
    assert_lacks(f.text, "call\"");
    profiled_fini(&f);

    sampled_init(&f, "alloc_objects");
    write_with(&f, tl_format_dot.profile_writer->write);
    assert_contains(f.text, "label=\"3 allocations; ");
    assert_contains(f.text, "[label=\"0x7\\nself 1 allocation (33.3 %)");
    profiled_fini(&f);
}

static void test_svg(void **state)
{
    profiled f;
    sampled_init(&f, "alloc_space");
    write_with(&f, tl_format_svg.profile_writer->write);
    assert_contains(f.text, "3.0 KiB in 3 allocations, all 3 places</text>");
    assert_contains(f.text, "<title>Main\n3 allocations\ntotal 3.0 KiB (100.00 %)\nself 0 B</title>");
    assert_contains(f.text, "\"unit\":\"bytes\"");
    assert_contains(f.text, "\"w\":[3100,3100,3000,100]");
    assert_contains(f.text, "(data.c[i] === 1 ? ' allocation' : ' allocations') : 'no allocations');");
    assert_contains(f.text, "' of the bytes' +");
    assert_lacks(f.text, "'@");
    assert_lacks(f.text, " @");
    assert_lacks(f.text, " call");
    profiled_fini(&f);

    sampled_init(&f, "samples");
    write_with(&f, tl_format_svg.profile_writer->write);
    assert_contains(f.text, ">7 samples, all 4 places</text>");
    assert_contains(f.text, "<title>Main\n7 samples\ntotal 7 samples (100.00 %)\nself 1 sample</title>");
    assert_contains(f.text, "\"unit\":\"samples\"");
    assert_contains(f.text, "' of the samples' +");
    profiled_fini(&f);

    sampled_init(&f, NULL);
    write_with(&f, tl_format_svg.profile_writer->write);
    assert_contains(f.text, "70.0 ms in 7 samples, all 4 places</text>");
    assert_contains(f.text, "\"unit\":\"ns\"");
    assert_contains(f.text, "' of the time' +");
    assert_contains(f.text, "\"w\":[70000000,70000000,60000000,");
    profiled_fini(&f);
}

#define HEAD(name, unit)                                                                                               \
    "{\"type\":\"sampled\",\"name\":\"" name "\",\"unit\":\"" unit "\",\"startValue\":0,\"samples\":["

/* Frames: 0 is ?, 1 is Main, 2 Work, 3 0x7. */
static void test_speedscope_has_all_weights(void **state)
{
    profiled f;
    sampled_init(&f, "alloc_space");
    write_with(&f, tl_format_speedscope.profile_writer->write);
    assert_contains(f.text, "\"profiles\":[" HEAD("samples", "none") "[1],[1,2],[1,2,0],[1,2,1]],\"weights\":[1,3,1,2],"
                                                                     "\"endValue\":7}," HEAD("time", "nanoseconds"));
    assert_contains(f.text, "\"weights\":[10000000,30000000,10000000,20000000],\"endValue\":70000000}," HEAD(
                                "alloc_space", "bytes") "[1,2],[1,3]],\"weights\":[100,3000],\"endValue\":3100},");
    assert_contains(f.text, HEAD("alloc_objects",
                                 "none") "[1,2],[1,3]],\"weights\":[2,1],\"endValue\":3}],\"activeProfileIndex\":2,");
    assert_contains(f.text, "\"frames\":[{\"name\":\"?\"},{\"name\":\"Main\"},{\"name\":\"Work\"},{\"name\":\"0x7\"}]");
    assert_int_equal(dropped(&f, TL_DROP_WEIGHTS), 0);
    profiled_fini(&f);
}

/* Weights that are zero everywhere are left out, and so are threads without the chosen one. */
static void test_speedscope_has_threads_of_the_chosen_weight(void **state)
{
    profiled f;
    profiled_init(&f, 1000);
    assert_int_equal(tl_profile_make_sampled(f.p, tl_sample_weight, TL_SAMPLE_WEIGHTS, NULL), 0);
    const uint32_t main = sampled_function(&f, 5, "Main", NULL, TL_FUNCTION_HEX_ID);
    const uint32_t a = add_thread(&f, "thread 0x2", 1, 2), b = add_thread(&f, "thread 0x3", 1, 3);
    add_thread(&f, "thread 0x4", 1, 4);
    weigh(&f, sampled_place(&f, a, main), 1, 0, 0);
    weigh(&f, sampled_place(&f, b, main), 2, 0, 0);
    assert_int_equal(tl_profile_choose_weight(f.p, NULL, NULL), 0);
    write_with(&f, tl_format_speedscope.profile_writer->write);
    assert_contains(
        f.text,
        "\"profiles\":[" HEAD("samples", "none") "[0],[0]],\"weights\":[1,2],\"endValue\":3}," HEAD(
            "time", "nanoseconds") "[0],[0]],\"weights\":[10000000,20000000],\"endValue\":30000000}"
                                   "," HEAD("thread 0x2", "nanoseconds") "[0]],\"weights\":[10000000],\"endValue\":"
                                                                         "10000000}," HEAD("thread 0x3",
                                                                                           "nanoseconds") "[0]],"
                                                                                                          "\"weights"
                                                                                                          "\":["
                                                                                                          "20000000],"
                                                                                                          "\"endValue"
                                                                                                          "\":"
                                                                                                          "20000000}]"
                                                                                                          ","
                                                                                                          "\"activePr"
                                                                                                          "ofileIndex"
                                                                                                          "\":1,");
    profiled_fini(&f);
}

static void test_no_samples_at_all(void **state)
{
    const tl_format *const all[] = {&tl_format_folded, &tl_format_callgrind, &tl_format_dot, &tl_format_svg,
                                    &tl_format_speedscope};
    for (size_t i = 0; i < TL_COUNT(all); i++) {
        profiled f;
        profiled_init(&f, 0);
        assert_int_equal(tl_profile_make_sampled(f.p, tl_sample_weight, TL_SAMPLE_WEIGHTS, NULL), 0);
        assert_int_equal(tl_profile_choose_weight(f.p, NULL, NULL), 0);
        write_with(&f, all[i]->profile_writer->write);
        assert_lacks(f.text, "calls\"");
        if (all[i] == &tl_format_speedscope)
            assert_contains(f.text, "\"profiles\":[" HEAD("time", "none") "],\"weights\":[],\"endValue\":0}],");
        profiled_fini(&f);
    }
}

/* A reader would take the numbers for calls. */
static void test_xray_profiles_are_refused(void **state)
{
    profiled f;
    tl_error e = {0};
    tl_output *out;
    sampled_init(&f, NULL);
    assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, &e), 0);
    const tl_write_context context = {.out = out, .drops = &f.drops, .options = &f.options};
    assert_int_equal(xprof_write(&context, f.p, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "not samples");
    assert_int_equal(tl_output_bytes(out), 0);
    tl_output_close(out);
    profiled_fini(&f);
}

/* Functions get the sums of their lines, and recursion still counts once. */
static void test_lines_become_functions(void **state)
{
    profiled f;
    tl_profile *whole = NULL;
    tl_stat stat;
    profiled_init(&f, 1000);
    assert_int_equal(tl_profile_make_sampled(f.p, tl_sample_weight, TL_SAMPLE_WEIGHTS, NULL), 0);
    for (uint32_t line = 3; line < 6; line++) {
        const tl_function made = {
            .id = 1, .name = "f", .file = line == 3 ? NULL : "f.cs", .line = line == 3 ? 0 : line};
        weigh(&f, sampled_place(&f, 0, tl_profile_add_function(f.p, &made)), line, 100, 1);
    }
    f.p->samples.empty = 5;
    assert_int_equal(tl_profile_choose_weight(f.p, "samples", NULL), 0);
    assert_int_equal(tl_profile_regroup(&whole, f.p, TL_GROUP_BY_FUNCTION, NULL), 0);
    assert_int_equal(tl_profile_functions(whole), 1);
    assert_int_equal(tl_profile_places(whole), 2);
    assert_null(whole->function[0].file);
    assert_int_equal(whole->function[0].line, 0);
    tl_profile_function_stat(whole, 0, &stat);
    assert_int_equal(stat.calls, 12);
    assert_int_equal(stat.self, 12);
    assert_int_equal(tl_profile_weight_self(whole, 1, TL_WEIGHT_ALLOC_SPACE), 300);
    assert_int_equal(tl_profile_samples(whole).empty, 5);
    tl_profile_free(whole);
    profiled_fini(&f);
}

static void test_words(void **state)
{
    char buf[TL_AMOUNT_SIZE];
    profiled f;
    sampled_init(&f, "alloc_objects");
    assert_string_equal(tl_profile_amount(f.p, buf, 1), "1 allocation");
    assert_string_equal(tl_profile_amount(f.p, buf, UINT64_MAX), "18,446,744,073,709,551,615 allocations");
    assert_string_equal(tl_profile_words_of(f.p).whole, "allocations");
    profiled_fini(&f);
    profiled_init(&f, 0);
    assert_string_equal(tl_profile_amount(f.p, buf, 1234), "1.23 k ticks");
    assert_string_equal(tl_profile_words_of(f.p).many, "calls");
    assert_string_equal(tl_profile_words_of(f.p).whole, "time");
    assert_int_equal(tl_profile_other_weights(f.p), 0);
    profiled_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folded),
        cmocka_unit_test(test_callgrind_of_time),
        cmocka_unit_test(test_callgrind_of_memory),
        cmocka_unit_test(test_callgrind_of_counts),
        cmocka_unit_test(test_dot),
        cmocka_unit_test(test_svg),
        cmocka_unit_test(test_speedscope_has_all_weights),
        cmocka_unit_test(test_speedscope_has_threads_of_the_chosen_weight),
        cmocka_unit_test(test_no_samples_at_all),
        cmocka_unit_test(test_xray_profiles_are_refused),
        cmocka_unit_test(test_lines_become_functions),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* pprof profiles made of samples: weights as values, lines as locations. */
#include "pprof_fixture.h"
#include "sampled_fixture.h"

#include "model/profile_words.h"

/* Sample types: name and unit of each. */
static void check_types(const profiled *f, const char *const *expected, unsigned n)
{
    field type;
    for (unsigned i = 0; i < n; i++) {
        assert_true(nth(whole(f), 1, i, &type));
        assert_text(f, value_of(type.inside, 1), expected[2 * i]);
        assert_text(f, value_of(type.inside, 2), expected[2 * i + 1]);
    }
    assert_false(nth(whole(f), 1, n, &type));
}

static void test_samples(void **state)
{
    static const char *const types[] = {"samples",     "count", "time",          "nanoseconds",
                                        "alloc_space", "bytes", "alloc_objects", "count"};
    static const uint64_t values[][4] = {
        {1, 10000000, 0, 0}, {3, 30000000, 100, 2}, {1, 10000000, 0, 0}, {2, 20000000, 0, 0}, {0, 0, 3000, 1}};
    static const uint64_t stacks[][4] = {{2}, {3, 2}, {1, 3, 2}, {2, 3, 2}, {4, 2}}; /* leaf first; 1 is ? */
    profiled f;
    sample s;
    field at;
    sampled_init(&f, "alloc_space");
    write_pprof(&f);
    check_types(&f, types, 4);
    assert_text(&f, value_of(whole(&f), 14), "alloc_space");
    assert_int_equal(value_of(whole(&f), 12), 10000000); /* all samples stand for 10 ms */
    assert_int_equal(value_of(whole(&f), 10), 480000000);
    assert_true(nth(whole(&f), 11, 0, &at));
    assert_text(&f, value_of(at.inside, 1), "time");
    assert_text(&f, value_of(at.inside, 2), "nanoseconds");
    for (unsigned i = 0; i < 5; i++) {
        assert_true(get_sample(&f, i, &s));
        assert_int_equal(s.nvalue, 4);
        assert_memory_equal(s.value, values[i], sizeof values[i]);
        assert_false(s.has_latency);
        for (size_t k = 0; k < s.nlocation; k++)
            assert_int_equal(s.location[k], stacks[i][k]);
    }
    assert_false(get_sample(&f, 5, &s));
    static const char *const names[] = {"?", "Main", "Work", "0x7"};
    for (unsigned i = 0; i < 4; i++) {
        assert_true(nth(whole(&f), 5, i, &at));
        assert_text(&f, value_of(at.inside, 2), names[i]);
        assert_int_equal(value_of(at.inside, 5), 0);
        assert_true(nth(whole(&f), 4, i, &at));
        assert_int_equal(value_of(at.inside, 2), i == 1 || i == 2 ? 2 : 1);
    }
    assert_true(nth(whole(&f), 3, 1, &at));
    assert_text(&f, value_of(at.inside, 5), "/opt/app.exe");
    assert_int_equal(dropped(&f, TL_DROP_EMPTY_STACKS), 2);
    assert_int_equal(f.drops.n, 1);
    profiled_fini(&f);
}

/* Weights of allocations are left out if there are none, like those of samples; the chosen one always stays. */
static void test_weights_that_are_zero(void **state)
{
    static const char *const sampled[] = {"samples", "count", "time", "nanoseconds"};
    static const char *const allocated[] = {"alloc_space", "bytes", "alloc_objects", "count"};
    for (int i = 0; i < 4; i++) {
        profiled f;
        sample s;
        profiled_init(&f, i == 3 ? 0 : 1000);
        assert_int_equal(tl_profile_make_sampled(f.p, tl_sample_weight, TL_SAMPLE_WEIGHTS, NULL), 0);
        const uint32_t place = sampled_place(&f, 0, sampled_function(&f, 1, "f", NULL, 0));
        weigh(&f, place, i == 0 || i == 3, i == 1 ? 50 : 0, 0);
        assert_int_equal(tl_profile_choose_weight(f.p, i == 0 || i == 3 ? "time" : "alloc_objects", NULL), 0);
        write_pprof(&f);
        if (i == 3) { /* of a clock without frequency */
            const char *const ticks[] = {"samples", "count", "time", "ticks"};
            check_types(&f, ticks, 2);
        } else {
            check_types(&f, i == 0 ? sampled : allocated, 2);
        }
        assert_int_equal(get_sample(&f, 0, &s), i != 2);
        assert_int_equal(value_of(whole(&f), 12), i == 0 ? 10000000 : 1);
        profiled_fini(&f);
    }
}

/* Samples that stand for different times have no period. */
static void test_periods_that_differ(void **state)
{
    profiled f;
    sampled_init(&f, NULL);
    tl_profile_weigh(f.p, 1, TL_WEIGHT_TIME, 1);
    assert_int_equal(tl_profile_choose_weight(f.p, NULL, NULL), 0);
    write_pprof(&f);
    assert_int_equal(value_of(whole(&f), 12), 1);
    profiled_fini(&f);
}

/* Functions distinguished by line are locations of one function, whose file is that of the known lines. */
static void test_lines_are_locations(void **state)
{
    static const struct {
        const char *name, *file;
        uint32_t line, function;
    } expected[] = {
        {"f", NULL, 0, 1}, {"f", "a.cs", 3, 1}, {"f", "a.cs", 7, 1}, {"f", "b.cs", 7, 2}, {"g", "a.cs", 7, 3}};
    profiled f;
    field at, line;
    profiled_init(&f, 1000);
    assert_int_equal(tl_profile_make_sampled(f.p, tl_sample_weight, TL_SAMPLE_WEIGHTS, NULL), 0);
    for (unsigned i = 0; i < TL_COUNT(expected); i++) {
        const tl_function made = {.id = expected[i].name[0] == 'f' ? 1 : 2,
                                  .name = expected[i].name,
                                  .file = expected[i].file,
                                  .line = expected[i].line,
                                  .flags = i ? TL_FUNCTION_OFFSET : 0,
                                  .offset = i};
        weigh(&f, sampled_place(&f, 0, tl_profile_add_function(f.p, &made)), i + 1, 0, 0);
    }
    assert_int_equal(tl_profile_choose_weight(f.p, NULL, NULL), 0);
    write_pprof(&f);
    for (unsigned i = 0; i < TL_COUNT(expected); i++) {
        assert_true(nth(whole(&f), 4, i, &at));
        assert_true(nth(at.inside, 4, 0, &line));
        assert_int_equal(value_of(line.inside, 1), expected[i].function);
        assert_int_equal(value_of(line.inside, 2), expected[i].line);
    }
    static const char *const files[] = {"a.cs", "b.cs", "a.cs"};
    for (unsigned i = 0; i < 3; i++) {
        assert_true(nth(whole(&f), 5, i, &at));
        assert_int_equal(value_of(at.inside, 1), i + 1);
        assert_text(&f, value_of(at.inside, 4), files[i]);
        assert_int_equal(value_of(at.inside, 5), 0); /* the begin of a function is unknown */
    }
    assert_false(nth(whole(&f), 5, 3, &at));
    profiled_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_weights_that_are_zero),
        cmocka_unit_test(test_periods_that_differ),
        cmocka_unit_test(test_lines_are_locations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

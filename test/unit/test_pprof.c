/* pprof profiles, read back by a small decoder: sums, labels, mappings, and texts that are not UTF-8. */
#include "pprof_fixture.h"

/* The middle of a duration's latency bucket, which keeps seven binary digits. */
static uint64_t middle(uint64_t ticks)
{
    unsigned spare = 0;
    while (ticks >> spare >= 128)
        spare++;
    return (ticks >> spare << spare) + ((UINT64_C(1) << spare) - 1) / 2;
}

static void test_example(void **state)
{
    profiled f;
    sample s;
    field type;
    profiled_init(&f, 1000000000);
    add_example(&f, add_thread(&f, "thread 7", 5, 7));
    write_pprof(&f);
    assert_text(&f, 0, "");
    const char *const types[] = {"calls", "count", "time", "nanoseconds"};
    for (unsigned i = 0; i < 2; i++) {
        assert_true(nth(whole(&f), 1, i, &type));
        assert_text(&f, value_of(type.inside, 1), types[2 * i]);
        assert_text(&f, value_of(type.inside, 2), types[2 * i + 1]);
    }
    assert_text(&f, value_of(whole(&f), 14), "time");

    assert_true(get_sample(&f, 0, &s));
    assert_int_equal(s.nlocation, 1);
    assert_int_equal(s.value[0], 1);
    assert_int_equal(s.value[1], 300);
    assert_int_equal(s.latency, middle(1000));
    assert_text(&f, s.unit, "nanoseconds");
    assert_text(&f, s.thread, "thread 7");
    const uint64_t root = s.location[0];

    assert_true(get_sample(&f, 1, &s)); /* main;a: a call of 300 and one of 400 share 450 ns */
    assert_int_equal(s.nlocation, 2);
    assert_int_equal(s.location[1], root); /* leaf first */
    assert_int_equal(s.value[0], 1);
    assert_int_equal(s.value[1], 450 * s.latency / (middle(400) + s.latency));
    uint64_t first = s.value[1];
    assert_true(get_sample(&f, 2, &s));
    assert_int_equal(s.value[0], 1);
    assert_int_equal(s.value[1] + first, 450);

    assert_true(get_sample(&f, 3, &s));
    assert_int_equal(s.nlocation, 3);
    assert_int_equal(s.value[1], 250);
    assert_false(get_sample(&f, 4, &s));
    assert_int_equal(dropped(&f, "shortest and longest calls"), 3);
    profiled_fini(&f);
}

static void test_functions_and_mappings(void **state)
{
    profiled f;
    field at, line;
    profiled_init(&f, 1000000000);
    f.p->exe = "/bin/app";
    f.p->build_id = "abcd";
    tl_function details[] = {{.id = 1,
                              .name = "main()",
                              .linkage_name = "_Z4mainv",
                              .file = "m.cc",
                              .line = 12,
                              .address = 0x401000,
                              .module = "abcd"},
                             {.id = 2, .module = "ffee"},
                             {.id = 3, .name = "bad \xff\xc3\xa4", .module = "ffee"}};
    for (size_t i = 0; i < 3; i++)
        add_call(&f, 0, tl_profile_add_function(f.p, &details[i]), 1, 1);
    write_pprof(&f);

    assert_true(nth(whole(&f), 3, 0, &at));
    assert_int_equal(value_of(at.inside, 1), 1);
    assert_text(&f, value_of(at.inside, 5), "/bin/app");
    assert_text(&f, value_of(at.inside, 6), "abcd");
    for (unsigned known = 7; known <= 9; known++)
        assert_int_equal(value_of(at.inside, known), 1);
    assert_true(nth(whole(&f), 3, 1, &at));
    assert_int_equal(value_of(at.inside, 1), 2);
    assert_text(&f, value_of(at.inside, 6), "ffee");
    assert_false(nth(whole(&f), 3, 2, &at));

    assert_true(nth(whole(&f), 5, 0, &at));
    assert_int_equal(value_of(at.inside, 1), 1);
    assert_text(&f, value_of(at.inside, 2), "main()");
    assert_text(&f, value_of(at.inside, 3), "_Z4mainv");
    assert_text(&f, value_of(at.inside, 4), "m.cc");
    assert_int_equal(value_of(at.inside, 5), 12);
    assert_true(nth(whole(&f), 5, 1, &at));
    assert_text(&f, value_of(at.inside, 2), "#2");
    assert_text(&f, value_of(at.inside, 4), "");
    assert_true(nth(whole(&f), 5, 2, &at));
    assert_text(&f, value_of(at.inside, 2), "bad \xc3\xbf\xc3\xa4");

    assert_true(nth(whole(&f), 4, 0, &at));
    assert_int_equal(value_of(at.inside, 2), 1);
    assert_int_equal(value_of(at.inside, 3), 0x401000);
    assert_true(nth(at.inside, 4, 0, &line));
    assert_int_equal(value_of(line.inside, 1), 1);
    assert_int_equal(value_of(line.inside, 2), 12);
    assert_true(nth(whole(&f), 4, 1, &at));
    assert_int_equal(value_of(at.inside, 2), 2);
    profiled_fini(&f);
}

static void test_without_histogram(void **state)
{
    profiled f;
    sample s;
    field period;
    profiled_init(&f, 0);
    f.p->has_histogram = false;
    add_example(&f, 0);
    write_pprof(&f);
    assert_true(get_sample(&f, 1, &s));
    assert_int_equal(s.value[0], 2);
    assert_int_equal(s.value[1], 450);
    assert_false(s.has_latency);
    assert_int_equal(s.thread, 0);
    assert_true(get_sample(&f, 2, &s));
    assert_false(get_sample(&f, 3, &s));
    /* Ticks stay ticks, but the period stays comparable. */
    assert_true(nth(whole(&f), 1, 1, &period));
    assert_text(&f, value_of(period.inside, 2), "ticks");
    assert_true(nth(whole(&f), 11, 0, &period));
    assert_text(&f, value_of(period.inside, 1), "time");
    assert_text(&f, value_of(period.inside, 2), "nanoseconds");
    assert_int_equal(value_of(whole(&f), 12), 1);
    profiled_fini(&f);
}

/* The shares of a place add up exactly, however large or unequal the numbers. */
static void check_sums(uint64_t self, uint64_t n, const uint64_t (*bucket)[2])
{
    profiled f;
    sample s;
    profiled_init(&f, 1000000000);
    uint32_t place = tl_profile_child(f.p, 0, add_function(&f, 1, "f", NULL, 0));
    tl_place_stat *stat = &f.p->stat[place];
    stat->self = stat->total = self;
    for (uint64_t i = 0; i < n; i++) {
        assert_true(tl_hist_add_slow(&stat->hist, tl_hist_bucket(bucket[i][0]), bucket[i][1]));
        stat->calls += bucket[i][1];
    }
    write_pprof(&f);
    uint64_t calls = 0, time = 0, i = 0;
    while (get_sample(&f, i, &s)) {
        assert_true(s.value[1] <= self - time);
        assert_int_equal(s.latency, middle(bucket[i++][0]));
        calls += s.value[0];
        time += s.value[1];
    }
    assert_int_equal(i, n);
    assert_true(calls == stat->calls);
    assert_true(time == self);
    profiled_fini(&f);
}

static void test_shares_are_exact(void **state)
{
    check_sums(UINT64_MAX, 3, (const uint64_t[][2]){{0, 7}, {5, UINT64_C(1) << 62}, {UINT64_MAX, 1}});
    check_sums(UINT64_MAX - 1, 3,
               (const uint64_t[][2]){{1, 1}, {UINT64_MAX / 2, UINT64_C(1) << 60}, {UINT64_MAX, 12345}});
    check_sums(UINT64_MAX, 2, (const uint64_t[][2]){{1, 1}, {UINT64_MAX, UINT64_MAX - 1}});
    check_sums(10, 4, (const uint64_t[][2]){{1, 1}, {2, 1}, {3, 1}, {4, 1}});
    check_sums(5, 2, (const uint64_t[][2]){{0, 3}, {1, 0xffffffff}});
    check_sums(0, 2, (const uint64_t[][2]){{0, 3}, {1, 1}});
    check_sums(7, 1, (const uint64_t[][2]){{0, 3}});
}

static void test_shares_are_in_proportion(void **state)
{
    profiled f;
    sample s;
    profiled_init(&f, 1000000000);
    uint32_t function = add_function(&f, 1, "f", NULL, 0);
    for (uint64_t ticks = 1; ticks <= 4; ticks++)
        add_call(&f, 0, function, ticks, ticks * 1000);
    write_pprof(&f);
    for (uint64_t i = 0; i < 4; i++) {
        assert_true(get_sample(&f, i, &s));
        assert_int_equal(s.latency, i + 1);
        assert_int_equal(s.value[1], (i + 1) * 1000);
    }
    profiled_fini(&f);
    static const uint64_t calls[] = {0, 40, 7, 3, 2}; /* more than ticks, and fewer */
    profiled_init(&f, 1000000000);
    function = add_function(&f, 1, "f", NULL, 0);
    for (uint64_t ticks = 1; ticks <= 4; ticks++)
        for (uint64_t i = 0; i < calls[ticks]; i++)
            add_call(&f, 0, function, ticks, ticks * 1000);
    write_pprof(&f);
    for (uint64_t ticks = 1; ticks <= 4; ticks++) {
        assert_true(get_sample(&f, ticks - 1, &s));
        assert_int_equal(s.value[0], calls[ticks]);
        assert_int_equal(s.value[1], calls[ticks] * ticks * 1000);
    }
    profiled_fini(&f);
}

/* A histogram with fewer calls than there are: the others have no latency. */
static void test_calls_of_unknown_duration(void **state)
{
    profiled f;
    sample s;
    profiled_init(&f, 1000000000);
    uint32_t place = add_call(&f, 0, add_function(&f, 1, "f", NULL, 0), 10, 10);
    f.p->stat[place].calls = 5;
    write_pprof(&f);
    assert_true(get_sample(&f, 0, &s));
    assert_int_equal(s.value[0], 1);
    assert_int_equal(s.value[1], 10);
    assert_true(get_sample(&f, 1, &s));
    assert_int_equal(s.value[0], 4);
    assert_int_equal(s.value[1], 0);
    assert_false(s.has_latency);
    profiled_fini(&f);
}

static void test_empty(void **state)
{
    profiled f;
    sample s;
    field at;
    profiled_init(&f, 1000000000);
    f.options.title = "nothing";
    write_pprof(&f);
    assert_false(get_sample(&f, 0, &s));
    assert_true(nth(whole(&f), 3, 0, &at));
    assert_text(&f, value_of(at.inside, 5), "traceloom");
    assert_true(nth(whole(&f), 13, 0, &at));
    assert_text(&f, at.value, "nothing");
    profiled_fini(&f);
}

static void test_the_same_bytes_in_any_order(void **state)
{
    profiled f[2];
    for (int i = 0; i < 2; i++) {
        profiled_init(&f[i], 1000000000);
        for (int64_t k = 0; k < 4; k++) {
            int64_t id = i ? 3 - k : k;
            char name[8];
            snprintf(name, sizeof name, "f%d", (int)id);
            uint32_t place = add_call(&f[i], 0, add_function(&f[i], id, name, NULL, 0), 5, 2);
            add_call(&f[i], place, add_function(&f[i], 9, "leaf", NULL, 0), 3, 3);
        }
        write_pprof(&f[i]);
    }
    assert_int_equal(f[0].n, f[1].n);
    assert_memory_equal(f[0].text, f[1].text, f[0].n);
    profiled_fini(&f[0]);
    profiled_fini(&f[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_functions_and_mappings),
        cmocka_unit_test(test_without_histogram),
        cmocka_unit_test(test_shares_are_exact),
        cmocka_unit_test(test_shares_are_in_proportion),
        cmocka_unit_test(test_calls_of_unknown_duration),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_the_same_bytes_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

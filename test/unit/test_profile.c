/* Profiles: places, functions, threads, their numbers, sums, and canonical order. */
#include "random_profile.h"

#include "function_order.h"
#include "model/string_rank.h"

static void test_a_new_profile_is_empty(void **state)
{
    tl_profile *p = fixture_new();
    assert_int_equal(tl_profile_places(p), 1);
    assert_int_equal(tl_profile_parent(p, 0), 0);
    assert_int_equal(tl_profile_function(p, 0), UINT32_MAX);
    assert_int_equal(tl_profile_functions(p), 0);
    assert_null(tl_profile_get_function(p, 0));
    assert_true(tl_profile_has_histogram(p));
    assert_string_equal(tl_profile_clock(p)->name, "tsc");
    assert_string_equal(tl_profile_unit(p), "ns");
    assert_int_equal(tl_profile_time(p, 3), 2); /* 1.5 ns, half to even */
    tl_stat s;
    tl_profile_stat(p, 0, &s);
    assert_int_equal(s.calls, 0);
    assert_int_equal(s.min, 0);
    assert_int_equal(s.max, 0);
    assert_int_equal(tl_profile_unmatched_exits(p), 0);
    assert_int_equal(tl_profile_unmatched_open(p), 0);
    tl_profile_free(p);
    tl_profile_free(NULL);
}

static void test_a_clock_without_frequency_stays_in_ticks(void **state)
{
    tl_profile *p = NULL;
    assert_int_equal(tl_profile_new(&p, &(tl_clock){.name = NULL}, NULL), 0);
    assert_string_equal(tl_profile_unit(p), "ticks");
    assert_int_equal(tl_profile_time(p, 12345), 12345);
    assert_null(tl_profile_clock(p)->name);
    tl_profile_free(p);
}

static void test_places_are_found_again(void **state)
{
    tl_profile *p = fixture_new();
    uint32_t abc = fixture_place(p, 0, "abc"), abd = fixture_place(p, 0, "abd"), b = fixture_place(p, 0, "b");
    assert_int_equal(tl_profile_places(p), 6);
    assert_int_equal(fixture_place(p, 0, "abc"), abc);
    assert_int_equal(fixture_place(p, 0, "b"), b);
    assert_int_equal(tl_profile_places(p), 6);
    assert_int_equal(tl_profile_parent(p, abc), tl_profile_parent(p, abd));
    assert_int_equal(tl_profile_parent(p, b), 0);
    assert_string_equal(tl_profile_get_function(p, tl_profile_function(p, abd))->name, "d");
    for (uint32_t i = 1; i < tl_profile_places(p); i++)
        assert_true(tl_profile_parent(p, i) < i);
    tl_profile_free(p);
}

static void test_many_places(void **state)
{
    tl_profile *p = fixture_new();
    uint32_t f = fixture_function(p, 1, "f"), g = fixture_function(p, 2, "g"), place = 0;
    for (uint32_t i = 0; i < 50000; i++) {
        assert_true((place = tl_profile_child(p, place, f)) != TL_HASH_NONE);
        assert_true(tl_profile_child(p, place, g) != TL_HASH_NONE);
    }
    assert_int_equal(tl_profile_places(p), 100001);
    tl_profile_free(p);
}

static void test_functions_are_told_apart_by_their_details(void **state)
{
    tl_profile *p = fixture_new();
    tl_function f = {.id = 5, .name = "f", .module = "m", .file = "x.c", .line = 3};
    uint32_t first = tl_profile_add_function(p, &f);
    char copy[] = "f"; /* equal text elsewhere */
    f.name = copy;
    assert_int_equal(tl_profile_add_function(p, &f), first);
    tl_function other[] = {f, f, f, f, f};
    other[0].id = -5;
    other[1].name = NULL;
    other[2].module = NULL;
    other[3].file = "y.c";
    other[4].line = 4;
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(tl_profile_add_function(p, &other[i]), first + 1 + i);
    assert_int_equal(tl_profile_functions(p), 6);
    tl_profile_free(p);
}

static void test_details_of_equal_functions_are_combined(void **state)
{
    tl_profile *p = fixture_new();
    tl_function f = {.id = 5, .name = "f"};
    const uint64_t address[] = {0, 0x2000, 0, 0x1000, 0x3000};
    const char *linkage[] = {NULL, "_Zb", NULL, "_Zc", "_Za"};
    for (int i = 0; i < 5; i++) {
        f.address = address[i];
        f.linkage_name = linkage[i];
        assert_int_equal(tl_profile_add_function(p, &f), 0);
    }
    assert_int_equal(tl_profile_get_function(p, 0)->address, 0x1000);
    assert_string_equal(tl_profile_get_function(p, 0)->linkage_name, "_Za");
    tl_profile_free(p);
}

static void test_functions_by_id_come_from_the_trace(void **state)
{
    static const int64_t ids[] = {0, 1, 65535, 65536, 1000000000000, -1, INT64_MIN, INT64_MAX};
    tl_trace t;
    tl_trace_init(&t);
    tl_profile *p = fixture_new();
    for (size_t i = 0; i < TL_COUNT(ids); i += 2) {
        tl_function f = {.id = ids[i], .name = "known", .file = "k.c", .line = (uint32_t)i, .address = 16};
        assert_int_equal(tl_trace_add_function(&t, &f, NULL), 0);
    }
    for (uint32_t i = 0; i < TL_COUNT(ids); i++)
        assert_int_equal(tl_profile_intern_function(p, i == 3 ? NULL : &t, ids[i]), i);
    for (uint32_t i = 0; i < TL_COUNT(ids); i++) {
        assert_int_equal(tl_profile_intern_function(p, &t, ids[i]), i);
        const tl_function *f = tl_profile_get_function(p, i);
        assert_true(f->id == ids[i]);
        if (i % 2 == 0) {
            assert_string_equal(f->name, "known");
            assert_int_equal(f->line, i);
        } else {
            assert_null(f->name);
        }
    }
    tl_trace_fini(&t); /* the profile has copies */
    assert_string_equal(tl_profile_get_function(p, 0)->file, "k.c");
    tl_profile_free(p);
}

static void test_labels(void **state)
{
    char buf[24];
    assert_string_equal(tl_function_label(&(tl_function){.id = 3, .name = "f"}, buf), "f");
    assert_string_equal(tl_function_label(&(tl_function){.id = 3}, buf), "#3");
    assert_string_equal(tl_function_label(&(tl_function){.id = INT64_MIN}, buf), "#-9223372036854775808");
}

static void test_threads_have_roots(void **state)
{
    tl_profile *p = fixture_new();
    tl_track one = {.name = "thread 1", .has_tid = true, .tid = 1}, two = one;
    two.has_pid = true;
    two.pid = 9;
    uint32_t first = tl_profile_thread_root(p, &one), second = tl_profile_thread_root(p, &two);
    assert_true(p->per_thread);
    assert_true(first != second);
    assert_int_equal(tl_profile_thread_root(p, &one), first);
    one.pid = 77; /* ignored: has_pid is false */
    assert_int_equal(tl_profile_thread_root(p, &one), first);
    one.name = "worker";
    assert_true(tl_profile_thread_root(p, &one) != first);
    uint32_t deep = fixture_place(p, second, "abc");
    assert_int_equal(tl_profile_place_track(p, deep), p->place[second].track);
    assert_int_equal(tl_profile_place_track(p, second), p->place[second].track);
    assert_int_equal(tl_profile_place_track(p, 0), TL_NO_TRACK);
    assert_int_equal(tl_profile_place_track(p, fixture_place(p, 0, "a")), TL_NO_TRACK);
    assert_int_equal(tl_profile_function(p, second), UINT32_MAX);
    assert_true(p->track[p->place[second].track].pid == 9);
    tl_profile_free(p);
}

static void test_function_numbers_are_sums_over_places(void **state)
{
    tl_profile *p = fixture_new();
    fixture_call(p, fixture_place(p, 0, "a"), 100, 40, true);
    fixture_call(p, fixture_place(p, 0, "ab"), 60, 10, true);
    fixture_call(p, fixture_place(p, 0, "aba"), 50, 30, false); /* a in a: the outer one includes its time */
    fixture_call(p, fixture_place(p, 0, "abab"), 20, 20, false);
    fixture_call(p, fixture_place(p, 0, "b"), 7, 7, true);
    fixture_call(p, fixture_place(p, 0, "b"), 9, 9, true);
    tl_stat s;
    tl_profile_function_stat(p, tl_profile_function(p, fixture_place(p, 0, "a")), &s);
    assert_int_equal(s.calls, 2);
    assert_int_equal(s.total, 100);
    assert_int_equal(s.self, 70);
    assert_int_equal(s.min, 50);
    assert_int_equal(s.max, 100);
    uint32_t b = tl_profile_function(p, fixture_place(p, 0, "b"));
    tl_profile_function_stat(p, b, &s);
    assert_int_equal(s.calls, 4);
    assert_int_equal(s.total, 76);
    assert_int_equal(s.self, 46);
    assert_int_equal(s.min, 7);
    assert_int_equal(s.max, 60);
    assert_int_equal(tl_profile_function_percentile(p, b, 500), 9); /* of 7 9 20 60 */
    assert_int_equal(tl_profile_function_percentile(p, b, 750), 20);
    assert_int_equal(tl_profile_function_percentile(p, b, 990), 60);
    tl_profile_stat(p, fixture_place(p, 0, "b"), &s);
    assert_int_equal(s.total, 16);
    assert_int_equal(tl_profile_percentile(p, fixture_place(p, 0, "b"), 500), 7);
    tl_profile_free(p);
}

static void test_sum_up_gives_totals(void **state)
{
    static const struct {
        const char *stack;
        uint64_t calls, self, total, outer;
    } expected[] = {
        {"a", 1, 10, 10 + 20 + 30 + 40 + 5, 105},
        {"ab", 2, 20, 90, 90},
        {"aba", 3, 30, 70, 0}, /* recursion through b */
        {"abaa", 4, 40, 40, 0},
        {"ac", 0, 0, 5, 5}, /* only a prefix */
        {"acb", 1, 5, 5, 5},
        {"b", 1, 7, 7, 7},
    };
    tl_profile *p = fixture_new();
    for (size_t i = 0; i < TL_COUNT(expected); i++) {
        tl_place_stat *s = &p->stat[fixture_place(p, 0, expected[i].stack)];
        s->calls = expected[i].calls;
        s->self = expected[i].self;
    }
    assert_int_equal(tl_profile_sum_up(p, NULL), 0);
    assert_false(tl_profile_has_histogram(p));
    for (size_t i = 0; i < TL_COUNT(expected); i++) {
        const tl_place_stat *s = &p->stat[fixture_place(p, 0, expected[i].stack)];
        assert_int_equal(s->total, expected[i].total);
        assert_int_equal(s->outer, expected[i].outer);
    }
    tl_stat s;
    tl_profile_function_stat(p, tl_profile_function(p, fixture_place(p, 0, "b")), &s);
    assert_int_equal(s.total, 90 + 5 + 7);
    assert_int_equal(s.min, 0); /* unknown */
    assert_int_equal(s.max, 0);
    assert_int_equal(tl_profile_function_percentile(p, 0, 500), 0);
    assert_int_equal(tl_profile_percentile(p, 1, 500), 0);
    tl_profile_free(p);
}

static void test_sum_up_keeps_threads_apart_and_saturates(void **state)
{
    tl_profile *p = fixture_new();
    uint32_t one = tl_profile_thread_root(p, &(tl_track){.name = "1"});
    uint32_t two = tl_profile_thread_root(p, &(tl_track){.name = "2"});
    p->stat[fixture_place(p, one, "a")].self = UINT64_MAX;
    p->stat[fixture_place(p, one, "ab")].self = 5;
    p->stat[fixture_place(p, two, "a")].self = 3;
    assert_int_equal(tl_profile_sum_up(p, NULL), 0);
    assert_true(p->stat[fixture_place(p, one, "a")].total == UINT64_MAX);
    assert_int_equal(p->stat[fixture_place(p, two, "a")].outer, 3);
    assert_int_equal(p->stat[one].total, 0);
    assert_int_equal(p->stat[0].total, 0);
    tl_profile_free(p);
}

static void test_a_deep_stack_does_not_take_the_machine_s(void **state)
{
    tl_profile *p = fixture_new();
    uint32_t f = fixture_function(p, 1, "f"), place = 0, n = 1000000;
    for (uint32_t i = 0; i < n; i++) {
        place = tl_profile_child(p, place, f);
        p->stat[place].self = 1;
    }
    assert_int_equal(tl_profile_sum_up(p, NULL), 0);
    assert_int_equal(p->stat[1].total, n);
    assert_int_equal(p->stat[1].outer, n);
    assert_int_equal(p->stat[2].outer, 0);
    uint32_t *order = malloc(tl_profile_places(p) * sizeof *order);
    assert_non_null(order);
    assert_int_equal(tl_profile_canonical_order(p, order, NULL), 0);
    assert_int_equal(order[n], place);
    free(order);
    tl_profile_free(p);
}

/* As readers of profiles do: places come in order, and are looked up only if later additions need it. */
static void test_appended_places_are_found_later(void **state)
{
    tl_profile *p = fixture_new();
    enum { N = 1000 };
    uint32_t f[2] = {fixture_function(p, 1, "f"), fixture_function(p, 2, "g")}, place[N] = {0};
    for (uint32_t i = 1; i < N; i++) {
        place[i] = tl_profile_append_child(p, place[i / 2], f[i % 2]);
        assert_int_equal(place[i], i);
    }
    const uint32_t root = tl_profile_thread_root(p, &(tl_track){.tid = 7, .has_tid = true});
    for (uint32_t i = 1; i < N; i++)
        assert_int_equal(tl_profile_child_slow(p, place[i / 2], f[i % 2]), place[i]);
    const uint32_t below = tl_profile_append_child(p, root, f[0]);
    assert_int_equal(tl_profile_child(p, root, f[0]), below);
    assert_int_not_equal(tl_profile_child(p, root, f[1]), below);
    assert_int_equal(tl_profile_places(p), N + 3);
    tl_profile_free(p);
}

static void test_functions_are_ordered_by_details(void **state)
{
    static const tl_function ascending[] = {
        {.id = 9},
        {.id = -1, .module = "a"},
        {.id = 3, .module = "a"},
        {.id = 3, .module = "a", .name = ""},
        {.id = 3, .module = "a", .name = "f"},
        {.id = 3, .module = "a", .name = "f", .file = "x"},
        {.id = 3, .module = "a", .name = "f", .file = "x", .line = 1},
        {.id = 3, .module = "a", .name = "\xff"}, /* bytes are unsigned */
        {.id = INT64_MAX, .module = "a"},
        {.id = 0, .module = "b"},
    };
    for (uint32_t i = 0; i < TL_COUNT(ascending); i++)
        for (uint32_t k = 0; k < TL_COUNT(ascending); k++) {
            int c = function_compare(&ascending[i], &ascending[k]);
            assert_true(i < k ? c < 0 : i > k ? c > 0 : c == 0);
        }
    tl_profile *p = fixture_new();
    for (uint32_t i = 0; i < TL_COUNT(ascending); i++) /* 7 and 10 have no common divisor */
        tl_profile_add_function(p, &ascending[i * 7 % TL_COUNT(ascending)]);
    uint32_t order[TL_COUNT(ascending)];
    assert_int_equal(tl_profile_function_order(p, order, NULL), 0);
    for (uint32_t i = 0; i < TL_COUNT(ascending); i++)
        assert_int_equal(function_compare(tl_profile_get_function(p, order[i]), &ascending[i]), 0);
    tl_profile_free(p);
}

static void test_threads_are_ordered_by_ids(void **state)
{
    static const tl_track ascending[] = {
        {.name = NULL},
        {.name = "a"},
        {.name = "b"},
        {.has_tid = true, .tid = -4, .name = "z"},
        {.has_tid = true, .tid = 4, .name = "a"},
        {.has_pid = true, .pid = 1, .name = "z"},
        {.has_pid = true, .pid = 1, .has_tid = true, .tid = 4, .name = "b"},
        {.has_pid = true, .pid = 2, .has_tid = true, .tid = 3, .name = "a"},
    };
    tl_profile *p = fixture_new();
    for (uint32_t i = 0; i < TL_COUNT(ascending); i++)
        tl_profile_thread_root(p, &ascending[i * 3 % TL_COUNT(ascending)]);
    uint32_t order[TL_COUNT(ascending)];
    assert_int_equal(tl_profile_track_order(p, order, NULL), 0);
    for (uint32_t i = 0; i < TL_COUNT(ascending); i++)
        for (uint32_t k = 0; k < TL_COUNT(ascending); k++) {
            int c = tl_track_compare(&p->track[order[i]], &ascending[k]);
            assert_true(i < k ? c < 0 : i > k ? c > 0 : c == 0);
        }
    tl_profile_free(p);
}

/* The stacks of a profile in canonical order, as text. */
static void canonical_text(const tl_profile *p, char *text, size_t size)
{
    uint32_t order[64], n = tl_profile_places(p);
    assert_true(n <= TL_COUNT(order));
    assert_int_equal(tl_profile_canonical_order(p, order, NULL), 0);
    assert_int_equal(order[0], 0);
    *text = 0;
    for (uint32_t i = 1; i < n; i++) {
        char stack[32];
        size_t at = sizeof stack - 1;
        stack[at] = 0;
        for (uint32_t k = order[i]; k; k = p->place[k].parent)
            stack[--at] = p->place[k].function == TL_NO_FUNCTION ? p->track[p->place[k].track].name[0]
                                                                 : p->function[p->place[k].function].name[0];
        assert_true(strlen(text) + sizeof stack < size);
        strcat(strcat(text, stack + at), " ");
    }
}

static void test_places_are_ordered_depth_first(void **state)
{
    static const char *const stacks[][5] = {{"b", "acb", "abc", "ab", "cab"}, {"abc", "cab", "acb", "ab", "b"}};
    for (int i = 0; i < 2; i++) {
        char text[256];
        tl_profile *p = fixture_new();
        for (int k = 0; k < 5; k++)
            fixture_place(p, 0, stacks[i][k]);
        canonical_text(p, text, sizeof text);
        assert_string_equal(text, "a ab abc ac acb b c ca cab ");
        tl_profile_free(p);

        p = fixture_new();
        for (int k = 4; k >= 0; k--) {
            fixture_place(p, tl_profile_thread_root(p, &(tl_track){.name = k % 2 ? "Y" : "X"}), stacks[0][k]);
            fixture_place(p, 0, "c");
        }
        canonical_text(p, text, sizeof text);
        assert_string_equal(text, "X Xa Xab Xabc Xb Xc Xca Xcab Y Ya Yab Yac Yacb c ");
        tl_profile_free(p);
    }
}

static void test_strings_have_ranks(void **state)
{
    tl_profile *p = fixture_new();
    fixture_function(p, 1, "beta");
    fixture_function(p, 2, "alpha");
    fixture_function(p, 3, "beta");
    p->exe = "beta"; /* equal text, another pointer */
    tl_string_ranks r;
    assert_int_equal(tl_string_ranks_init(&r, p, NULL), 0);
    assert_int_equal(r.n, 4);
    assert_string_equal(r.text[0], "aa11");
    assert_string_equal(r.text[3], "tsc");
    assert_int_equal(tl_string_rank(&r, NULL), 0);
    assert_int_equal(tl_string_rank(&r, p->function[1].name), 2);
    assert_int_equal(tl_string_rank(&r, p->function[2].name), 3);
    assert_int_equal(tl_string_rank(&r, p->exe), 3);
    tl_string_ranks_fini(&r);
    tl_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_profile_is_empty),
        cmocka_unit_test(test_a_clock_without_frequency_stays_in_ticks),
        cmocka_unit_test(test_places_are_found_again),
        cmocka_unit_test(test_many_places),
        cmocka_unit_test(test_functions_are_told_apart_by_their_details),
        cmocka_unit_test(test_details_of_equal_functions_are_combined),
        cmocka_unit_test(test_functions_by_id_come_from_the_trace),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_threads_have_roots),
        cmocka_unit_test(test_function_numbers_are_sums_over_places),
        cmocka_unit_test(test_sum_up_gives_totals),
        cmocka_unit_test(test_sum_up_keeps_threads_apart_and_saturates),
        cmocka_unit_test(test_a_deep_stack_does_not_take_the_machine_s),
        cmocka_unit_test(test_appended_places_are_found_later),
        cmocka_unit_test(test_functions_are_ordered_by_details),
        cmocka_unit_test(test_threads_are_ordered_by_ids),
        cmocka_unit_test(test_places_are_ordered_depth_first),
        cmocka_unit_test(test_strings_have_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

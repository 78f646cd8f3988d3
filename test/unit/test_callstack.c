/* Calls from entries and exits: every rule of matching, totals with recursion, selections, threads. */
#include "check.h"
#include "make_xray.h"
#include "traceloom/traceloom.h"

static tl_source *open_made(const made *m)
{
    tl_source *s = NULL;
    tl_error e = {0};
    must(tl_source_open_memory(&s, m->data, m->n, "made.xray", NULL, &e), &e);
    return s;
}

static tl_profile *profile_of(const made *m, bool flat, const tl_select *select)
{
    tl_source *s = open_made(m);
    tl_profile *p = NULL;
    tl_error e = {0};
    const tl_profile_options o = {.flat = flat, .threads = 2, .select = select};
    must(tl_profile_from_source(&p, s, &o, &e), &e);
    tl_source_close(s);
    return p;
}

static made *fresh(void)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    made_header(m, 3, BASIC_TYPE, 1000000000, 0);
    return m;
}

static void enter(made *m, int32_t id, uint64_t ts)
{
    made_basic(m, BASIC_ENTER, id, ts, 1, 1);
}

static void leave(made *m, int32_t id, uint64_t ts)
{
    made_basic(m, BASIC_EXIT, id, ts, 1, 1);
}

static void check_function(const tl_profile *p, int64_t id, uint64_t calls, uint64_t total, uint64_t self)
{
    for (uint32_t i = 0; i < tl_profile_functions(p); i++)
        if (tl_profile_get_function(p, i)->id == id) {
            tl_stat stat;
            tl_profile_function_stat(p, i, &stat);
            assert_int_equal(stat.calls, calls);
            assert_int_equal(stat.total, total);
            assert_int_equal(stat.self, self);
            return;
        }
    assert_int_equal(calls + total + self, 0);
}

/* The same numbers of every function, with and without a tree. */
static void check_both(const made *m, int64_t id, uint64_t calls, uint64_t total, uint64_t self)
{
    for (int flat = 0; flat < 2; flat++) {
        tl_profile *p = profile_of(m, flat, NULL);
        check_function(p, id, calls, total, self);
        tl_profile_free(p);
    }
}

static void nested_calls(void **state)
{
    made *m = fresh();
    enter(m, 1, 0), enter(m, 2, 10), leave(m, 2, 40), enter(m, 2, 50), leave(m, 2, 60), leave(m, 1, 100);
    check_both(m, 1, 1, 100, 60);
    check_both(m, 2, 2, 40, 40);
    free(m);
}

static void recursion_counts_once(void **state)
{
    made *m = fresh();
    enter(m, 1, 0), enter(m, 1, 10), enter(m, 2, 20), enter(m, 1, 30);
    leave(m, 1, 40), leave(m, 2, 60), leave(m, 1, 70), leave(m, 1, 100);
    check_both(m, 1, 3, 100, 70);
    check_both(m, 2, 1, 40, 30);
    free(m);
}

/* An outer call that never ends is not a call: then the inner one of the same function is outermost. */
static void open_calls_hold_nothing_back(void **state)
{
    made *m = fresh();
    enter(m, 1, 0), enter(m, 1, 10), leave(m, 1, 15), enter(m, 2, 20), leave(m, 2, 30);
    check_both(m, 1, 1, 5, 5);
    check_both(m, 2, 1, 10, 10);
    tl_profile *p = profile_of(m, false, NULL);
    assert_int_equal(tl_profile_unmatched_open(p), 1);
    assert_int_equal(tl_profile_unmatched_exits(p), 0);
    tl_profile_free(p);
    free(m);
}

static void an_exit_closes_what_is_above(void **state)
{
    made *m = fresh();
    enter(m, 1, 0), enter(m, 2, 10), enter(m, 3, 20), leave(m, 1, 50), leave(m, 9, 60), leave(m, 2, 70);
    check_both(m, 1, 1, 50, 10);
    check_both(m, 2, 1, 40, 10);
    check_both(m, 3, 1, 30, 30);
    tl_profile *p = profile_of(m, true, NULL);
    assert_int_equal(tl_profile_unmatched_open(p), 2);
    assert_int_equal(tl_profile_unmatched_exits(p), 2);
    tl_profile_free(p);
    free(m);
}

static void a_clock_that_goes_back(void **state)
{
    made *m = fresh();
    enter(m, 1, 100), enter(m, 2, 110), leave(m, 2, 105), leave(m, 1, 90);
    check_both(m, 1, 1, 0, 0);
    check_both(m, 2, 1, 0, 0);
    free(m);
}

static void threads_do_not_mix(void **state)
{
    made *m = fresh();
    for (uint32_t t = 1; t <= 3; t++)
        made_basic(m, BASIC_ENTER, 1, 0, t, 1);
    for (uint32_t t = 1; t <= 3; t++)
        made_basic(m, BASIC_TAIL_EXIT, 1, 10 * t, t, 1);
    check_both(m, 1, 3, 60, 60);
    free(m);
}

static void hostile_depth_and_unmatched_exits_are_quick(void **state)
{
    enum { N = 900 };
    made *m = fresh();
    for (int i = 0; i < N; i++)
        enter(m, i + 1, (uint64_t)i);
    for (int i = 0; i < N; i++)
        leave(m, -5 - i, (uint64_t)(N + i));
    tl_profile *p = profile_of(m, false, NULL);
    assert_int_equal(tl_profile_unmatched_exits(p), N);
    assert_int_equal(tl_profile_unmatched_open(p), N);
    tl_profile_free(p);
    free(m);
}

static void selections_choose_calls(void **state)
{
    made *m = fresh();
    enter(m, 1, 1000), enter(m, 2, 1010), leave(m, 2, 1040), enter(m, 2, 1050), leave(m, 2, 1060), leave(m, 1, 1100);
    const struct {
        tl_select select;
        uint64_t calls1, calls2, total2;
    } cases[] = {
        {{.depth = 1}, 1, 0, 0},
        {{.min_ticks = 11}, 1, 1, 30},
        {{.time_from = 20, .has_from = true}, 0, 1, 10},
        {{.time_to = 41, .has_to = true}, 0, 1, 30},
        {{.time_to = 40, .has_to = true}, 0, 0, 0}, /* the call ends at 40, which is outside */
        {{.func = (const char *const[]){"#2"}, .nfunc = 1}, 0, 2, 40},
        {{.not_func = (const char *const[]){"#2"}, .nnot = 1}, 1, 0, 0},
        {{.thread = (const char *const[]){"1"}, .nthread = 1}, 1, 2, 40},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_profile *p = profile_of(m, i % 2, &cases[i].select);
        check_function(p, 1, cases[i].calls1, cases[i].calls1 * 100, cases[i].calls1 * 60);
        check_function(p, 2, cases[i].calls2, cases[i].total2, cases[i].total2);
        tl_profile_free(p);
    }
    free(m);
}

static void a_pattern_without_match_is_an_error(void **state)
{
    made *m = fresh();
    enter(m, 1, 0), leave(m, 1, 1);
    const tl_select cases[] = {
        {.func = (const char *const[]){"nobody"}, .nfunc = 1},
        {.not_func = (const char *const[]){"nobody*"}, .nnot = 1},
        {.thread = (const char *const[]){"2"}, .nthread = 1},
        {.cls = (const char *const[]){"*.nothing"}, .ncls = 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_source *s = open_made(m);
        tl_profile *p = NULL;
        tl_error e = {0};
        const tl_profile_options o = {.select = &cases[i]};
        assert_int_equal(tl_profile_from_source(&p, s, &o, &e), TL_ENOMATCH);
        assert_null(p);
        assert_contains(e.message, "matches");
        tl_source_close(s);
    }
    free(m);
}

/* Even if its calls are excluded for another reason: that is an answer. */
static void a_pattern_matches_whatever_else_is_selected(void **state)
{
    made *m = fresh();
    enter(m, 1, 0), enter(m, 2, 1), leave(m, 2, 2), leave(m, 1, 3);
    const tl_select select = {.func = (const char *const[]){"#2"}, .nfunc = 1, .depth = 1};
    tl_profile *p = profile_of(m, false, &select);
    for (uint32_t i = 0; i < tl_profile_functions(p); i++) {
        tl_stat stat;
        tl_profile_function_stat(p, i, &stat);
        assert_int_equal(stat.calls, 0);
    }
    tl_profile_free(p);
    free(m);
}

/* For several traces: a pattern may be missing in one, and what is found is noted. */
static void score_of_patterns(void **state)
{
    made *m = fresh();
    enter(m, 1, 0), leave(m, 1, 1);
    bool matched[6] = {[2] = true};
    tl_select select = {.func = (const char *const[]){"#1", "nobody"},
                        .nfunc = 2,
                        .not_func = (const char *const[]){"#7"},
                        .nnot = 1,
                        .thread = (const char *const[]){"nowhere", "thread *"},
                        .nthread = 2,
                        .cls = (const char *const[]){"*.enter"},
                        .ncls = 1,
                        .matched = matched};
    tl_profile_free(profile_of(m, false, &select));
    assert_memory_equal(matched, ((const bool[]){true, false, true, false, true, true}), sizeof matched);
    tl_error e = {0};
    assert_int_equal(tl_select_check(&select, &e), TL_ENOMATCH);
    assert_string_equal(e.message, "no function matches \"nobody\"");
    matched[1] = true;
    assert_int_equal(tl_select_check(&select, &e), TL_ENOMATCH);
    assert_string_equal(e.message, "no thread matches \"nowhere\"");
    matched[3] = true;
    assert_int_equal(tl_select_check(&select, &e), 0);
    free(m);
}

static void tree_tells_places_apart(void **state)
{
    made *m = fresh();
    enter(m, 1, 0), enter(m, 2, 1), leave(m, 2, 2), leave(m, 1, 3), enter(m, 2, 4), leave(m, 2, 8);
    tl_profile *p = profile_of(m, false, NULL);
    assert_int_equal(tl_profile_places(p), 4);
    uint64_t at_root = 0, below = 0;
    for (uint32_t i = 1; i < tl_profile_places(p); i++) {
        tl_stat stat;
        tl_profile_stat(p, i, &stat);
        if (tl_profile_get_function(p, tl_profile_function(p, i))->id == 2)
            *(tl_profile_parent(p, i) ? &below : &at_root) += stat.total;
    }
    assert_int_equal(at_root, 4);
    assert_int_equal(below, 1);
    tl_profile_free(p);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_calls),
        cmocka_unit_test(recursion_counts_once),
        cmocka_unit_test(open_calls_hold_nothing_back),
        cmocka_unit_test(an_exit_closes_what_is_above),
        cmocka_unit_test(a_clock_that_goes_back),
        cmocka_unit_test(threads_do_not_mix),
        cmocka_unit_test(hostile_depth_and_unmatched_exits_are_quick),
        cmocka_unit_test(selections_choose_calls),
        cmocka_unit_test(a_pattern_without_match_is_an_error),
        cmocka_unit_test(a_pattern_matches_whatever_else_is_selected),
        cmocka_unit_test(score_of_patterns),
        cmocka_unit_test(tree_tells_places_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

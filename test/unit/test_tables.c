/* Tables: their rows, numbers and order, in whatever order the profile was made. */
#include "random_profile.h"

#include "analysis/function/tables.h"
#include "function_order.h"

static const char *row_function(const tl_profile *p, const tl_row *r)
{
    return r->function == TL_NO_FUNCTION ? "-" : p->function[r->function].name;
}

/* "b a c": names of the functions of all rows. */
static const char *names(const tl_profile *p, const tl_table *t)
{
    static char text[256];
    text[0] = 0;
    for (uint32_t i = 0; i < t->n; i++)
        strcat(strcat(text, i ? " " : ""), row_function(p, &t->row[i]));
    return text;
}

/* "abc b": stacks of the places of all rows. */
static const char *stacks(const tl_profile *p, const tl_table *t)
{
    static char text[256];
    text[0] = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        char stack[32];
        size_t at = sizeof stack - 1;
        stack[at] = 0;
        for (uint32_t k = t->row[i].place; p->place[k].function != TL_NO_FUNCTION; k = p->place[k].parent)
            stack[--at] = p->function[p->place[k].function].name[0];
        strcat(strcat(text, i ? " " : ""), stack + at);
    }
    return text;
}

/* a 100 (calls b 60 (calls a 50 (calls b 20))), b 7, b 9, and an open c that called d. */
static tl_profile *sample(void)
{
    tl_profile *p = fixture_new();
    fixture_call(p, fixture_place(p, 0, "cd"), 30, 30, true);
    fixture_call(p, fixture_place(p, 0, "b"), 7, 7, true);
    fixture_call(p, fixture_place(p, 0, "b"), 9, 9, true);
    fixture_call(p, fixture_place(p, 0, "a"), 100, 40, true);
    fixture_call(p, fixture_place(p, 0, "ab"), 60, 10, true);
    fixture_call(p, fixture_place(p, 0, "aba"), 50, 30, false);
    fixture_call(p, fixture_place(p, 0, "abab"), 20, 20, false);
    fixture_function(p, 25, "z"); /* known, never called */
    return p;
}

static void test_functions(void **state)
{
    tl_profile *p = sample();
    tl_table t;
    assert_int_equal(tl_function_rows(&t, p, NULL), 0);
    assert_string_equal(names(p, &t), "a b d"); /* self 70, 46, 30; neither c nor z has calls */
    const tl_row *b = &t.row[1];
    assert_int_equal(b->stat.calls, 4);
    assert_int_equal(b->stat.total, 76);
    assert_int_equal(b->stat.self, 46);
    assert_int_equal(b->stat.min, 7);
    assert_int_equal(b->stat.max, 60);
    assert_int_equal(b->p50, 9); /* of 7 9 20 60 */
    assert_int_equal(b->p90, 60);
    assert_int_equal(b->p99, 60);
    for (uint32_t i = 0; i < t.n; i++) { /* the public interface agrees */
        tl_stat s;
        tl_profile_function_stat(p, t.row[i].function, &s);
        assert_memory_equal(&s, &t.row[i].stat, sizeof s);
        assert_int_equal(t.row[i].p50, tl_profile_function_percentile(p, t.row[i].function, 500));
        assert_int_equal(t.row[i].position, i);
    }
    tl_table_free(&t);
    assert_null(t.row);
    tl_profile_free(p);
}

static void test_sorting_by_each_column(void **state)
{
    static const struct {
        tl_row_order column;
        const char *expected;
    } cases[] = {
        {TL_BY_SELF, "a b d"}, {TL_BY_TOTAL, "a b d"}, {TL_BY_CALLS, "b a d"}, {TL_BY_MIN, "a d b"},
        {TL_BY_P50, "a d b"},  {TL_BY_P90, "a b d"},   {TL_BY_P99, "a b d"},   {TL_BY_MAX, "a b d"},
        {TL_BY_NAME, "a b d"}, {TL_BY_ID, "a b d"},
    };
    tl_profile *p = sample();
    tl_table t;
    assert_int_equal(tl_function_rows(&t, p, NULL), 0);
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        tl_table_sort(&t, p, TL_BY_MIN, 0); /* from another order */
        tl_table_sort(&t, p, cases[i].column, 0);
        assert_string_equal(names(p, &t), cases[i].expected);
    }
    tl_table_sort(&t, p, TL_BY_CALLS, 2);
    assert_string_equal(names(p, &t), "b a");
    tl_table_sort(&t, p, TL_BY_NAME, 5); /* more than there are */
    assert_string_equal(names(p, &t), "a b");
    tl_table_free(&t);
    tl_profile_free(p);
}

static void test_ties_go_by_id_and_then_by_canonical_order(void **state)
{
    static const tl_function f[] = {{.id = 2, .name = "x"},
                                    {.id = -1, .name = "y"},
                                    {.id = 2, .name = "w"},
                                    {.id = 2, .name = "v", .module = "b"},
                                    {.id = 2, .name = "u", .module = "a"}};
    for (uint32_t first = 0; first < TL_COUNT(f); first++) {
        tl_profile *p = fixture_new();
        for (uint32_t i = 0; i < TL_COUNT(f); i++) {
            uint32_t function = tl_profile_add_function(p, &f[(first + i) % TL_COUNT(f)]);
            fixture_call(p, tl_profile_child(p, 0, function), 5, 5, true);
        }
        tl_table t;
        assert_int_equal(tl_function_rows(&t, p, NULL), 0);
        assert_string_equal(names(p, &t), "y w x u v");
        tl_table_sort(&t, p, TL_BY_NAME, 0);
        assert_string_equal(names(p, &t), "u v w x y");
        tl_table_sort(&t, p, TL_BY_ID, 0);
        assert_string_equal(names(p, &t), "y w x u v");
        tl_table_free(&t);
        assert_int_equal(tl_tree_rows(&t, p, NULL), 0);
        assert_string_equal(names(p, &t), "y w x u v");
        tl_table_free(&t);
        tl_profile_free(p);
    }
}

static void test_functions_without_names_sort_by_label(void **state)
{
    tl_profile *p = fixture_new();
    const tl_function f[] = {{.id = 5, .name = "a"}, {.id = 12}, {.id = 7}};
    for (size_t i = 0; i < TL_COUNT(f); i++)
        fixture_call(p, tl_profile_child(p, 0, tl_profile_add_function(p, &f[i])), 1, 1, true);
    tl_table t;
    assert_int_equal(tl_function_rows(&t, p, NULL), 0);
    tl_table_sort(&t, p, TL_BY_NAME, 0);
    assert_int_equal(p->function[t.row[0].function].id, 12); /* "#12", "#7", "a" */
    assert_int_equal(p->function[t.row[1].function].id, 7);
    tl_table_free(&t);
    tl_profile_free(p);
}

static void test_tree(void **state)
{
    tl_profile *p = sample();
    fixture_call(p, fixture_place(p, 0, "ae"), 60, 60, true); /* as heavy as b in a, with a larger id */
    fixture_call(p, fixture_place(p, 0, "ac"), 61, 61, true);
    tl_table t;
    assert_int_equal(tl_tree_rows(&t, p, NULL), 0);
    assert_string_equal(stacks(p, &t), "a ac ab aba abab ae b cd");
    const tl_row *row = &t.row[6];
    assert_int_equal(row->stat.calls, 2);
    assert_int_equal(row->stat.total, 16);
    assert_int_equal(row->stat.min, 7);
    assert_int_equal(row->p50, 7);
    assert_int_equal(row->p99, 9);
    assert_int_equal(row->track, TL_NO_TRACK);
    assert_int_equal(t.row[2].caller, t.row[0].function);
    assert_int_equal(t.row[0].caller, TL_NO_FUNCTION);
    tl_table_free(&t);
    tl_profile_free(p);
}

static void test_tree_keeps_threads_apart(void **state)
{
    tl_profile *p = fixture_new();
    uint32_t two = tl_profile_thread_root(p, &(tl_track){.name = "2", .has_tid = true, .tid = 2});
    uint32_t one = tl_profile_thread_root(p, &(tl_track){.name = "1", .has_tid = true, .tid = 1});
    fixture_call(p, fixture_place(p, two, "ab"), 50, 50, true);
    fixture_call(p, fixture_place(p, one, "a"), 10, 10, true);
    fixture_call(p, fixture_place(p, one, "ab"), 5, 5, true);
    fixture_call(p, fixture_place(p, 0, "c"), 5, 5, true); /* in no thread's tree */
    tl_table t;
    assert_int_equal(tl_tree_rows(&t, p, NULL), 0);
    assert_int_equal(t.n, 4); /* a in thread 2 has neither calls nor total */
    assert_string_equal(stacks(p, &t), "a ab ab c");
    assert_int_equal(p->track[t.row[0].track].tid, 1);
    assert_int_equal(p->track[t.row[1].track].tid, 1);
    assert_int_equal(p->track[t.row[2].track].tid, 2);
    assert_int_equal(t.row[3].track, TL_NO_TRACK);
    tl_table_free(&t);
    tl_profile_free(p);
}

static void test_callers(void **state)
{
    tl_profile *p = sample();
    tl_table t;
    assert_int_equal(tl_caller_rows(&t, p, NULL), 0);
    static const struct {
        const char *caller, *callee;
        uint64_t calls, total, self;
    } expected[] = {
        {"-", "a", 1, 100, 40}, {"a", "b", 2, 60, 30}, /* the second is inside the first */
        {"b", "a", 1, 50, 30},  {"c", "d", 1, 30, 30}, {"-", "b", 2, 16, 16},
    };
    assert_int_equal(t.n, TL_COUNT(expected));
    for (uint32_t i = 0; i < t.n; i++) {
        const tl_row *r = &t.row[i];
        assert_string_equal(r->caller == TL_NO_FUNCTION ? "-" : p->function[r->caller].name, expected[i].caller);
        assert_string_equal(row_function(p, r), expected[i].callee);
        assert_int_equal(r->stat.calls, expected[i].calls);
        assert_int_equal(r->stat.total, expected[i].total);
        assert_int_equal(r->stat.self, expected[i].self);
    }
    assert_int_equal(t.row[1].stat.min, 20);
    assert_int_equal(t.row[1].p50, 20);
    assert_int_equal(t.row[1].p99, 60);
    tl_table_free(&t);
    tl_profile_free(p);
}

static void test_threads(void **state)
{
    tl_profile *p = sample();
    tl_table t;
    assert_int_equal(tl_thread_rows(&t, p, NULL), 0);
    assert_int_equal(t.n, 0); /* one tree of all threads */
    tl_table_free(&t);
    tl_profile_free(p);

    p = fixture_new();
    uint32_t two = tl_profile_thread_root(p, &(tl_track){.name = "two", .has_tid = true, .tid = 2});
    uint32_t one = tl_profile_thread_root(p, &(tl_track){.name = "one", .has_tid = true, .tid = 1});
    tl_profile_thread_root(p, &(tl_track){.name = "idle", .has_tid = true, .tid = 3});
    fixture_call(p, fixture_place(p, one, "a"), 100, 40, true);
    fixture_call(p, fixture_place(p, one, "aa"), 60, 60, false);
    fixture_call(p, fixture_place(p, one, "b"), 7, 7, true);
    fixture_call(p, fixture_place(p, two, "cd"), 500, 500, true); /* c never ended */
    assert_int_equal(tl_thread_rows(&t, p, NULL), 0);
    assert_int_equal(t.n, 2);
    assert_int_equal(p->track[t.row[0].track].tid, 2);
    assert_int_equal(t.row[0].stat.total, 500);
    assert_int_equal(t.row[1].stat.calls, 3);
    assert_int_equal(t.row[1].stat.total, 107);
    assert_int_equal(t.row[1].stat.self, 107);
    assert_int_equal(t.row[1].stat.min, 7);
    assert_int_equal(t.row[1].p50, 60);
    assert_int_equal(t.row[1].function, TL_NO_FUNCTION);
    tl_table_sort(&t, p, TL_BY_NAME, 0);
    assert_int_equal(p->track[t.row[0].track].tid, 1); /* "one" */
    tl_table_sort(&t, p, TL_BY_ID, 1);
    assert_int_equal(t.n, 1);
    assert_int_equal(p->track[t.row[0].track].tid, 1);
    tl_table_free(&t);
    tl_profile_free(p);
}

static void test_without_histogram_there_are_no_percentiles(void **state)
{
    tl_profile *p = fixture_new();
    p->stat[fixture_place(p, 0, "ab")].self = 5;
    p->stat[fixture_place(p, 0, "ab")].calls = 2;
    assert_int_equal(tl_profile_sum_up(p, NULL), 0);
    int (*const make[])(tl_table *, const tl_profile *, tl_error *) = {tl_function_rows, tl_tree_rows, tl_caller_rows};
    for (size_t i = 0; i < TL_COUNT(make); i++) {
        tl_table t;
        assert_int_equal(make[i](&t, p, NULL), 0);
        assert_int_equal(t.n, 2); /* a has no calls, but a total */
        for (uint32_t k = 0; k < t.n; k++) {
            assert_int_equal(t.row[k].stat.total, 5);
            assert_true(!t.row[k].stat.min && !t.row[k].stat.max && !t.row[k].p50 && !t.row[k].p99);
        }
        tl_table_free(&t);
    }
    tl_profile_free(p);
}

/* A table as numbers independent of indices. */
static void assert_same_tables(const tl_profile *p, const tl_table *a, const tl_profile *q, const tl_table *b)
{
    assert_int_equal(a->n, b->n);
    for (uint32_t i = 0; i < a->n; i++) {
        const tl_row *x = &a->row[i], *y = &b->row[i];
        assert_memory_equal(&x->stat, &y->stat, sizeof x->stat);
        assert_true(x->p50 == y->p50 && x->p90 == y->p90 && x->p99 == y->p99);
        assert_int_equal(x->function == TL_NO_FUNCTION, y->function == TL_NO_FUNCTION);
        if (x->function != TL_NO_FUNCTION)
            assert_int_equal(function_compare(&p->function[x->function], &q->function[y->function]), 0);
    }
}

static void test_tables_do_not_depend_on_how_a_profile_was_made(void **state)
{
    int (*const make[])(tl_table *, const tl_profile *, tl_error *) = {tl_function_rows, tl_tree_rows, tl_caller_rows,
                                                                       tl_thread_rows};
    uint64_t seed = 21;
    for (int round = 0; round < 40; round++) {
        tl_profile *p = fixture_random_profile(&seed, round & 1, true), *q = NULL;
        size_t n;
        uint8_t *bytes = fixture_save(p, &n);
        assert_int_equal(fixture_load(bytes, n, &q, NULL, NULL), 0); /* made in canonical order */
        for (size_t i = 0; i < TL_COUNT(make); i++) {
            tl_table a, b;
            assert_int_equal(make[i](&a, p, NULL), 0);
            assert_int_equal(make[i](&b, q, NULL), 0);
            assert_same_tables(p, &a, q, &b);
            for (int column = TL_BY_SELF; column <= TL_BY_ID; column++) {
                tl_table_sort(&a, p, (tl_row_order)column, 0);
                tl_table_sort(&b, q, (tl_row_order)column, 0);
                assert_same_tables(p, &a, q, &b);
            }
            tl_table_free(&a);
            tl_table_free(&b);
        }
        free(bytes);
        tl_profile_free(p);
        tl_profile_free(q);
    }
}

static void test_an_empty_profile_has_empty_tables(void **state)
{
    int (*const make[])(tl_table *, const tl_profile *, tl_error *) = {tl_function_rows, tl_tree_rows, tl_caller_rows,
                                                                       tl_thread_rows};
    tl_profile *p = fixture_new();
    for (size_t i = 0; i < TL_COUNT(make); i++) {
        tl_table t;
        assert_int_equal(make[i](&t, p, NULL), 0);
        assert_int_equal(t.n, 0);
        tl_table_sort(&t, p, TL_BY_MAX, 3);
        assert_int_equal(t.n, 0);
        tl_table_free(&t);
    }
    tl_profile_free(p);
}

static void test_many_rows(void **state)
{
    tl_profile *p = fixture_new();
    uint32_t n = 200000;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t f = tl_profile_intern_function(p, NULL, i);
        fixture_call(p, tl_profile_child(p, 0, f), i % 7, i % 7, true);
    }
    tl_table t;
    assert_int_equal(tl_function_rows(&t, p, NULL), 0);
    assert_int_equal(t.n, n);
    for (uint32_t i = 1; i < n; i++) {
        const tl_row *before = &t.row[i - 1], *row = &t.row[i];
        assert_true(before->stat.self > row->stat.self ||
                    (before->stat.self == row->stat.self && before->function < row->function));
    }
    tl_table_free(&t);
    tl_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_sorting_by_each_column),
        cmocka_unit_test(test_ties_go_by_id_and_then_by_canonical_order),
        cmocka_unit_test(test_functions_without_names_sort_by_label),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_tree_keeps_threads_apart),
        cmocka_unit_test(test_callers),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_without_histogram_there_are_no_percentiles),
        cmocka_unit_test(test_tables_do_not_depend_on_how_a_profile_was_made),
        cmocka_unit_test(test_an_empty_profile_has_empty_tables),
        cmocka_unit_test(test_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Merging: its laws, as bytes of saved profiles; how values are combined; what is refused. */
#include "random_profile.h"

static void assert_laws(const tl_profile *a, const tl_profile *b, const tl_profile *c)
{
    tl_profile *ab = sum_of(a, b), *ba = sum_of(b, a), *bc = sum_of(b, c);
    tl_profile *ab_c = sum_of(ab, c), *a_bc = sum_of(a, bc), *c_ba = sum_of(c, ba);
    assert_same_profile(ab, ba);
    assert_same_profile(ab_c, a_bc);
    assert_same_profile(ab_c, c_ba);
    tl_profile *all[] = {ab, ba, bc, ab_c, a_bc, c_ba};
    for (size_t i = 0; i < TL_COUNT(all); i++)
        tl_profile_free(all[i]);
}

static void test_merging_is_associative_and_commutative(void **state)
{
    uint64_t seed = 1;
    for (int i = 0; i < 200; i++) {
        bool per_thread = i & 1, has_histogram = i & 2;
        tl_profile *p[3];
        for (int k = 0; k < 3; k++)
            p[k] = fixture_random_profile(&seed, per_thread, has_histogram);
        assert_laws(p[0], p[1], p[2]);
        for (int k = 0; k < 3; k++)
            tl_profile_free(p[k]);
    }
}

static tl_profile *joined(const tl_profile *p)
{
    tl_profile *j = NULL;
    tl_error e;
    must(tl_profile_join(&j, NULL, p, TL_JOIN_THREADS, &e), &e);
    return j;
}

/* One tree of all threads has the sums of theirs, each path once, and joining threads before or after merging makes no
 * difference. */
static void test_threads_are_joined(void **state)
{
    uint64_t seed = 7;
    for (int i = 0; i < 100; i++) {
        tl_profile *p[2], *one[2];
        for (int k = 0; k < 2; k++) {
            p[k] = fixture_random_profile(&seed, true, i & 1);
            one[k] = joined(p[k]);
            assert_false(one[k]->per_thread);
            assert_int_equal(one[k]->has_histogram, p[k]->has_histogram);
            uint64_t calls[2] = {0}, self[2] = {0};
            for (uint32_t at = 0; at < p[k]->nplace; at++) {
                calls[0] += p[k]->stat[at].calls;
                self[0] += p[k]->stat[at].self;
            }
            for (uint32_t at = 0; at < one[k]->nplace; at++) {
                const tl_place *a = &one[k]->place[at];
                calls[1] += one[k]->stat[at].calls;
                self[1] += one[k]->stat[at].self;
                assert_true(at == 0 || a->function != TL_NO_FUNCTION);
                for (uint32_t other = 1; other < at; other++)
                    assert_false(one[k]->place[other].parent == a->parent &&
                                 one[k]->place[other].function == a->function);
            }
            assert_true(calls[0] == calls[1] && self[0] == self[1]);
        }
        tl_profile *first = sum_of(one[0], one[1]), *both = sum_of(p[0], p[1]), *last = joined(both);
        assert_same_profile(first, last);
        tl_profile *all[] = {p[0], p[1], one[0], one[1], first, both, last};
        for (size_t k = 0; k < TL_COUNT(all); k++)
            tl_profile_free(all[k]);
    }
}

/* Without the tree, every function has the same numbers; dropping it before or after merging makes no difference. */
static void test_flat_profiles_have_the_numbers_of_the_tree(void **state)
{
    uint64_t seed = 3;
    for (int i = 0; i < 100; i++) {
        tl_profile *random[2], *flat[2];
        for (int k = 0; k < 2; k++) {
            random[k] = fixture_random_profile(&seed, false, i & 1);
            flat[k] = copy_of(random[k]);
            assert_int_equal(tl_profile_flatten(flat[k], NULL), 0);
        }
        tl_profile *tree = copy_of(random[0]); /* its functions are ordered as those of the copy */
        assert_int_equal(flat[0]->nfunction, tree->nfunction);
        for (uint32_t f = 0; f < tree->nfunction; f++) {
            tl_stat a, b;
            tl_profile_function_stat(tree, f, &a);
            tl_profile_function_stat(flat[0], f, &b);
            assert_true(a.calls == b.calls && a.total == b.total && a.self == b.self && a.min == b.min &&
                        a.max == b.max);
            for (unsigned permille = 0; permille <= 1000; permille += 100)
                assert_true(tl_profile_function_percentile(tree, f, permille) ==
                            tl_profile_function_percentile(flat[0], f, permille));
        }
        for (uint32_t place = 1; place < flat[0]->nplace; place++)
            assert_true(flat[0]->place[place].parent == 0 && !flat[0]->same_next[place]);
        tl_profile *after = sum_of(random[0], random[1]), *before = sum_of(flat[0], flat[1]);
        assert_int_equal(tl_profile_flatten(after, NULL), 0);
        assert_same_profile(after, before);
        tl_profile *all[] = {random[0], random[1], flat[0], flat[1], tree, after, before};
        for (size_t k = 0; k < TL_COUNT(all); k++)
            tl_profile_free(all[k]);
    }
}

static void test_sums_that_overflow_stop_in_any_order(void **state)
{
    tl_profile *p[3];
    for (int k = 0; k < 3; k++) {
        p[k] = fixture_new();
        uint32_t place = fixture_place(p[k], 0, k == 2 ? "ab" : "a");
        p[k]->unmatched_exits = UINT64_MAX - 1;
        p[k]->lost_events = UINT64_MAX;
        tl_place_stat *s = &p[k]->stat[place];
        uint64_t many = UINT64_MAX - (uint64_t)k;
        s->calls = s->total = s->self = s->outer = many;
        s->min = 1;
        s->max = 1000;
        const tl_hist_pair pair[] = {{.count = many - 1, .bucket = 1}, {.count = 1, .bucket = tl_hist_bucket(1000)}};
        assert_true(tl_hist_assign(&s->hist, pair, 2));
    }
    assert_laws(p[0], p[1], p[2]);
    tl_profile *sum = sum_of(p[0], p[1]);
    assert_true(sum->stat[1].calls == UINT64_MAX);
    assert_true(sum->unmatched_exits == UINT64_MAX);
    tl_profile_free(sum);
    for (int k = 0; k < 3; k++)
        tl_profile_free(p[k]);
}

static void test_numbers_add_up(void **state)
{
    tl_profile *a = fixture_new(), *b = fixture_new();
    fixture_call(a, fixture_place(a, 0, "ab"), 100, 60, true);
    fixture_call(b, fixture_place(b, 0, "c"), 5, 5, true);
    fixture_call(b, fixture_place(b, 0, "ab"), 7, 7, true);
    a->unmatched_exits = 1;
    b->unmatched_exits = 2;
    a->unmatched_open = 3;
    b->unmatched_open = 4;
    a->lost_events = 5;
    b->lost_events = 6;
    a->damaged_bytes = 7;
    b->damaged_bytes = 8;
    size_t n;
    uint8_t *before = fixture_save(b, &n);
    assert_int_equal(tl_profile_merge(a, b, NULL), 0);
    const tl_place_stat *ab = &a->stat[fixture_place(a, 0, "ab")];
    assert_int_equal(ab->calls, 2);
    assert_int_equal(ab->total, 107);
    assert_int_equal(ab->self, 67);
    assert_int_equal(ab->outer, 107);
    assert_int_equal(ab->min, 7);
    assert_int_equal(ab->max, 100);
    assert_int_equal(tl_hist_get(&ab->hist, 7), 1);
    assert_int_equal(tl_hist_get(&ab->hist, 100), 1);
    assert_int_equal(a->stat[fixture_place(a, 0, "c")].total, 5);
    assert_int_equal(a->stat[fixture_place(a, 0, "a")].calls, 0);
    assert_int_equal(tl_profile_unmatched_exits(a), 3);
    assert_int_equal(tl_profile_unmatched_open(a), 7);
    assert_int_equal(a->lost_events, 11);
    assert_int_equal(a->damaged_bytes, 15);
    size_t after_n;
    uint8_t *after = fixture_save(b, &after_n); /* `from` is unchanged */
    assert_int_equal(after_n, n);
    assert_memory_equal(before, after, n);
    free(before);
    free(after);
    tl_profile_free(a);
    tl_profile_free(b);
}

static void test_merging_with_itself_doubles(void **state)
{
    uint64_t seed = 7;
    for (int i = 0; i < 20; i++) {
        tl_profile *p = fixture_random_profile(&seed, i & 1, true);
        tl_profile *twice = sum_of(p, p);
        assert_int_equal(tl_profile_merge(p, p, NULL), 0);
        assert_same_profile(p, twice);
        tl_profile_free(p);
        tl_profile_free(twice);
    }
}

static void test_threads_are_matched_by_ids_and_name(void **state)
{
    tl_profile *a = fixture_new(), *b = fixture_new();
    const tl_track one = {.name = "thread 1", .has_tid = true, .tid = 1};
    const tl_track other = {.name = "thread 1", .has_tid = true, .tid = 1, .has_pid = true, .pid = 4};
    fixture_call(a, fixture_place(a, tl_profile_thread_root(a, &one), "f"), 10, 10, true);
    fixture_call(b, fixture_place(b, tl_profile_thread_root(b, &other), "f"), 20, 20, true);
    fixture_call(b, fixture_place(b, tl_profile_thread_root(b, &one), "f"), 30, 30, true);
    assert_int_equal(tl_profile_merge(a, b, NULL), 0);
    assert_int_equal(a->ntrack, 2);
    assert_int_equal(a->stat[fixture_place(a, tl_profile_thread_root(a, &one), "f")].total, 40);
    assert_int_equal(a->stat[fixture_place(a, tl_profile_thread_root(a, &other), "f")].total, 20);
    tl_profile_free(a);
    tl_profile_free(b);
}

static void test_functions_of_different_builds_stay_apart(void **state)
{
    tl_profile *a = fixture_new(), *b = fixture_new();
    tl_function f = {.id = 1, .name = "f", .module = "aa"};
    fixture_call(a, tl_profile_child(a, 0, tl_profile_add_function(a, &f)), 10, 10, true);
    f.module = "bb";
    fixture_call(b, tl_profile_child(b, 0, tl_profile_add_function(b, &f)), 20, 20, true);
    assert_int_equal(tl_profile_merge(a, b, NULL), 0);
    assert_int_equal(tl_profile_functions(a), 2);
    assert_int_equal(tl_profile_places(a), 3);
    tl_profile_free(a);
    tl_profile_free(b);
}

/* NULL wins over everything, which makes merging associative. */
/* The span of samples is that of all: the earlier begin, the later end. */
static void test_spans_are_joined(void **state)
{
    static const struct {
        bool has;
        uint64_t begin, end;
    } span[] = {{true, 5, 50}, {true, 7, 70}, {false, 0, 0}, {true, 1, 2}};
    for (size_t i = 0; i < TL_COUNT(span); i++)
        for (size_t k = 0; k < TL_COUNT(span); k++) {
            tl_profile *p[2];
            for (size_t n = 0; n < 2; n++) {
                const size_t at = n ? k : i;
                assert_int_equal(tl_profile_new(&p[n], &(tl_clock){.name = "t"}, NULL), 0);
                p[n]->has_span = span[at].has;
                p[n]->begin = span[at].begin;
                p[n]->end = span[at].end;
            }
            assert_int_equal(tl_profile_merge(p[0], p[1], NULL), 0);
            assert_int_equal(p[0]->has_span, span[i].has || span[k].has);
            const size_t first = !span[i].has || (span[k].has && span[k].begin < span[i].begin) ? k : i;
            const size_t last = !span[i].has || (span[k].has && span[k].end > span[i].end) ? k : i;
            assert_int_equal(p[0]->begin, span[first].begin);
            assert_int_equal(p[0]->end, span[last].end);
            tl_profile_free(p[0]);
            tl_profile_free(p[1]);
        }
}

static void test_build_id_is_kept_only_if_all_agree(void **state)
{
    static const char *const build[] = {"x", "y", NULL};
    for (int i = 0; i < 27; i++) {
        tl_profile *p[3];
        const char *id[] = {build[i % 3], build[i / 3 % 3], build[i / 9]};
        for (int k = 0; k < 3; k++) {
            p[k] = fixture_new();
            p[k]->build_id = tl_profile_intern(p[k], id[k]);
            p[k]->exe = tl_profile_intern(p[k], id[(k + 1) % 3]);
            p[k]->clock.has_utc = id[k] != NULL;
            p[k]->clock.utc_offset_ns = id[k] ? *id[k] : 0;
        }
        assert_laws(p[0], p[1], p[2]);
        assert_int_equal(tl_profile_merge(p[0], p[1], NULL), 0);
        assert_int_equal(tl_profile_merge(p[0], p[2], NULL), 0);
        bool same = id[0] && id[0] == id[1] && id[1] == id[2];
        assert_int_equal(p[0]->build_id != NULL, same);
        assert_int_equal(p[0]->exe != NULL, same);
        assert_int_equal(p[0]->clock.has_utc, same);
        if (same)
            assert_string_equal(p[0]->build_id, id[0]);
        for (int k = 0; k < 3; k++)
            tl_profile_free(p[k]);
    }
}

static void test_different_clocks_are_refused(void **state)
{
    tl_profile *a = fixture_new(), *b = NULL;
    tl_error e;
    assert_int_equal(tl_profile_new(&b, &(tl_clock){.name = "tsc", .hz = 3000000000}, NULL), 0);
    assert_int_equal(tl_profile_merge(a, b, &e), TL_EUNSUPPORTED);
    assert_int_equal(e.code, TL_EUNSUPPORTED);
    assert_contains(e.message, "2000000000");
    assert_contains(e.message, "3000000000");
    tl_profile_free(b);
    assert_int_equal(tl_profile_new(&b, &(tl_clock){.name = "monotonic", .hz = 2000000000}, NULL), 0);
    assert_int_equal(tl_profile_merge(a, b, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "tsc");
    assert_contains(e.message, "monotonic");
    assert_int_equal(tl_profile_merge(b, a, NULL), TL_EUNSUPPORTED);
    tl_profile_free(b);
    assert_int_equal(tl_profile_new(&b, &(tl_clock){.hz = 2000000000}, NULL), 0);
    assert_int_equal(tl_profile_merge(a, b, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "unnamed");
    tl_profile_free(b);
    tl_profile_free(a);
}

/* As in two recordings on one machine. */
static void test_one_clock_measured_twice_is_one_clock(void **state)
{
    for (int turn = 0; turn < 2; turn++) {
        tl_profile *p[2] = {NULL, NULL};
        assert_int_equal(tl_profile_new(&p[turn], &(tl_clock){.name = "tsc", .hz = 2000000000}, NULL), 0);
        assert_int_equal(tl_profile_new(&p[!turn], &(tl_clock){.name = "tsc", .hz = 2002000000}, NULL), 0);
        assert_int_equal(tl_profile_merge(p[0], p[1], NULL), 0);
        assert_int_equal(p[0]->clock.hz, 2002000000);
        assert_int_equal(tl_profile_time(p[0], 2002000000), 1000000000);
        p[1]->clock.hz = 2004002001;
        assert_int_equal(tl_profile_merge(p[0], p[1], NULL), TL_EUNSUPPORTED);
        assert_int_equal(tl_profile_merge(p[1], p[0], NULL), TL_EUNSUPPORTED);
        tl_profile_free(p[0]);
        tl_profile_free(p[1]);
    }
}

static void test_different_detail_and_shape_are_refused(void **state)
{
    tl_profile *a = fixture_new(), *b = fixture_new();
    tl_error e;
    fixture_call(b, fixture_place(b, 0, "f"), 1, 1, true);
    b->has_histogram = false;
    assert_int_equal(tl_profile_merge(a, b, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "with durations");
    assert_contains(e.message, "without");
    b->has_histogram = true;
    b->per_thread = true;
    assert_int_equal(tl_profile_merge(a, b, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "one tree of all threads and a tree for each thread");
    assert_int_equal(tl_profile_places(a), 1); /* and nothing was added */
    assert_int_equal(tl_profile_functions(a), 0);
    tl_profile_free(a);
    tl_profile_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merging_is_associative_and_commutative),
        cmocka_unit_test(test_threads_are_joined),
        cmocka_unit_test(test_flat_profiles_have_the_numbers_of_the_tree),
        cmocka_unit_test(test_sums_that_overflow_stop_in_any_order),
        cmocka_unit_test(test_numbers_add_up),
        cmocka_unit_test(test_merging_with_itself_doubles),
        cmocka_unit_test(test_threads_are_matched_by_ids_and_name),
        cmocka_unit_test(test_functions_of_different_builds_stay_apart),
        cmocka_unit_test(test_spans_are_joined),
        cmocka_unit_test(test_build_id_is_kept_only_if_all_agree),
        cmocka_unit_test(test_different_clocks_are_refused),
        cmocka_unit_test(test_one_clock_measured_twice_is_one_clock),
        cmocka_unit_test(test_different_detail_and_shape_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Profiles made of samples: weights, merging, and ways to distinguish functions. */
#include "analysis/function/tables.h"
#include "base/io/output.h"
#include "check.h"
#include "function_order.h"
#include "model/profile_impl.h"
#include "model/trace_impl.h"

enum { FUNCTIONS = 6, STACKS = 60, DEPTH = 8 };

static tl_profile *fresh(const char *weight)
{
    tl_profile *p = NULL;
    const tl_clock clock = {.name = "milliseconds", .hz = 1000};
    assert_int_equal(tl_profile_new(&p, &clock, NULL), 0);
    assert_int_equal(tl_profile_make_sampled(p, tl_sample_weight, TL_SAMPLE_WEIGHTS, NULL), 0);
    assert_int_equal(tl_profile_choose_weight(p, weight, NULL), 0);
    return p;
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static uint32_t function_number(tl_profile *p, uint64_t n)
{
    static const char *const name[] = {"Main", "Work:Fib", NULL, "", "Work:Fib", "Leaf"};
    static const char *const renamed[] = {NULL, NULL, "Named", NULL, NULL, "Other"};
    static const char *const library[] = {"a.dll", NULL, "b.dll", "a.dll", "a.dll", NULL};
    const tl_function f = {.id = (int64_t)(n * 0x4000000000000000u),
                           .name = name[n],
                           .renamed = renamed[n],
                           .library = library[n],
                           .flags = n == 5 ? TL_FUNCTION_UNKNOWN : TL_FUNCTION_HEX_ID};
    uint32_t index = tl_profile_add_function(p, &f);
    assert_int_not_equal(index, TL_HASH_NONE);
    return index;
}

/* Samples of random stacks; functions are made in an order of their own. */
static tl_profile *random_samples(uint64_t *seed, const char *weight, bool per_thread)
{
    tl_profile *p = fresh(weight);
    p->per_thread = per_thread;
    for (uint64_t i = next_random(seed) % 4; i < FUNCTIONS; i++)
        function_number(p, i);
    for (int i = 0; i < STACKS; i++) {
        uint32_t place = 0;
        if (per_thread) {
            char name[16];
            snprintf(name, sizeof name, "thread %u", (unsigned)(next_random(seed) % 3));
            place = tl_profile_thread_root(p, &(tl_track){.name = name});
        }
        for (uint64_t depth = 1 + next_random(seed) % DEPTH; depth > 0; depth--)
            place = tl_profile_child(p, place, function_number(p, next_random(seed) % FUNCTIONS));
        for (uint32_t k = 0; k < TL_SAMPLE_WEIGHTS; k++)
            tl_profile_weigh(p, place, k, next_random(seed) % 20 ? next_random(seed) % 1000 : UINT64_MAX / 2);
    }
    p->samples = (tl_sample_counts){next_random(seed), next_random(seed), next_random(seed)};
    p->has_span = next_random(seed) % 2;
    p->begin = next_random(seed);
    p->end = p->begin + next_random(seed);
    assert_int_equal(tl_profile_choose_weight(p, weight, NULL), 0);
    return p;
}

/* Everything visible in a profile, in canonical order; free(). */
static char *dump(const tl_profile *p)
{
    tl_error e;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    uint32_t *order = malloc(((size_t)p->nplace + p->nfunction) * sizeof *order);
    assert_true(out && order);
    assert_int_equal(tl_profile_canonical_order(p, order, &e), 0);
    for (uint32_t i = 0; i < p->nplace; i++) {
        const uint32_t at = order[i];
        char label[24] = "";
        tl_stat stat;
        tl_profile_stat(p, at, &stat);
        const tl_function *f = p->place[at].function == TL_NO_FUNCTION ? NULL : &p->function[p->place[at].function];
        fprintf(out, "%s %s %llu %llu %llu %llu %llu:", f ? tl_function_label(f, label) : "-",
                f && f->library ? f->library : "", (unsigned long long)stat.calls, (unsigned long long)stat.total,
                (unsigned long long)stat.self, (unsigned long long)p->stat[at].outer,
                (unsigned long long)p->outer_calls[at]);
        for (uint32_t k = 0; k < p->nweight; k++)
            fprintf(out, " %llu", (unsigned long long)tl_profile_weight_self(p, at, k));
        fputc('\n', out);
    }
    const tl_sample_counts n = tl_profile_samples(p);
    fprintf(out, "%llu %llu %llu", (unsigned long long)n.counted, (unsigned long long)n.empty,
            (unsigned long long)n.paused);
    if (p->has_span)
        fprintf(out, " %llu %llu", (unsigned long long)p->begin, (unsigned long long)p->end);
    fclose(out);
    free(order);
    return text;
}

static tl_profile *merged(uint64_t seed, const char *weight, bool per_thread, const int *order, bool inner_first)
{
    tl_profile *p[3];
    for (int i = 0; i < 3; i++) {
        uint64_t own = seed * 10 + (uint64_t)order[i];
        p[i] = random_samples(&own, weight, per_thread);
    }
    const int from = inner_first ? 1 : 0;
    assert_int_equal(tl_profile_merge(p[from], p[from + 1], NULL), 0);
    if (inner_first)
        assert_int_equal(tl_profile_merge(p[0], p[1], NULL), 0);
    else
        assert_int_equal(tl_profile_merge(p[0], p[2], NULL), 0);
    tl_profile_free(p[1]);
    tl_profile_free(p[2]);
    return p[0];
}

static void test_merging_is_associative_and_commutative(void **state)
{
    static const int orders[][3] = {{0, 1, 2}, {1, 2, 0}, {2, 1, 0}, {0, 2, 1}};
    for (uint64_t seed = 1; seed < 20; seed++) {
        const char *weight = tl_sample_weight[seed % TL_SAMPLE_WEIGHTS].name;
        char *expected = NULL;
        for (size_t k = 0; k < 2 * TL_COUNT(orders); k++) {
            tl_profile *p = merged(seed, weight, seed % 3 == 0, orders[k / 2], k & 1);
            char *text = dump(p);
            tl_profile_free(p);
            if (expected)
                assert_string_equal(text, expected);
            free(expected);
            expected = text;
        }
        free(expected);
    }
}

static void test_sums_of_a_merged_profile_are_those_of_its_weights(void **state)
{
    static const int order[] = {0, 1, 2};
    for (uint64_t seed = 1; seed < 10; seed++) {
        tl_profile *p = merged(seed, "alloc_space", seed & 1, order, false);
        char *as_merged = dump(p);
        assert_int_equal(tl_profile_choose_weight(p, "time", NULL), 0); /* and back: all sums are rebuilt */
        assert_int_equal(tl_profile_choose_weight(p, "alloc_space", NULL), 0);
        char *made_anew = dump(p);
        assert_string_equal(as_merged, made_anew);
        free(as_merged);
        free(made_anew);
        tl_profile_free(p);
    }
}

static void test_what_does_not_go_together(void **state)
{
    tl_profile *a = fresh("time"), *b = fresh("samples"), *calls = NULL;
    tl_error e;
    assert_int_equal(tl_profile_new(&calls, &a->clock, NULL), 0);
    assert_int_equal(tl_profile_merge(a, b, &e), TL_EUNSUPPORTED);
    assert_int_equal(tl_profile_merge(a, calls, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "samples");
    assert_int_equal(tl_profile_merge(calls, a, &e), TL_EUNSUPPORTED);
    assert_int_equal(tl_profile_weights(calls), 0);
    assert_null(tl_profile_weight(calls, 0));
    assert_int_equal(tl_profile_choose_weight(calls, NULL, &e), 0);
    assert_int_equal(tl_profile_choose_weight(calls, "time", &e), 0);
    assert_int_equal(tl_profile_choose_weight(calls, "samples", &e), TL_EINVAL);
    assert_int_equal(tl_profile_choose_weight(a, "wall", &e), TL_EINVAL);
    assert_string_equal(tl_profile_unit(calls), "ns");
    assert_string_equal(tl_profile_unit(b), "samples");
    tl_profile_free(a);
    tl_profile_free(b);
    tl_profile_free(calls);
}

static void test_new_places_have_no_weight(void **state)
{
    tl_profile *p = fresh(NULL);
    uint32_t place = 0;
    for (int i = 0; i < 1000; i++) { /* grows several times */
        place = tl_profile_child(p, place, function_number(p, (uint64_t)i % FUNCTIONS));
        for (uint32_t k = 0; k < p->nweight; k++)
            assert_int_equal(tl_profile_weight_self(p, place, k), 0);
        tl_profile_weigh(p, place, TL_WEIGHT_TIME, 3);
    }
    assert_int_equal(tl_profile_weight_sum(p, TL_WEIGHT_TIME), 3000);
    assert_int_equal(tl_profile_weight_value(p, TL_WEIGHT_TIME, 3), 3000000);
    assert_int_equal(tl_profile_weight_value(p, TL_WEIGHT_ALLOC_SPACE, 3), 3);
    assert_int_equal(tl_profile_weight_self(p, place, TL_SAMPLE_WEIGHTS), 0);
    tl_profile_free(p);
}

static void test_functions_are_told_apart(void **state)
{
    static const tl_function f[] = {
        {.id = 5, .name = "f"},
        {.id = 5, .name = "f", .flags = TL_FUNCTION_HEX_ID},
        {.id = 5, .name = "f", .library = "a.dll"},
        {.id = 5, .name = "f", .library = "b.dll"},
        {.id = 5, .name = "f", .renamed = "g"},
        {.id = 5, .name = "f", .flags = TL_FUNCTION_OFFSET},
        {.id = 5, .name = "f", .flags = TL_FUNCTION_OFFSET, .offset = 7},
        {.id = -1, .flags = TL_FUNCTION_HEX_ID},
        {.id = 1, .flags = TL_FUNCTION_HEX_ID},
        {.flags = TL_FUNCTION_UNKNOWN},
        {.id = -1},
    };
    static const char *const label[] = {"f", "f", "f", "f", "f", "f", "f", "0xffffffffffffffff", "0x1", "?", "#-1"};
    uint32_t order[TL_COUNT(f)];
    tl_profile *p = fresh(NULL);
    tl_error e;
    for (int again = 0; again < 2; again++)
        for (uint32_t i = 0; i < TL_COUNT(f); i++) {
            char buf[24];
            assert_int_equal(tl_profile_add_function(p, &f[i]), i);
            assert_string_equal(tl_function_label(&p->function[i], buf), label[i]);
        }
    assert_int_equal(tl_profile_function_order(p, order, &e), 0);
    for (uint32_t i = 0; i + 1 < TL_COUNT(f); i++) {
        assert_true(function_compare(&p->function[order[i]], &p->function[order[i + 1]]) < 0);
        assert_true(function_compare(&p->function[order[i + 1]], &p->function[order[i]]) > 0);
    }
    assert_int_equal(order[TL_COUNT(f) - 1], 7); /* unsigned ids come after the others, ordered by size */
    tl_profile_free(p);
}

/* A stack of functions, by index, with that many samples of one tick. */
static void add_stack(tl_profile *p, const uint32_t *function, uint32_t n, uint64_t samples)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < n; i++)
        place = tl_profile_child(p, place, function[i]);
    tl_profile_weigh(p, place, TL_WEIGHT_SAMPLES, samples);
    tl_profile_weigh(p, place, TL_WEIGHT_TIME, samples);
}

static void test_several_traces_are_grouped_by_their_last_names(void **state)
{
    static const tl_function all[] = {
        {.id = 1, .name = "Main", .flags = TL_FUNCTION_HEX_ID},
        {.id = 9, .name = "Main", .flags = TL_FUNCTION_HEX_ID},
        {.id = 2, .name = "Work", .flags = TL_FUNCTION_HEX_ID},
        {.id = 2, .name = "Old", .renamed = "Work", .flags = TL_FUNCTION_HEX_ID},
        {.id = 2, .flags = TL_FUNCTION_HEX_ID},
        {.flags = TL_FUNCTION_UNKNOWN},
    };
    tl_profile *p = fresh("samples"), *by_last = NULL;
    tl_table t;
    tl_error e;
    for (uint32_t i = 0; i < TL_COUNT(all); i++)
        assert_int_equal(tl_profile_add_function(p, &all[i]), i);
    add_stack(p, (uint32_t[]){0, 2, 3}, 3, 1);
    add_stack(p, (uint32_t[]){1, 4, 5}, 3, 2);
    assert_int_equal(tl_profile_choose_weight(p, "samples", &e), 0);
    assert_int_equal(tl_profile_regroup(&by_last, p, TL_GROUP_BY_LAST, &e), 0);
    assert_int_equal(tl_function_rows(&t, by_last, &e), 0);
    assert_int_equal(t.n, 4); /* unknown, Work, Main, 0x2 */
    const tl_function *f = &by_last->function[t.row[0].function];
    assert_true(f->flags & TL_FUNCTION_UNKNOWN);
    f = &by_last->function[t.row[1].function];
    assert_string_equal(f->name, "Work");
    assert_int_equal(f->id, 2);
    assert_int_equal(f->flags, TL_FUNCTION_HEX_ID);
    assert_int_equal(t.row[1].stat.calls, 1);
    f = &by_last->function[t.row[2].function];
    assert_string_equal(f->name, "Main"); /* with two ids, so without one */
    assert_int_equal(f->flags, TL_FUNCTION_UNKNOWN);
    assert_int_equal(t.row[2].stat.calls, 3);
    f = &by_last->function[t.row[3].function];
    assert_null(f->name);
    assert_int_equal(f->id, 2);
    tl_table_free(&t);
    tl_profile_free(by_last);
    tl_profile_free(p);
}

static void test_calls_are_grouped_by_library(void **state)
{
    tl_profile *p = NULL, *by_library = NULL;
    tl_table t;
    tl_error e;
    assert_int_equal(tl_profile_new(&p, &(tl_clock){.name = "tsc", .hz = 1000000000}, NULL), 0);
    const uint32_t a = tl_profile_add_function(p, &(tl_function){.id = 1, .name = "a", .library = "x.so"}),
                   b = tl_profile_add_function(p, &(tl_function){.id = 2, .name = "b", .module = "abcd"}),
                   c = tl_profile_add_function(p, &(tl_function){.id = 3, .name = "c", .library = "x.so"});
    const uint32_t pa = tl_profile_child(p, 0, a), pb = tl_profile_child(p, pa, b), pc = tl_profile_child(p, pb, c);
    p->stat[pa] = (tl_place_stat){.calls = 1, .total = 100, .self = 40, .outer = 100, .min = 100, .max = 100};
    p->stat[pb] = (tl_place_stat){.calls = 2, .total = 60, .self = 50, .outer = 60, .min = 30, .max = 30};
    p->stat[pc] = (tl_place_stat){.calls = 3, .total = 10, .self = 10, .outer = 10, .min = 1, .max = 5};
    p->unmatched_exits = 3;
    p->unmatched_open = 5;
    p->samples.paused = 7;
    p->has_span = true;
    p->begin = 11;
    p->end = 13;
    p->lost_events = 17;
    p->damaged_bytes = 19;
    p->build_id = tl_profile_intern(p, "c0ffee");
    p->exe = tl_profile_intern(p, "/bin/app");
    assert_int_equal(tl_profile_regroup(&by_library, p, TL_GROUP_BY_LIBRARY, &e), 0);
    /* Sums that do not belong to functions stay. */
    assert_int_equal(by_library->unmatched_exits, 3);
    assert_int_equal(by_library->unmatched_open, 5);
    assert_int_equal(by_library->samples.paused, 7);
    assert_true(by_library->has_span);
    assert_int_equal(by_library->begin, 11);
    assert_int_equal(by_library->end, 13);
    assert_int_equal(by_library->lost_events, 17);
    assert_int_equal(by_library->damaged_bytes, 19);
    assert_string_equal(by_library->build_id, "c0ffee");
    assert_string_equal(by_library->exe, "/bin/app");
    assert_int_equal(tl_function_rows(&t, by_library, &e), 0);
    assert_int_equal(t.n, 2);
    assert_string_equal(by_library->function[t.row[0].function].name, "abcd");
    assert_int_equal(t.row[0].stat.total, 60);
    assert_string_equal(by_library->function[t.row[1].function].name, "x.so");
    assert_int_equal(t.row[1].stat.calls, 4);
    assert_int_equal(t.row[1].stat.total, 100);
    assert_int_equal(t.row[1].stat.self, 50);
    tl_table_free(&t);
    tl_profile_free(by_library);
    tl_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merging_is_associative_and_commutative),
        cmocka_unit_test(test_sums_of_a_merged_profile_are_those_of_its_weights),
        cmocka_unit_test(test_what_does_not_go_together),
        cmocka_unit_test(test_new_places_have_no_weight),
        cmocka_unit_test(test_functions_are_told_apart),
        cmocka_unit_test(test_several_traces_are_grouped_by_their_last_names),
        cmocka_unit_test(test_calls_are_grouped_by_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

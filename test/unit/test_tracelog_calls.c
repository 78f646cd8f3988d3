/* Calls derived from changes of stacks: as profiles, and as events instead of the lines. */
#include "analysis/function/tables.h"
#include "check.h"
#include "model/profile_impl.h"
#include "traceloom/traceloom.h"

#define METHOD "prf cfg CollectionMethod Instrumentation\n"
#define NAMES  "fun nam 0x1 \"A\" \"\" \"\"\nfun nam 0x2 \"B\" \"\" \"\"\n"

static tl_source *open_text(const char *log, tl_want want)
{
    tl_source *s = NULL;
    tl_error e = {0};
    if (tl_source_open_memory(&s, log, strlen(log), "made.log", &(tl_open_options){.from = "tracelog", .want = want},
                              &e) < 0)
        fail_msg("%s", e.message);
    return s;
}

static tl_profile *profile_of(const char *log, tl_profile_options o, bool late)
{
    tl_source *s = open_text(log, (tl_want){.late = late});
    tl_profile *p = NULL;
    tl_error e = {0};
    must(tl_profile_from_source(&p, s, &o, &e), &e);
    tl_source_close(s);
    return p;
}

/* "A 2 30 20 [10..20]; ": calls, total, self, and the shortest and longest of them. */
static void assert_functions(const tl_profile *p, const char *expected)
{
    char text[1000] = "";
    tl_table t;
    assert_int_equal(tl_function_rows(&t, p, NULL), 0);
    for (uint32_t i = 0; i < t.n; i++) {
        char label[24];
        const tl_row *row = &t.row[i];
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s %d %d %d ",
                 tl_function_label(tl_profile_get_function(p, row->function), label), (int)row->stat.calls,
                 (int)row->stat.total, (int)row->stat.self);
        if (row->untimed)
            strcat(text, "untimed; ");
        else
            snprintf(text + strlen(text), sizeof text - strlen(text), "[%d..%d]; ", (int)row->stat.min,
                     (int)row->stat.max);
    }
    tl_table_free(&t);
    assert_string_equal(text, expected);
}

static void check_log(const char *log, const char *expected, uint64_t exits, uint64_t open)
{
    for (int way = 0; way < 3; way++) { /* with a tree, without, and learning names late */
        tl_profile *p = profile_of(log, (tl_profile_options){.flat = way > 0}, way == 2);
        assert_functions(p, expected);
        assert_int_equal(tl_profile_unmatched_exits(p), exits);
        assert_int_equal(tl_profile_unmatched_open(p), open);
        assert_int_equal(tl_profile_weights(p), 0);
        assert_true(tl_profile_has_histogram(p));
        tl_profile_free(p);
    }
}

static void lines_tell_calls(void **state)
{
    check_log(METHOD NAMES "sam str 0x5 10 0 0:0 0x1\n"
                           "sam str 0x5 12 9 1:1:0x730 0x2\n" /* whatever its count */
                           "sam str 0x5 15 0 1:2\n"
                           "sam str 0x5 20 0 0:1 0x1\n" /* left, and entered again */
                           "sam str 0x5 21 0 1:1 0x1\n" /* recursion */
                           "sam str 0x5 25 0 0:2\n",
              "A 3 15 12 [4..10]; B 1 3 3 [3..3]; ", 0, 0);
}

/* Unknown frames are neither calls nor callers; calls from them count. */
static void lost_lines(void **state)
{
    check_log(METHOD NAMES "sam str 0x5 10 0 2:2 0x1\n"
                           "sam str 0x5 14 0 2:3\n"
                           "sam str 0x5 20 0 1:2\n"
                           "sam str 0x5 21 0 0:1 0x2\n"
                           "sam str 0x6 30 0 0:0 0x2\n",
              "A 1 4 4 [4..4]; ", 2, 2);
}

/* The log switches from one method to the other: samples are added; a line without calls ends none. */
static void samples_and_calls(void **state)
{
    check_log(NAMES "sam str 0x5 10 2 0:0 0x1 0x2\n" METHOD "sam str 0x5 20 0 1:2 0x2\n"
                    "sam str 0x5 25 0 0:2 0x3\n" /* A and the first B have no begin */
                    "prf cfg CollectionMethod Sampling\n"
                    "sam str 0x5 30 1 0:1 0x2\n",
              "B 4 35 35 [5..5]; A 2 20 0 untimed; ", 2, 1);
}

static void only_allocations(void **state)
{
    tl_profile *p = profile_of(METHOD NAMES "prf cfg ExecutionTraceEnabled F\n"
                                            "sam str 0x5 10 3 0:0 0x1\nsam mem 0x5 10 ?:1:24\nsam str 0x5 12 0 0:1\n",
                               (tl_profile_options){0}, false);
    assert_int_equal(tl_profile_weights(p), 4);
    assert_int_equal(tl_profile_samples(p).counted, 0);
    assert_int_equal(tl_profile_unmatched_exits(p) + tl_profile_unmatched_open(p), 0);
    assert_int_equal(tl_profile_weight_sum(p, TL_WEIGHT_ALLOC_SPACE), 24);
    tl_profile_free(p);
    p = profile_of(METHOD NAMES "sam str 0x5 10 3 0:0 0x1\nsam mem 0x5 10 ?:1:24\nsam str 0x5 12 0 0:1\n",
                   (tl_profile_options){.weight = "alloc_space"}, false);
    assert_int_equal(tl_profile_weight_sum(p, TL_WEIGHT_ALLOC_SPACE), 24);
    tl_profile_free(p);
}

static void selections(void **state)
{
    static const char *const a[] = {"A"}, *const thread[] = {"0x6"};
    static const char log[] = METHOD NAMES "sam str 0x5 10 0 0:0 0x1\nsam str 0x6 11 0 0:0 0x2\n"
                                           "sam str 0x5 12 0 1:1 0x2\nsam str 0x5 15 0 1:2\n"
                                           "sam str 0x6 30 0 0:1\nsam str 0x5 20 0 0:1\n";
    const struct {
        tl_select select;
        const char *expected;
    } kase[] = {
        {{.func = a, .nfunc = 1}, "A 1 10 7 [10..10]; "},
        {{.not_func = a, .nnot = 1}, "B 2 22 22 [3..19]; "},
        {{.thread = thread, .nthread = 1}, "B 1 19 19 [19..19]; "},
        {{.depth = 1}, "B 1 19 19 [19..19]; A 1 10 7 [10..10]; "},
        {{.min_ticks = 11}, "B 1 19 19 [19..19]; "},
        {{.has_from = true, .time_from = 11}, "B 2 22 22 [3..19]; "},
    };
    for (size_t i = 0; i < sizeof kase / sizeof *kase; i++) {
        tl_profile *p = profile_of(log, (tl_profile_options){.flat = i % 2, .select = &kase[i].select}, false);
        assert_functions(p, kase[i].expected);
        tl_profile_free(p);
    }
    static const char *const none[] = {"C"};
    tl_source *s = open_text(log, (tl_want){0});
    tl_profile *p = NULL;
    tl_error e;
    const tl_profile_options o = {.select = &(tl_select){.func = none, .nfunc = 1}};
    assert_int_equal(tl_profile_from_source(&p, s, &o, &e), TL_ENOMATCH);
    tl_source_close(s);
}

/* "10 +A; 12 -A; 12 sam.mem" of one track after the other, in order. */
static void assert_events(const char *log, bool late, const char *expected)
{
    tl_source *s = open_text(log, (tl_want){.fields = true, .calls = true, .late = late});
    const tl_trace *t = tl_source_trace(s);
    const tl_batch *b;
    char text[2000] = "";
    while (tl_source_next(s, &b, NULL) > 0) {
        assert_in_range(b->n, 1, TL_BATCH_MAX);
        for (uint32_t i = 0; i < b->n; i++) {
            const tl_class *c = tl_trace_class(t, b->cls[i]);
            const bool call = c->kind == TL_ENTER || c->kind == TL_EXIT;
            if (c->kind == TL_INSTANT && c->role != TL_ROLE_ALLOCATION)
                continue;
            assert_int_equal(b->val[i + 1] == b->val[i], call);
            snprintf(text + strlen(text), sizeof text - strlen(text), "%d %s%s%d; ", (int)b->ts[i], call ? "" : c->name,
                     c->kind == TL_ENTER  ? "+"
                     : c->kind == TL_EXIT ? "-"
                                          : " ",
                     call ? (int)(int64_t)b->key[i] : (int)(b->val[i + 1] - b->val[i]));
        }
    }
    tl_source_close(s);
    assert_string_equal(text, expected);
}

static void calls_are_events(void **state)
{
    static const char log[] = METHOD "sam str 0x5 10 0 0:0 0x1 0x2\n"
                                     "sam mem 0x5 10 ?:1:24\n"
                                     "sam str 0x6 11 0 0:0 0x3\n"
                                     "sam str 0x5 12 0 2:2:0x730\n" /* no call */
                                     "sam str 0x5 15 0 0:2 ?\n"
                                     "sam str 0x5 14 0 0:1 0x1\n" /* a thread's time never goes back */
                                     "prf cfg CollectionMethod Sampling\n"
                                     "sam str 0x5 20 1 0:1 0x2\n";
    for (int late = 0; late < 2; late++)
        assert_events(log, late,
                      "10 +1; 10 +2; 10 sam.mem 8; 11 +3; 15 -2; 15 -1; 15 +0; 15 -0; 15 +1; 20 sam.str 5; ");
    tl_source *s = open_text("sam str 0x5 20 1 0:0 0x2\n", (tl_want){.fields = true, .calls = true});
    for (uint32_t i = 0; i < tl_trace_classes(tl_source_trace(s)); i++)
        assert_int_not_equal(tl_trace_class(tl_source_trace(s), i)->kind, TL_ENTER);
    tl_source_close(s);
}

/* A line may contain more calls than a batch has room for. */
static void many_calls_of_a_line(void **state)
{
    enum { FRAMES = 5000 };
    char *log = malloc(FRAMES * 8 + 200), *at = log + sprintf(log, METHOD "sam str 0x5 1 0 0:0");
    for (int i = 0; i < FRAMES; i++)
        at += sprintf(at, " 0x%x", i);
    sprintf(at, "\nsam mem 0x5 1 0x7:3:72\nsam str 0x5 9 0 1:%d\n", FRAMES);
    tl_source *s = open_text(log, (tl_want){.fields = true, .calls = true});
    const tl_batch *b;
    uint32_t enters = 0, exits = 0;
    while (tl_source_next(s, &b, NULL) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            const tl_class *c = tl_trace_class(tl_source_trace(s), b->cls[i]);
            if (c->kind == TL_ENTER)
                assert_int_equal(b->key[i], enters++);
            if (c->kind == TL_EXIT)
                assert_int_equal(b->key[i], FRAMES - ++exits);
            if (c->role == TL_ROLE_ALLOCATION) {
                assert_int_equal(enters, FRAMES);
                assert_int_equal(exits, 0);
                assert_int_equal(b->v[b->val[i] + 6].as.u, 72);
            }
        }
    assert_int_equal(enters, FRAMES);
    assert_int_equal(exits, FRAMES - 1);
    tl_source_close(s);
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_tell_calls),     cmocka_unit_test(lost_lines), cmocka_unit_test(samples_and_calls),
        cmocka_unit_test(only_allocations),     cmocka_unit_test(selections), cmocka_unit_test(calls_are_events),
        cmocka_unit_test(many_calls_of_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Selecting samples by stack and threads by number, times from tick 0, and joining such traces. */
#include "script_fixture.h"

/* main; main, 0x1f, ?; main, Fib; nothing. Stacks of one batch share frames. */
static const listed samples[] = {
    {500, SAMPLE, 1, &stack_main}, {510, SAMPLE, 1, &stack_unknown}, {520, NOTE, 0, NULL},
    {530, SAMPLE, 2, &stack_fib},  {540, SAMPLE, 2, NULL},           {550, BEGIN, 2, NULL},
    {560, END, 2, NULL},
};
static const script sampled = {.cls = usual, .event = samples, .n = TL_COUNT(samples)};

static void test_functions_of_samples(void **state)
{
    const struct {
        tl_select select;
        uint32_t n;
        uint64_t ts[8];
    } cases[] = {
        {{GLOBS(func, "Fib")}, 4, {520, 530, 550, 560}},
        {{GLOBS(func, "Work:*")}, 6, {500, 510, 520, 530, 550, 560}},
        {{GLOBS(func, "0x1f")}, 4, {510, 520, 550, 560}}, /* no name, but a number */
        {{GLOBS(func, "[?]")}, 4, {510, 520, 550, 560}},  /* completely unknown */
        {{GLOBS(func, "Fib", "0x1f")}, 5, {510, 520, 530, 550, 560}},
        {{.not_func = (const char *const[]){"Fib"}, .nnot = 1}, 6, {500, 510, 520, 540, 550, 560}},
        {{GLOBS(func, "Work*"), .not_func = (const char *const[]){"Fib"}, .nnot = 1}, 5, {500, 510, 520, 550, 560}},
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++)
        for (unsigned how = 0; how < 4; how++) { /* even if the caller needs no fields */
            tl_source *s = open_trace(&sampled, how & 1);
            passes = 0;
            const seen all = read_all(&s, 1, &cases[i].select, how & 2);
            check_times(&all, cases[i].n, cases[i].ts);
            assert_int_equal(passes, 1); /* no calls need to be matched before */
            tl_source_close(s);
        }
}

static void test_a_function_on_no_stack_is_an_error(void **state)
{
    size_t missed = SIZE_MAX;
    const tl_select none[] = {{GLOBS(func, "Fib", "Gib"), .missed = &missed},
                              {GLOBS(func, "Fib"), .not_func = (const char *const[]){"Gib"}, .nnot = 1},
                              {.not_func = (const char *const[]){"Gib"}, .nnot = 1, .missed = &missed}};
    const size_t expected[] = {1, 1, 0}; /* the second says nothing */
    for (size_t i = 0; i < TL_COUNT(none); i++) {
        tl_source *s = open_trace(&sampled, true);
        assert_int_equal(read_all(&s, 1, &none[i], true).status, TL_ENOMATCH);
        assert_int_equal(missed, expected[i]);
        tl_source_close(s);
    }
}

/* Without calls, neither depth nor duration selects anything. */
static void test_depth_and_duration_need_calls(void **state)
{
    const tl_select select[] = {{.depth = 1}, {.min_ticks = 1000}, {GLOBS(func, "Fib"), .depth = 1, .min_ticks = 1000}};
    for (size_t i = 0; i < TL_COUNT(select); i++) {
        tl_source *s = open_trace(&sampled, true);
        assert_int_equal(read_all(&s, 1, &select[i], true).status, TL_EUNSUPPORTED);
        tl_source_close(s);
    }
}

static void test_threads(void **state)
{
    static const uint64_t second[] = {500, 510}, third[] = {530, 540, 550, 560}, process[] = {520};
    const struct {
        const char *pattern;
        uint32_t n;
        const uint64_t *ts;
    } cases[] = {{"thread 0x2", 2, second}, {"77", 2, second},     {"0x2", 2, second},      {"0x00000002", 2, second},
                 {"0x1f", 4, third},        {"0x0001F", 4, third}, {"process", 1, process}, {"thread 0x1?", 4, third},
                 {"0x", 0, NULL},           {"2", 0, NULL},        {"0x2g", 0, NULL},       {"31", 0, NULL},
                 {"0x1", 0, NULL}};
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        const tl_select select = {.thread = &cases[i].pattern, .nthread = 1};
        tl_source *s = open_trace(&sampled, true);
        const seen all = read_all(&s, 1, &select, true);
        if (cases[i].n)
            check_times(&all, cases[i].n, cases[i].ts);
        else
            assert_int_equal(all.status, TL_ENOMATCH);
        tl_source_close(s);
    }
}

/* Threads named by a context of events, on any track: only the end tells which patterns match nothing. */
static void test_threads_of_contexts(void **state)
{
    static const listed notes[] = {{510, NOTE, 0, NULL},  {520, NOTE, 0, NULL}, {521, NOTE, 1, NULL},
                                   {530, BEGIN, 0, NULL}, {540, END, 2, NULL},  {610, NOTE, 2, NULL}};
    static const listed another[] = {{530, NOTE, 0, NULL}};
    const script said = {.cls = saying, .event = notes, .n = TL_COUNT(notes), .says_thread = true},
                 other = {.cls = saying, .event = another, .n = 1, .says_thread = true};
    const struct {
        tl_select select;
        uint32_t n;
        uint64_t ts[6];
    } cases[] = {
        {{GLOBS(thread, "1")}, 2, {510, 610}},
        {{GLOBS(thread, "thread 2")}, 2, {520, 521}},
        {{GLOBS(thread, "2", "1")}, 4, {510, 520, 521, 610}},
        {{GLOBS(thread, "77")}, 1, {521}}, /* a track's */
        {{GLOBS(thread, "process")}, 3, {510, 520, 530}},
        {{GLOBS(thread, "1", "process")}, 4, {510, 520, 530, 610}},
        {{GLOBS(thread, "1"), .has_to = true, .time_to = 600}, 1, {510}},
        {{GLOBS(thread, "1"), .has_to = true, .time_to = 505}, 0, {0}}, /* it is there, but later */
        {{GLOBS(thread, "1"), GLOBS(cls, "begin")}, 0, {0}},
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++)
        for (unsigned how = 0; how < 4; how++) { /* even if the caller needs no fields */
            tl_source *s = open_trace(&said, how & 1);
            const seen all = read_all(&s, 1, &cases[i].select, how & 2);
            check_times(&all, cases[i].n, cases[i].ts);
            tl_source_close(s);
        }
    const struct {
        tl_select select;
        int one, both;
    } missing[] = {{{GLOBS(thread, "1", "3")}, TL_ENOMATCH, 0},
                   {{GLOBS(thread, "4")}, TL_ENOMATCH, TL_ENOMATCH},
                   {{GLOBS(thread, "process")}, 0, 0},
                   {{GLOBS(thread, "1"), GLOBS(cls, "none")}, TL_ENOMATCH, TL_ENOMATCH}};
    for (size_t i = 0; i < TL_COUNT(missing); i++) {
        tl_source *s[] = {open_trace(&said, true), open_trace(&other, true)};
        assert_int_equal(read_all(s, 1, &missing[i].select, true).status, missing[i].one);
        assert_int_equal(read_all(s, 2, &missing[i].select, true).status, missing[i].both);
        tl_source_close(s[0]);
        tl_source_close(s[1]);
    }
}

/* Times count from tick 0, if the clock says so, otherwise from the first event. */
static void test_times_from_zero(void **state)
{
    script from_first = sampled;
    from_first.counts_from_first = true;
    const tl_select select = {.has_from = true, .time_from = 20, .has_to = true, .time_to = 520};
    tl_source *s = open_trace(&sampled, true);
    seen all = read_all(&s, 1, &select, true);
    check_times(&all, 2, (const uint64_t[]){500, 510});
    tl_source_close(s);
    s = open_trace(&from_first, true);
    all = read_all(&s, 1, &select, true);
    check_times(&all, 5, (const uint64_t[]){20, 30, 40, 50, 60});
    tl_source_close(s);
}

static void test_joined_classes(void **state)
{
    const struct {
        const tl_class *other;
        uint32_t ncls;
    } cases[] = {{usual, SCRIPT_CLASSES},
                 {titled, SCRIPT_CLASSES + 2},
                 {roles, SCRIPT_CLASSES + 1},
                 {other_end, SCRIPT_CLASSES + 2}};
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        script other = sampled;
        other.cls = cases[i].other;
        tl_source *s[] = {open_trace(&sampled, true), open_trace(&other, true)};
        tl_events *v = NULL;
        assert_int_equal(tl_events_open(&v, s, 2, NULL, true, NULL), 0);
        const tl_trace *t = tl_events_trace(v);
        assert_int_equal(t->ncls, cases[i].ncls);
        assert_true(t->clock.from_zero);
        for (uint32_t k = 0; k < t->ncls; k++)
            if (t->cls[k].kind == TL_BEGIN || t->cls[k].kind == TL_END) {
                const tl_class *pair = &t->cls[t->cls[k].pair];
                assert_int_equal(pair->pair, k);
                assert_int_equal(pair->kind, t->cls[k].kind == TL_BEGIN ? TL_END : TL_BEGIN);
                assert_string_equal(pair->title, t->cls[k].title);
            }
        /* Stacks pass unchanged. */
        const tl_batch *b;
        uint32_t from, to, stacks = 0;
        while (tl_events_next(v, &b, &from, &to, NULL) > 0)
            for (uint32_t k = from; k < to; k++)
                if (b->ts[k] == 530) {
                    assert_int_equal(b->v[b->val[k] + 1].type, TL_STACK);
                    assert_ptr_equal(b->v[b->val[k] + 1].as.p, &stack_fib);
                    stacks++;
                }
        assert_int_equal(stacks, 2);
        tl_events_close(v);
        tl_source_close(s[0]);
        tl_source_close(s[1]);
    }
}

/* Classes are compared field by field, but not without limit: with more than 100,000 fields they count as different. */
static void test_joined_classes_of_many_fields(void **state)
{
    enum { MOST = 100000 }; /* including the one around them */
    static const uint32_t members[] = {MOST - 1, MOST};
    for (size_t i = 0; i < TL_COUNT(members); i++) {
        tl_field *member[2], outer[2];
        tl_class cls[2][SCRIPT_CLASSES];
        script other[2] = {sampled, sampled};
        tl_source *s[2];
        for (int k = 0; k < 2; k++) {
            member[k] = calloc(members[i], sizeof **member);
            assert_non_null(member[k]);
            for (uint32_t m = 0; m < members[i]; m++)
                member[k][m] = (tl_field){.name = "m", .type = TL_U64};
            outer[k] = (tl_field){.name = "all", .type = TL_STRUCT, .member = member[k], .nmember = members[i]};
            memcpy(cls[k], usual, sizeof usual);
            cls[k][NOTE].field = &outer[k];
            other[k].cls = cls[k];
            s[k] = open_trace(&other[k], true);
        }
        tl_events *v = NULL;
        assert_int_equal(tl_events_open(&v, s, 2, NULL, true, NULL), 0);
        assert_int_equal(tl_events_trace(v)->ncls, SCRIPT_CLASSES + (members[i] >= MOST));
        tl_events_close(v);
        for (int k = 0; k < 2; k++) {
            tl_source_close(s[k]);
            free(member[k]);
        }
    }
}

/* Two clocks that count from 0 at different times of day: both use the earlier 0, also for a selection. */
static void test_joined_times(void **state)
{
    script early = sampled, late = sampled;
    early.has_utc = late.has_utc = true;
    early.utc = 5000000000;
    late.utc = 5200000000; /* 200 ms later */
    early.n = 2;
    late.n = 3;
    tl_source *s[] = {open_trace(&late, true), open_trace(&early, true)};
    seen all = read_all(s, 2, NULL, true);
    check_times(&all, 5, (const uint64_t[]){500000000, 510000000, 700000000, 710000000, 720000000});
    tl_source_close(s[0]);
    tl_source_close(s[1]);
    s[0] = open_trace(&late, true);
    s[1] = open_trace(&early, true);
    const tl_select select = {.has_from = true, .time_from = 505, .has_to = true, .time_to = 715}; /* ticks */
    all = read_all(s, 2, &select, true);
    check_times(&all, 3, (const uint64_t[]){510000000, 700000000, 710000000});
    tl_source_close(s[0]);
    tl_source_close(s[1]);
    s[0] = open_trace(&late, true);
    s[1] = open_trace(&early, true);
    const tl_select before = {.has_to = true, .time_to = 100}; /* before the later one begins */
    all = read_all(s, 2, &before, true);
    check_times(&all, 0, NULL);
    tl_source_close(s[0]);
    tl_source_close(s[1]);
}

/* A followed trace: nothing is read before it is requested, events come in their order, threads are added, and runs
 * without events mean that there is nothing new. */
static void test_followed(void **state)
{
    static const listed coming[] = {{10, NOTE, 0, NULL},          {0, NOTHING, 0, NULL},
                                    {0, NOTHING, 0, NULL},        {30, SAMPLE, 1, &stack_fib},
                                    {20, SAMPLE, 2, &stack_main}, {40, SAMPLE, 2, &stack_fib}};
    const script growing = {.cls = usual, .event = coming, .n = TL_COUNT(coming), .grows = true};
    const struct {
        tl_select select;
        bool selects;
        uint32_t n;
        uint64_t ts[4];
    } cases[] = {
        {{0}, false, 4, {10, 30, 20, 40}},
        {{GLOBS(thread, "0x1f")}, true, 2, {20, 40}}, /* unknown at the begin */
        {{GLOBS(func, "Fib")}, true, 3, {10, 30, 40}},
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++)
        for (int ordered = 0; ordered < 2; ordered++) {
            tl_source *s = open_trace(&growing, true);
            s->follow = true;
            tl_events *v = NULL;
            passes = 0;
            assert_int_equal(tl_events_open(&v, &s, 1, NULL, ordered, NULL), 0);
            assert_int_equal(passes, 0);
            tl_events_close(v);
            const seen all = read_all(&s, 1, cases[i].selects ? &cases[i].select : NULL, ordered);
            check_times(&all, cases[i].n, cases[i].ts);
            assert_true(all.empty >= 1);
            tl_source_close(s);
        }
    tl_source *s[] = {open_trace(&growing, true), open_trace(&sampled, true)};
    s[0]->follow = true;
    assert_int_equal(read_all(s, 2, NULL, true).status, TL_EUNSUPPORTED);
    tl_source_close(s[0]);
    tl_source_close(s[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_of_samples),
        cmocka_unit_test(test_a_function_on_no_stack_is_an_error),
        cmocka_unit_test(test_depth_and_duration_need_calls),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_threads_of_contexts),
        cmocka_unit_test(test_times_from_zero),
        cmocka_unit_test(test_joined_classes),
        cmocka_unit_test(test_joined_classes_of_many_fields),
        cmocka_unit_test(test_joined_times),
        cmocka_unit_test(test_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

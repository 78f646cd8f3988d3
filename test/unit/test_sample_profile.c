/* Profiles of samples, from events made by hand: what counts, where, and the amount of work. */
#include "sample_fixture.h"

#include "analysis/function/tables.h"

#define S                     SCRIPT_SAMPLE
#define A                     SCRIPT_ALLOCATION
#define RUN(lines, per_batch) scripted_init(&s, lines, (uint32_t)TL_COUNT(lines), per_batch)

static const tl_profile_options plain = {0};

static void check_counts(const tl_profile *p, uint64_t counted, uint64_t empty, uint64_t paused)
{
    const tl_sample_counts n = tl_profile_samples(p);
    assert_int_equal(n.counted, counted);
    assert_int_equal(n.empty, empty);
    assert_int_equal(n.paused, paused);
}

static void test_samples_count_with_all_that_is_on_the_stack(void **state)
{
    static const script_line line[] = {
        {S, 0, 100, 1, 10, "1=main 2=work"}, {S, 0, 110, 2, 10, "1=main 2=work 3=leaf"},
        {S, 1, 111, 4, 10, "1=main"},        {SCRIPT_OTHER, 0, 112, 0, 0, ""},
        {S, 0, 120, 1, 10, "1=main"},        {S, 0, 130, 8, 20, "1=main 2=work"},
    };
    scripted s;
    for (uint32_t batch = 0; batch < 7; batch++) {
        RUN(line, batch);
        tl_profile *p = scripted_profile(&s, &plain);
        assert_string_equal(tl_profile_unit(p), "ns");
        assert_int_equal(tl_profile_weights(p), 4);
        assert_string_equal(tl_profile_weight(p, tl_profile_chosen_weight(p))->name, "time");
        assert_false(tl_profile_has_histogram(p));
        assert_int_equal(p->nplace, 4);
        scripted_check(p, "main", 16, 240, 50);
        scripted_check(p, "main;work", 11, 190, 170);
        scripted_check(p, "main;work;leaf", 2, 20, 20);
        const uint32_t work = scripted_place(p, 0, "main;work");
        assert_int_equal(tl_profile_weight_self(p, work, TL_WEIGHT_SAMPLES), 9);
        assert_int_equal(tl_profile_weight_self(p, work, TL_WEIGHT_TIME), 170);
        assert_int_equal(tl_profile_time(p, 170), 170000000);
        check_counts(p, 16, 0, 0);
        tl_profile_free(p);
        scripted_fini(&s);
    }
}

static void test_only_frames_that_are_new_are_looked_up(void **state)
{
    static const script_line line[] = {{S, 0, 0, 1, 10, "1 2 3 4"},
                                       {S, 0, 0, 1, 10, "1 2 3 4"},
                                       {S, 0, 0, 1, 10, "1 2 3 4 5"},
                                       {S, 0, 0, 1, 10, "1 2"}};
    scripted s;
    RUN(line, 0);
    tl_profile *p = scripted_profile(&s, &plain);
    assert_int_equal(s.script.frames, 5); /* the script shares frames, so memos were used ... */
    tl_profile_free(p);
    s.script.batch = 1;
    p = scripted_profile(&s, &plain);
    assert_int_equal(s.script.frames, 4 + 4 + 5 + 2); /* ... and here unused */
    assert_int_equal(p->nplace, 6);
    scripted_check(p, "0x1;0x2", 4, 40, 10);
    scripted_check(p, "0x1;0x2;0x3;0x4;0x5", 1, 10, 10);
    tl_profile_free(p);
    scripted_fini(&s);
}

static void test_recursion_counts_once(void **state)
{
    static const script_line line[] = {{S, 0, 0, 3, 10, "1=f 2=g 1=f 1=f"}, {S, 0, 0, 1, 10, "2=g 1=f"}};
    scripted s;
    tl_stat stat;
    RUN(line, 0);
    tl_profile *p = scripted_profile(&s, &plain);
    tl_profile_function_stat(p, scripted_function(p, 1), &stat);
    assert_int_equal(stat.calls, 4);
    assert_int_equal(stat.total, 40);
    assert_int_equal(stat.self, 40);
    tl_profile_function_stat(p, scripted_function(p, 2), &stat);
    assert_int_equal(stat.calls, 4);
    assert_int_equal(stat.total, 40);
    assert_int_equal(stat.self, 0);
    tl_profile_free(p);
    scripted_fini(&s);
}

static void test_pauses_zeros_and_empty_stacks(void **state)
{
    static const script_line line[] = {
        {S, 0, 0, 2, 0, "1=main 2=work"}, /* worth nothing: sets the stack only */
        {A, 0, 0, 0, 0, "5:1:100"},       /* the same */
        {A, 0, 0, 0, 10, "5:1:24 6:2:48"},
        {S, 0, 0, 0, 10, "1=main"},
        {A, 0, 0, 0, 10, "5:3:72"},
        {S, 0, 0, -1, 10, "1=main 3=old"},
        {A, 0, 0, 0, 10, ""},
        {S, 0, 0, 5, 10, ""},
        {A, 0, 0, 0, 10, "5:1:1000"},            /* of no known thread */
        {A, 1, 0, 0, 10, "5:1:2000"},            /* the same */
        {S, 0, 0, 7, TL_WEIGHT_PAUSED | 10, ""}, /* counts: it dates from before the pause */
        {S, 0, 0, 1, 10, "1=main"},
    };
    static const char *const weights[] = {"samples", "alloc_space", "alloc_objects"};
    static const char *const units[] = {"samples", "bytes", "allocations"};
    static const uint64_t expected[][3] = {{1, 1, 1}, {6, 144, 72}, {6, 6, 3}}; /* of main: calls, total, self */
    scripted s;
    RUN(line, 2);
    tl_profile *p = scripted_profile(&s, &plain);
    check_counts(p, 13, 12, 7);
    scripted_check(p, "main", 1, 10, 10);
    scripted_check(p, "main;work", 0, 0, 0);
    tl_profile_free(p);
    for (size_t i = 0; i < TL_COUNT(weights); i++) {
        p = scripted_profile(&s, &(tl_profile_options){.weight = weights[i]});
        assert_string_equal(tl_profile_unit(p), units[i]);
        scripted_check(p, "main", expected[i][0], expected[i][1], expected[i][2]);
        assert_int_equal(tl_profile_time(p, expected[i][1]), expected[i][1]);
        tl_profile_free(p);
    }
    scripted_fini(&s);
}

static void test_names_change_and_are_unknown(void **state)
{
    static const script_line line[] = {
        {S, 0, 0, 1, 10, "5 ? 5"},           {S, 0, 0, 1, 10, "5=Old ? ="},
        {S, 0, 0, 1, 10, "5=New 7=x 5=Old"}, {S, 0, 0, 1, 10, "ffffffffffffffff"},
        {S, 0, 0, 1, 10, "6=New"},
    };
    scripted s;
    tl_profile *by_name = NULL, *by_id = NULL;
    tl_stat stat;
    tl_error e;
    RUN(line, 0);
    tl_trace *t = &s.source.trace;
    assert_int_equal(
        tl_trace_add_function(
            t, &(tl_function){.id = 5, .name = "New", .library = "a.dll", .flags = TL_FUNCTION_HEX_ID}, &e),
        0);
    tl_profile *p = scripted_profile(&s, &plain);
    scripted_check(p, "0x5;?;0x5", 1, 10, 10);
    scripted_check(p, "Old;?", 1, 10, 0);
    scripted_check(p, "Old;?;", 1, 10, 0);
    scripted_check(p, "0xffffffffffffffff", 1, 10, 10);

    assert_int_equal(tl_profile_regroup(&by_name, p, TL_GROUP_BY_NAME, &e), 0);
    scripted_check(by_name, "New", 2, 20, 10); /* of 5 and of 6 */
    scripted_check(by_name, "New;x;Old", 1, 10, 10);
    check_counts(by_name, 5, 0, 0);

    assert_int_equal(tl_profile_regroup(&by_id, p, TL_GROUP_BY_ID, &e), 0);
    tl_profile_function_stat(by_id, scripted_function(by_id, 5), &stat);
    assert_int_equal(stat.calls, 3); /* twice on two of the stacks */
    assert_int_equal(stat.total, 30);
    assert_int_equal(stat.self, 20);
    const tl_function *f = tl_profile_get_function(by_id, scripted_function(by_id, 5));
    assert_string_equal(f->name, "New");
    assert_string_equal(f->library, "a.dll");
    assert_null(f->renamed);
    tl_profile_free(by_name);
    tl_profile_free(by_id);
    tl_profile_free(p);
    scripted_fini(&s);
}

static void test_modules_count_once(void **state)
{
    static const script_line line[] = {{S, 0, 0, 1, 10, "1=a 2=b 3=c 1=a"}, {S, 0, 0, 1, 10, "2=b"}};
    scripted s;
    tl_profile *p, *by_library = NULL;
    tl_table table;
    tl_error e;
    RUN(line, 0);
    tl_trace *t = &s.source.trace;
    assert_int_equal(tl_trace_add_function(t, &(tl_function){.id = 1, .name = "a", .library = "x.dll"}, &e), 0);
    assert_int_equal(tl_trace_add_function(t, &(tl_function){.id = 2, .name = "b", .library = "x.dll"}, &e), 0);
    p = scripted_profile(&s, &plain);
    assert_int_equal(tl_profile_regroup(&by_library, p, TL_GROUP_BY_LIBRARY, &e), 0);
    assert_int_equal(tl_function_rows(&table, by_library, &e), 0);
    assert_int_equal(table.n, 2);
    assert_string_equal(by_library->function[table.row[0].function].name, "x.dll");
    assert_int_equal(table.row[0].stat.calls, 2);
    assert_int_equal(table.row[0].stat.total, 20);
    assert_int_equal(table.row[0].stat.self, 20);
    assert_null(by_library->function[table.row[1].function].name);
    assert_int_equal(table.row[1].stat.total, 10);
    assert_int_equal(table.row[1].stat.self, 0);
    tl_table_free(&table);
    tl_profile_free(by_library);
    tl_profile_free(p);
    scripted_fini(&s);
}

static void test_threads_have_trees_of_their_own(void **state)
{
    static const script_line line[] = {
        {S, 0, 0, 1, 10, "1=main"}, {S, 2, 0, 2, 10, "1=main"}, {S, 0, 0, 1, 10, "1=main"}};
    scripted s;
    tl_table table;
    tl_error e;
    RUN(line, 0);
    tl_profile *p = scripted_profile(&s, &(tl_profile_options){.per_thread = true});
    assert_int_equal(p->ntrack, 2);
    assert_int_equal(p->nplace, 5);
    assert_int_equal(tl_thread_rows(&table, p, &e), 0);
    assert_int_equal(table.n, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(table.row[i].stat.calls, 2);
        assert_int_equal(table.row[i].stat.total, 20);
    }
    tl_table_free(&table);
    tl_profile_free(p);
    scripted_fini(&s);
}

static void test_lines_tell_functions_apart(void **state)
{
    static const script_line line[] = {
        {S, 0, 0, 1, 10, "1=main@110 2=work@105"}, {S, 0, 0, 2, 10, "1=main@111 2=work@105"},
        {A, 0, 0, 0, 10, "5:1:24@106 5:1:8"},      {S, 0, 0, 4, 10, "1=main@111 2=work@5"},
        {A, 0, 0, 0, 10, "5:1:100@205"},
    };
    static const struct {
        int64_t id;
        const char *file;
        uint32_t line, offset;
        bool has_offset;
        uint64_t samples, bytes;
    } expected[] = {{1, "one.cs", 0x10, 0, false, 0, 0}, {1, "one.cs", 0x11, 1, true, 0, 0},
                    {2, "two.cs", 0x05, 1, true, 3, 8},  {2, "two.cs", 0x06, 0, false, 0, 24},
                    {2, NULL, 0, 0, false, 4, 0},        {2, "two.cs", 0x05, 2, true, 0, 100}};
    scripted s;
    for (uint32_t batch = 0; batch < 3; batch++) {
        RUN(line, batch);
        tl_profile *p = scripted_profile(&s, &(tl_profile_options){.lines = true});
        for (size_t k = 0; k < TL_COUNT(expected); k++) {
            uint64_t samples = 0, bytes = 0;
            uint32_t functions = 0;
            for (uint32_t i = 0; i < p->nfunction; i++) {
                const tl_function *f = &p->function[i];
                const bool has_offset = f->flags & TL_FUNCTION_OFFSET;
                if (f->id != expected[k].id || f->line != expected[k].line || f->offset != expected[k].offset ||
                    has_offset != expected[k].has_offset)
                    continue;
                functions++;
                assert_true((f->file == NULL) == (expected[k].file == NULL));
                if (f->file)
                    assert_string_equal(f->file, expected[k].file);
                for (uint32_t at = p->same_first[i]; at; at = p->same_next[at]) {
                    samples += tl_profile_weight_self(p, at, TL_WEIGHT_SAMPLES);
                    bytes += tl_profile_weight_self(p, at, TL_WEIGHT_ALLOC_SPACE);
                }
            }
            assert_int_equal(functions, expected[k].id == 1 && !expected[k].file ? 0 : 1);
            assert_int_equal(samples, expected[k].samples);
            assert_int_equal(bytes, expected[k].bytes);
        }
        tl_profile_free(p);
        p = scripted_profile(&s, &plain); /* without: the place makes no difference */
        assert_int_equal(p->nplace, 3);
        assert_int_equal(tl_profile_weight_self(p, 2, TL_WEIGHT_ALLOC_SPACE), 132);
        tl_profile_free(p);
        scripted_fini(&s);
    }
}

static void test_selections(void **state)
{
    static const script_line line[] = {
        {S, 0, 100, 1, 10, "1=main 2=work"}, {S, 0, 110, 2, 10, "1=main 2=work 3=leaf"},
        {S, 1, 120, 4, 10, "1=main 4=idle"}, {S, 0, 130, 8, 10, ""},
        {S, 1, 140, 16, 10, "1=main"},       {S, 1, 141, 32, TL_WEIGHT_PAUSED | 10, "1=main"},
    };
    static const char *const work[] = {"w*"}, *const leaf[] = {"leaf"}, *const thread1[] = {"thread 1"},
                             *const none[] = {"nothing"}, *const samples[] = {"sample"}, *const other[] = {"other"};
    static const struct {
        tl_select select;
        uint64_t counted, empty, paused, of_main;
    } kase[] = {
        {{.func = work, .nfunc = 1}, 3, 0, 32, 3},
        {{.not_func = work, .nnot = 1}, 60, 8, 32, 52},
        {{.func = work, .nfunc = 1, .not_func = leaf, .nnot = 1}, 1, 0, 32, 1},
        {{.thread = thread1, .nthread = 1}, 52, 0, 32, 52},
        {{.has_from = true, .time_from = 110, .has_to = true, .time_to = 140}, 14, 8, 0, 6},
        {{.cls = samples, .ncls = 1}, 63, 8, 32, 55},
        {{.cls = other, .ncls = 1}, 0, 0, 0, 0},
    };
    scripted s;
    tl_profile *p = NULL;
    tl_error e;
    RUN(line, 2);
    for (size_t i = 0; i < TL_COUNT(kase); i++) {
        p = scripted_profile(&s, &(tl_profile_options){.select = &kase[i].select, .weight = "samples"});
        tl_stat stat;
        tl_profile_stat(p, scripted_place(p, 0, "main"), &stat);
        check_counts(p, kase[i].counted, kase[i].empty, kase[i].paused);
        assert_int_equal(stat.total, kase[i].of_main);
        tl_profile_free(p);
    }
    p = scripted_profile(&s, &(tl_profile_options){.select = &(tl_select){.depth = 2}, .weight = "samples"});
    scripted_check(p, "main;work", 3, 3, 3);
    scripted_check(p, "main;work;leaf", 0, 0, 0);
    tl_profile_free(p);
    p = NULL;
    assert_int_equal(tl_profile_from_source(
                         &p, &s.source, &(tl_profile_options){.select = &(tl_select){.func = none, .nfunc = 1}}, &e),
                     TL_ENOMATCH);
    assert_int_equal(
        tl_profile_from_source(&p, &s.source, &(tl_profile_options){.select = &(tl_select){.min_ticks = 1}}, &e),
        TL_EUNSUPPORTED);
    assert_int_equal(tl_profile_from_source(&p, &s.source, &(tl_profile_options){.weight = "wall"}, &e), TL_EINVAL);
    assert_null(p);
    scripted_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_count_with_all_that_is_on_the_stack),
        cmocka_unit_test(test_only_frames_that_are_new_are_looked_up),
        cmocka_unit_test(test_recursion_counts_once),
        cmocka_unit_test(test_pauses_zeros_and_empty_stacks),
        cmocka_unit_test(test_names_change_and_are_unknown),
        cmocka_unit_test(test_modules_count_once),
        cmocka_unit_test(test_threads_have_trees_of_their_own),
        cmocka_unit_test(test_lines_tell_functions_apart),
        cmocka_unit_test(test_selections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

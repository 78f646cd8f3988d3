/* The table of compilations: the method of each compilation, and the sums. */
#include "runtime_fixture.h"

#include "analysis/runtime/jit_table.h"

#define MS UINT64_C(1000000)

static void add_input(tl_jit *t, const tl_select *select)
{
    tl_error e = {0};
    tl_source *s = rt_source();
    must(tl_jit_read(t, s, select, &e), &e);
    tl_source_close(s);
}

static tl_jit read_jit(const tl_select *select)
{
    tl_jit t = {0};
    add_input(&t, select);
    tl_jit_sort(&t, TL_JIT_BY_ID);
    return t;
}

/* A compilation of a code id; the key is made of thread and id. */
static void begin(uint32_t track, uint64_t ts, uint64_t code)
{
    rt_add(RT_JIT, track, ts, track << 16 | code, RT_H(code), (tl_value){.type = TL_ABSENT});
}

static void end(uint32_t track, uint64_t ts, uint64_t code, uint64_t status)
{
    rt_add(RT_JIT_END, track, ts, track << 16 | code, RT_H(code), RT_H(status));
}

static void code(uint64_t ts, uint64_t id, tl_value function, uint64_t size)
{
    rt_add(RT_CODE, RT_PROCESS, ts, 0, RT_L(2), RT_ST(2), RT_H(0x1000), RT_H(size), RT_ST(2), RT_H(0x2000), RT_H(1),
           function, RT_H(id));
}

static void name(uint64_t function, const char *text)
{
    rt_add(RT_FUNCTION, RT_PROCESS, 0, 0, RT_H(function), RT_S(text));
}

static void check_method(const tl_jit_method *m, uint64_t id, uint64_t function, uint64_t compiled, uint64_t searched,
                         uint64_t failed, uint64_t total, uint64_t max, uint64_t bytes)
{
    assert_int_equal(m->id, id);
    assert_int_equal(m->function, function);
    assert_int_equal(m->compiled, compiled);
    assert_int_equal(m->searched, searched);
    assert_int_equal(m->failed, failed);
    assert_int_equal(m->total.high, 0);
    assert_int_equal(m->total.low, total);
    assert_int_equal(m->max, max);
    assert_int_equal(m->code_bytes.low, bytes);
}

/* The first code after the begin, also if it comes before the end, or long after. */
static void the_next_code_says_which_method(void **state)
{
    rt_reset();
    name(5, "old");
    begin(RT_ONE, 10, 0xa);
    code(11, 0xa, RT_H(5), 100);
    end(RT_ONE, 13, 0xa, 0);
    begin(RT_ONE, 20, 0xb);
    end(RT_ONE, 25, 0xb, 0x80000000);
    begin(RT_ONE, 30, 0xb);
    end(RT_ONE, 31, 0xb, 0x7fffffff);
    code(40, 0xb, RT_H(6), 200);
    code(41, 0xb, RT_H(7), 300); /* too late for them */
    name(5, "new");
    tl_jit t = read_jit(NULL);
    assert_int_equal(t.n, 2);
    check_method(&t.method[0], 0xa, 5, 1, 0, 0, 3 * MS, 3 * MS, 101);
    assert_string_equal(t.method[0].name, "new");
    check_method(&t.method[1], 0xb, 6, 2, 0, 1, 6 * MS, 5 * MS, 201);
    assert_null(t.method[1].name);
    assert_int_equal(t.compile.count, 3);
    tl_jit_fini(&t);
}

static void without_code_below_it_is_the_latest_above(void **state)
{
    rt_reset();
    code(1, 0xa, RT_H(5), 100);
    code(2, 0xa, RT_H(6), 200);
    begin(RT_ONE, 10, 0xa);
    end(RT_ONE, 12, 0xa, 0);
    begin(RT_ONE, 20, 0xc); /* unknown otherwise */
    begin(RT_TWO, 21, 0xa);
    tl_jit t = read_jit(NULL);
    assert_int_equal(t.n, 2);
    check_method(&t.method[0], 0xa, 6, 1, 0, 0, 2 * MS, 2 * MS, 201);
    check_method(&t.method[1], 0xc, 0, 0, 0, 0, 0, 0, 0);
    assert_false(t.method[1].has_function);
    assert_int_equal(t.open, 2);
    tl_jit_fini(&t);
}

/* An id may be reused for another function: two rows; and for the same one: one row, with the last size. */
static void ids_are_used_again(void **state)
{
    rt_reset();
    begin(RT_ONE, 10, 0xa);
    code(11, 0xa, RT_H(9), 100);
    begin(RT_ONE, 12, 0xa); /* nested */
    code(13, 0xa, RT_H(2), 200);
    end(RT_ONE, 14, 0xa, 0); /* of the inner one */
    end(RT_ONE, 20, 0xa, 0);
    begin(RT_ONE, 30, 0xa);
    end(RT_ONE, 35, 0xa, 0);
    code(36, 0xa, RT_H(9), 300);
    tl_jit t = read_jit(NULL);
    assert_int_equal(t.n, 2);
    check_method(&t.method[0], 0xa, 2, 1, 0, 0, 2 * MS, 2 * MS, 201);
    check_method(&t.method[1], 0xa, 9, 2, 0, 0, 15 * MS, 10 * MS, 301);
    tl_jit_fini(&t);
}

static void searches_and_strays(void **state)
{
    rt_reset();
    rt_add(RT_SEARCH, RT_ONE, 10, 1, RT_H(0xa));
    rt_add(RT_JIT_END, RT_ONE, 11, 1, RT_H(0xa), RT_H(0)); /* of the other kind: no begin */
    rt_add(RT_SEARCH_END, RT_ONE, 15, 1, RT_H(0xa));
    rt_add(RT_SEARCH_END, RT_ONE, 16, 1, RT_H(0xa));
    tl_jit t = read_jit(NULL);
    assert_int_equal(t.n, 1);
    check_method(&t.method[0], 0xa, 0, 0, 1, 0, 0, 0, 0);
    assert_int_equal(t.stray_ends, 2);
    assert_int_equal(t.compile.count, 0);
    assert_int_equal(t.nthread, 1);
    assert_int_equal(t.thread[0].searched, 1);
    tl_jit_fini(&t);
}

/* An undefined id is an id of its own, before and beside 0. */
static void undefined_ids(void **state)
{
    rt_reset();
    rt_add(RT_JIT, RT_ONE, 10, 1, RT_NONE);
    rt_add(RT_JIT, RT_ONE, 11, 2, RT_H(0));
    rt_add(RT_CODE, RT_PROCESS, 12, 0, RT_L(1), RT_ST(2), RT_H(0), RT_H(50), RT_H(3), RT_NONE);
    rt_add(RT_CODE, RT_PROCESS, 13, 0, RT_L(0), RT_NONE, RT_H(0));
    rt_add(RT_JIT_END, RT_ONE, 14, 1, RT_NONE, RT_H(0));
    tl_jit t = read_jit(NULL);
    assert_int_equal(t.n, 2);
    assert_true(t.method[0].has_id);
    assert_false(t.method[0].has_function);
    assert_false(t.method[1].has_id);
    check_method(&t.method[1], 0, 3, 1, 0, 0, 4 * MS, 4 * MS, 50);
    tl_jit_fini(&t);
}

/* An undefined id comes before 1, in whatever order they appear. */
static void undefined_ids_go_before_1(void **state)
{
    for (int first = 0; first < 2; first++) {
        rt_reset();
        for (int i = 0; i < 2; i++) {
            if (i == first)
                rt_add(RT_CODE, RT_PROCESS, 12, 0, RT_L(1), RT_ST(2), RT_H(0), RT_H(50), RT_H(3), RT_NONE);
            else
                code(12, 1, RT_H(2), 60);
        }
        rt_add(RT_JIT, RT_ONE, 13, 1, RT_NONE);
        rt_add(RT_JIT_END, RT_ONE, 14, 1, RT_NONE, RT_H(0));
        begin(RT_ONE, 20, 1);
        end(RT_ONE, 25, 1, 0);
        tl_jit t = read_jit(NULL);
        assert_int_equal(t.n, 2);
        assert_false(t.method[0].has_id);
        assert_int_equal(t.method[1].id, 1);
        tl_jit_fini(&t);
    }
}

/* Likewise, for one id, an undefined function comes before function 1. */
static void undefined_functions_go_before_1(void **state)
{
    for (int first = 0; first < 2; first++) {
        rt_reset();
        for (int i = 0; i < 2; i++) {
            begin(RT_ONE, 10 + 10 * (uint64_t)i, 0xa);
            code(11 + 10 * (uint64_t)i, 0xa, i == first ? RT_NONE : RT_H(1), 100);
            end(RT_ONE, 12 + 10 * (uint64_t)i, 0xa, 0);
        }
        tl_jit t = read_jit(NULL);
        assert_int_equal(t.n, 2);
        assert_false(t.method[0].has_function);
        assert_int_equal(t.method[1].function, 1);
        tl_jit_fini(&t);
    }
}

static void by_thread(void **state)
{
    rt_reset();
    begin(RT_ONE, 10, 1);
    begin(RT_TWO, 11, 2);
    end(RT_ONE, 12, 1, 0);
    end(RT_TWO, 21, 2, UINT32_MAX);
    begin(RT_ONE, 30, 3);
    end(RT_ONE, 33, 3, 0);
    tl_jit t = read_jit(NULL);
    assert_int_equal(t.nthread, 2);
    assert_string_equal(t.thread[0].name, "thread 0x2");
    assert_int_equal(t.thread[0].failed, 1);
    assert_int_equal(t.thread[0].max, 10 * MS);
    assert_int_equal(t.thread[1].compiled, 2);
    assert_int_equal(t.thread[1].total.low, 5 * MS);
    tl_jit_fini(&t);
}

/* Of threads with equal times the one with more compilations and searches comes first. */
static void threads_of_equal_time(void **state)
{
    rt_reset();
    begin(RT_ONE, 10, 1);
    end(RT_ONE, 12, 1, 0);
    begin(RT_TWO, 20, 2);
    end(RT_TWO, 22, 2, 0);
    rt_add(RT_SEARCH, RT_TWO, 30, 2, RT_H(2));
    rt_add(RT_SEARCH_END, RT_TWO, 30, 2, RT_H(2));
    tl_jit t = read_jit(NULL);
    assert_int_equal(t.nthread, 2);
    assert_true(t.thread[0].total.low == t.thread[1].total.low);
    assert_string_equal(t.thread[0].name, "thread 0x2");
    assert_int_equal(t.thread[0].searched, 1);
    tl_jit_fini(&t);
}

static void chosen_times_and_threads(void **state)
{
    const char *const thread[] = {"thread 0x1"};
    const tl_select select = {
        .time_from = 20, .has_from = true, .time_to = 40, .has_to = true, .thread = thread, .nthread = 1};
    rt_reset();
    begin(RT_ONE, 10, 1); /* begins before */
    end(RT_ONE, 21, 1, 0);
    begin(RT_ONE, 22, 2);
    begin(RT_TWO, 23, 3); /* of another thread */
    end(RT_TWO, 24, 3, 0);
    end(RT_ONE, 25, 2, 0);
    begin(RT_ONE, 39, 4); /* ends after it */
    end(RT_ONE, 40, 4, 0);
    code(50, 2, RT_H(7), 9); /* names and code count whenever they come */
    name(7, "two");
    tl_jit t = read_jit(&select);
    assert_int_equal(t.n, 2);
    check_method(&t.method[0], 2, 7, 1, 0, 0, 3 * MS, 3 * MS, 10);
    assert_string_equal(t.method[0].name, "two");
    check_method(&t.method[1], 4, 0, 0, 0, 0, 0, 0, 0);
    assert_int_equal(t.open, 1);
    assert_int_equal(t.stray_ends, 0);
    assert_int_equal(t.nthread, 1);
    tl_jit_fini(&t);
}

static void several_inputs_by_name(void **state)
{
    tl_jit t = {.by_name = true};
    for (uint64_t i = 0; i < 2; i++) {
        rt_reset();
        name(5 + i, "same");
        begin(RT_ONE, 10, 0xa + i);
        code(11, 0xa + i, RT_H(5 + i), 100);
        end(RT_ONE, 12 + i, 0xa + i, 0);
        begin(RT_ONE, 20, 0xf); /* nameless: not the same */
        end(RT_ONE, 21, 0xf, 0);
        add_input(&t, NULL);
    }
    tl_jit_sort(&t, TL_JIT_BY_TOTAL);
    assert_int_equal(t.n, 3);
    assert_string_equal(t.method[0].name, "same");
    assert_false(t.method[0].has_id);
    assert_false(t.method[0].has_function);
    assert_int_equal(t.method[0].compiled, 2);
    assert_int_equal(t.method[0].total.low, 5 * MS);
    assert_int_equal(t.method[0].max, 3 * MS);
    assert_int_equal(t.nthread, 1);
    assert_int_equal(t.thread[0].compiled, 4);
    tl_jit_fini(&t);
}

static void sums_beyond_64_bits(void **state)
{
    rt_reset();
    rt.repeat = 4;
    begin(RT_ONE, 0, 1);
    end(RT_ONE, UINT64_C(9223372036854), 1, 0);
    rt_add(RT_CODE, RT_PROCESS, 1, 0, RT_L(2), RT_ST(2), RT_H(0), RT_H(UINT64_MAX), RT_ST(2), RT_H(0), RT_H(UINT64_MAX),
           RT_H(1), RT_H(1));
    tl_jit t = read_jit(NULL);
    char text[TL_SUM_TEXT];
    assert_string_equal(tl_sum_text(text, t.method[0].total), "36893488147416000000");
    assert_string_equal(tl_sum_text(text, t.method[0].code_bytes), "36893488147419103230");
    assert_string_equal(tl_sum_text(text, t.compile.total), "36893488147416000000");
    tl_jit_fini(&t);
}

/* Jobs that never end, jobs that wait for code for ever, and code reported again and again: memory stays bounded. */
static void many_jobs(void **state)
{
    rt_reset();
    rt.repeat = 30000;
    rt.batch = 5;
    begin(RT_ONE, 10, 1);
    begin(RT_ONE, 11, 1);
    end(RT_ONE, 12, 1, 0);
    begin(RT_TWO, 20, 2);
    end(RT_TWO, 21, 2, 0);
    code(22, 2, RT_H(1), 10);
    code(22, 2, RT_H(2), 10);
    tl_jit t = read_jit(NULL);
    assert_int_equal(t.n, 2);
    assert_int_equal(t.open, 30000);
    check_method(&t.method[0], 1, 0, 30000, 0, 0, 30000 * MS, MS, 0);
    check_method(&t.method[1], 2, 1, 30000, 0, 0, 30000 * MS, MS, 11);
    assert_int_equal(t.compile.n, 1);
    tl_jit_fini(&t);
}

static void orders(void **state)
{
    rt_reset();
    name(1, "b");
    name(2, "a");
    for (uint64_t i = 1; i <= 3; i++)
        code(0, i, RT_H(i), i);
    begin(RT_ONE, 0, 1);
    end(RT_ONE, 5, 1, 0); /* 1: 5 once */
    for (unsigned k = 0; k < 3; k++) {
        begin(RT_ONE, 10, 2);
        end(RT_ONE, 12, 2, 0); /* 2: three of 2 */
    }
    begin(RT_ONE, 20, 3);
    end(RT_ONE, 24, 3, 0);
    tl_jit t = read_jit(NULL);
    const struct {
        tl_jit_order by;
        uint64_t id[3];
    } order[] = {{TL_JIT_BY_ID, {1, 2, 3}},
                 {TL_JIT_BY_TOTAL, {2, 1, 3}},
                 {TL_JIT_BY_CALLS, {2, 1, 3}},
                 {TL_JIT_BY_MAX, {1, 3, 2}},
                 {TL_JIT_BY_NAME, {2, 1, 3}}};
    for (size_t i = 0; i < 5; i++) {
        tl_jit_sort(&t, order[i].by);
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(t.method[k].id, order[i].id[k]);
    }
    tl_jit_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_code_says_which_method),
        cmocka_unit_test(without_code_below_it_is_the_latest_above),
        cmocka_unit_test(ids_are_used_again),
        cmocka_unit_test(searches_and_strays),
        cmocka_unit_test(undefined_ids),
        cmocka_unit_test(undefined_ids_go_before_1),
        cmocka_unit_test(undefined_functions_go_before_1),
        cmocka_unit_test(by_thread),
        cmocka_unit_test(threads_of_equal_time),
        cmocka_unit_test(chosen_times_and_threads),
        cmocka_unit_test(several_inputs_by_name),
        cmocka_unit_test(sums_beyond_64_bits),
        cmocka_unit_test(many_jobs),
        cmocka_unit_test(orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

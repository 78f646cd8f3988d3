/* The table of garbage collections, and common parts of the runtimes' tables: selection, time, fields by role. */
#include "runtime_fixture.h"

#include "analysis/runtime/gc_table.h"

static tl_gc read_gc(const tl_select *select)
{
    tl_gc g = {0};
    tl_error e = {0};
    tl_source *s = rt_source();
    must(tl_gc_read(&g, s, select, &e), &e);
    tl_source_close(s);
    return g;
}

static void gc_at(uint32_t track, uint64_t begin, uint64_t end, const char *reason, const char *generations)
{
    rt_add(RT_GC, track, begin, 0, reason ? RT_S(reason) : RT_NONE, RT_S(generations));
    rt_bare(RT_GC_END, track, end, 0);
}

#define MS UINT64_C(1000000)

static void collections_and_sums(void **state)
{
    rt_reset();
    rt_bare(RT_OTHER, RT_PROCESS, 0, 0);
    gc_at(RT_ONE, 10, 15, NULL, "tfff");
    gc_at(RT_TWO, 20, 40, "induced", "tttt");
    gc_at(RT_TWO, 50, 53, "induced", "ttff");
    rt_bare(RT_OTHER, RT_PROCESS, 100, 0);
    tl_gc g = read_gc(NULL);
    assert_int_equal(g.n, 3);
    assert_int_equal(g.collection[1].begin, 20 * MS);
    assert_int_equal(g.collection[1].end, 40 * MS);
    assert_int_equal(g.collection[1].pause, 20 * MS);
    assert_string_equal(g.collection[1].track, "thread 0x2");
    assert_string_equal(g.collection[1].reason, "induced");
    assert_null(g.collection[0].reason);
    assert_string_equal(g.collection[0].generations, "tfff");
    assert_int_equal(g.induced, 2);
    assert_int_equal(g.by_generation[0], 3);
    assert_int_equal(g.by_generation[1], 2);
    assert_int_equal(g.by_generation[3], 1);
    assert_int_equal(g.span, 100 * MS);
    assert_int_equal(g.open + g.stray_ends, 0);
    tl_quantiles q;
    assert_int_equal(tl_gc_pauses(&g, &q, NULL), 0);
    assert_int_equal(q.count, 3);
    assert_int_equal(q.total.low, 28 * MS);
    assert_int_equal(q.p50, 5 * MS);
    tl_gc_fini(&g);
}

/* On whichever thread: the keys are equal. */
static void ends_match_the_latest_open(void **state)
{
    rt_reset();
    rt_bare(RT_GC_END, RT_ONE, 1, 0);
    rt_add(RT_GC, RT_ONE, 10, 0, RT_NONE, RT_S("tfff"));
    rt_add(RT_GC, RT_TWO, 20, 0, RT_NONE, RT_S("tfff"));
    rt_add(RT_GC, RT_TWO, 25, 7, RT_NONE, RT_S("tfff")); /* another key */
    rt_bare(RT_GC_END, RT_ONE, 30, 0);
    rt_bare(RT_GC_END, RT_ONE, 5, 0); /* time goes back: a pause is at least 0 */
    rt_bare(RT_GC_END, RT_ONE, 40, 0);
    tl_gc g = read_gc(NULL);
    assert_int_equal(g.n, 3);
    assert_int_equal(g.collection[1].pause, 10 * MS);
    assert_true(g.collection[0].ended);
    assert_int_equal(g.collection[0].end, 5 * MS);
    assert_int_equal(g.collection[0].pause, 0);
    assert_false(g.collection[2].ended);
    assert_int_equal(g.stray_ends, 2);
    assert_int_equal(g.open, 1);
    tl_gc_fini(&g);
}

static void chosen_times(void **state)
{
    rt_reset();
    gc_at(RT_ONE, 10, 15, NULL, "tfff");
    rt_add(RT_GC, RT_ONE, 18, 0, RT_NONE, RT_S("tfff")); /* begins before, ends within */
    rt_bare(RT_GC_END, RT_ONE, 21, 0);
    gc_at(RT_ONE, 22, 25, NULL, "tfff");
    gc_at(RT_ONE, 26, 31, NULL, "tfff"); /* ends after it */
    gc_at(RT_ONE, 40, 41, NULL, "tfff");
    const tl_select select = {.time_from = 20, .has_from = true, .time_to = 30, .has_to = true};
    tl_gc g = read_gc(&select);
    assert_int_equal(g.n, 2);
    assert_int_equal(g.collection[0].begin, 22 * MS);
    assert_int_equal(g.collection[0].pause, 3 * MS);
    assert_false(g.collection[1].ended);
    assert_int_equal(g.open, 1);
    assert_int_equal(g.stray_ends, 0);
    assert_int_equal(g.span, 5 * MS);
    tl_gc_fini(&g);
}

static void chosen_threads(void **state)
{
    rt_reset();
    const char *const thread[] = {"thread 0x2"}, *const nobody[] = {"nobody"};
    gc_at(RT_ONE, 10, 15, NULL, "tfff");
    rt_bare(RT_GC_END, RT_ONE, 16, 0); /* no begin, but not chosen */
    gc_at(RT_TWO, 20, 22, NULL, "tfff");
    rt_add(RT_GC, RT_TWO, 30, 0, RT_NONE, RT_S("tfff"));
    rt_bare(RT_GC_END, RT_ONE, 33, 0); /* ends on a thread not selected: it still is that pause */
    rt_bare(RT_GC_END, RT_TWO, 34, 0);
    tl_select select = {.thread = thread, .nthread = 1};
    tl_gc g = read_gc(&select);
    assert_int_equal(g.n, 2);
    assert_int_equal(g.collection[0].begin, 20 * MS);
    assert_int_equal(g.collection[1].pause, 3 * MS);
    assert_int_equal(g.stray_ends, 1);
    tl_gc_fini(&g);

    select.thread = nobody;
    tl_error e = {0};
    tl_source *s = rt_source();
    assert_int_equal(tl_gc_read(&g, s, &select, &e), TL_ENOMATCH);
    tl_source_close(s);
    tl_gc_fini(&g);
}

static void times_from_the_begin_of_the_trace(void **state)
{
    rt_reset();
    rt.from_zero = false;
    rt_bare(RT_OTHER, RT_PROCESS, 100, 0);
    gc_at(RT_ONE, 110, 115, NULL, "tfff");
    const tl_select select = {.time_from = 10, .has_from = true};
    tl_gc g = read_gc(&select);
    assert_int_equal(g.n, 1);
    assert_int_equal(g.collection[0].begin, 10 * MS);
    tl_gc_fini(&g);
}

static void kinds_and_longest(void **state)
{
    rt_reset();
    gc_at(RT_ONE, 10, 11, NULL, "tfff");
    gc_at(RT_ONE, 20, 29, "induced", "tfff");
    gc_at(RT_ONE, 30, 33, NULL, "tfff");
    gc_at(RT_ONE, 40, 49, NULL, "ttff");
    rt_add(RT_GC, RT_TWO, 50, 0, RT_NONE, RT_S("tfff"));
    tl_gc g = read_gc(NULL);
    tl_gc_kind *kind = NULL;
    uint32_t n = 0, *index = NULL;
    assert_int_equal(tl_gc_kinds(&g, &kind, &n, NULL), 0);
    assert_int_equal(n, 3);
    assert_int_equal(kind[0].collections, 3);
    assert_int_equal(kind[0].pause.count, 2);
    assert_int_equal(kind[0].pause.max, 3 * MS);
    assert_null(kind[0].reason);
    assert_string_equal(kind[1].reason, "induced");
    assert_string_equal(kind[2].generations, "ttff");
    assert_int_equal(kind[2].pause.total.low, 9 * MS);
    free(kind);
    assert_int_equal(tl_gc_longest(&g, 3, &index, &n, NULL), 0);
    assert_int_equal(n, 3);
    assert_int_equal(index[0], 1); /* as long as the other, but before it */
    assert_int_equal(index[1], 3);
    assert_int_equal(index[2], 2);
    free(index);
    assert_int_equal(tl_gc_longest(&g, 0, &index, &n, NULL), 0);
    assert_int_equal(n, 4);
    free(index);
    tl_gc_fini(&g);
}

static void heap_sizes(void **state)
{
    rt_reset();
    rt_add(RT_SIZES, RT_PROCESS, 10, 0, RT_L(2), RT_ST(3), RT_S("LOH"), RT_U(1), RT_U(UINT64_MAX), RT_ST(3),
           RT_S("GEN0"), RT_U(5), RT_U(6));
    rt_add(RT_SIZES, RT_PROCESS, 20, 0, RT_L(0));
    rt_add(RT_SIZES, RT_PROCESS, 30, 0, RT_L(1), RT_ST(3), RT_S("LOH"), RT_U(7), RT_U(8));
    tl_gc g = read_gc(NULL);
    assert_int_equal(g.nheap, 3);
    assert_int_equal(g.heap[0].n, 2);
    assert_int_equal(g.heap[1].n, 0);
    assert_int_equal(g.heap[2].ts, 30 * MS);
    assert_string_equal(g.size[0].name, "LOH");
    assert_true(g.size[0].reserved == UINT64_MAX);
    assert_string_equal(g.size[1].name, "GEN0");
    assert_int_equal(g.size[1].used, 5);
    assert_ptr_equal(g.size[0].name, g.size[g.heap[2].first].name);
    assert_int_equal(g.size[g.heap[2].first].used, 7);
    tl_gc_fini(&g);
}

/* Inputs add up; what is open in one does not end in the next. */
static void several_inputs(void **state)
{
    tl_gc g = {0};
    for (int i = 0; i < 2; i++) {
        rt_reset();
        rt_bare(RT_GC_END, RT_ONE, 5, 0);
        gc_at(RT_ONE, 10, 11, "induced", "tfff");
        rt_add(RT_GC, RT_ONE, 50, 0, RT_NONE, RT_S("tttf"));
        tl_source *s = rt_source();
        assert_int_equal(tl_gc_read(&g, s, NULL, NULL), 0);
        tl_source_close(s);
    }
    assert_int_equal(g.n, 4);
    assert_int_equal(g.open, 2);
    assert_int_equal(g.stray_ends, 2);
    assert_int_equal(g.induced, 2);
    assert_int_equal(g.by_generation[0], 4);
    assert_int_equal(g.by_generation[2], 2);
    assert_int_equal(g.span, 2 * 45 * MS);
    tl_gc_fini(&g);
}

static void many_open_begins_of_many_batches(void **state)
{
    rt_reset();
    rt.batch = 3;
    rt.repeat = 50000;
    rt_add(RT_GC, RT_ONE, 10, 0, RT_NONE, RT_S("tfff"));
    rt_add(RT_GC, RT_TWO, 20, 0, RT_S("induced"), RT_S("tfff"));
    rt_bare(RT_GC_END, RT_ONE, 30, 0);
    rt_add(RT_GC, RT_TWO, 20, 0, RT_NONE, RT_S(""));
    tl_gc g = read_gc(NULL);
    assert_int_equal(g.n, 150000);
    assert_int_equal(g.open, 100000);
    assert_int_equal(g.induced, 50000);
    assert_int_equal(g.by_generation[0], 100000);
    assert_int_equal(g.collection[1].pause, 10 * MS);
    assert_false(g.collection[0].ended);
    tl_gc_fini(&g);
}

/* Events without the values that their class promises, and values of other types. */
static void missing_values(void **state)
{
    rt_reset();
    rt_bare(RT_GC, RT_ONE, 10, 0);
    rt_add(RT_GC, RT_ONE, 11, 0, RT_U(1), RT_NONE);
    rt_bare(RT_SIZES, RT_ONE, 12, 0);
    rt_add(RT_SIZES, RT_ONE, 12, 0, RT_NONE);
    rt_add(RT_SIZES, RT_ONE, 12, 0, RT_L(5), RT_ST(9), RT_U(3)); /* lengths that are not there */
    tl_gc g = read_gc(NULL);
    assert_int_equal(g.n, 2);
    assert_null(g.collection[1].reason);
    assert_string_equal(g.collection[0].generations, "");
    assert_int_equal(g.nheap, 3);
    assert_int_equal(g.heap[2].n, 1);
    assert_string_equal(g.size[0].name, "?");
    tl_gc_fini(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collections_and_sums),
        cmocka_unit_test(ends_match_the_latest_open),
        cmocka_unit_test(chosen_times),
        cmocka_unit_test(chosen_threads),
        cmocka_unit_test(times_from_the_begin_of_the_trace),
        cmocka_unit_test(kinds_and_longest),
        cmocka_unit_test(heap_sizes),
        cmocka_unit_test(several_inputs),
        cmocka_unit_test(many_open_begins_of_many_batches),
        cmocka_unit_test(missing_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

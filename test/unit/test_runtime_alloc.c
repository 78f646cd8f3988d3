/* The tables of allocations and of the heap. */
#include "runtime_fixture.h"

#include "analysis/runtime/alloc_table.h"
#include "analysis/runtime/heap_table.h"

#define MS UINT64_C(1000000)

static void add_input(tl_alloc *a, const tl_select *select)
{
    tl_error e = {0};
    tl_source *s = rt_source();
    must(tl_alloc_read(a, s, select, &e), &e);
    tl_source_close(s);
}

static void read_alloc(tl_alloc *a, const tl_select *select)
{
    memset(a, 0, sizeof *a);
    add_input(a, select);
    tl_alloc_sort(a, TL_TYPES_BY_BYTES);
}

static void allocated(uint32_t track, uint64_t ts, uint64_t weight, tl_value type, uint64_t count, uint64_t bytes,
                      tl_value ip)
{
    rt_add(RT_ALLOC, track, ts, weight, RT_U(ts), RT_L(1), RT_OBJECT(type, count, bytes, ip));
}

static void type_name(uint64_t type, const char *text)
{
    rt_add(RT_TYPE, RT_PROCESS, 0, 0, RT_H(type), RT_S(text));
}

static void check_row(const tl_type_row *r, uint64_t type, const char *name, uint64_t count, uint64_t bytes)
{
    assert_int_equal(r->type, type);
    if (name)
        assert_string_equal(r->name, name);
    else
        assert_null(r->name);
    assert_int_equal(r->count.low, count);
    assert_int_equal(r->bytes.low, bytes);
}

static void sums_by_type(void **state)
{
    tl_alloc a;
    rt_reset();
    type_name(1, "old");
    rt_add(RT_ALLOC, RT_ONE, 1, 10, RT_U(0), RT_L(3), RT_OBJECT(RT_H(1), 2, 48, RT_NONE),
           RT_OBJECT(RT_H(2), 1, 100, RT_NONE), RT_OBJECT(RT_H(1), 1, 24, RT_H(9)));
    allocated(RT_TWO, 2, 0, RT_H(1), 1000, 1000, RT_NONE); /* recording is paused */
    allocated(RT_TWO, 3, 10, RT_NONE, 5, 72, RT_NONE);
    rt_add(RT_ALLOC, RT_TWO, 4, 10, RT_U(0), RT_L(0));
    rt_bare(RT_ALLOC, RT_TWO, 4, 10);
    type_name(1, "new");
    read_alloc(&a, NULL);
    assert_int_equal(a.types.n, 3);
    check_row(&a.types.row[0], 2, NULL, 1, 100);
    check_row(&a.types.row[1], 0, NULL, 5, 72); /* as many bytes as the other: sorted as number 0 */
    check_row(&a.types.row[2], 1, "new", 3, 72);
    assert_false(a.types.row[1].has_type);
    assert_int_equal(a.count.low, 9);
    assert_int_equal(a.bytes.low, 244);
    assert_false(a.has_live);
    assert_true(tl_over_time_sum(&a.over_time, MS / 2, 3 * MS / 2) == 172);
    assert_true(tl_over_time_sum(&a.over_time, 3 * MS / 2, 5 * MS / 2) == 0);
    tl_alloc_fini(&a);
}

static void equal_rows_by_number_then_first_use(void **state)
{
    tl_alloc a;
    rt_reset();
    allocated(RT_ONE, 1, 10, RT_H(3), 1, 8, RT_NONE);
    allocated(RT_ONE, 1, 10, RT_NONE, 1, 8, RT_NONE);
    allocated(RT_ONE, 1, 10, RT_H(0), 1, 8, RT_NONE);
    allocated(RT_ONE, 1, 10, RT_H(2), 1, 8, RT_NONE);
    read_alloc(&a, NULL);
    assert_false(a.types.row[0].has_type);
    assert_true(a.types.row[1].has_type);
    assert_int_equal(a.types.row[1].type, 0);
    assert_int_equal(a.types.row[2].type, 2);
    assert_int_equal(a.types.row[3].type, 3);
    tl_alloc_fini(&a);
}

static void sums_beyond_64_bits(void **state)
{
    tl_alloc a;
    char text[TL_SUM_TEXT];
    rt_reset();
    rt.repeat = 3;
    allocated(RT_ONE, 1, 10, RT_H(1), UINT64_MAX, UINT64_MAX, RT_NONE);
    allocated(RT_ONE, 1, 10, RT_H(2), 1, 1, RT_NONE);
    read_alloc(&a, NULL);
    assert_string_equal(tl_sum_text(text, a.types.row[0].count), "55340232221128654845");
    assert_string_equal(tl_sum_text(text, a.bytes), "55340232221128654848");
    assert_string_equal(tl_sum_text(text, a.places.place[0].bytes), "55340232221128654848");
    tl_alloc_fini(&a);
}

static void the_last_live_objects(void **state)
{
    tl_alloc a;
    rt_reset();
    type_name(7, "Seven");
    rt_add(RT_LIVE, RT_PROCESS, 10, 0, RT_L(1), RT_OBJECT(RT_H(1), 1, 8, RT_NONE));
    rt_add(RT_LIVE, RT_PROCESS, 20, 0, RT_L(2), RT_OBJECT(RT_H(7), 1, 8, RT_NONE), RT_OBJECT(RT_H(7), 2, 16, RT_NONE));
    rt_add(RT_LIVE, RT_PROCESS, 30, 0, RT_L(1), RT_OBJECT(RT_H(9), 1, 8, RT_NONE));
    const tl_select select = {.time_to = 30, .has_to = true};
    read_alloc(&a, &select);
    assert_true(a.has_live);
    assert_int_equal(a.live_ts, 20 * MS);
    assert_int_equal(a.live.n, 1);
    check_row(&a.live.row[0], 7, "Seven", 3, 24);
    assert_int_equal(a.types.n, 0);
    tl_alloc_fini(&a);
}

/* The stack is that of the last sample of the same track, long after its batch. */
static void places(void **state)
{
    tl_alloc a;
    const tl_frame fib = {.function = 5, .name = "seen as", .flags = TL_FRAME_FUNCTION},
                   nameless = {.function = 6, .flags = TL_FRAME_FUNCTION}, unknown = {.flags = 0},
                   named = {.name = "native"};
    for (uint32_t batch = 1; batch < 20; batch += 6) {
        rt_reset();
        rt.batch = batch;
        allocated(RT_TWO, 1, 10, RT_H(1), 1, 1, RT_H(0x700)); /* no sample yet */
        rt_sample_of(RT_ONE, 2, &fib);
        rt_sample_of(RT_TWO, 3, &nameless);
        allocated(RT_ONE, 4, 10, RT_H(1), 2, 20, RT_NONE);
        allocated(RT_TWO, 5, 10, RT_H(1), 1, 300, RT_NONE);
        allocated(RT_ONE, 6, 10, RT_H(1), 1, 50, RT_H(0x700)); /* line 7 */
        allocated(RT_ONE, 6, 10, RT_H(2), 1, 5, RT_H(0x800));  /* unknown: as if without */
        rt_sample_of(RT_ONE, 7, &unknown);
        allocated(RT_ONE, 8, 10, RT_H(1), 1, 4000, RT_NONE);
        rt_sample_of(RT_ONE, 9, NULL); /* an empty stack */
        allocated(RT_ONE, 10, 10, RT_H(1), 1, 2, RT_NONE);
        rt_sample_of(RT_ONE, 11, &named);
        allocated(RT_ONE, 12, 10, RT_H(1), 1, 7, RT_NONE);
        rt_add(RT_FUNCTION, RT_PROCESS, 13, 0, RT_H(5), RT_S("Work:Fib"));
        read_alloc(&a, NULL);
        const struct {
            const char *name, *source;
            uint64_t bytes;
        } expected[] = {{"?", "", 4000},      {"0x6", "", 300},  {"Work:Fib", "Work.cs:7", 50},
                        {"Work:Fib", "", 25}, {"native", "", 7}, {NULL, "", 3}};
        assert_int_equal(a.places.n, 6);
        for (size_t i = 0; i < 6; i++) {
            const tl_alloc_place *p = &a.places.place[i];
            assert_int_equal(p->bytes.low, expected[i].bytes);
            assert_string_equal(p->source, expected[i].source);
            if (expected[i].name)
                assert_string_equal(p->name, expected[i].name);
            else
                assert_null(p->name);
        }
        tl_alloc_fini(&a);
    }
}

/* Allocations have numbers of lines if frames have them. */
static void places_by_line(void **state)
{
    tl_alloc a;
    const tl_frame f = {.function = 5, .ip = 3, .flags = TL_FRAME_FUNCTION | TL_FRAME_IP | TL_FRAME_LINE};
    rt_reset();
    rt_sample_of(RT_ONE, 2, &f);
    allocated(RT_ONE, 4, 10, RT_H(1), 2, 20, RT_H(12));
    read_alloc(&a, NULL);
    assert_int_equal(a.places.n, 1);
    assert_string_equal(a.places.place[0].source, "Work.cs:12");
    tl_alloc_fini(&a);
}

static void chosen_times_and_threads(void **state)
{
    tl_alloc a;
    const char *const thread[] = {"thread 0x2"};
    const tl_select select = {.time_from = 5, .has_from = true, .thread = thread, .nthread = 1};
    const tl_frame f = {.function = 5, .flags = TL_FRAME_FUNCTION};
    rt_reset();
    rt_sample_of(RT_TWO, 1, &f); /* earlier, but its stack counts */
    allocated(RT_TWO, 2, 10, RT_H(1), 1, 1, RT_NONE);
    allocated(RT_ONE, 6, 10, RT_H(1), 1, 10, RT_NONE);
    allocated(RT_TWO, 7, 10, RT_H(1), 1, 100, RT_NONE);
    rt_add(RT_LIVE, RT_PROCESS, 8, 0, RT_L(1), RT_OBJECT(RT_H(1), 1, 8, RT_NONE)); /* of no thread */
    read_alloc(&a, &select);
    assert_int_equal(a.bytes.low, 100);
    assert_int_equal(a.places.n, 1);
    assert_string_equal(a.places.place[0].name, "0x5");
    assert_false(a.has_live);
    tl_alloc_fini(&a);
}

static void several_inputs_by_name(void **state)
{
    tl_alloc a = {.several = true};
    for (uint64_t i = 0; i < 2; i++) {
        rt_reset();
        type_name(5 + i, "same");
        type_name(8, "other");
        allocated(RT_ONE, 1, 10, RT_H(5 + i), 1, 10, RT_NONE);
        allocated(RT_ONE, 1, 10, RT_H(8), 1, 1, RT_NONE);
        allocated(RT_ONE, 1, 10, RT_H(9), 1, 4, RT_NONE);
        rt_add(RT_LIVE, RT_PROCESS, 20, 0, RT_L(1), RT_OBJECT(RT_H(1), 1, 8, RT_NONE));
        add_input(&a, NULL);
    }
    tl_alloc_sort(&a, TL_TYPES_BY_BYTES);
    assert_int_equal(a.types.n, 4);
    check_row(&a.types.row[0], a.types.row[0].type, "same", 2, 20);
    assert_false(a.types.row[0].has_type);
    check_row(&a.types.row[1], 9, NULL, 1, 4);
    check_row(&a.types.row[3], 8, "other", 2, 2);
    assert_true(a.types.row[3].has_type);
    assert_int_equal(a.bytes.low, 30);
    assert_false(a.has_live);
    tl_alloc_sort(&a, TL_TYPES_BY_NAME);
    assert_string_equal(a.types.row[0].name, "other");
    assert_null(a.types.row[3].name);
    tl_alloc_fini(&a);
}

/* An input without events has no time, and does not change that of the others. */
static void an_empty_input_has_no_time(void **state)
{
    tl_alloc a = {.several = true};
    rt_reset();
    add_input(&a, NULL);
    assert_false(a.has_span);
    rt_reset();
    allocated(RT_ONE, 50, 10, RT_H(5), 1, 10, RT_NONE);
    allocated(RT_ONE, 70, 10, RT_H(5), 1, 10, RT_NONE);
    add_input(&a, NULL);
    assert_true(a.has_span);
    const uint64_t first = a.first, last = a.last;
    assert_int_equal(last - first, 20 * MS);
    rt_reset();
    add_input(&a, NULL);
    assert_int_equal(a.first, first);
    assert_int_equal(a.last, last);
    tl_alloc_fini(&a);
}

/* Heap */

static void read_heap(tl_heap *h, const tl_select *select)
{
    tl_error e = {0};
    tl_source *s = rt_source();
    memset(h, 0, sizeof *h);
    must(tl_heap_read(h, s, select, &e), &e);
    tl_source_close(s);
}

static void growth_between_the_first_and_the_last(void **state)
{
    tl_heap h;
    rt_reset();
    rt_add(RT_LIVE, RT_PROCESS, 1, 0, RT_L(1), RT_OBJECT(RT_H(9), 1, 8000, RT_NONE)); /* not chosen */
    rt_add(RT_LIVE, RT_PROCESS, 10, 0, RT_L(3), RT_OBJECT(RT_H(1), 1, 100, RT_NONE),
           RT_OBJECT(RT_H(2), 10, 1000, RT_NONE), RT_OBJECT(RT_H(4), 1, 7, RT_NONE));
    rt_add(RT_LIVE, RT_PROCESS, 20, 0, RT_L(1), RT_OBJECT(RT_H(8), 1, 5000, RT_NONE));
    rt_add(RT_LIVE, RT_PROCESS, 30, 0, RT_L(3), RT_OBJECT(RT_H(3), 2, 30, RT_NONE), RT_OBJECT(RT_H(2), 9, 900, RT_NONE),
           RT_OBJECT(RT_H(1), 2, 130, RT_NONE));
    type_name(2, "Two");
    const tl_select select = {.time_from = 5, .has_from = true};
    read_heap(&h, &select);
    assert_int_equal(h.n, 3);
    assert_int_equal(h.snapshot[0].ts, 10 * MS);
    assert_int_equal(h.snapshot[0].bytes.low, 1107);
    assert_int_equal(h.snapshot[1].count.low, 1);
    assert_int_equal(h.snapshot[2].bytes.low, 1060);
    const struct {
        uint64_t type, count, bytes, count_before, bytes_before;
    } row[] = {{1, 2, 130, 1, 100}, {3, 2, 30, 0, 0}, {4, 0, 0, 1, 7}, {2, 9, 900, 10, 1000}};
    assert_int_equal(h.types.n, 4);
    for (size_t i = 0; i < 4; i++) {
        check_row(&h.types.row[i], row[i].type, row[i].type == 2 ? "Two" : NULL, row[i].count, row[i].bytes);
        assert_int_equal(h.types.row[i].count_before.low, row[i].count_before);
        assert_int_equal(h.types.row[i].bytes_before.low, row[i].bytes_before);
    }
    tl_heap_fini(&h);
}

static void one_snapshot_and_none(void **state)
{
    tl_heap h;
    rt_reset();
    read_heap(&h, NULL);
    assert_int_equal(h.n, 0);
    assert_int_equal(h.types.n, 0);
    tl_heap_fini(&h);
    rt_add(RT_LIVE, RT_PROCESS, 10, 0, RT_L(2), RT_OBJECT(RT_H(1), UINT64_MAX, UINT64_MAX, RT_NONE),
           RT_OBJECT(RT_NONE, 1, 2, RT_NONE));
    read_heap(&h, NULL);
    assert_int_equal(h.n, 1);
    assert_int_equal(h.types.n, 2);
    assert_int_equal(h.types.row[0].bytes_before.low, 0);
    assert_int_equal(h.snapshot[0].bytes.high, 1);
    assert_int_equal(h.snapshot[0].bytes.low, 1);
    tl_heap_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_by_type),
        cmocka_unit_test(equal_rows_by_number_then_first_use),
        cmocka_unit_test(sums_beyond_64_bits),
        cmocka_unit_test(the_last_live_objects),
        cmocka_unit_test(places),
        cmocka_unit_test(places_by_line),
        cmocka_unit_test(chosen_times_and_threads),
        cmocka_unit_test(several_inputs_by_name),
        cmocka_unit_test(an_empty_input_has_no_time),
        cmocka_unit_test(growth_between_the_first_and_the_last),
        cmocka_unit_test(one_snapshot_and_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

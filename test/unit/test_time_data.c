/* Calls over time: the longest of any number, lanes, columns, slices. Each is compared with a count that keeps all. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/timeline/exemplars.h"
#include "analysis/timeline/grid.h"
#include "analysis/timeline/heat.h"
#include "analysis/timeline/longest.h"
#include "analysis/timeline/self_slices.h"
#include "base/hash.h"

/* ---- axis ---- */

static void test_axis(void **state)
{
    static const uint64_t span[] = {1, 2, 3, 127, 128, 129, 1000, 12345, UINT64_C(1) << 40, UINT64_MAX - 1};
    for (size_t i = 0; i < TL_COUNT(span); i++)
        for (uint32_t most = 1; most < 300; most = most * 3 + 1) {
            const uint64_t from = span[i] > UINT64_MAX / 2 ? 0 : 77;
            const tl_time_axis a = tl_time_axis_of(from, from + span[i], most, true);
            assert_in_range(a.n, 1, most);
            assert_true((a.n - 1) * a.width < span[i] && span[i] / a.n <= a.width);
            uint64_t ts = from, mixed = span[i];
            for (int k = 0; k < 200; k++) { /* what a division says, also at borders */
                mixed = tl_hash_mix(mixed + 1);
                const uint32_t piece = (uint32_t)(mixed % a.n);
                ts = k % 4 == 0   ? from + mixed % span[i]
                     : k % 4 == 1 ? tl_time_axis_begin(&a, piece)
                     : k % 4 == 2 ? tl_time_axis_begin(&a, piece) - (piece > 0)
                                  : from + span[i] - 1;
                assert_int_equal(tl_time_axis_piece(&a, ts), (ts - from) / a.width);
            }
        }
}

static void test_clip(void **state)
{
    const tl_time_axis whole = tl_time_axis_of(100, 200, 10, true), part = tl_time_axis_of(100, 200, 10, false);
    static const struct {
        uint64_t begin, end, whole_begin, whole_end;
        bool in_part;
    } cases[] = {{120, 130, 120, 130, true},  {50, 120, 100, 120, true},   {150, 300, 150, 200, true},
                 {50, 300, 100, 200, true},   {0, 99, 100, 100, false},    {0, 100, 100, 100, false},
                 {100, 100, 100, 100, true},  {200, 300, 199, 200, false}, {199, 200, 199, 200, true},
                 {300, 300, 199, 200, false}, {199, 199, 199, 199, true}};
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        uint64_t begin = cases[i].begin, end = cases[i].end;
        assert_true(tl_time_axis_clip(&whole, &begin, &end));
        assert_int_equal(begin, cases[i].whole_begin);
        assert_int_equal(end, cases[i].whole_end);
        begin = cases[i].begin;
        end = cases[i].end;
        assert_int_equal(tl_time_axis_clip(&part, &begin, &end), cases[i].in_part);
    }
}

/* ---- the longest calls ---- */

enum { CALLS = 20000, TRACKS = 3, END = 100000 };

static int by_length(const void *a, const void *b)
{
    const tl_long_call *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->begin < y->begin ? -1 : 1;
}

static int by_number(const void *a, const void *b)
{
    const tl_long_call *x = a, *y = b;
    return x->function < y->function ? -1 : 1;
}

/* `function` numbers them; `kinds` different durations. */
static tl_long_call *make_calls(uint64_t seed, uint64_t kinds)
{
    tl_long_call *c = calloc(CALLS, sizeof *c);
    for (uint32_t i = 0; i < CALLS; i++) {
        seed = tl_hash_mix(seed + 0x9e3779b97f4a7c15u);
        c[i] = (tl_long_call){.begin = i * 5,
                              .ticks = kinds ? seed % kinds : i,
                              .track = (uint32_t)(seed >> 40) % TRACKS,
                              .depth = 1 + (uint32_t)(seed >> 50) % 4,
                              .function = i};
    }
    return c;
}

/* What is kept of c, which is sorted, with room for `most`. The number of them. */
static uint32_t keep_slowly(const tl_long_call *c, uint32_t most, bool *kept)
{
    const uint32_t rest = most / 4, top = most - rest;
    const uint32_t tracks = rest && rest < TRACKS ? rest : TRACKS; /* some share their room */
    uint32_t pieces = TL_LONGEST_PIECES, n = 0;
    while (pieces > 1 && pieces * tracks > rest)
        pieces /= 2;
    const uint64_t width = (END + TL_LONGEST_PIECES - 1) / TL_LONGEST_PIECES * (TL_LONGEST_PIECES / pieces);
    uint32_t *taken = calloc((size_t)pieces * TRACKS, sizeof *taken);
    for (uint32_t i = 0; i < CALLS; i++) {
        uint32_t *share = &taken[c[i].begin / width * tracks + c[i].track % tracks];
        kept[i] = i < top || CALLS <= most || (*share)++ < rest / (pieces * tracks);
        n += kept[i];
    }
    free(taken);
    return n;
}

/* Distributed among `workers`, in some order. */
static void check_longest(uint64_t kinds, uint32_t most, unsigned workers)
{
    tl_longest l[4];
    tl_long_result r, fewer;
    bool *kept = calloc(CALLS, sizeof *kept);
    tl_long_call *c = make_calls(most + workers, kinds);
    for (unsigned i = 0; i < workers; i++)
        tl_longest_init(&l[i], most, TRACKS, 0, END);
    for (uint32_t i = 0; i < CALLS; i++)
        tl_longest_add(&l[tl_hash_mix(i + workers) % workers], &c[kinds ? i : CALLS - 1 - i]);
    for (unsigned i = 1; i < workers; i++)
        tl_longest_merge(&l[0], &l[i]);
    assert_true(tl_longest_finish(&l[0], &r));
    qsort(c, CALLS, sizeof *c, by_length);
    for (int half = 0; half < 2; half++) { /* and the same with half of the room, made from the result */
        const tl_long_result *got = half ? &fewer : &r;
        if (half) {
            most /= 2;
            assert_true(tl_longest_fewer(&r, &fewer, most, TRACKS, 0, END));
        }
        const uint32_t n = keep_slowly(c, most, kept);
        assert_int_equal(got->calls.n, n);
        assert_int_equal(got->left_out, CALLS - n);
        assert_int_equal(got->all_from, n == CALLS ? 0 : c[most - most / 4 - 1].ticks + 1);
        tl_long_call *list = calloc(n + 1, sizeof *list);
        for (uint32_t i = 0, k = 0; i < CALLS; i++)
            if (kept[i])
                list[k++] = c[i];
        qsort(list, n, sizeof *list, by_number);
        for (uint32_t i = 1; i < n; i++) { /* by track, depth, begin */
            const tl_long_call *a = &got->calls.call[i - 1], *b = a + 1;
            assert_true(a->track < b->track || (a->track == b->track && a->depth < b->depth) ||
                        (a->track == b->track && a->depth == b->depth && a->begin < b->begin));
        }
        if (half)
            qsort(fewer.calls.call, n, sizeof *list, by_number);
        else { /* in the order that it came: the copy is sorted */
            tl_long_call *copy = calloc(n + 1, sizeof *copy);
            memcpy(copy, got->calls.call, n * sizeof *copy);
            qsort(copy, n, sizeof *copy, by_number);
            assert_memory_equal(copy, list, n * sizeof *copy);
            free(copy);
        }
        if (half)
            assert_memory_equal(fewer.calls.call, list, n * sizeof *list);
        free(list);
    }
    tl_longest_fini(&l[0]);
    tl_long_result_fini(&r);
    tl_long_result_fini(&fewer);
    free(kept);
    free(c);
}

static void test_longest(void **state)
{
    static const uint32_t most[] = {2, 3, 4, 8, 100, 1000, 8000, 15000, 20000, 50000};
    static const uint64_t kinds[] = {1000000, 7, 1, 0}; /* few different durations; ever longer ones */
    for (size_t i = 0; i < TL_COUNT(most); i++)
        for (size_t k = 0; k < TL_COUNT(kinds); k++)
            for (unsigned workers = 1; workers <= 4; workers += 3)
                check_longest(kinds[k], most[i], workers);
}

/* ---- lanes and columns ---- */

static void test_lanes(void **state)
{
    for (int order = 0; order < 3; order++) { /* callers come last; first; mixed */
        tl_lanes l;
        bool fresh, failed = false;
        bool used[16] = {false};
        assert_true(tl_lanes_init(&l, 10));
        assert_true(tl_lanes_rows(10) <= TL_COUNT(used));
        for (uint32_t i = 0; i < 2000; i++) {
            const uint32_t k = order == 0 ? 1999 - i : order == 1 ? i : i * 7 % 2000;
            tl_lane *lane = tl_lanes_get(&l, k % 4, 1 + k / 4, &fresh, &failed);
            assert_false(failed);
            if (lane)
                lane->calls++;
            lane = tl_lanes_get(&l, k % 4, 1 + k / 4, &fresh, &failed); /* again */
            assert_false(fresh);
            if (lane)
                lane->calls++;
        }
        tl_lanes_finish(&l);
        assert_int_equal(l.n, 10); /* depths 1 and 2 of four tracks, 3 of the first two */
        for (uint32_t i = 0; i < l.n; i++) {
            assert_int_equal(l.lane[i].calls, 2);
            assert_int_equal(l.lane[i].track, i < 3 ? 0 : i < 6 ? 1 : i < 8 ? 2 : 3);
            assert_int_equal(l.lane[i].depth, i < 6 ? 1 + i % 3 : 1 + (i - 6) % 2);
            assert_false(used[l.lane[i].row]);
            used[l.lane[i].row] = true;
        }
        tl_lanes_fini(&l);
    }
}

static void check_cell(const tl_grid *g, uint32_t lane, uint32_t column, uint64_t covered, uint32_t function,
                       uint32_t calls)
{
    const tl_grid_cell *cell = &g->cell[g->lanes.lane[lane].row][column];
    assert_int_equal(cell->covered, covered);
    assert_int_equal(cell->function, function + 1);
    assert_int_equal(cell->calls, calls);
}

static void test_grid(void **state)
{
    const tl_time_axis axis = tl_time_axis_of(1000, 1100, 10, true);
    tl_grid g, other;
    assert_true(tl_grid_init(&g, &axis, 4) && tl_grid_init(&other, &axis, 4));
    tl_grid_add(&g, 0, 1, 5, 1000, 1004); /* 5 covers more of the first column in two calls ... */
    tl_grid_add(&g, 0, 1, 9, 1004, 1007);
    tl_grid_add(&g, 0, 1, 5, 1008, 1035); /* ... and reaches into the fourth */
    tl_grid_add(&g, 0, 1, 7, 1035, 1040); /* as much as 5: the smaller number is shown */
    tl_grid_add(&g, 0, 1, 3, 1060, 1060); /* nothing */
    tl_grid_add(&g, 0, 1, 3, 900, 1001);  /* outside, and back: columns are counted again */
    tl_grid_add(&g, 0, 1, 2, 1099, 1200);
    tl_grid_flush(&g);
    tl_grid_add(&other, 0, 1, 1, 1050, 1054); /* of another worker */
    tl_grid_add(&other, 1, 2, 1, 1050, 1070);
    tl_grid_flush(&other);
    tl_grid_merge(&g, &other);
    tl_grid_finish(&g);
    assert_int_equal(g.lanes.n, 2);
    check_cell(&g, 0, 0, 4 + 3 + 2 + 1, 5, 4);
    check_cell(&g, 0, 1, 10, 5, 0);
    check_cell(&g, 0, 2, 10, 5, 0);
    check_cell(&g, 0, 3, 10, 5, 1);
    check_cell(&g, 0, 5, 4, 1, 1);
    check_cell(&g, 0, 6, 0, UINT32_MAX, 1);
    check_cell(&g, 0, 9, 1, 2, 1);
    check_cell(&g, 1, 5, 10, 1, 1);
    check_cell(&g, 1, 6, 10, 1, 0);
    tl_grid_fini(&g);
    tl_grid_fini(&other);
}

/* More functions in a column than are told apart still cover it. */
static void test_many_functions(void **state)
{
    const tl_time_axis axis = tl_time_axis_of(0, 1000, 1, true);
    tl_grid g;
    assert_true(tl_grid_init(&g, &axis, 1));
    for (uint32_t i = 0; i < 500; i++)
        tl_grid_add(&g, 0, 1, i, i * 2, i * 2 + 1 + (i == 50));
    check_cell(&g, 0, 0, 501, 50, 500);
    assert_true(TL_GRID_FUNCTIONS_MAX < 500);
    tl_grid_fini(&g);
}

/* ---- slices ---- */

static void check_slices(const tl_self_slices *s, uint32_t slot, const uint64_t *self, const uint64_t *calls)
{
    for (uint32_t i = 0; i < s->axis.n; i++) {
        const tl_slice_cell cell = tl_self_slices_get(s, slot, i);
        assert_int_equal(cell.self, self[i]);
        assert_int_equal(cell.calls, calls[i]);
    }
}

/* main 100..200 calls a 110..140, which calls b 125..135, and a 150..155; the slices are of 10. */
static void add_nested(tl_self_slices *s, tl_slice_wait *w)
{
    static const tl_slice_call call[] = {{3, 2, 125, 135, 10, 3, 2, false},
                                         {2, 1, 110, 140, 20, 2, 1, false},
                                         {4, 1, 150, 155, 5, 2, 1, false},
                                         {1, UINT64_MAX, 100, 200, 65, 1, 0, false}};
    for (size_t i = 0; i < TL_COUNT(call); i++)
        assert_true(tl_self_slices_add(s, w, &call[i]));
}

static void test_slices(void **state)
{
    static const uint64_t none[10] = {0};
    for (int whole = 0; whole < 2; whole++) {
        const tl_time_axis axis = tl_time_axis_of(100, 200, 10, whole);
        tl_self_slices s;
        tl_slice_wait w = {0};
        assert_true(tl_self_slices_init(&s, &axis, 4));
        add_nested(&s, &w);
        check_slices(&s, 0, (uint64_t[]){10, 0, 0, 0, 10, 5, 10, 10, 10, 10}, (uint64_t[10]){1});
        check_slices(&s, 1, (uint64_t[]){0, 10, 5, 5, 0, 5, 0, 0, 0, 0}, (uint64_t[10]){0, 1, 0, 0, 0, 1});
        check_slices(&s, 2, (uint64_t[]){0, 0, 5, 5, 0, 0, 0, 0, 0, 0}, (uint64_t[10]){0, 0, 1});
        check_slices(&s, 3, none, none);
        free(w.piece);
        tl_self_slices_fini(&s);
    }
}

/* Only a part of the time, in which some of the calls began. */
static void test_part(void **state)
{
    const tl_time_axis axis = tl_time_axis_of(120, 152, 4, false);
    tl_self_slices s;
    tl_slice_wait w = {0};
    assert_true(tl_self_slices_init(&s, &axis, 4));
    add_nested(&s, &w);
    check_slices(&s, 0, (uint64_t[]){0, 0, 4, 6}, (uint64_t[4]){0}); /* 140..150 */
    check_slices(&s, 1, (uint64_t[]){5, 1, 4, 2}, (uint64_t[4]){0, 0, 0, 1});
    check_slices(&s, 2, (uint64_t[]){3, 7, 0, 0}, (uint64_t[4]){1});
    free(w.piece);
    tl_self_slices_fini(&s);
}

/* Callers that never ended, calls that do not count, and a clock that goes back: sums stay exact. */
static void test_odd_calls(void **state)
{
    const tl_time_axis axis = tl_time_axis_of(0, 100, 10, true);
    static const tl_slice_call call[] = {
        {2, 1, 0, 50, 50, 2, UINT32_MAX, false}, /* not selected: it is not its caller's time */
        {1, UINT64_MAX, 0, 100, 50, 1, 0, false}, {4, 3, 10, 90, 80, 2, 1, false},      /* its caller has no end */
        {3, UINT64_MAX, 5, 5, 0, 1, 0, true},     {6, 5, 20, 80, 60, 2, 2, false},      /* longer than its caller */
        {5, UINT64_MAX, 30, 40, 0, 1, 0, false},  {8, 7, 50, 10000, 9950, 1, 3, false}, /* ends after the trace */
        {9, 7, 200, 300, 100, 1, 3, false}};
    tl_self_slices s, other;
    tl_slice_wait w = {0};
    assert_true(tl_self_slices_init(&s, &axis, 4) && tl_self_slices_init(&other, &axis, 4));
    for (size_t i = 0; i < TL_COUNT(call); i++)
        assert_true(tl_self_slices_add(i % 2 && i > 5 ? &other : &s, &w, &call[i]));
    assert_true(tl_self_slices_merge(&s, &other));
    static const uint64_t sum[] = {50, 80, 60, 10050}, calls[] = {2, 1, 1, 2};
    for (uint32_t slot = 0; slot < 4; slot++) {
        tl_slice_cell all = {0};
        for (uint32_t i = 0; i < axis.n; i++) {
            all.self += tl_self_slices_get(&s, slot, i).self;
            all.calls += tl_self_slices_get(&s, slot, i).calls;
        }
        assert_int_equal(all.self, sum[slot]);
        assert_int_equal(all.calls, calls[slot]);
    }
    check_slices(&s, 0, (uint64_t[]){0, 0, 0, 0, 0, 10, 10, 10, 10, 10}, (uint64_t[10]){1, 0, 0, 1});
    free(w.piece);
    tl_self_slices_fini(&s);
    tl_self_slices_fini(&other);
}

/* ---- durations, exemplars ---- */

static void test_heat(void **state)
{
    const tl_time_axis axis = tl_time_axis_of(0, 100, 10, true);
    tl_heat h, other;
    assert_true(tl_heat_init(&h, &axis, 2) && tl_heat_init(&other, &axis, 2));
    assert_true(tl_heat_add(&h, 0, 5, 15) && tl_heat_add(&h, 0, 5, 15) && tl_heat_add(&h, 1, 95, UINT64_MAX));
    assert_true(tl_heat_add(&other, 0, 9, 16) && tl_heat_add(&other, 0, 500, 17));
    assert_true(tl_heat_merge(&h, &other));
    assert_int_equal(tl_heat_get(&h, 0, 0, 15), 2); /* below 16 each duration has a bucket */
    assert_int_equal(tl_heat_get(&h, 0, 0, 16), 1); /* 16 and 17 share one */
    assert_int_equal(tl_heat_get(&h, 0, 9, 16), 1);
    assert_int_equal(tl_heat_get(&h, 1, 9, 495), 1);
    assert_int_equal(tl_heat_get(&h, 1, 8, 495), 0);
    assert_true(TL_HEAT_BUCKETS > 495);
    tl_heat_fini(&h);
    tl_heat_fini(&other);
}

static void test_exemplars(void **state)
{
    tl_exemplar_row all = {.near = {500, 0, UINT64_MAX}}, half[2] = {all, all};
    tl_exemplars_init(&all);
    tl_exemplars_init(&half[0]);
    tl_exemplars_init(&half[1]);
    for (uint32_t i = 0; i < 1000; i++) {
        const uint32_t k = i * 7 % 1000;
        const tl_exemplar x = {.begin = k, .ticks = k / 2 * 2, .track = k % 2};
        tl_exemplars_add(&all, &x);
        tl_exemplars_add(&half[k % 3 == 0], &x);
    }
    tl_exemplars_merge(&half[0], &half[1]);
    assert_memory_equal(half, &all, sizeof all);
    for (uint32_t i = 0; i < TL_EXEMPLAR_LONGEST; i++) { /* pairs of equal ones, the first track first */
        assert_int_equal(all.longest[i].ticks, 998 - i / 2 * 2);
        assert_int_equal(all.longest[i].track, i % 2);
    }
    static const uint32_t near[TL_EXEMPLAR_EACH] = {500, 501, 502, 503};
    for (uint32_t i = 0; i < TL_EXEMPLAR_EACH; i++) {
        assert_int_equal(all.around[0][i].begin, near[i]);
        assert_int_equal(all.around[1][i].begin, i);
        assert_int_equal(all.around[2][i].begin, 998 - i / 2 * 2 + i % 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axis),   cmocka_unit_test(test_clip),      cmocka_unit_test(test_longest),
        cmocka_unit_test(test_lanes),  cmocka_unit_test(test_grid),      cmocka_unit_test(test_many_functions),
        cmocka_unit_test(test_slices), cmocka_unit_test(test_part),      cmocka_unit_test(test_odd_calls),
        cmocka_unit_test(test_heat),   cmocka_unit_test(test_exemplars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

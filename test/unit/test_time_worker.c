/* Calls that are summed up by stretches of time: the same as if each was added for itself. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/timeline/time_worker.h"
#include "base/hash.h"

enum { TRACKS = 3, DEPTH = 6, PLACES = 5000, CALLS = 60000, SLOTS = 40, ROWS = 7, FROM = 1000, TO = 60000 };

/* Random nested calls of several tracks: a call's time is cut into those of the calls that it makes. */
typedef struct maker {
    tl_call_rows rows;
    uint64_t state, ids;
} maker;

static uint64_t pick(maker *m, uint64_t n)
{
    m->state = tl_hash_mix(m->state + 1);
    return m->state % n;
}

static uint64_t make_call(maker *m, uint32_t track, uint32_t depth, uint64_t parent, uint64_t begin, uint64_t end)
{
    tl_call_rows *r = &m->rows;
    const uint64_t id = m->ids++,
                   place = depth * (PLACES / (DEPTH + 1)) + pick(m, 1 + (PLACES / (DEPTH + 1)) / (1 + begin % 97));
    uint64_t self = end - begin;
    for (uint64_t at = begin + pick(m, 30); depth < DEPTH && at < end && r->n < CALLS;) {
        const uint64_t to = at + pick(m, 1 + (end - at) / 3);
        self -= make_call(m, track, depth + 1, id, at, to);
        at = to + pick(m, 9);
    }
    if (r->n == r->capacity)
        assert_true(tl_call_rows_grow(r));
    const uint32_t i = r->n++;
    const bool open = pick(m, 500) == 0;
    r->id[i] = id;
    r->parent[i] = parent;
    r->begin[i] = begin;
    r->end[i] = open ? begin : end;
    r->self[i] = open ? 0 : self;
    r->place[i] = pick(m, 100) == 0 ? TL_CALL_NONE : (uint32_t)place;
    r->track[i] = track;
    r->depth[i] = depth;
    r->flags[i] = (uint8_t)((open ? TL_CALL_OPEN : 0) | (pick(m, 50) == 0 ? TL_CALL_LEFT_OUT : 0));
    return open ? 0 : end - begin;
}

static tl_call_rows make_rows(uint64_t seed)
{
    maker m = {.state = seed};
    for (uint64_t at = 0; m.rows.n < CALLS / 2 && at < TO + 5000;) {
        const uint64_t to = at + pick(&m, 9000);
        for (uint32_t track = 0; track < TRACKS; track++)
            make_call(&m, track, 1, TL_CALL_NO_ID, at + track, to + track);
        at = to;
    }
    return m.rows;
}

/* What the worker should come to. */
typedef struct truth {
    tl_self_slices slices;
    tl_grid grid;
    tl_heat heat;
    tl_lanes lanes;
    tl_exemplar_row slow[ROWS];
    tl_longest longest;
} truth;

static void add_to_truth(truth *t, const tl_time_options *o, const tl_call_rows *r)
{
    tl_slice_wait wait[TRACKS] = {0};
    uint64_t latest[TRACKS] = {0};
    for (uint32_t i = 0; i < r->n; i++) {
        const bool known = r->place[i] != TL_CALL_NONE && !(r->flags[i] & TL_CALL_LEFT_OUT);
        const bool open = r->flags[i] & TL_CALL_OPEN;
        const uint32_t track = r->track[i];
        latest[track] = latest[track] > r->end[i] ? latest[track] : r->end[i];
        const uint64_t begin = r->begin[i], end = open ? latest[track] : r->end[i];
        const tl_slice_call call = {r->id[i],
                                    r->parent[i],
                                    begin,
                                    r->end[i],
                                    r->self[i],
                                    r->depth[i],
                                    known ? o->place[r->place[i]].slot : TL_TIME_NONE,
                                    open};
        assert_true(tl_self_slices_add(&t->slices, &wait[track], &call));
        if (!known)
            continue;
        const tl_time_place *at = &o->place[r->place[i]];
        const bool touches = o->whole || (begin < o->to && (end > o->from || (end == o->from && begin == end)));
        bool fresh, failed = false;
        if (at->function != TL_TIME_NONE && touches) {
            tl_grid_add(&t->grid, track, r->depth[i], at->function, begin, end);
            tl_lane *lane = tl_lanes_get(&t->lanes, track, r->depth[i], &fresh, &failed);
            lane->calls++;
            lane->ticks += end - begin;
            tl_longest_add(&t->longest, &(tl_long_call){begin, end - begin, track, r->depth[i], at->function, open});
        }
        if (!open && at->heat != TL_TIME_NONE)
            assert_true(tl_heat_add(&t->heat, at->heat, begin, end - begin));
        if (!open && at->slow != TL_TIME_NONE && (o->whole || (begin >= o->from && begin < o->to)))
            tl_exemplars_add(&t->slow[at->slow], &(tl_exemplar){begin, end - begin, track, r->depth[i], r->place[i]});
    }
    for (uint32_t i = 0; i < TRACKS; i++)
        free(wait[i].piece);
}

static void compare_exemplars(const tl_exemplar *a, const tl_exemplar *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(a[i].begin, b[i].begin);
        assert_int_equal(a[i].ticks, b[i].ticks);
        assert_int_equal(a[i].track, b[i].track);
        assert_int_equal(a[i].depth, b[i].depth);
        assert_int_equal(a[i].place, b[i].place);
    }
}

static void compare(const tl_time_data *d, truth *t)
{
    tl_long_result longest;
    tl_grid_finish(&t->grid);
    tl_lanes_finish(&t->lanes);
    assert_true(tl_longest_finish(&t->longest, &longest));
    for (uint32_t i = 0; i < SLOTS; i++)
        for (uint32_t k = 0; k < t->slices.axis.n; k++) {
            const tl_slice_cell a = tl_self_slices_get(&d->slices, i, k), b = tl_self_slices_get(&t->slices, i, k);
            assert_int_equal(a.calls, b.calls);
            assert_int_equal(a.self, b.self);
        }
    assert_int_equal(d->lanes.n, t->lanes.n);
    assert_int_equal(d->grid.lanes.n, t->grid.lanes.n);
    for (uint32_t i = 0; i < d->lanes.n; i++) {
        assert_int_equal(d->lanes.lane[i].calls, t->lanes.lane[i].calls);
        assert_int_equal(d->lanes.lane[i].ticks, t->lanes.lane[i].ticks);
        assert_memory_equal(d->grid.cell[d->grid.lanes.lane[i].row], t->grid.cell[t->grid.lanes.lane[i].row],
                            t->grid.axis.n * sizeof **t->grid.cell);
    }
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t k = 0; k < t->heat.axis.n; k++)
            for (uint32_t b = 0; b < TL_HEAT_BUCKETS; b++)
                assert_int_equal(tl_heat_get(&d->heat, i, k, b), tl_heat_get(&t->heat, i, k, b));
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(d->slow[i].nlongest, t->slow[i].nlongest);
        compare_exemplars(d->slow[i].longest, t->slow[i].longest, t->slow[i].nlongest);
        for (uint32_t k = 0; k < TL_EXEMPLAR_NEAR; k++) {
            assert_int_equal(d->slow[i].nnear[k], t->slow[i].nnear[k]);
            compare_exemplars(d->slow[i].around[k], t->slow[i].around[k], t->slow[i].nnear[k]);
        }
    }
    assert_int_equal(d->longest.calls.n, longest.calls.n);
    assert_int_equal(d->longest.left_out, longest.left_out);
    assert_memory_equal(d->longest.calls.call, longest.calls.call, longest.calls.n * sizeof *longest.calls.call);
    tl_long_result_fini(&longest);
}

static void check(uint64_t seed, bool whole)
{
    static tl_time_place place[PLACES];
    uint64_t near[ROWS][TL_EXEMPLAR_NEAR];
    for (uint32_t i = 0; i < PLACES; i++)
        place[i] = (tl_time_place){i % 13 ? i % 50 : TL_TIME_NONE, i % 11 ? i % SLOTS : TL_TIME_NONE,
                                   i % 3 ? i % ROWS : TL_TIME_NONE, i % 4 ? i % ROWS : TL_TIME_NONE};
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t k = 0; k < TL_EXEMPLAR_NEAR; k++)
            near[i][k] = 10 * i + 40 * k;
    const tl_time_options o = {.from = FROM,
                               .to = TO,
                               .whole = whole,
                               .slices = 9,
                               .columns = 100,
                               .heat_columns = 37,
                               .slots = SLOTS,
                               .heat_rows = ROWS,
                               .slow_rows = ROWS,
                               .lanes = 30,
                               .grid_lanes = 30,
                               .longest = 3000,
                               .near = (const uint64_t(*)[TL_EXEMPLAR_NEAR])near,
                               .place = place};
    const tl_time_axis slices = tl_time_axis_of(FROM, TO, 9, whole), columns = tl_time_axis_of(FROM, TO, 100, whole),
                       heat = tl_time_axis_of(FROM, TO, 37, whole);
    static truth t;
    memset(&t, 0, sizeof t);
    tl_time_worker w, other;
    tl_time_data d;
    tl_call_rows rows = make_rows(seed),
                 half[2] = {tl_call_rows_part(&rows, 0, 1000), tl_call_rows_part(&rows, 1000, rows.n - 1000)};
    assert_true(rows.n > 20000);
    assert_true(tl_time_worker_init(&w, &o, TRACKS) && tl_time_worker_init(&other, &o, TRACKS));
    assert_true(tl_self_slices_init(&t.slices, &slices, SLOTS) && tl_grid_init(&t.grid, &columns, 30) &&
                tl_heat_init(&t.heat, &heat, ROWS) && tl_lanes_init(&t.lanes, 30));
    tl_longest_init(&t.longest, 3000, TRACKS, FROM, TO);
    for (uint32_t i = 0; i < ROWS; i++) {
        memcpy(t.slow[i].near, near[i], sizeof near[i]);
        tl_exemplars_init(&t.slow[i]);
    }
    add_to_truth(&t, &o, &rows);
    assert_true(tl_time_worker_add(&w, &half[0], 0) && tl_time_worker_add(&w, &half[1], 0) && tl_time_worker_flush(&w));
    assert_true(tl_time_worker_merge(&w, &other) && tl_time_worker_finish(&w, &d));
    compare(&d, &t);
    tl_self_slices_fini(&t.slices);
    tl_grid_fini(&t.grid);
    tl_heat_fini(&t.heat);
    tl_lanes_fini(&t.lanes);
    tl_longest_fini(&t.longest);
    tl_time_worker_fini(&w);
    tl_time_worker_fini(&other);
    tl_time_data_fini(&d);
    tl_call_rows_fini(&rows);
}

static void test_whole(void **state)
{
    for (uint64_t seed = 0; seed < 5; seed++)
        check(seed, true);
}

static void test_range(void **state)
{
    for (uint64_t seed = 5; seed < 10; seed++)
        check(seed, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole), cmocka_unit_test(test_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

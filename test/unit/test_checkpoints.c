/* Calls within a range of time, with checkpoints and without: profiles, rows and sums are the same, whatever the log.
 */
#include "base/grow.h"
#include "call_log_fixture.h"
#include "model/histogram.h"
#include "op/checkpoints.h"

/* ---- logs ---- */

/* Calls of several threads in the order of time; of some, no entry or no exit is there. */
static log *sorted_log(uint64_t seed, unsigned same)
{
    log *l = new_log(1000000000);
    static int64_t stack[THREADS][RECORDS];
    size_t depth[THREADS] = {0};
    for (int i = 0; i < RECORDS; i++) {
        const uint64_t x = fixture_random(&seed);
        const uint32_t t = (uint32_t)(x % THREADS);
        const int64_t function = 1 + (int64_t)(x >> 32 & 255) % FUNCTIONS;
        l->now += (x >> 8 & 63) < same ? 0 : x >> 16 & 63;
        if ((x >> 24 & 31) == 0) {
            put(l, t, x >> 40 & 1, function);
        } else if (depth[t] == 0 || (x >> 29 & 1)) {
            stack[t][depth[t]] = function;
            put(l, t, true, stack[t][depth[t]++]);
        } else {
            put(l, t, false, stack[t][--depth[t]]);
        }
    }
    return l;
}

/* An exception in a loop, so that calls end before the event that shows it. */
static log *loops_log(void)
{
    log *l = new_log(1000000000);
    put(l, 0, true, 1);
    for (int i = 0; i < 4400; i++, l->now += 3)
        put(l, 0, true, 2);
    put(l, 0, false, 1);
    for (int k = 0; k < 100; k++, l->now += 2) {
        put(l, 1, true, 3);
        put(l, 1, false, 3);
    }
    return l;
}

/* The clock goes back once, so far that whole blocks of the file are earlier than what precedes them. */
static log *set_back_log(uint64_t seed)
{
    log *l = new_log(1000000000);
    unsigned depth = 0;
    for (int i = 0; i < RECORDS; i++) {
        const uint64_t x = fixture_random(&seed);
        const bool enter = depth == 0 || (x & 7) < 4;
        l->now += 1 + (x >> 8 & 31);
        if (i == RECORDS / 2)
            l->now /= 4;
        depth = enter ? depth + 1 : depth - 1;
        put(l, 0, enter, 1 + (int64_t)(depth + !enter) % FUNCTIONS);
    }
    return l;
}

/* ---- comparisons ---- */

static tl_source *noted(const log *l, uint64_t every)
{
    tl_source *s = made_read(&l->made);
    assert_true(tl_source_keep_checkpoints(s));
    tl_checkpoints_every(s->checkpoints, every);
    assert_null(tl_checkpoints_for(s, &(tl_select){.has_from = true}));
    tl_profile_free(profile_of(s, 2, NULL));
    assert_non_null(tl_checkpoints_for(s, &(tl_select){.has_from = true}));
    assert_null(tl_checkpoints_for(s, NULL));
    assert_null(tl_checkpoints_for(s, &(tl_select){.depth = 1}));
    return s;
}

static tl_profile *part_of(tl_source *s, const tl_profile_options *o)
{
    tl_profile *p = NULL;
    tl_error e = {0};
    must(tl_profile_from_source(&p, s, o, &e), &e);
    return p;
}

/* Places with calls, or with such places below. */
static bool *used_places(const tl_profile *p)
{
    bool *used = calloc(p->nplace, sizeof *used);
    assert_non_null(used);
    for (uint32_t i = p->nplace; i-- > 1;) {
        used[i] = used[i] || p->stat[i].calls > 0 || p->stat[i].outer > 0;
        if (used[i])
            used[p->place[i].parent] = true;
    }
    return used;
}

/* The places with calls are the same, in the same order, with the same numbers. */
static void same_profile(const tl_profile *a, const tl_profile *b)
{
    const tl_profile *const p[] = {a, b};
    uint32_t *order[2], at[2] = {0}, *seen[2];
    bool *used[2];
    tl_error e = {0};
    for (int i = 0; i < 2; i++) {
        order[i] = tl_alloc(p[i]->nplace, sizeof *order[i]);
        seen[i] = calloc(p[i]->nplace, sizeof *seen[i]);
        assert_true(order[i] && seen[i]);
        used[i] = used_places(p[i]);
        must(tl_profile_canonical_order((tl_profile *)(uintptr_t)p[i], order[i], &e), &e);
    }
    for (uint32_t n = 1;; n++) {
        uint32_t place[2];
        for (int i = 0; i < 2; i++) {
            while (at[i] < p[i]->nplace && !used[i][order[i][at[i]]])
                at[i]++;
            place[i] = at[i] < p[i]->nplace ? order[i][at[i]++] : UINT32_MAX;
        }
        if (place[0] == UINT32_MAX && place[1] == UINT32_MAX)
            break;
        assert_true(place[0] != UINT32_MAX && place[1] != UINT32_MAX);
        const tl_place *x = &a->place[place[0]], *y = &b->place[place[1]];
        const tl_place_stat *s = &a->stat[place[0]], *t = &b->stat[place[1]];
        seen[0][place[0]] = seen[1][place[1]] = n;
        assert_int_equal(x->function == TL_NO_FUNCTION, y->function == TL_NO_FUNCTION);
        if (x->function != TL_NO_FUNCTION)
            assert_int_equal(a->function[x->function].id, b->function[y->function].id);
        else if (place[0] && a->per_thread)
            assert_int_equal(a->track[x->track].tid, b->track[y->track].tid);
        assert_int_equal(seen[0][x->parent], seen[1][y->parent]);
        assert_int_equal(s->calls, t->calls);
        assert_int_equal(s->total, t->total);
        assert_int_equal(s->outer, t->outer);
        assert_int_equal(s->self, t->self);
        assert_int_equal(s->min, t->min);
        assert_int_equal(s->max, t->max);
        for (unsigned q = 0; q <= 1000 && s->calls; q += 50)
            assert_int_equal(tl_hist_percentile(&s->hist, q, s->min, s->max),
                             tl_hist_percentile(&t->hist, q, t->min, t->max));
    }
    assert_int_equal(a->nfunction, b->nfunction);
    assert_int_equal(a->ntrack, b->ntrack);
    assert_int_equal(a->unmatched_exits, b->unmatched_exits);
    assert_int_equal(a->unmatched_open, b->unmatched_open);
    for (int i = 0; i < 2; i++) {
        free(order[i]);
        free(seen[i]);
        free(used[i]);
    }
}

static void same_profiles(tl_source *a, tl_source *b, const tl_select *select)
{
    for (unsigned kind = 0; kind < 6; kind++) {
        const tl_profile_options o = {
            .select = select, .threads = 1 + kind % 2, .flat = kind / 2 == 1, .per_thread = kind / 2 == 2};
        tl_profile *x = part_of(a, &o), *y = part_of(b, &o);
        same_profile(x, y);
        tl_profile_free(x);
        tl_profile_free(y);
    }
}

static void same_sums(tl_source *a, tl_source *b, const tl_select *select, const tl_call_places *places)
{
    static const unsigned by[] = {0, TL_BY_FUNCTION, TL_BY_FUNCTION | TL_BY_THREAD | TL_BY_DEPTH, TL_BY_PLACE,
                                  TL_BY_CPU};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        tl_call_sums *x = NULL, *y = NULL;
        tl_error e = {0};
        const tl_call_sums_options o = {
            .by = by[i], .step = 500, .threads = 2, .select = select, .places = by[i] & TL_BY_PLACE ? places : NULL};
        must(tl_call_sums_new(&x, a, &o, &e), &e);
        must(tl_call_sums_new(&y, b, &o, &e), &e);
        assert_int_equal(x->n, y->n);
        for (uint32_t k = 0; k < x->n; k++) {
            const tl_call_sum *m = &x->row[k], *n = &y->row[k];
            assert_int_equal(m->key.step, n->key.step);
            assert_int_equal(m->key.place, n->key.place);
            assert_int_equal(m->key.track, n->key.track);
            assert_int_equal(m->key.depth, n->key.depth);
            assert_int_equal(m->key.cpu, n->key.cpu);
            if (m->key.function != TL_HASH_NONE)
                assert_int_equal(x->profile->function[m->key.function].id, y->profile->function[n->key.function].id);
            assert_int_equal(m->stat->calls, n->stat->calls);
            assert_int_equal(m->stat->total, n->stat->total);
            assert_int_equal(m->stat->outer, n->stat->outer);
            assert_int_equal(m->stat->self, n->stat->self);
        }
        assert_int_equal(x->profile->unmatched_exits, y->profile->unmatched_exits);
        assert_int_equal(x->profile->unmatched_open, y->profile->unmatched_open);
        tl_call_sums_free(x);
        tl_call_sums_free(y);
    }
}

/* Rows without ids, which count all events of a stream. */
static rows rows_within(tl_source *s, const tl_select *select, const tl_call_places *places)
{
    const tl_call_scan_options o = {.select = select, .places = places, .without = TL_CALL_IDS};
    tl_error e = {0};
    tl_call_scan *c = NULL;
    tl_call_rows block;
    rows all = {0};
    int status;
    must(tl_call_scan_prepare(s, &e), &e);
    must(tl_call_scan_open(&c, s, 0, tl_call_scan_parts(s), &o, &e), &e);
    while ((status = tl_call_scan_next(c, &block, &e)) > 0)
        for (uint32_t i = 0; i < block.n; i++) {
            row one;
            const tl_profile *p = tl_call_scan_profile(c);
            memset(&one, 0, sizeof one);
            one.begin = block.begin[i], one.end = block.end[i], one.self = block.self[i];
            one.function = p->function[block.function[i]].id;
            one.caller = block.caller[i] == TL_CALL_NONE ? -1 : p->function[block.caller[i]].id;
            one.depth = block.depth[i], one.place = block.place[i], one.flags = block.flags[i];
            one.tid = s->trace.track[block.track[i]].tid;
            add_row(&all, &one);
        }
    must(status, &e);
    all.exits = tl_call_scan_profile(c)->unmatched_exits;
    all.open = tl_call_scan_profile(c)->unmatched_open;
    tl_call_scan_close(c);
    return all;
}

/* What the model says of a sorted log: the calls that lie within, in the same order. */
static void same_as_model(const rows *model, const rows *found, uint64_t begin, const tl_select *select)
{
    rows within = {.exits = model->exits, .open = model->open};
    for (size_t i = 0; i < model->n; i++) {
        row one = model->row[i];
        if (one.begin - begin < select->time_from || (one.flags & TL_CALL_OPEN) || one.end - begin >= select->time_to)
            continue;
        one.id = one.exit = one.parent = 0, one.cpu = 0;
        add_row(&within, &one);
    }
    for (size_t i = 0; i < found->n; i++)
        found->row[i].place = UINT32_MAX;
    same_rows(&within, found);
    free(within.row);
}

static void same_within(tl_source *a, tl_source *b, const rows *model, const tl_select *select)
{
    tl_call_places *x = NULL, *y = NULL;
    tl_error e = {0};
    tl_profile *p = part_of(a, &(tl_profile_options){.threads = 1}),
               *q = part_of(b, &(tl_profile_options){.threads = 1});
    must(tl_call_places_new(&x, p, &e), &e);
    must(tl_call_places_new(&y, q, &e), &e);
    rows found = rows_within(a, select, x), expected = rows_within(b, select, y);
    same_rows(&expected, &found);
    if (model)
        same_as_model(model, &found, a->trace.has_range ? a->trace.begin : 0, select);
    same_profiles(a, b, select);
    same_sums(a, b, select, x);
    free(found.row), free(expected.row);
    tl_call_places_free(x), tl_call_places_free(y);
    tl_profile_free(p), tl_profile_free(q);
}

static void check_ranges(log *l, uint64_t every, bool sorted, uint64_t seed, int ranges)
{
    static const char *const two[] = {"#2", "#3"};
    tl_source *a = noted(l, every), *b = made_read(&l->made);
    rows model = model_of(l, b);
    const uint64_t span = a->trace.end - a->trace.begin;
    assert_true(a->trace.has_range && span > 100);
    for (int i = 0; i < ranges; i++) {
        const uint64_t from = fixture_random(&seed) % span, length = fixture_random(&seed) % (span >> i % 8);
        const tl_select select = {.has_from = true, .time_from = from, .has_to = true, .time_to = from + length};
        same_within(a, b, sorted ? &model : NULL, &select);
    }
    const tl_select others[] = {{.has_from = true, .time_from = span / 2},
                                {.has_to = true, .time_to = span / 2},
                                {.has_from = true, .has_to = true},
                                {.has_from = true, .time_from = 2 * span},
                                {.has_from = true, .time_from = span / 3, .min_ticks = 100},
                                {.has_from = true, .time_from = span / 3, .depth = 2},
                                {.has_from = true, .time_from = span - span / 8, .func = two, .nfunc = 2},
                                {.has_from = true, .time_from = span - span / 8, .not_func = two, .nnot = 2}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (sorted || !others[i].nfunc)
            same_within(a, b, NULL, &others[i]);
    free(model.row);
    tl_source_close(a);
    tl_source_close(b);
    free(l);
}

/* ---- tests ---- */

static void test_sorted_logs(void **state)
{
    for (uint64_t seed = 1; seed <= rounds(3); seed++)
        check_ranges(sorted_log(seed, 8), seed == 1 ? 1 : 16 * seed, true, seed, 9);
}

/* Many events have the time of the one before: no checkpoint is between them. */
static void test_events_at_one_time(void **state)
{
    check_ranges(sorted_log(5, 50), 3, true, 5, 9);
}

/* Now and then the clock goes back. */
static void test_unsorted_logs(void **state)
{
    for (uint64_t seed = 1; seed <= rounds(3); seed++)
        check_ranges(random_log(seed, 1000000000), 5 * seed, false, seed, 9);
    check_ranges(set_back_log(4), 4, false, 4, 9);
}

static void test_calls_that_end_late(void **state)
{
    check_ranges(loops_log(), 64, false, 1, 3);
}

/* How many events a profile of a range reads. */
static uint64_t read_for(tl_source *s, const tl_select *select, uint32_t stream)
{
    const tl_checkpoints *c = tl_checkpoints_for(s, select);
    tl_profile *p = NULL;
    tl_callstack *calls = NULL;
    tl_call_part part;
    tl_cursor *cursor = NULL;
    const tl_batch *b;
    tl_batch cut;
    tl_error e = {0};
    uint64_t n = 0;
    const tl_profile_options o = {.select = select};
    must(tl_profile_new(&p, &s->trace.clock, &e), &e);
    must(tl_callstack_new(&calls, p, &s->trace, &o, TL_EXITS_MISSING, &e), &e);
    must(tl_call_part_begin(&part, c, stream, calls, p, &e), &e);
    must(tl_cursor_open_want(&cursor, s, stream, NULL, &part.limit, &e), &e);
    while (!part.ended && tl_cursor_next(cursor, &b, &e) > 0) {
        tl_call_part_cut(&part, b, &cut);
        n += cut.n;
    }
    tl_cursor_close(cursor);
    tl_callstack_free(calls);
    tl_profile_free(p);
    return n;
}

/* A short range needs few events, however long the log; they are thinned out, and take little memory. */
static void test_few_events_are_read(void **state)
{
    log *l = new_log(1000000000);
    put(l, 0, true, 1);
    for (int i = 0; i < 3400; i++, l->now += 5) {
        put(l, 0, true, 2);
        put(l, 0, false, 2);
    }
    tl_source *s = noted(l, 1);
    const tl_select select = {.has_from = true, .time_from = 10000, .has_to = true, .time_to = 10100};
    assert_in_range(read_for(s, &select, 0), 2 * 100 / 5, 2 * 100 / 5 + 8);
    assert_in_range(tl_checkpoints_bytes(s->checkpoints), 1000, 200 * TL_CHECKPOINTS_MOST);
    tl_source_close(s);
    free(l);
}

/* Stacks that are too deep for what there is. */
static void test_memory_is_bounded(void **state)
{
    log *l = new_log(1000000000);
    for (int i = 0; i < 6900; i++, l->now += 5)
        put(l, 0, true, 10 + i % 5);
    tl_source *s = noted(l, 1);
    assert_in_range(tl_checkpoints_bytes(s->checkpoints), 1, TL_CHECKPOINT_BYTES_MOST);
    assert_in_range(tl_checkpoints_bytes(s->checkpoints), TL_CHECKPOINT_BYTES_MOST / 8, TL_CHECKPOINT_BYTES_MOST);
    const tl_select select = {.has_from = true, .time_from = 20000, .has_to = true, .time_to = 21000};
    tl_source *b = made_read(&l->made);
    same_within(s, b, NULL, &select);
    tl_source_close(s);
    tl_source_close(b);
    free(l);
}

/* Two sources of one input share them, unless their events differ. */
static void test_sharing(void **state)
{
    log *l = sorted_log(9, 8);
    tl_source *a = noted(l, 16), *b = made_read(&l->made), *c = made_read(&l->made), *d = made_read(&l->made);
    const tl_select select = {.has_from = true, .time_from = 50000, .has_to = true, .time_to = 60000};
    b->want.cpu = b->want.fields = true;
    c->want.packets = true;
    tl_source_share_checkpoints(b, a);
    tl_source_share_checkpoints(c, a);
    assert_ptr_equal(b->checkpoints, a->checkpoints);
    assert_null(c->checkpoints);
    tl_source_close(a);
    same_within(b, d, NULL, &select);
    tl_source_close(b);
    tl_source_close(c);
    tl_source_close(d);
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorted_logs),
                                       cmocka_unit_test(test_events_at_one_time),
                                       cmocka_unit_test(test_unsorted_logs),
                                       cmocka_unit_test(test_calls_that_end_late),
                                       cmocka_unit_test(test_few_events_are_read),
                                       cmocka_unit_test(test_memory_is_bounded),
                                       cmocka_unit_test(test_sharing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

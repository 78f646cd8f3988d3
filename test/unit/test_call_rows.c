/* Rows of function calls, of random and damaged logs: against a matcher that searches its stack from top to bottom, and
 * against the profile of the same trace. */
#include "call_log_fixture.h"
#include "op/call_ahead.h"

static void test_random_logs(void **state)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        log *l = random_log(seed, 1000000000);
        tl_source *s = made_read(&l->made);
        rows expected = model_of(l, s), found = scan(s, &all_calls), parts = {0};
        assert_true(expected.n > 1000 && expected.exits > 0 && expected.open > 0);
        same_rows(&expected, &found);
        for (uint32_t i = 0; i < tl_call_scan_parts(s); i++)
            scan_parts(&parts, s, i, 1, &all_calls);
        same_rows(&expected, &parts);
        free(expected.row), free(found.row), free(parts.row);
        tl_source_close(s);
        free(l);
    }
}

/* Rows that another thread made are the same, in the same order. */
static void test_rows_made_ahead(void **state)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        log *l = random_log(seed, 1000000000);
        tl_source *s = made_read(&l->made);
        rows expected = model_of(l, s), found = {0};
        tl_call_scan *c = NULL;
        tl_call_ahead *a = NULL;
        tl_call_rows block;
        tl_error e = {0};
        int status;
        must(tl_call_scan_open(&c, s, 0, tl_call_scan_parts(s), &all_calls, &e), &e);
        must(tl_call_ahead_open(&a, c, &e), &e);
        tl_call_rows *kept = calloc(expected.n + 1, sizeof *kept);
        size_t blocks = 0;
        while ((status = tl_call_ahead_next(a, &block, &e)) > 0) { /* functions are looked up when all is read */
            assert_true(block.n > 0 && blocks < expected.n);
            for (uint32_t i = 0; i < block.n; i++) {
                if (kept[blocks].n == kept[blocks].capacity)
                    assert_true(tl_call_rows_grow(&kept[blocks]));
                const uint32_t n = kept[blocks].n++;
#define COPY(type, name) kept[blocks].name[n] = block.name[i];
                TL_CALL_COLUMNS(COPY)
#undef COPY
            }
            blocks++;
        }
        must(status, &e);
        assert_int_equal(tl_call_ahead_next(a, &block, &e), 0);
        tl_call_ahead_close(a);
        for (size_t k = 0; k < blocks; k++) {
            for (uint32_t i = 0; i < kept[k].n; i++) {
                const row one = row_of(&kept[k], i, tl_call_scan_profile(c), &s->trace);
                add_row(&found, &one);
            }
            tl_call_rows_fini(&kept[k]);
        }
        found.exits = tl_profile_unmatched_exits(tl_call_scan_profile(c));
        found.open = tl_profile_unmatched_open(tl_call_scan_profile(c));
        assert_true(blocks > 1);
        same_rows(&expected, &found);
        tl_call_scan_close(c);
        free(kept), free(expected.row), free(found.row);
        tl_source_close(s);
        free(l);
    }
}

static void test_places(void **state)
{
    log *l = random_log(99, 1000000000);
    tl_source *s = made_read(&l->made);
    check_places(s, NULL);
    tl_source_close(s);
    free(l);
}

/* In trees of threads, each call is in that of its thread. */
static void test_places_of_threads(void **state)
{
    log *l = random_log(3, 1000000000);
    tl_source *s = made_read(&l->made);
    tl_profile *p = NULL;
    tl_call_places *places = NULL;
    tl_error e = {0};
    must(tl_profile_from_source(&p, s, &(tl_profile_options){.per_thread = true}, &e), &e);
    must(tl_call_places_new(&places, p, &e), &e);
    rows found = scan(s, &(tl_call_scan_options){.places = places});
    assert_true(found.n > 0);
    same_as_profile(&found, p, places);
    for (size_t i = 0; i < found.n; i++) {
        uint32_t root = places->order[found.row[i].place];
        while (p->place[root].parent)
            root = p->place[root].parent;
        assert_int_equal(p->track[p->place[root].track].tid, found.row[i].tid);
        assert_int_equal(root, tl_call_places_root(places, &p->track[p->place[root].track]));
    }
    assert_int_equal(tl_call_places_root(places, &(tl_track){.tid = 12345, .has_tid = true}), TL_HASH_NONE);
    free(found.row);
    tl_call_places_free(places);
    tl_profile_free(p);
    tl_source_close(s);
    free(l);
}

static void test_selections(void **state)
{
    static const char *const two[] = {"#2", "#3"}, *const thread[] = {"2"};
    const tl_select selects[] = {{.depth = 3},
                                 {.min_ticks = 200},
                                 {.func = two, .nfunc = 2},
                                 {.not_func = two, .nnot = 1, .thread = thread, .nthread = 1},
                                 {.time_from = 20000, .has_from = true, .time_to = 90000, .has_to = true}};
    log *l = random_log(7, 1000000000);
    tl_source *s = made_read(&l->made);
    for (size_t i = 0; i < sizeof selects / sizeof *selects; i++)
        check_places(s, &selects[i]);
    tl_source_close(s);
    free(l);
}

/* All calls end at once: more rows than fit into a block. */
static void test_deep_stacks(void **state)
{
    enum { DEEP = 6000 };
    for (int closed = 0; closed < 2; closed++) {
        log *l = new_log(1000000000);
        put(l, 0, true, 900);
        for (int i = 0; i < DEEP; i++, l->now++)
            put(l, 0, true, 1000 + i);
        if (closed)
            put(l, 0, false, 900);
        tl_source *s = made_read(&l->made);
        rows expected = model_of(l, s), found = scan(s, &all_calls);
        assert_int_equal(found.n, DEEP + 1);
        same_rows(&expected, &found);
        free(expected.row), free(found.row);
        tl_source_close(s);
        free(l);
    }
}

/* Do ids lead to the entries of the only thread that say what the rows say? */
static void same_entries(const log *l, const rows *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const row *one = &r->row[i];
        assert_in_range(one->id, 0, l->n[0] - 1);
        const record *entry = &l->record[0][one->id];
        assert_true(entry->enter && entry->function == one->function);
        assert_true(entry->ts == one->begin && entry->cpu == one->cpu);
        assert_int_equal(one->parent == UINT64_MAX ? -1 : l->record[0][one->parent].function, one->caller);
    }
}

/* Exceptions in a loop: the rows have the callers and places that the profile gives them, and their own entries. */
static void test_loops_of_exceptions(void **state)
{
    log *l = new_log(1000000000);
    put(l, 0, true, 1);
    for (int i = 0; i < 2600; i++, l->now += 3) {
        put(l, 0, true, 2);
        put(l, 0, true, 3);
    }
    put(l, 0, false, 1);
    tl_source *s = made_read(&l->made);
    check_places(s, NULL);
    rows found = scan(s, &all_calls);
    assert_int_equal(found.n, 5201);
    same_entries(l, &found);
    free(found.row);
    tl_source_close(s);
    free(l);
}

static void test_processors(void **state)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    made_header(m, 3, FDR_TYPE, 1000000000, 4096);
    made_buffer(m, 1, 2, 0, 0, 100);
    made_function(m, FDR_ENTER, 7, 1);
    made_cpu(m, 5, 200);
    made_function(m, FDR_ENTER, 8, 1);
    made_cpu(m, 6, 300);
    made_function(m, FDR_EXIT, 8, 1);
    made_function(m, FDR_EXIT, 7, 1);
    made_buffer_end(m);
    tl_source *s = made_read(m);
    rows found = scan(s, &all_calls);
    assert_int_equal(found.n, 2);
    assert_int_equal(found.row[0].cpu, 5);
    assert_int_equal(found.row[0].parent, 0);
    assert_int_equal(found.row[0].end - found.row[0].begin, 100);
    assert_int_equal(found.row[1].cpu, 0);
    assert_int_equal(found.row[1].exit, 3);
    free(found.row);
    tl_source_close(s);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_logs),
        cmocka_unit_test(test_rows_made_ahead),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_places_of_threads),
        cmocka_unit_test(test_selections),
        cmocka_unit_test(test_deep_stacks),
        cmocka_unit_test(test_loops_of_exceptions),
        cmocka_unit_test(test_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Calls closed by the exit of an outer one: their number, exceptions caught in a loop, and deep recursion. */
#include "check.h"
#include "make_xray.h"
#include "model/profile_impl.h"
#include "op/callstack.h"
#include "traceloom/traceloom.h"

enum { LOG_SIZE = 32 << 20, MAIN = 1, LOOP, A, B, C, HELP };

/* One thread, one tick for each event. */
typedef struct log {
    uint8_t *data;
    size_t n;
} log_file;

static log_file fresh(void)
{
    made *m = calloc(1, sizeof *m);
    log_file l = {.data = malloc(LOG_SIZE)};
    assert_true(m && l.data);
    made_header(m, 5, FDR_TYPE, 1000000000, 0);
    made_buffer(m, 1, 1, 0, 0, 0);
    memcpy(l.data, m->data, m->n);
    l.n = m->n;
    free(m);
    return l;
}

static void add(log_file *l, unsigned action, uint32_t id)
{
    assert_true(l->n < LOG_SIZE - 8);
    tl_store32(l->data + l->n, id << 4 | action << 1, false);
    tl_store32(l->data + l->n + 4, 1, false);
    l->n += 8;
}

static void enter(log_file *l, uint32_t id)
{
    add(l, FDR_ENTER, id);
}

static void leave(log_file *l, uint32_t id)
{
    add(l, FDR_EXIT, id);
}

static tl_profile *profile_of(log_file *l, bool flat)
{
    tl_source *s = NULL;
    tl_profile *p = NULL;
    tl_store64(l->data + FDR_HEADER_SIZE + FDR_BUFFER_EXTENTS_BYTES, l->n - FDR_HEADER_SIZE - FDR_METADATA_SIZE, false);
    assert_int_equal(tl_source_open_memory(&s, l->data, l->n, "made.xray", NULL, NULL), 0);
    assert_int_equal(tl_trace_damages(tl_source_trace(s)), 0);
    assert_int_equal(tl_profile_from_source(&p, s, &(tl_profile_options){.flat = flat, .threads = 1}, NULL), 0);
    tl_source_close(s);
    return p;
}

/* Sums over the places of a function. */
static tl_place_stat sums(const tl_profile *p, int64_t id, uint64_t *unwound)
{
    tl_place_stat sum = {.min = UINT64_MAX};
    *unwound = 0;
    for (uint32_t i = 0; i < tl_profile_functions(p); i++)
        if (tl_profile_get_function(p, i)->id == id)
            *unwound += tl_profile_function_unwound(p, i);
    uint64_t of_places = 0;
    for (uint32_t i = 1; i < p->nplace; i++)
        if (p->function[p->place[i].function].id == id) {
            tl_profile_add_sums(&sum, &p->stat[i]);
            of_places += tl_profile_place_unwound(p, i);
        }
    assert_int_equal(*unwound, of_places);
    return sum;
}

static void expect(const tl_profile *p, int64_t id, uint64_t calls, uint64_t unwound)
{
    uint64_t n;
    assert_int_equal(sums(p, id, &n).calls, calls);
    assert_int_equal(n, unwound);
}

static uint32_t find(const tl_profile *p, uint32_t parent, int64_t id)
{
    for (uint32_t i = 1; i < p->nplace; i++)
        if (p->place[i].parent == parent && p->function[p->place[i].function].id == id)
            return i;
    fail_msg("no place of %d", (int)id);
    return 0;
}

static void calls_closed_by_an_outer_exit(void **state)
{
    log_file l = fresh();
    enter(&l, MAIN), enter(&l, A), enter(&l, B), leave(&l, B), enter(&l, B), leave(&l, MAIN);
    enter(&l, A), leave(&l, A), enter(&l, C);
    for (int flat = 0; flat < 2; flat++) {
        tl_profile *p = profile_of(&l, flat);
        expect(p, MAIN, 1, 0);
        expect(p, A, 2, 1);
        expect(p, B, 2, 1);
        expect(p, C, 0, 0); /* still open: no call */
        assert_int_equal(tl_profile_unmatched_open(p), 3);
        if (!flat) {
            assert_int_equal(tl_profile_place_unwound(p, find(p, find(p, 0, MAIN), A)), 1);
            assert_int_equal(tl_profile_place_unwound(p, find(p, 0, A)), 0);
        }
        tl_profile_free(p);
    }
    free(l.data);
}

static void unwound_calls_are_merged(void **state)
{
    log_file l = fresh(), clean = fresh();
    enter(&l, MAIN), enter(&l, A), leave(&l, MAIN);
    enter(&clean, B), enter(&clean, C), leave(&clean, C), leave(&clean, B);
    for (int order = 0; order < 3; order++) {
        tl_profile *p = profile_of(order == 1 ? &clean : &l, false), *q = profile_of(order == 0 ? &clean : &l, false);
        assert_int_equal(tl_profile_merge(p, q, NULL), 0);
        expect(p, A, order == 2 ? 2 : 1, order == 2 ? 2 : 1);
        expect(p, MAIN, order == 2 ? 2 : 1, 0);
        tl_profile *grouped = NULL;
        assert_int_equal(tl_profile_regroup(&grouped, p, TL_GROUP_BY_NAME, NULL), 0);
        assert_int_equal(tl_profile_unwound(p), order == 2 ? 2 : 1);
        assert_int_equal(tl_profile_unwound(grouped), order == 2 ? 2 : 1);
        tl_profile_free(grouped);
        tl_profile_free(q);
        tl_profile_free(p);
    }
    free(clean.data);
    free(l.data);
}

/* Exits come: every number is exact at any depth. The tree has a place for each of the first TL_STACK_REPEATS frames
 * (MAIN, and A and B in turn), and then a fixed number for each function. */
static void recursion_is_not_unwound(void **state)
{
    const uint32_t places_of_a = 3 * TL_STACK_REPEATS / 2, places_of_b = places_of_a - 1;
    const uint32_t depth[] = {2, TL_STACK_REPEATS, places_of_b, places_of_a, places_of_a + 1, 100000};
    for (size_t i = 0; i < TL_COUNT(depth); i++)
        for (int flat = 0; flat < 2; flat++) {
            const uint32_t n = depth[i];
            log_file l = fresh();
            enter(&l, MAIN);
            for (uint32_t k = 0; k < n; k++)
                enter(&l, A), enter(&l, B);
            for (uint32_t k = 0; k < n; k++)
                leave(&l, B), leave(&l, A);
            leave(&l, MAIN);
            tl_profile *p = profile_of(&l, flat);
            assert_int_equal(tl_profile_unmatched_open(p) + tl_profile_unmatched_exits(p), 0);
            expect(p, A, n, 0);
            expect(p, B, n, 0);
            uint64_t ignored;
            const tl_place_stat a = sums(p, A, &ignored), b = sums(p, B, &ignored);
            assert_int_equal(a.outer, 4 * (uint64_t)n - 1);
            assert_int_equal(b.outer, 4 * (uint64_t)n - 3);
            assert_int_equal(a.self, 2 * (uint64_t)n);
            assert_int_equal(b.self, 2 * (uint64_t)n - 1);
            assert_int_equal(a.max, 4 * (uint64_t)n - 1);
            assert_int_equal(b.min, 1);
            if (!flat)
                assert_int_equal(p->nplace,
                                 2 + (n < places_of_a ? n : places_of_a) + (n < places_of_b ? n : places_of_b));
            tl_profile_free(p);
            free(l.data);
        }
}

/* LOOP calls A, that B, that C, which throws; LOOP catches. Only LOOP's own exit comes, and those of helpers. */
static void add_exceptions(log_file *l, uint32_t n, bool helps)
{
    for (uint32_t k = 0; k < n; k++) {
        enter(l, A), enter(l, B);
        if (helps)
            enter(l, HELP), leave(l, HELP);
        if (k % 3 == 2) { /* sometimes it succeeds, or fails elsewhere */
            leave(l, B), leave(l, A);
            continue;
        }
        if (k % 3 == 0)
            enter(l, C);
        if (helps)
            enter(l, HELP), leave(l, HELP);
    }
}

static void exceptions_caught_in_a_loop(void **state)
{
    const uint32_t n = 60000;
    for (int helps = 0; helps < 2; helps++)
        for (int flat = 0; flat < 2; flat++) {
            log_file l = fresh();
            enter(&l, MAIN), enter(&l, LOOP);
            add_exceptions(&l, n, helps);
            leave(&l, LOOP), leave(&l, MAIN);
            tl_profile *p = profile_of(&l, flat);
            assert_int_equal(tl_profile_unmatched_exits(p), 0);
            assert_int_equal(tl_profile_unmatched_open(p), n / 3 * 5);
            expect(p, MAIN, 1, 0);
            expect(p, LOOP, 1, 0);
            expect(p, A, n, n / 3 * 2);
            expect(p, B, n, n / 3 * 2);
            expect(p, C, n / 3, n / 3);
            uint64_t unwound;
            const tl_place_stat a = sums(p, A, &unwound), c = sums(p, C, &unwound);
            assert_true(a.max <= 20); /* each ends where the next one begins */
            assert_true(c.max <= 20);
            if (!flat) {
                const uint32_t place = find(p, find(p, find(p, 0, MAIN), LOOP), A);
                assert_true(p->stat[place].calls >= n / 3 * 2);
                assert_true(p->stat[place].total <= p->stat[p->place[place].parent].total);
                assert_true(p->nplace < 8 * TL_STACK_REPEATS);
            }
            tl_profile_free(p);
            free(l.data);
        }
}

/* LOOP never ends, as if it wrote the log itself: the stack stays within TL_STACK_UNWIND_DEPTH. */
static void exceptions_caught_in_a_loop_that_never_ends(void **state)
{
    const uint32_t n = 210000;
    for (int flat = 0; flat < 2; flat++) {
        log_file l = fresh();
        enter(&l, MAIN), enter(&l, LOOP);
        add_exceptions(&l, n, false);
        tl_profile *p = profile_of(&l, flat);
        assert_int_equal(tl_profile_unmatched_exits(p), 0);
        assert_int_equal(tl_profile_unmatched_open(p), 2 + n / 3 * 5);
        uint64_t unwound;
        const tl_place_stat a = sums(p, A, &unwound);
        assert_int_equal(unwound + n / 3, a.calls);
        assert_true(a.calls > n / 3 + TL_STACK_UNWIND_DEPTH / 3);
        assert_true(flat || p->nplace < 8 * TL_STACK_REPEATS);
        tl_profile_free(p);
        free(l.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_closed_by_an_outer_exit),
        cmocka_unit_test(unwound_calls_are_merged),
        cmocka_unit_test(recursion_is_not_unwound),
        cmocka_unit_test(exceptions_caught_in_a_loop),
        cmocka_unit_test(exceptions_caught_in_a_loop_that_never_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Rows of function calls, of random and damaged logs: against a matcher that searches its stack from top to bottom, and
 * against the profile of the same trace. */
#include "call_rows_fixture.h"
#include "make_xray.h"
#include "random_profile.h"

enum { THREADS = 5, FUNCTIONS = 7, RECORDS = 7000 };

/* ---- the model ---- */

typedef struct record {
    bool enter;
    int64_t function;
    uint64_t ts;
} record;

typedef struct open_call {
    record entry;
    uint64_t id, children;
} open_call;

static row close_call(open_call *stack, size_t *depth, uint64_t ts, uint64_t exit, int64_t tid, bool ended)
{
    const open_call *c = &stack[--*depth];
    const uint64_t ticks = ended && ts > c->entry.ts ? ts - c->entry.ts : 0;
    row one;
    memset(&one, 0, sizeof one);
    one.id = c->id, one.exit = exit, one.parent = *depth ? c[-1].id : UINT64_MAX;
    one.begin = c->entry.ts, one.end = c->entry.ts + ticks;
    one.self = ticks > c->children ? ticks - c->children : 0;
    one.function = c->entry.function, one.caller = *depth ? c[-1].entry.function : -1;
    one.depth = (uint32_t)*depth + 1, one.place = UINT32_MAX;
    one.tid = tid;
    one.flags = ended ? 1 : 3;
    for (size_t i = 0; i < *depth; i++)
        if (stack[i].entry.function == one.function)
            one.flags &= TL_CALL_OPEN;
    if (*depth)
        stack[*depth - 1].children += ticks;
    return one;
}

/* Adds the calls of a thread. */
static void model(rows *out, const record *r, size_t n, uint32_t stream, int64_t tid)
{
    open_call *stack = calloc(n + 1, sizeof *stack);
    size_t depth = 0;
    assert_non_null(stack);
    for (size_t i = 0; i < n; i++) {
        const uint64_t id = ((uint64_t)stream << 40) + i;
        size_t at = depth;
        if (r[i].enter) {
            stack[depth++] = (open_call){.entry = r[i], .id = id};
            continue;
        }
        while (at > 0 && stack[at - 1].entry.function != r[i].function)
            at--;
        out->exits += at == 0;
        while (at > 0 && depth >= at) {
            out->open += depth > at;
            const row one = close_call(stack, &depth, r[i].ts, depth > at ? UINT64_MAX : id, tid, true);
            add_row(out, &one);
        }
    }
    while (depth > 0) {
        out->open++;
        const row one = close_call(stack, &depth, 0, UINT64_MAX, tid, false);
        add_row(out, &one);
    }
    free(stack);
}

/* ---- logs of calls ---- */

typedef struct log {
    made made;
    record record[THREADS][RECORDS];
    size_t n[THREADS];
    uint64_t now;
} log;

static log *new_log(void)
{
    log *l = calloc(1, sizeof *l);
    assert_non_null(l);
    made_header(&l->made, 3, BASIC_TYPE, 1000000000, 0);
    return l;
}

static void put(log *l, uint32_t thread, bool enter, int64_t function)
{
    made_basic(&l->made, enter ? BASIC_ENTER : BASIC_EXIT, (int32_t)function, l->now, thread + 1, 1);
    l->record[thread][l->n[thread]++] = (record){.enter = enter, .function = function, .ts = l->now};
}

/* Calls of several threads, some without entry or exit; the clock goes back now and then. */
static log *random_log(uint64_t seed)
{
    log *l = new_log();
    static int64_t stack[THREADS][RECORDS];
    size_t depth[THREADS] = {0};
    for (int i = 0; i < RECORDS; i++) {
        const uint64_t x = fixture_random(&seed);
        const uint32_t t = (uint32_t)(x % THREADS);
        l->now += x >> 8 & 63;
        if ((x >> 16 & 127) == 0)
            l->now -= l->now > 1000 ? 1000 : 0;
        if ((x >> 24 & 15) == 0) {
            put(l, t, x >> 40 & 1, 1 + (int64_t)(x >> 32 & 255) % FUNCTIONS);
        } else if (depth[t] == 0 || (x >> 24 & 1)) {
            stack[t][depth[t]] = 1 + (int64_t)(x >> 32 & 255) % FUNCTIONS;
            put(l, t, true, stack[t][depth[t]++]);
        } else {
            put(l, t, false, stack[t][--depth[t]]);
        }
    }
    return l;
}

/* Which thread a stream is of. */
static int64_t thread_of_stream(tl_source *s, uint32_t stream)
{
    tl_cursor *c = NULL;
    const tl_batch *b = NULL;
    tl_error e = {0};
    must(tl_cursor_open(&c, s, stream, &e), &e);
    assert_int_equal(tl_cursor_next(c, &b, &e), 1);
    const int64_t tid = s->trace.track[b->track[0]].tid;
    tl_cursor_close(c);
    return tid;
}

static rows model_of(const log *l, tl_source *s)
{
    rows all = {0};
    for (uint32_t i = 0; i < tl_source_streams(s); i++) {
        const int64_t tid = thread_of_stream(s, i);
        model(&all, l->record[tid - 1], l->n[tid - 1], i, tid);
    }
    return all;
}

static void test_random_logs(void **state)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        log *l = random_log(seed);
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

static void test_places(void **state)
{
    log *l = random_log(99);
    tl_source *s = made_read(&l->made);
    check_places(s, NULL);
    tl_source_close(s);
    free(l);
}

static void test_places_need_one_tree(void **state)
{
    log *l = random_log(3);
    tl_source *s = made_read(&l->made);
    tl_profile *p = NULL;
    tl_call_places *places = NULL;
    tl_error e = {0};
    must(tl_profile_from_source(&p, s, &(tl_profile_options){.per_thread = true}, &e), &e);
    assert_int_equal(tl_call_places_new(&places, p, &e), TL_EINVAL);
    assert_null(places);
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
    log *l = random_log(7);
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
        log *l = new_log();
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

/* Exceptions in a loop: the rows have the callers and places that the profile gives them. */
static void test_loops_of_exceptions(void **state)
{
    log *l = new_log();
    put(l, 0, true, 1);
    for (int i = 0; i < 2600; i++, l->now += 3) {
        put(l, 0, true, 2);
        put(l, 0, true, 3);
    }
    put(l, 0, false, 1);
    tl_source *s = made_read(&l->made);
    check_places(s, NULL);
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
        cmocka_unit_test(test_random_logs),          cmocka_unit_test(test_places),
        cmocka_unit_test(test_places_need_one_tree), cmocka_unit_test(test_selections),
        cmocka_unit_test(test_deep_stacks),          cmocka_unit_test(test_loops_of_exceptions),
        cmocka_unit_test(test_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Events of one or several sources: order by time, selection, joining of ids and clocks. */
#include "check.h"
#include "make_xray.h"
#include "model/trace_impl.h"
#include "traceloom/traceloom.h"

enum { ALIKE_MOST = 64 }; /* of op/join.c */

static tl_source *open_made(const made *m)
{
    tl_source *s = NULL;
    tl_error e = {0};
    const tl_open_options o = {.want = {.fields = true, .cpu = true}};
    must(tl_source_open_memory(&s, m->data, m->n, "made.xray", &o, &e), &e);
    return s;
}

static made *fresh(uint64_t hz)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    made_header(m, 3, BASIC_TYPE, hz, 0);
    return m;
}

typedef struct seen {
    uint64_t ts[64], key[64];
    uint32_t track[64], n;
} seen;

static seen read_all(tl_source *const *s, uint32_t n, const tl_select *select, bool ordered)
{
    seen all = {0};
    tl_events *v = NULL;
    tl_error e = {0};
    must(tl_events_open(&v, s, n, select, ordered, &e), &e);
    const tl_batch *b;
    uint32_t from, to;
    int status;
    while ((status = tl_events_next(v, &b, &from, &to, &e)) > 0)
        for (uint32_t i = from; i < to; i++) {
            all.ts[all.n] = b->ts[i] - tl_events_begin(v);
            all.key[all.n] = b->key[i];
            all.track[all.n++] = b->track[i];
        }
    assert_int_equal(status, 0);
    tl_events_close(v);
    return all;
}

static void check_times(const seen *all, uint32_t n, const uint64_t *ts)
{
    assert_int_equal(all->n, n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(all->ts[i], ts[i]);
}

/* Streams are merged; one whose times go back keeps its own order. */
static void merged_by_time(void **state)
{
    made *m = fresh(1000000000);
    const uint64_t one[] = {100, 110, 105, 150}, two[] = {101, 109, 140};
    for (size_t i = 0; i < 4; i++)
        made_basic(m, BASIC_ENTER, 1, one[i], 1, 1);
    for (size_t i = 0; i < 3; i++)
        made_basic(m, BASIC_ENTER, 2, two[i], 2, 1);
    tl_source *s = open_made(m);
    seen all = read_all(&s, 1, NULL, true);
    check_times(&all, 7, (const uint64_t[]){0, 1, 9, 10, 5, 40, 50});
    tl_source_close(s);
    free(m);
}

static made *calls(uint64_t hz, uint64_t begin)
{
    made *m = fresh(hz);
    made_basic(m, BASIC_ENTER, 1, begin, 1, 1);
    made_basic(m, BASIC_ENTER, 2, begin + 10, 1, 1);
    made_basic(m, BASIC_EXIT, 2, begin + 15, 1, 1);
    made_basic(m, BASIC_ENTER, 2, begin + 20, 1, 1);
    made_basic(m, BASIC_EXIT, 2, begin + 60, 1, 1);
    made_basic(m, BASIC_EXIT, 1, begin + 100, 1, 1);
    return m;
}

static void selected(void **state)
{
    made *m = calls(1000000000, 1000);
    const struct {
        tl_select select;
        uint32_t n;
        uint64_t ts[6];
    } cases[] = {
        {{.has_from = true, .time_from = 15, .has_to = true, .time_to = 60}, 2, {15, 20}},
        {{.func = (const char *const[]){"#1"}, .nfunc = 1}, 2, {0, 100}},
        {{.not_func = (const char *const[]){"#1"}, .nnot = 1}, 4, {10, 15, 20, 60}},
        {{.depth = 1}, 2, {0, 100}},
        {{.min_ticks = 40}, 4, {0, 20, 60, 100}},
        {{.cls = (const char *const[]){"*.exit"}, .ncls = 1}, 3, {15, 60, 100}},
        {{.cpu = (const int32_t[]){3}, .ncpu = 1}, 0, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_source *s = open_made(m);
        seen all = read_all(&s, 1, &cases[i].select, i % 2);
        check_times(&all, cases[i].n, cases[i].ts);
        tl_source_close(s);
    }
    free(m);
}

static void a_function_that_never_comes_is_an_error(void **state)
{
    made *m = calls(1, 0);
    tl_source *s = open_made(m);
    const tl_select select = {.func = (const char *const[]){"nobody"}, .nfunc = 1};
    tl_events *v = NULL;
    tl_error e = {0};
    int status = tl_events_open(&v, &s, 1, &select, true, &e);
    const tl_batch *b;
    uint32_t from, to;
    if (status == 0)
        status = tl_events_next(v, &b, &from, &to, &e);
    assert_int_equal(status, TL_ENOMATCH);
    tl_events_close(v);
    tl_source_close(s);
    free(m);
}

/* One clock: times stay as recorded, relative to the earliest trace. */
static void joined_on_one_clock(void **state)
{
    made *a = calls(1000, 1000), *b = calls(1000, 1005);
    tl_source *s[] = {open_made(a), open_made(b)};
    seen all = read_all(s, 2, NULL, true);
    check_times(&all, 12, (const uint64_t[]){0, 5, 10, 15, 15, 20, 20, 25, 60, 65, 100, 105});
    assert_int_not_equal(all.track[0], all.track[1]);
    tl_source_close(s[0]);
    tl_source_close(s[1]);
    free(a);
    free(b);
}

/* A trace without events does not begin at tick 0. */
static void joined_with_an_empty_one(void **state)
{
    made *a = calls(1000, 1000), *b = fresh(1000);
    tl_source *s[] = {open_made(b), open_made(a), open_made(b)};
    const tl_select select = {.has_to = true, .time_to = 20};
    seen all = read_all(s, 3, &select, true);
    check_times(&all, 3, (const uint64_t[]){0, 10, 15});
    tl_source_close(s[1]);
    s[1] = open_made(b);
    all = read_all(s, 3, &select, true);
    check_times(&all, 0, NULL);
    all = read_all(s, 1, &select, true);
    check_times(&all, 0, NULL);
    for (int i = 0; i < 3; i++)
        tl_source_close(s[i]);
    free(a);
    free(b);
}

/* Different clocks: each begins at 0, in ns. */
static void joined_on_two_clocks(void **state)
{
    made *a = calls(1000000000, 1000), *b = calls(500000000, 70);
    tl_source *s[] = {open_made(a), open_made(b)};
    tl_events *v = NULL;
    tl_error e = {0};
    assert_int_equal(tl_events_open(&v, s, 2, NULL, true, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "different clocks, and not all know the time of day: ");
    assert_contains(e.message, "at 1000000000 Hz and ");
    assert_contains(e.message, "at 500000000 Hz");
    tl_source_close(s[0]);
    tl_source_close(s[1]);
    free(a);
    free(b);
}

/* How many classes two traces of n classes have together, which differ only in the label of a field. */
static uint32_t joined_alike(uint32_t n)
{
    static const tl_mapping mapping[2 * ALIKE_MOST];
    tl_field field[2 * ALIKE_MOST];
    tl_class cls[2 * ALIKE_MOST];
    for (uint32_t i = 0; i < n; i++) {
        field[i] = (tl_field){.name = "state", .type = TL_U64, .mapping = &mapping[i], .nmapping = 1, .governor = i};
        cls[i] = (tl_class){.name = "alike", .kind = TL_INSTANT, .field = &field[i], .nfield = 1};
    }
    made *m = calls(1000, 1000);
    tl_source *s[] = {open_made(m), open_made(m)};
    tl_events *v = NULL;
    tl_error e = {0};
    for (int i = 0; i < 2; i++)
        assert_int_equal(tl_trace_set_classes((tl_trace *)(uintptr_t)tl_source_trace(s[i]), cls, n, &e), 0);
    assert_int_equal(tl_events_open(&v, s, 2, NULL, true, &e), 0);
    const uint32_t all = tl_trace_classes(tl_events_trace(v));
    tl_events_close(v);
    tl_source_close(s[0]);
    tl_source_close(s[1]);
    free(m);
    return all;
}

/* Comparing all with all takes too long: classes beyond the limit stay apart. */
static void classes_alike_have_a_limit(void **state)
{
    assert_int_equal(joined_alike(ALIKE_MOST), ALIKE_MOST);
    assert_in_range(joined_alike(ALIKE_MOST + 1), ALIKE_MOST + 2, 2 * ALIKE_MOST + 2);
}

/* Measured frequencies are never quite equal: up to one part in 1000 they are one clock, beyond that two. */
static void joined_on_a_clock_measured_twice(void **state)
{
    static const uint64_t hz[] = {1000000, 1001000, 999001, 1001001, 999000};
    for (int i = 0; i < 5; i++) {
        made *a = calls(hz[0], 1000), *b = calls(hz[i], 1000);
        tl_source *s[] = {open_made(a), open_made(b)};
        tl_events *v = NULL;
        assert_int_equal(tl_events_open(&v, s, 2, NULL, true, NULL), i < 3 ? 0 : TL_EUNSUPPORTED);
        tl_events_close(v);
        tl_source_close(s[0]);
        tl_source_close(s[1]);
        free(a);
        free(b);
    }
}

/* Versions that differ give none for the whole. */
static void joined_versions(void **state)
{
    made *a = calls(1000, 1000), *b = fresh(1000);
    tl_source *s[] = {open_made(a), open_made(b)};
    for (int same = 1; same >= 0; same--) {
        tl_events *v = NULL;
        if (!same)
            ((tl_trace *)(uintptr_t)tl_source_trace(s[1]))->version = "another";
        assert_int_equal(tl_events_open(&v, s, 2, NULL, true, NULL), 0);
        const char *version = tl_trace_version(tl_events_trace(v));
        assert_true(same ? version && strcmp(version, tl_trace_version(tl_source_trace(s[0]))) == 0 : !version);
        tl_events_close(v);
    }
    tl_source_close(s[0]);
    tl_source_close(s[1]);
    free(a);
    free(b);
}

/* A pattern must match in one of the sources, not in each; times count from the earliest. */
static void selected_from_several(void **state)
{
    made *a = calls(1000, 1000), *b = fresh(1000);
    made_basic(b, BASIC_ENTER, 3, 1005, 2, 1);
    made_basic(b, BASIC_EXIT, 3, 1070, 2, 1);
    const struct {
        tl_select select;
        uint32_t n;
        uint64_t ts[8];
    } cases[] = {
        {{.func = (const char *const[]){"#3"}, .nfunc = 1}, 2, {5, 70}},
        {{.func = (const char *const[]){"#1", "#3"}, .nfunc = 2}, 4, {0, 5, 70, 100}},
        {{.not_func = (const char *const[]){"#2"}, .nnot = 1}, 4, {0, 5, 70, 100}},
        {{.thread = (const char *const[]){"2"}, .nthread = 1}, 2, {5, 70}},
        {{.has_from = true, .time_from = 70}, 2, {70, 100}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_source *s[] = {open_made(a), open_made(b)};
        seen all = read_all(s, 2, &cases[i].select, true);
        check_times(&all, cases[i].n, cases[i].ts);
        tl_source_close(s[0]);
        tl_source_close(s[1]);
    }
    free(a);
    free(b);
}

static void a_pattern_that_matches_in_no_source_is_an_error(void **state)
{
    made *m = calls(1, 0);
    const tl_select cases[] = {
        {.func = (const char *const[]){"#1", "nobody"}, .nfunc = 2},
        {.thread = (const char *const[]){"1", "77"}, .nthread = 2},
        {.cls = (const char *const[]){"*.nothing"}, .ncls = 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_source *s[] = {open_made(m), open_made(m)};
        tl_events *v = NULL;
        tl_error e = {0};
        const tl_batch *b;
        uint32_t from, to;
        int status = tl_events_open(&v, s, 2, &cases[i], true, &e);
        while (status == 0 && (status = tl_events_next(v, &b, &from, &to, &e)) > 0)
            status = 0;
        assert_int_equal(status, TL_ENOMATCH);
        assert_contains(e.message, i == 0 ? "no function matches \"nobody\"" : "matches");
        tl_events_close(v);
        tl_source_close(s[0]);
        tl_source_close(s[1]);
    }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_by_time),
        cmocka_unit_test(selected),
        cmocka_unit_test(a_function_that_never_comes_is_an_error),
        cmocka_unit_test(joined_on_one_clock),
        cmocka_unit_test(joined_with_an_empty_one),
        cmocka_unit_test(joined_on_two_clocks),
        cmocka_unit_test(joined_on_a_clock_measured_twice),
        cmocka_unit_test(selected_from_several),
        cmocka_unit_test(classes_alike_have_a_limit),
        cmocka_unit_test(joined_versions),
        cmocka_unit_test(a_pattern_that_matches_in_no_source_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Sorting a stream by time: against a plain stable sort of all events. */
#include "check.h"

#define FAKE_UNSORTED true
#include "fake_format.h"
#include "op/ahead.h"
#include "op/reorder.h"
#include "op/source_impl.h"
#include "traceloom/source.h"

enum { WINDOW = (int)(TL_REORDER_BATCHES * TL_BATCH_MAX), MANY = 200000 };

static uint64_t times[MANY];

static tl_source *open_fake(uint64_t events, bool fields)
{
    tl_source *s = NULL;
    tl_error e = {0};
    const tl_open_options o = {.want = {.fields = fields, .cpu = true, .threads = 4}};
    fake.streams = 1;
    fake.events[0] = events;
    fake.times = times;
    fake.bytes = TL_AHEAD_LEAST;
    must(tl_source_open_memory(&s, "x", 1, "fake.trace", &o, &e), &e);
    assert_false(tl_ahead_pays(s, &s->want));
    return s;
}

/* Numbers of events in order of time. */
static int by_time(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return times[x] != times[y] ? (times[x] > times[y]) - (times[x] < times[y]) : (x > y) - (x < y);
}

static uint32_t *sorted_numbers(uint32_t n)
{
    uint32_t *number = malloc((n + 1) * sizeof *number);
    assert_non_null(number);
    for (uint32_t i = 0; i < n; i++)
        number[i] = i;
    qsort(number, n, sizeof *number, by_time);
    return number;
}

static void check_event(const tl_batch *b, uint32_t i, uint64_t number)
{
    char text[32];
    assert_int_equal(b->key[i], number);
    assert_int_equal(b->ts[i], times[number]);
    if (!b->val)
        return;
    const int n = snprintf(text, sizeof text, "0/%u", (unsigned)number);
    const tl_value *v = b->v + b->val[i];
    assert_int_equal(v[0].as.u, number);
    assert_int_equal(v[1].n, n);
    assert_memory_equal(v[1].as.p, text, (size_t)n);
}

typedef struct seen {
    uint64_t events, runs, out_of_order;
    int status;
} seen;

/* Merges at least `most` events, or all, and compares with `number` if given. */
static seen read_some(tl_source *s, const uint32_t *number, uint64_t most, tl_error *e)
{
    seen r = {0};
    tl_merge *m = NULL;
    const tl_run *run;
    uint32_t n;
    uint64_t last = 0;
    r.status = tl_merge_open(&m, s, e);
    while (r.status >= 0 && r.events < most && (r.status = tl_merge_runs(m, &run, &n, e)) > 0)
        for (const tl_run *end = run + n; run < end; run++, r.runs++) {
            assert_true(run->from < run->to && run->to <= run->batch->n);
            for (uint32_t i = run->from; i < run->to; i++, r.events++) {
                if (number)
                    check_event(run->batch, i, number[r.events]);
                r.out_of_order += run->batch->ts[i] < last;
                last = run->batch->ts[i];
            }
        }
    if (r.status == 0 && r.events < most)
        assert_int_equal(tl_merge_runs(m, &run, &n, e), 0);
    tl_merge_close(m);
    return r;
}

/* Everything gets sorted; returns how many runs that took. */
static uint64_t check_sorted(uint32_t n, bool fields)
{
    tl_error e = {0};
    uint32_t *number = sorted_numbers(n);
    tl_source *s = open_fake(n, fields);
    const seen r = read_some(s, number, UINT64_MAX, &e);
    assert_int_equal(r.status, 0);
    assert_int_equal(r.events, n);
    assert_int_equal(r.out_of_order, 0);
    assert_int_equal(tl_trace_out_of_order(&s->trace), 0);
    assert_int_equal(tl_trace_notes(&s->trace), 0);
    tl_source_close(s);
    assert_int_equal(atomic_load(&fake.opened), atomic_load(&fake.closed));
    free(number);
    return r.runs;
}

static void nothing_and_one_event(void **state)
{
    fake_reset(1, 0);
    check_sorted(0, true);
    times[0] = UINT64_MAX;
    check_sorted(1, true);
    times[0] = 0;
    check_sorted(1, false);
}

static void what_is_in_order_comes_in_whole_batches(void **state)
{
    fake_reset(1, 0);
    for (uint32_t i = 0; i < MANY; i++)
        times[i] = i / 7;
    assert_int_equal(check_sorted(MANY, false), (MANY + TL_BATCH_MAX - 1) / TL_BATCH_MAX);
    for (uint32_t i = 0; i < MANY; i++)
        times[i] = UINT64_MAX;
    assert_int_equal(check_sorted(MANY, false), (MANY + TL_BATCH_MAX - 1) / TL_BATCH_MAX);
}

static void nearly_in_order(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t random = seed;
        const uint32_t n = (uint32_t)(fake_random(&random) % (seed < 18 ? 10000 : MANY));
        const uint64_t slow = 1 + fake_random(&random) % 20, jitter = 1 + fake_random(&random) % 30;
        fake_reset(1, 0);
        fake.batch = seed % 2 ? 0 : 100 + (uint32_t)(seed % 7);
        for (uint32_t i = 0; i < n; i++)
            times[i] = i / slow + fake_random(&random) % jitter;
        check_sorted(n, seed % 3 != 0);
    }
}

/* Up to the window out of order, in any way. */
static void any_order_within_the_window(void **state)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint64_t random = seed;
        fake_reset(1, 0);
        const uint32_t n = seed == 1 ? WINDOW : (uint32_t)(fake_random(&random) % (WINDOW + 1));
        const uint64_t spread = seed % 2 ? UINT64_MAX : 50;
        for (uint32_t i = 0; i < n; i++)
            times[i] = fake_random(&random) % spread;
        check_sorted(n, seed % 2);
    }
    fake_reset(1, 0);
    for (uint32_t i = 0; i < WINDOW; i++)
        times[i] = WINDOW - i; /* backwards */
    check_sorted(WINDOW, true);
    for (uint32_t i = 0; i < WINDOW; i++)
        times[i] = i % 1000 + i / 100000; /* a saw */
    check_sorted(WINDOW, true);
    for (uint32_t i = 0; i < WINDOW; i++)
        times[i] = i % TL_BATCH_MAX; /* all batches cover the same times: every event is a run */
    check_sorted(WINDOW, true);
    for (uint32_t i = 0; i < MANY; i++)
        times[i] = i + (i % 1000 == 0 ? 30000 : 0); /* some far too early */
    check_sorted(MANY, false);
}

/* A window in the middle of events moves, and does not empty: events late by less than it get sorted. */
static void late_by_nearly_the_window(void **state)
{
    fake_reset(1, 0);
    for (uint32_t i = 0; i < MANY; i++)
        times[i] = 2 * i;
    for (uint32_t i = WINDOW; i < MANY; i += 3000) /* earlier than all but the oldest batch and a bit */
        times[i] = times[i - WINDOW + 2 * TL_BATCH_MAX] + 1;
    check_sorted(MANY, false);
}

/* Events that come too late: passed on at once, counted, and reported in one note. */
static void check_late(const tl_source *s, uint64_t late, const char *text)
{
    assert_int_equal(tl_trace_out_of_order(&s->trace), late);
    assert_int_equal(tl_trace_damages(&s->trace), 0);
    assert_int_equal(tl_trace_notes(&s->trace), 1);
    const tl_damage *note = tl_trace_note(&s->trace, 0);
    assert_string_equal(note->rule, "order.too-late");
    assert_string_equal(note->what, text);
    assert_int_equal(note->kind, TL_DAMAGE_NOTE);
}

/* In order, but for one event after four batches have been handed out. */
static void one_too_late(void)
{
    fake_reset(1, 0);
    for (uint32_t i = 0; i < MANY; i++)
        times[i] = 10 + i;
    times[WINDOW + 3 * TL_BATCH_MAX + 17] = 5;
}

static void backwards(void)
{
    fake_reset(1, 0);
    for (uint32_t i = 0; i < MANY; i++)
        times[i] = MANY - i;
}

/* An event at exactly the latest time handed out is still in order. */
static void as_late_as_can_be(void **state)
{
    tl_error e = {0};
    one_too_late();
    times[WINDOW + 3 * TL_BATCH_MAX + 18] = times[4 * TL_BATCH_MAX - 1]; /* of the fourth batch handed out */
    tl_source *s = open_fake(MANY, false);
    const seen r = read_some(s, NULL, UINT64_MAX, &e);
    assert_int_equal(r.status, 0);
    assert_int_equal(r.out_of_order, 1);
    check_late(s, 1, "1 event came too late to be put in order of time");
    tl_source_close(s);
}

static void too_late_events(void **state)
{
    tl_error e = {0};
    one_too_late();
    tl_source *s = open_fake(MANY, true);
    seen r = read_some(s, NULL, UINT64_MAX, &e);
    assert_int_equal(r.status, 0);
    assert_int_equal(r.events, MANY);
    assert_int_equal(r.out_of_order, 1);
    check_late(s, 1, "1 event came too late to be put in order of time");
    /* Reading again adds nothing. */
    r = read_some(s, NULL, UINT64_MAX, &e);
    assert_int_equal(r.out_of_order, 1);
    check_late(s, 1, "1 event came too late to be put in order of time");
    tl_source_close(s);
    /* It is passed on at once: after the four batches handed out, 3 * TL_BATCH_MAX before 17. */
    uint32_t *expected = malloc(MANY * sizeof *expected);
    const uint32_t late = WINDOW + 3 * TL_BATCH_MAX + 17, at = 4 * TL_BATCH_MAX;
    assert_non_null(expected);
    for (uint32_t i = 0; i < MANY; i++)
        expected[i] = i < at ? i : i == at ? late : i <= late ? i - 1 : i;
    s = open_fake(MANY, true);
    r = read_some(s, expected, UINT64_MAX, &e);
    assert_int_equal(r.events, MANY);
    tl_source_close(s);
    free(expected);
}

static void a_trace_that_goes_backwards(void **state)
{
    tl_error e = {0};
    backwards();
    tl_source *s = open_fake(MANY, false);
    const seen r = read_some(s, NULL, UINT64_MAX, &e);
    assert_int_equal(r.status, 0);
    assert_int_equal(r.events, MANY);
    assert_true(r.out_of_order > 0);
    check_late(s, MANY - WINDOW, "134464 events came too late to be put in order of time");
    tl_source_close(s);
}

/* Also reported if reading stops early. */
static void closed_before_the_end(void **state)
{
    tl_error e = {0};
    backwards();
    for (uint64_t most = 0; most < MANY; most = 3 * most + 1) {
        tl_source *s = open_fake(MANY, true);
        const seen r = read_some(s, NULL, most, &e);
        assert_true(r.events >= most && r.status >= 0);
        if (most == 0)
            assert_int_equal(tl_trace_notes(&s->trace), 0);
        if (most > 50000)
            assert_int_equal(tl_trace_notes(&s->trace), 1);
        tl_source_close(s);
        assert_int_equal(atomic_load(&fake.opened), atomic_load(&fake.closed));
    }
}

/* Events before an error come before it, in order. */
static void errors_come_last(void **state)
{
    static const uint32_t places[] = {0, 1, 1023, 1024, 5000, WINDOW, WINDOW + 1, 3 * WINDOW / 2, MANY - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        tl_error e = {0};
        fake_reset(1, 0);
        for (uint32_t k = 0; k < MANY; k++)
            times[k] = k ^ 3;
        uint32_t *number = sorted_numbers(places[i]);
        fake.fail_at[0] = places[i] + 1;
        tl_source *s = open_fake(MANY, false);
        const seen r = read_some(s, number, UINT64_MAX, &e);
        assert_int_equal(r.status, TL_EIO);
        assert_int_equal(r.events, places[i]);
        assert_contains(e.message, "fake.trace: fake: event");
        tl_source_close(s);
        assert_int_equal(atomic_load(&fake.opened), atomic_load(&fake.closed));
        free(number);
    }
}

static void a_stream_that_does_not_open(void **state)
{
    tl_error e = {0};
    tl_merge *m = NULL;
    fake_reset(1, 0);
    fake.fail_open[0] = true;
    tl_source *s = open_fake(10, false);
    assert_int_equal(tl_merge_open(&m, s, &e), TL_EIO);
    assert_null(m);
    tl_source_close(s);
}

/* The reader gets the limits of time, and leaves out the rest. */
static void limits_are_passed_on(void **state)
{
    const tl_limit limit = {.set = true, .from = 100, .to = 200};
    tl_error e = {0};
    tl_merge *m = NULL;
    const tl_run *run;
    uint32_t n, events = 0;
    int status;
    fake_reset(1, 0);
    fake.limits = true;
    for (uint32_t i = 0; i < 5000; i++)
        times[i] = i ^ 1;
    tl_source *s = open_fake(5000, false);
    assert_int_equal(tl_merge_open_want(&m, s, NULL, &limit, &e), 0);
    while ((status = tl_merge_runs(m, &run, &n, &e)) > 0)
        for (uint32_t i = 0; i < n; i++, run++)
            for (uint32_t k = run->from; k < run->to; k++, events++)
                assert_int_equal(run->batch->ts[k], 100 + events);
    assert_int_equal(status, 0);
    assert_int_equal(events, 100);
    tl_merge_close(m);
    tl_source_close(s);
}

/* Values that take much memory make the window smaller. */
static void memory_is_bounded(void **state)
{
    tl_error e = {0};
    fake_reset(1, 0);
    fake.text_room = 16 << 10;
    for (uint32_t i = 0; i < WINDOW; i++)
        times[i] = i ^ 1;
    tl_source *s = open_fake(WINDOW, true);
    assert_true(read_some(s, NULL, 1, &e).events > 0);
    const unsigned batches = atomic_load(&fake.batches);
    assert_true(batches >= 4 && batches <= 5);
    tl_source_close(s);
    check_sorted(20 * TL_BATCH_MAX, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_and_one_event),
        cmocka_unit_test(what_is_in_order_comes_in_whole_batches),
        cmocka_unit_test(nearly_in_order),
        cmocka_unit_test(any_order_within_the_window),
        cmocka_unit_test(late_by_nearly_the_window),
        cmocka_unit_test(too_late_events),
        cmocka_unit_test(as_late_as_can_be),
        cmocka_unit_test(a_trace_that_goes_backwards),
        cmocka_unit_test(closed_before_the_end),
        cmocka_unit_test(errors_come_last),
        cmocka_unit_test(a_stream_that_does_not_open),
        cmocka_unit_test(limits_are_passed_on),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Merging by time, with one thread and with several that decode ahead: the same events, errors at the same place. */
#include "check.h"
#include "fake_format.h"
#include "op/ahead.h"
#include "op/source_impl.h"
#include "traceloom/events.h"
#include "traceloom/source.h"

static tl_source *open_fake(unsigned threads)
{
    tl_source *s = NULL;
    tl_error e = {0};
    const tl_open_options o = {.want = {.fields = true, .cpu = true, .threads = threads}};
    must(tl_source_open_memory(&s, "x", 1, "fake.trace", &o, &e), &e);
    return s;
}

/* The streams in merged order: slowly, one event at a time. */
typedef struct model {
    uint64_t next[FAKE_STREAMS], time[FAKE_STREAMS], random[FAKE_STREAMS];
} model;

static void model_start(model *m)
{
    for (uint32_t i = 0; i < fake.streams; i++) {
        m->next[i] = 0;
        fake_start(i, &m->random[i], &m->time[i]);
    }
}

/* The stream of the next event, UINT32_MAX at the end; *number and *time are the event's. */
static uint32_t model_next(model *m, uint64_t *number, uint64_t *time)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < fake.streams; i++)
        if (m->next[i] < fake.events[i] && (best == UINT32_MAX || m->time[i] < m->time[best]))
            best = i;
    if (best == UINT32_MAX)
        return best;
    *number = m->next[best]++;
    *time = m->time[best];
    fake_step(&m->random[best], &m->time[best]);
    return best;
}

static void check_event(const tl_batch *b, uint32_t i, uint32_t stream, uint64_t number, uint64_t time)
{
    char text[32];
    const int n = snprintf(text, sizeof text, "%u/%u", stream, (unsigned)number);
    assert_int_equal(b->track[i], stream);
    assert_int_equal(b->key[i], number);
    assert_int_equal(b->ts[i], time);
    assert_int_equal(b->cpu[i], stream);
    const tl_value *v = b->v + b->val[i];
    assert_int_equal(b->val[i + 1] - b->val[i], 2);
    assert_int_equal(v[0].as.u, number);
    assert_int_equal(v[1].n, n);
    assert_memory_equal(v[1].as.p, text, (size_t)n);
}

/* Runs one by one, or many at a time. */
typedef struct runs {
    const tl_run *run;
    uint32_t n, at;
    bool many;
} runs;

static int next_run(tl_merge *m, runs *r, const tl_batch **b, uint32_t *from, uint32_t *to, tl_error *e)
{
    if (!r->many)
        return tl_merge_next(m, b, from, to, e);
    if (r->at == r->n) {
        const int status = tl_merge_runs(m, &r->run, &r->n, e);
        r->at = 0;
        if (status <= 0) {
            r->n = 0;
            return status;
        }
        assert_true(r->n > 0);
    }
    const tl_run *run = &r->run[r->at++];
    *b = run->batch;
    *from = run->from;
    *to = run->to;
    return 1;
}

/* Merges all, or the first `most` events, and compares. Returns how many there were; *status is the last call's. */
static uint64_t check_merge(tl_source *s, uint64_t most, int *status, tl_error *e)
{
    model *m = calloc(1, sizeof *m);
    tl_merge *merge = NULL;
    runs r = {.many = fake.seed % 2};
    const tl_batch *b;
    uint32_t from, to;
    uint64_t seen = 0, number = 0, time = 0;
    assert_non_null(m);
    model_start(m);
    *status = tl_merge_open(&merge, s, e);
    while (*status >= 0 && seen < most && (*status = next_run(merge, &r, &b, &from, &to, e)) > 0) {
        assert_true(from < to && to <= b->n);
        for (uint32_t i = from; i < to; i++, seen++) {
            const uint32_t stream = model_next(m, &number, &time);
            assert_int_not_equal(stream, UINT32_MAX);
            check_event(b, i, stream, number, time);
        }
    }
    if (*status == 0 && seen < most)
        assert_int_equal(model_next(m, &number, &time), UINT32_MAX);
    tl_merge_close(merge);
    free(m);
    return seen;
}

static void check_whole(unsigned threads)
{
    tl_error e = {0};
    int status;
    tl_source *s = open_fake(threads);
    uint64_t all = 0;
    for (uint32_t i = 0; i < fake.streams; i++)
        all += fake.events[i];
    const uint64_t seen = check_merge(s, UINT64_MAX, &status, &e);
    assert_int_equal(status, 0);
    assert_int_equal(seen, all);
    tl_source_close(s);
    assert_int_equal(atomic_load(&fake.opened), atomic_load(&fake.closed));
}

/* Streams of random lengths, some empty, in large and in small batches. */
static void random_trace(uint32_t streams, uint64_t seed, uint64_t bytes)
{
    static const uint32_t steps[] = {2, 3, 10, 1000};
    uint64_t random = seed;
    fake_reset(streams, 0);
    fake.seed = seed;
    fake.bytes = bytes;
    fake.step = steps[seed % 4];
    fake.regress = seed % 3 ? 0 : 7;
    fake.batch = seed % 2 ? 0 : 1 + (uint32_t)(seed % 5);
    for (uint32_t i = 0; i < streams; i++) {
        const uint64_t r = fake_random(&random);
        fake.events[i] = r % 5 == 0 ? 0 : (r >> 8) % (streams > 40 ? 50 : 3000);
        fake.first[i] = (r >> 32) % 20;
    }
}

static void merged_on_one_thread(void **state)
{
    static const uint32_t streams[] = {0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64, 65, 150};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        for (uint64_t seed = 1; seed <= 12; seed++) {
            random_trace(streams[i], seed, 1000);
            check_whole(1);
        }
}

static void merged_by_several_threads(void **state)
{
    static const uint32_t streams[] = {1, 2, 3, 5, 16, 17};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        for (unsigned threads = 2; threads <= 20; threads = 2 * threads + 1)
            for (uint64_t seed = 1; seed <= 6; seed++) {
                random_trace(streams[i], seed, TL_AHEAD_LEAST);
                tl_source *s = open_fake(threads);
                assert_int_equal(tl_ahead_pays(s, &s->want), streams[i] <= TL_AHEAD_STREAMS);
                tl_source_close(s);
                check_whole(threads);
            }
}

/* One stream has nearly everything, in large batches; others end at once. */
static void merged_with_a_heavy_stream(void **state)
{
    for (unsigned threads = 1; threads <= 3; threads++) {
        fake_reset(5, 1);
        fake.bytes = TL_AHEAD_LEAST;
        fake.events[3] = 20000;
        check_whole(threads);
    }
}

/* Times at both ends of the range. */
static void merged_at_the_ends_of_time(void **state)
{
    for (uint32_t streams = 1; streams <= 5; streams++) {
        fake_reset(streams, 3);
        fake.step = 1;
        for (uint32_t i = 0; i < streams; i++)
            fake.first[i] = i % 2 ? 0 : UINT64_MAX;
        check_whole(1);
    }
}

static void small_traces_start_no_threads(void **state)
{
    fake_reset(2, 10);
    fake.bytes = TL_AHEAD_LEAST - 1;
    tl_source *s = open_fake(8);
    assert_false(tl_ahead_pays(s, &s->want));
    tl_source_close(s);
    fake.bytes = TL_AHEAD_LEAST;
    s = open_fake(1);
    assert_false(tl_ahead_pays(s, &s->want));
    tl_source_close(s);
}

/* An unreadable event: all before it come, and then the error, with any number of threads. */
static void errors_come_at_the_same_event(void **state)
{
    static const uint64_t places[] = {1, 2, 700, 1024, 1025, 2500, 3000};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        uint64_t expected = 0;
        for (unsigned threads = 1; threads <= 4; threads++) {
            tl_error e = {0};
            int status;
            fake_reset(3, 3000);
            fake.bytes = TL_AHEAD_LEAST;
            fake.fail_at[1] = places[i];
            fake.fail_at[2] = places[i] > 2000 ? 2 * places[i] : 0;
            tl_source *s = open_fake(threads);
            const uint64_t seen = check_merge(s, UINT64_MAX, &status, &e);
            if (threads == 1)
                expected = seen;
            assert_int_equal(status, TL_EIO);
            assert_int_equal(seen, expected);
            assert_contains(e.message, "fake.trace: fake: event");
            assert_contains(e.message, "of stream 1 cannot be read");
            tl_source_close(s);
            assert_int_equal(atomic_load(&fake.opened), atomic_load(&fake.closed));
        }
    }
}

static void the_first_stream_that_does_not_open_is_reported(void **state)
{
    for (unsigned threads = 1; threads <= 4; threads++) {
        tl_error e = {0};
        tl_merge *m = NULL;
        fake_reset(4, 10);
        fake.bytes = TL_AHEAD_LEAST;
        fake.fail_open[1] = fake.fail_open[3] = true;
        tl_source *s = open_fake(threads);
        assert_int_equal(tl_merge_open(&m, s, &e), TL_EIO);
        assert_null(m);
        assert_string_equal(e.message, "stream 1 cannot be opened");
        tl_source_close(s);
        assert_int_equal(atomic_load(&fake.opened), atomic_load(&fake.closed));
    }
}

static void closed_before_the_end(void **state)
{
    for (unsigned threads = 1; threads <= 5; threads++)
        for (uint64_t most = 0; most < 6000; most = 2 * most + 1) {
            tl_error e = {0};
            int status;
            fake_reset(4, 5000);
            fake.bytes = TL_AHEAD_LEAST;
            tl_source *s = open_fake(threads);
            assert_true(check_merge(s, most, &status, &e) >= most);
            assert_true(status >= 0);
            tl_source_close(s);
            assert_int_equal(atomic_load(&fake.opened), atomic_load(&fake.closed));
        }
}

/* Without order: stream after stream, also from several threads. */
static void one_stream_after_another(void **state)
{
    for (unsigned threads = 1; threads <= 4; threads++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            random_trace(6, seed, TL_AHEAD_LEAST);
            tl_source *s = open_fake(threads);
            const tl_batch *b;
            tl_error e = {0};
            int status;
            uint32_t stream = 0;
            uint64_t number = 0, random, time;
            fake_start(0, &random, &time);
            while ((status = tl_source_next(s, &b, &e)) > 0)
                for (uint32_t i = 0; i < b->n; i++, number++) {
                    while (number == fake.events[stream]) {
                        fake_start(++stream, &random, &time);
                        number = 0;
                    }
                    check_event(b, i, stream, number, time);
                    fake_step(&random, &time);
                }
            assert_int_equal(status, 0);
            assert_int_equal(tl_source_next(s, &b, &e), 0);
            /* Cursors are closed at the end of their stream: some report only then. */
            assert_int_equal(atomic_load(&fake.opened), fake.streams);
            assert_int_equal(atomic_load(&fake.closed), fake.streams);
            while (stream < fake.streams && number == fake.events[stream]) {
                stream++;
                number = 0;
            }
            assert_int_equal(stream, fake.streams);
            tl_source_close(s);
        }
}

/* A source may be closed early, and merged in the middle of tl_source_next(). */
static void a_source_is_closed_in_the_middle(void **state)
{
    for (unsigned threads = 1; threads <= 3; threads++) {
        const tl_batch *b;
        tl_error e = {0};
        int status;
        fake_reset(3, 9000);
        fake.bytes = TL_AHEAD_LEAST;
        tl_source *s = open_fake(threads);
        assert_int_equal(tl_source_next(s, &b, &e), 1);
        assert_int_equal(check_merge(s, UINT64_MAX, &status, &e), 27000);
        check_event(b, 5, 0, 5, b->ts[5]);
        tl_source_close(s);
        assert_int_equal(atomic_load(&fake.opened), atomic_load(&fake.closed));
    }
}

/* Several threads report damage; the list is still in order, without duplicates. */
static void damage_of_several_threads_is_sorted(void **state)
{
    static const char *const files[] = {"d", "c", "b", "a"};
    fake_report reports[40];
    for (uint32_t i = 0; i < 40; i++)
        reports[i] = (fake_report){.stream = i % 4,
                                   .event = 50u * (i / 4),
                                   .what = "broken",
                                   .damage = {.offset = 1000 - i / 4,
                                              .at = 1000 - i / 4,
                                              .bytes = 1,
                                              .kind = TL_DAMAGE_FAULT | TL_DAMAGE_LOSS,
                                              .rule = "fake.broken",
                                              .file = files[i % 4]}};
    for (unsigned threads = 1; threads <= 4; threads++) {
        tl_error e = {0};
        int status;
        fake_reset(4, 3000);
        fake.bytes = TL_AHEAD_LEAST;
        fake.report = reports;
        fake.nreport = 40;
        tl_source *s = open_fake(threads);
        const tl_trace *t = tl_source_trace(s);
        assert_int_equal(check_merge(s, UINT64_MAX, &status, &e), 12000);
        assert_int_equal(tl_trace_damages(t), 40);
        assert_int_equal(check_merge(s, UINT64_MAX, &status, &e), 12000);
        assert_int_equal(tl_trace_damages(t), 40);
        for (uint32_t i = 0; i < 40; i++) {
            assert_string_equal(tl_trace_damage(t, i)->file, files[3 - i / 10]);
            assert_int_equal(tl_trace_damage(t, i)->at, 991 + i % 10);
        }
        tl_source_close(s);
    }
}

/* A strict reader stops at damage, at the same event with any number of threads. */
static void strict_reading_stops_at_damage(void **state)
{
    const fake_report report = {
        .stream = 1,
        .event = 1500,
        .what = "broken",
        .damage = {.at = 77, .kind = TL_DAMAGE_FAULT | TL_DAMAGE_LOSS, .rule = "fake.broken", .file = "f"}};
    uint64_t expected = 0;
    for (unsigned threads = 1; threads <= 3; threads++) {
        tl_error e = {0};
        int status;
        fake_reset(2, 3000);
        fake.bytes = TL_AHEAD_LEAST;
        fake.report = &report;
        fake.nreport = 1;
        tl_source *s = open_fake(threads);
        s->want.strict = true;
        const uint64_t seen = check_merge(s, UINT64_MAX, &status, &e);
        expected = threads == 1 ? seen : expected;
        assert_int_equal(status, TL_EDAMAGED);
        assert_int_equal(seen, expected);
        assert_int_equal(e.offset, 77);
        tl_source_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_on_one_thread),
        cmocka_unit_test(merged_by_several_threads),
        cmocka_unit_test(merged_with_a_heavy_stream),
        cmocka_unit_test(merged_at_the_ends_of_time),
        cmocka_unit_test(small_traces_start_no_threads),
        cmocka_unit_test(errors_come_at_the_same_event),
        cmocka_unit_test(the_first_stream_that_does_not_open_is_reported),
        cmocka_unit_test(closed_before_the_end),
        cmocka_unit_test(one_stream_after_another),
        cmocka_unit_test(a_source_is_closed_in_the_middle),
        cmocka_unit_test(damage_of_several_threads_is_sorted),
        cmocka_unit_test(strict_reading_stops_at_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

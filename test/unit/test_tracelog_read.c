/* Reading a TraceLog as a whole: events and damage are the same with any number of threads and cursors. */
#include "tracelog_fixture.h"

#include "model/format_impl.h"

/* A log of several blocks: samples and other records, a few of them damaged, times a bit out of order. */
static log_text make_log(unsigned rounds)
{
    log_text log = {0};
    uint32_t seed = 7, depth[5] = {0};
    text_add(&log, "\xef\xbb\xbfprf cfg SamplingTimeoutMs 3\nthr aos 0x1 17\n");
    for (unsigned i = 0; i < rounds; i++) {
        const uint32_t thread = random_below(&seed, 5), k = depth[thread] ? random_below(&seed, depth[thread]) : 0;
        text_add(&log, "sam str 0x%x %u 1 %u:%u 0x%x:7f%x 0x%x\n", (unsigned)thread, i + 20 * (unsigned)thread,
                 (unsigned)k, (unsigned)depth[thread], i % 50, i, i % 7);
        depth[thread] = k + 2;
        switch (random_below(&seed, 40)) {
        case 0:
            text_add(&log, "fun nam 0x%x \"Name%u\" \"void\" \"()\"\r\n", i % 50, i);
            break;
        case 1:
            text_add(&log, "jit cms 17 %u 0x7f%x\njit cmf 0x1 %u 0x7f%x 0x0\n", i, i % 9, i, i % 9);
            break;
        case 2:
            text_add(&log, "oops %u\n\n", i);
            break;
        case 3:
            text_add(&log, "cls nam 0x%x \"\xff%u\"\n", i, i);
            break;
        case 4:
            text_add(&log, "fun inf 0x%x 0x2 0x3 0x4 0x5 0x6:0x7 0x0:0x1:0x%x\nsam str 0x1 %u 1 0:0 x\n", i % 50, i, i);
            break;
        case 5:
            text_add(&log, "sam mem 0x%x %u 0x1:2:%u:7f12\n", (unsigned)thread, i + 20 * (unsigned)thread, i);
            break;
        default:
            break;
        }
    }
    return log;
}

static void same_text(const log_text *got, const log_text *expected)
{
    for (size_t i = 0; i < got->n && i < expected->n; i++)
        if (got->p[i] != expected->p[i])
            fail_msg("got \"%.100s\", expected \"%.100s\"", got->p + i, expected->p + i);
    assert_int_equal(got->n, expected->n);
}

static void any_number_of_threads(void **state)
{
    static const tl_want wants[] = {{.fields = true, .threads = 2},
                                    {.fields = true, .threads = 4},
                                    {.fields = true, .threads = 100, .cpu = true},
                                    {.fields = true, .late = true},
                                    {.fields = true, .late = true, .threads = 3}};
    log_text log = make_log(15000), one = {0};
    assert_true(log.n > 8 * 65536);
    show_log(&one, log.p, log.n, &(const tl_want){.fields = true, .threads = 1});
    assert_true(one.n > 15000u * 20);
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        log_text more = {0};
        show_log(&more, log.p, log.n, &wants[i]);
        same_text(&more, &one);
        text_free(&more);
    }
    text_free(&one);
    text_free(&log);
}

/* Two at the same time, and one more afterwards: each sees all of it, and damage is reported once. */
static void several_cursors(void **state)
{
    log_text log = make_log(6000), one = {0}, got[3] = {{0}};
    show_log(&one, log.p, log.n, &(const tl_want){.fields = true});
    for (unsigned threads = 1; threads < 4; threads += 2) {
        tl_source *s = open_log_text(log.p, log.n, &(const tl_want){.fields = true, .threads = threads});
        tl_cursor *c[3] = {NULL};
        int status[2] = {1, 1};
        assert_int_equal(tl_source_streams(s), 1);
        for (unsigned i = 0; i < 2; i++)
            assert_int_equal(tl_cursor_open(&c[i], s, 0, NULL), 0);
        for (unsigned turn = 0; status[0] + status[1] > 0; turn++) {
            const unsigned i = turn % 5 < 2; /* one is ahead of the other */
            const tl_batch *b;
            if (status[i] <= 0 || (status[i] = tl_cursor_next(c[i], &b, NULL)) <= 0)
                continue;
            assert_true(b->n > 0);
            for (uint32_t k = 0; k < b->n; k++)
                show_event(&got[i], b, k);
        }
        assert_int_equal(tl_cursor_open(&c[2], s, 0, NULL), 0);
        assert_int_equal(show_events(&got[2], s, c[2], NULL), 0);
        tl_trace_sort_damage((tl_trace *)tl_source_trace(s)); /* cursors leave it in the order of discovery */
        for (unsigned i = 0; i < 3; i++) {
            tl_cursor_close(c[i]);
            show_damage(&got[i], tl_source_trace(s));
            same_text(&got[i], &one);
            got[i].n = 0;
        }
        tl_source_close(s);
    }
    for (unsigned i = 0; i < 3; i++)
        text_free(&got[i]);
    text_free(&one);
    text_free(&log);
}

/* A cursor closed before its end. */
static void closed_in_the_middle(void **state)
{
    log_text log = make_log(6000);
    for (unsigned threads = 1; threads < 4; threads++) {
        tl_source *s = open_log_text(log.p, log.n, &(const tl_want){.fields = true, .threads = threads});
        tl_cursor *c = NULL;
        const tl_batch *b;
        assert_int_equal(tl_cursor_open(&c, s, 0, NULL), 0);
        for (unsigned i = 1; i < threads; i++)
            assert_int_equal(tl_cursor_next(c, &b, NULL), 1);
        tl_cursor_close(c);
        tl_source_close(s);
    }
    text_free(&log);
}

/* All events of a log, in order of time. */
static void check_merged(log_text log)
{
    tl_source *s = open_log_text(log.p, log.n, &(const tl_want){.fields = true});
    tl_merge *m = NULL;
    const tl_batch *b;
    uint32_t from, to;
    uint64_t last = 0, events = 0;
    tl_count count;
    assert_int_equal(tl_source_count(s, 1, &count, NULL), 0);
    assert_int_equal(tl_merge_open(&m, s, NULL), 0);
    while (tl_merge_next(m, &b, &from, &to, NULL) > 0)
        for (; from < to; from++, events++) {
            assert_true(b->ts[from] >= last);
            last = b->ts[from];
        }
    assert_int_equal(events, count.events);
    assert_int_equal(last, count.last);
    tl_count_free(&count);
    tl_merge_close(m);
    tl_source_close(s);
    text_free(&log);
}

/* Events in order of time, if requested: equal ones keep their order. */
static void merged_by_time(void **state)
{
    check_merged(make_log(15000));
    log_text log = {0}; /* the last line written came first */
    for (unsigned i = 0; i < 9000; i++)
        text_add(&log, "sam str 0x1 %u 1 0:0 0x1\n", i < 3000 ? 5000 : i < 8000 ? 5000 + i : i - 8000);
    assert_true(log.n > 128 << 10);
    check_merged(log);
}

/* Events of a strict reader up to its error; *e gets its place. */
static uint64_t strict_events(const char *log, size_t n, unsigned threads, tl_error *e)
{
    const tl_want want = {.fields = true, .strict = true, .threads = threads};
    tl_source *s = open_log_text(log, n, &want);
    const tl_batch *b;
    uint64_t events = 0;
    int status;
    while ((status = tl_source_next(s, &b, e)) > 0)
        events += b->n;
    assert_int_equal(tl_trace_damages(tl_source_trace(s)), 0);
    tl_source_close(s);
    e->code = status;
    return events;
}

static void strict_stops_at_the_first_damage(void **state)
{
    static const char *const damage[] = {"oops\n",
                                         "sam str 0x1 0 1 0:0 x\n",
                                         "sam str 0x9 1 1 1:2\n", /* no such stack */
                                         "prf cfg \xff x\n",
                                         "thr cpu 0x1 7 0\nthr cpu 0x1 6 0\n", /* one event, then damage */
                                         "prf tps 1"};
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++)
        for (unsigned before = 0; before < 9000; before = before * 9 + 1)
            for (unsigned threads = 1; threads < 5; threads += 3) {
                log_text log = {0};
                tl_error e = {0};
                const bool second = strstr(damage[i], "cpu") != NULL;
                for (unsigned k = 0; k < before; k++)
                    text_add(&log, "sam str 0x0 %u 1 0:%u 0x1\n", k, k ? 1 : 0);
                const size_t offset = log.n + (second ? 16 : 0);
                text_add(&log, "%s", damage[i]);
                for (unsigned k = 0; strchr(damage[i], '\n') && k < 2000; k++)
                    text_add(&log, "%s", k == 1999 ? "more damage\n" : "prf trs 2\n");
                assert_int_equal(strict_events(log.p, log.n, threads, &e), before + second);
                assert_int_equal(e.code, TL_EDAMAGED);
                assert_int_equal(e.offset, offset);
                text_free(&log);
            }
    tl_error e = {0};
    assert_int_equal(strict_events("prf tps 1\n\n\r\n", 13, 2, &e), 1);
    assert_int_equal(e.code, 0);
}

static int probed(const char *head, size_t n)
{
    extern const tl_format tl_format_tracelog;
    uint8_t *copy = malloc(n ? n : 1); /* nothing beyond it may be read */
    assert_non_null(copy);
    memcpy(copy, head, n);
    const tl_probe p = {.head = copy, .size = n, .total = n};
    const int bits = tl_format_tracelog.reader->probe(&p);
    free(copy);
    return bits;
}

static void found_by_content(void **state)
{
    static const char *const yes[] = {"prf stm 2018-06-25 07:24:28.049 +09:00\n",
                                      "\xef\xbb\xbf\r\n\nprf cfg x y\n",
                                      "# a comment\nprf cfg x y\nsam str 0x1\n",
                                      "thr dst ",
                                      "sam str 0x1 1",
                                      "oops\nstr sam damaged\nfun nam damaged\n"},
                             *const no[] = {"",
                                            "\n\n",
                                            "sam str",
                                            "sam xyz 0x1\n",
                                            "sam string\n",
                                            "hello, world\n",
                                            "# a comment\n# another\nprf cfg x y\n",
                                            " prf cfg x\n",
                                            "{\"a\":1}\n"};
    static const char nul[] = "prf cfg\0 x y\n\0\0\0\0\0\0\0\0\0";
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (probed(yes[i], strlen(yes[i])) <= 0)
            fail_msg("%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (probed(no[i], strlen(no[i])) != 0)
            fail_msg("%s", no[i]);
    static const char zeros[64];
    assert_int_equal(probed(nul, sizeof nul), 0);
    assert_int_equal(probed(zeros, sizeof zeros), 0);
    for (size_t n = 0; n < 40; n++) /* cut anywhere */
        assert_int_equal(probed("prf cfg x y\nsam str 0x1 1 1 0:0\nprf trs 1\n", n) > 0, n >= 8);
    tl_source *s = NULL;
    assert_int_equal(tl_source_open_memory(&s, "prf tps 1\n", 10, "any", NULL, NULL), 0);
    assert_string_equal(tl_trace_format(tl_source_trace(s)), "tracelog");
    tl_source_close(s);
    assert_int_equal(tl_source_open_memory(&s, "", 0, "empty.log", NULL, NULL), 0);
    assert_string_equal(tl_trace_format(tl_source_trace(s)), "tracelog");
    tl_source_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(several_cursors),
        cmocka_unit_test(closed_in_the_middle),
        cmocka_unit_test(merged_by_time),
        cmocka_unit_test(strict_stops_at_the_first_damage),
        cmocka_unit_test(found_by_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

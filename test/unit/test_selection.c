/* --time, --cpu and --min-dur as ticks and numbers. */
#include "base/text/utc_text.h"
#include "check.h"
#include "cli/selection.h"
#include "model/trace_impl.h"

static tl_error error;

/* Parses --time (NULL: none) and --min-dur. */
static int parse(tl_selection *s, const char *time, const char *min_dur)
{
    const tl_arguments a = {.time = time, .min_dur = min_dur};
    return tl_selection_parse(s, &a, &error);
}

static void test_utc(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {
        {"1970-01-01", 0},
        {"1970-01-01T00:00:01Z", 1000000000},
        {"1970-01-01 00:01", 60000000000},
        {"2000-02-29T12:00:00.5Z", 951825600500000000},
        {"2000-03-01", 951868800000000000},
        {"2026-11-21T01:02:03.123456789", 1795222923123456789},
        {"2100-03-01", 4107542400000000000},                        /* 2100 is not a leap year */
        {"1972-12-31T23:59:60Z", 94694400000000000},                /* a leap second */
        {"2026-01-01T00:00:00.1234567899999", 1767225600123456789}, /* finer than ns */
        {"1970-01-01T01:00:01+01:00", 1000000000},
        {"1970-01-01 00:01-00:30", 1860000000000},
    };
    for (size_t i = 0; i < TL_COUNT(good); i++) {
        uint64_t ns = 1;
        if (!tl_parse_utc(good[i].text, strlen(good[i].text), &ns))
            fail_msg("%s is refused", good[i].text);
        assert_int_equal(ns, good[i].ns);
    }
    static const char *const bad[] = {"",
                                      "2026",
                                      "2026-1-1",
                                      "2026-13-01",
                                      "2026-00-01",
                                      "2026-01-32",
                                      "1969-12-31",
                                      "2501-01-01",
                                      "2026-01-01T",
                                      "2026-01-01T24:00",
                                      "2026-01-01T00:60",
                                      "2026-01-01T00:00:61",
                                      "2026-01-01T00:00:00.",
                                      "2026-01-01x",
                                      "2026-01-01T00:00:00ZZ",
                                      "20260101",
                                      "1970-01-01T00:59:59+01:00",
                                      "2026-01-01+01:00",
                                      "2026-01-01T00:00+1:00",
                                      "2026-01-01T00:00+24:00",
                                      "-026-01-01"};
    for (size_t i = 0; i < TL_COUNT(bad); i++) {
        uint64_t ns = 77;
        if (tl_parse_utc(bad[i], strlen(bad[i]), &ns))
            fail_msg("%s is accepted", bad[i]);
        assert_int_equal(ns, 77);
    }
}

static void test_ranges(void **state)
{
    tl_trace t = {0};
    tl_trace_init(&t);
    tl_trace_set_clock(&t, "tsc", 2000000000); /* two ticks a ns */
    static const struct {
        const char *text;
        bool has_from, has_to;
        uint64_t from, to;
    } good[] = {
        {"2s..3s", true, true, 3999999999, 5999999999}, /* the first ticks shown as 2 s and 3 s */
        {"+500ms..", true, false, 999999999, 0},
        {"..1.5us", false, true, 0, 2999},
        {"101..201", true, true, 202, 402}, /* ns; halves are shown as the even neighbour */
        {"..+1min", false, true, 0, 119999999999},
        {"2..3s", true, true, 3999999999, 5999999999}, /* the unit of the other end */
        {"2s..3", true, true, 3999999999, 5999999999},
        {"0..+1.5us", true, true, 0, 2999},
    };
    for (size_t i = 0; i < TL_COUNT(good); i++) {
        tl_selection s;
        assert_int_equal(parse(&s, good[i].text, NULL), 0);
        assert_true(s.any);
        assert_int_equal(tl_selection_apply(&s, &t, &error), 0);
        assert_int_equal(s.select.has_from, good[i].has_from);
        assert_int_equal(s.select.has_to, good[i].has_to);
        assert_int_equal(s.select.time_from, good[i].from);
        assert_int_equal(s.select.time_to, good[i].to);
        tl_selection_fini(&s);
    }
    static const char *const bad[] = {"", "..", "2s", "3s..2s", "2s..2s", "x..y", "2s..y", "..+", "1..2..3", "-1s..2s"};
    for (size_t i = 0; i < TL_COUNT(bad); i++) {
        tl_selection s;
        if (parse(&s, bad[i], NULL) != TL_EINVAL)
            fail_msg("--time %s is accepted", bad[i]);
        tl_selection_fini(&s);
    }
    tl_trace_fini(&t);
}

static void test_ticks_without_frequency(void **state)
{
    tl_trace t = {0};
    tl_trace_init(&t);
    tl_trace_set_clock(&t, "tsc", 0);
    t.path = "a";
    tl_selection s;
    assert_int_equal(parse(&s, "100..200", "7"), 0);
    assert_int_equal(tl_selection_apply(&s, &t, &error), 0);
    assert_int_equal(s.select.time_from, 100);
    assert_int_equal(s.select.time_to, 200);
    assert_int_equal(s.select.min_ticks, 7);
    tl_selection_fini(&s);
    assert_int_equal(parse(&s, "1ms..", NULL), 0);
    assert_int_equal(tl_selection_apply(&s, &t, &error), TL_EINVAL);
    assert_contains(error.message, "ticks");
    tl_selection_fini(&s);
    tl_trace_fini(&t);
}

static void test_time_of_day(void **state)
{
    tl_trace t = {0};
    tl_trace_init(&t);
    tl_trace_set_clock(&t, "tsc", 1000000000);
    t.path = "a";
    tl_selection s;
    assert_int_equal(parse(&s, "1970-01-01T00:00:10Z..1970-01-01T00:00:11Z", NULL), 0);
    assert_int_equal(tl_selection_apply(&s, &t, &error), TL_EINVAL); /* unknown there */
    assert_contains(error.message, "time of day");
    t.clock.has_utc = true;
    t.clock.utc_offset_ns = 5000000000; /* tick 0 */
    t.has_range = true;
    t.begin = 1000000000; /* the trace begins 6 s after midnight */
    t.end = 9000000000;
    assert_int_equal(tl_selection_apply(&s, &t, &error), 0);
    assert_int_equal(s.select.time_from, 4000000000);
    assert_int_equal(s.select.time_to, 5000000000);
    tl_selection_fini(&s);
    assert_int_equal(parse(&s, "1970-01-01T00:00:01Z..", NULL), 0); /* before its begin: from its begin on */
    assert_int_equal(tl_selection_apply(&s, &t, &error), 0);
    assert_int_equal(s.select.time_from, 0);
    tl_selection_fini(&s);
    tl_trace_fini(&t);
}

static void test_time_of_day_alone(void **state)
{
    const uint64_t s = 1000000000, hour = 3600 * s, day = 24 * hour;
    const struct {
        const char *text;
        uint64_t begin, end; /* of the trace, since 1970 */
        uint64_t from, to;   /* since its begin */
    } good[] = {
        {"12:00:01..12:00:02.5", 5 * day + 12 * hour, 5 * day + 13 * hour, s, 2 * s + s / 2},
        {"13:00..13:01+01:00", 5 * day + 12 * hour, 5 * day + 14 * hour, hour, 60 * s},
        {"23:59..00:10", 5 * day + 23 * hour, 6 * day + hour, 59 * 60 * s, hour + 600 * s}, /* across midnight */
        {"11:00..12:30", 5 * day + 12 * hour, 5 * day + 13 * hour, 0, hour / 2},            /* before its begin */
    };
    for (size_t i = 0; i < TL_COUNT(good); i++) {
        tl_trace t = {0};
        tl_trace_init(&t);
        tl_trace_set_clock(&t, "tsc", s);
        t.path = "a";
        t.clock.has_utc = true;
        t.clock.utc_offset_ns = (int64_t)good[i].begin - 7;
        t.has_range = true;
        t.begin = 7;
        t.end = 7 + good[i].end - good[i].begin;
        tl_selection sel;
        assert_int_equal(parse(&sel, good[i].text, NULL), 0);
        if (i != 1) { /* with ends in two zones, the second of them earlier */
            assert_int_equal(tl_selection_apply(&sel, &t, &error), 0);
            assert_int_equal(sel.select.time_to, good[i].to);
        } else {
            assert_int_equal(tl_selection_apply(&sel, &t, &error), TL_EINVAL);
            assert_contains(error.message, "not after the beginning");
        }
        assert_int_equal(sel.select.time_from, good[i].from);
        tl_selection_fini(&sel);
        tl_trace_fini(&t);
    }
}

static void test_cpus(void **state)
{
    const char *words[] = {"0,2-4", "7"};
    tl_arguments a = {.cpu = {words, 2}};
    tl_selection s;
    static const int32_t want[] = {0, 2, 3, 4, 7};
    assert_int_equal(tl_selection_parse(&s, &a, &error), 0);
    assert_int_equal(s.select.ncpu, 5);
    assert_memory_equal(s.select.cpu, want, sizeof want);
    tl_selection_fini(&s);
    static const char *const bad[] = {"",
                                      "x",
                                      "1,",
                                      ",1",
                                      "3-2",
                                      "2-",
                                      "-1",
                                      "1-2-3",
                                      "1 2",
                                      "99999999999",
                                      "0-70000",
                                      "0000000000000001",
                                      "0-0000000000000001"};
    for (size_t i = 0; i < TL_COUNT(bad); i++) {
        words[0] = bad[i];
        if (tl_selection_parse(&s, &a, &error) != TL_EINVAL)
            fail_msg("--cpu %s is accepted", bad[i]);
        tl_selection_fini(&s);
    }
}

static void test_durations(void **state)
{
    tl_selection s;
    static const char *const bad[] = {"", "x", "1970-01-01", "5 parsecs", "-3us"};
    for (size_t i = 0; i < TL_COUNT(bad); i++) {
        if (parse(&s, NULL, bad[i]) != TL_EINVAL)
            fail_msg("--min-dur %s is accepted", bad[i]);
        tl_selection_fini(&s);
    }
    assert_int_equal(parse(&s, NULL, NULL), 0);
    assert_false(s.any);
    tl_selection_fini(&s);
}

/* A trace of instructions, or one that only has ticks. */
static void begin_ticks(tl_trace *t, bool instructions)
{
    static const tl_class insn = {.kind = TL_INSN, .name = "insn"}, other = {.kind = TL_INSTANT, .name = "event"};
    memset(t, 0, sizeof *t);
    tl_trace_init(t);
    t->path = "x";
    tl_trace_set_clock(t, instructions ? "instructions" : "ticks", 0);
    assert_int_equal(tl_trace_set_classes(t, instructions ? &insn : &other, 1, NULL), 0);
}

static void test_numbers_of_instructions(void **state)
{
    static const struct {
        const char *text;
        bool has_from, has_to;
        uint64_t from, to;
    } good[] = {{"1..2", true, true, 1, 2},
                {"10k..2M", true, true, 10000, 2000000},
                {"..5", false, true, 0, 5},
                {"7..", true, false, 7, 0}};
    static const char *const bad[] = {"", "5", "..", "2..1", "2..2", "1s..2s", "a..b", "1..2..3", "-1..2", "0x1..0x2"};
    tl_selection s;
    tl_trace t;
    begin_ticks(&t, true);
    for (size_t i = 0; i < TL_COUNT(good); i++) {
        assert_int_equal(tl_selection_parse(&s, &(tl_arguments){.insns = good[i].text}, &error), 0);
        assert_true(s.any);
        assert_int_equal(tl_selection_apply(&s, &t, &error), 0);
        assert_int_equal(s.select.has_from, good[i].has_from);
        assert_int_equal(s.select.has_to, good[i].has_to);
        assert_int_equal(s.select.time_from, good[i].from);
        assert_int_equal(s.select.time_to, good[i].to);
        tl_selection_fini(&s);
    }
    for (size_t i = 0; i < TL_COUNT(bad); i++) {
        assert_int_equal(tl_selection_parse(&s, &(tl_arguments){.insns = bad[i]}, &error), TL_EINVAL);
        assert_contains(error.message, "--insns");
        tl_selection_fini(&s);
    }
    assert_int_equal(tl_selection_parse(&s, &(tl_arguments){.insns = "1..2", .time = "1..2"}, &error), TL_EINVAL);
    tl_selection_fini(&s);
    tl_trace_fini(&t);
}

static void test_levels_and_pcs(void **state)
{
    static const struct {
        const char *text;
        uint64_t from, to;
    } good[] = {{"0x400000..0x401000", 0x400000, 0x401000},
                {"0XaBc..", 0xabc, UINT64_MAX},
                {"..16", 0, 16},
                {"0xffffffffffffffff..", UINT64_MAX, UINT64_MAX},
                {"4096..0x2000", 4096, 8192}};
    static const char *const bad[] = {"",
                                      "..",
                                      "0x..0x1",
                                      "0x2..0x1",
                                      "0x2..0x2",
                                      "0xfffffffffffffffff..",
                                      "1k..",
                                      "main..end",
                                      "1",
                                      "0x1g..",
                                      "18446744073709551616.."};
    tl_selection s;
    for (size_t i = 0; i < TL_COUNT(good); i++) {
        const tl_arguments a = {.pc = good[i].text, .levels = 2};
        const int status = tl_selection_parse(&s, &a, &error);
        assert_int_equal(status, good[i].from < good[i].to ? 0 : TL_EINVAL);
        assert_true(s.select.has_pc);
        assert_int_equal(s.select.pc_from, good[i].from);
        assert_int_equal(s.select.pc_to, good[i].to);
        assert_true(status < 0 || (s.any && s.select.levels == 2));
        tl_selection_fini(&s);
    }
    for (size_t i = 0; i < TL_COUNT(bad); i++) {
        assert_int_equal(tl_selection_parse(&s, &(tl_arguments){.pc = bad[i]}, &error), TL_EINVAL);
        assert_contains(error.message, "--pc");
        tl_selection_fini(&s);
    }
    char nines[200];
    memset(nines, '9', sizeof nines);
    memcpy(nines + sizeof nines - 4, "..1", 4);
    assert_int_equal(tl_selection_parse(&s, &(tl_arguments){.pc = nines}, &error), TL_EINVAL);
    tl_selection_fini(&s);
}

static void test_only_of_instructions(void **state)
{
    const tl_arguments a[] = {{.insns = "1..2"}, {.levels = 1}, {.pc = "1.."}, {.slice_at = "1"}};
    static const char *const option[] = {"--insns", "--el", "--pc", "--slice-at"};
    tl_trace t;
    tl_selection s;
    begin_ticks(&t, false);
    for (size_t i = 0; i < TL_COUNT(a); i++) {
        assert_int_equal(tl_selection_parse(&s, &a[i], &error), 0);
        assert_int_equal(tl_selection_apply(&s, &t, &error), TL_EINVAL);
        assert_contains(error.message, option[i]);
        tl_selection_fini(&s);
    }
    tl_trace_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utc),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_ticks_without_frequency),
        cmocka_unit_test(test_time_of_day),
        cmocka_unit_test(test_time_of_day_alone),
        cmocka_unit_test(test_cpus),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_numbers_of_instructions),
        cmocka_unit_test(test_levels_and_pcs),
        cmocka_unit_test(test_only_of_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

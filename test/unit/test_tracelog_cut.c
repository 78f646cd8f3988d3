/* Blocks of a TraceLog against a plain division into lines: at every size, for long lines, damaged and growing logs. */
#include "tracelog_fixture.h"

#include "format/tracelog/tracelog_cut.h"

/* Begins of lines, and their lengths with their ends. */
typedef struct lines {
    uint64_t *at;
    size_t n, capacity;
} lines;

static void lines_add(lines *l, uint64_t offset, uint64_t bytes)
{
    if (l->n + 2 > l->capacity) {
        l->capacity = 2 * l->capacity + 64;
        uint64_t *larger = realloc(l->at, l->capacity * sizeof *larger);
        assert_non_null(larger);
        l->at = larger;
    }
    l->at[l->n++] = offset;
    l->at[l->n++] = bytes;
}

/* Whole lines that are not too long. */
static lines simple(const char *log, size_t n)
{
    lines out = {0};
    size_t at = n >= 3 && memcmp(log, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (const char *feed; at < n && (feed = memchr(log + at, '\n', n - at)) != NULL;) {
        const size_t bytes = (size_t)(feed - log) + 1 - at;
        if (bytes <= TRACELOG_LINE_MAX)
            lines_add(&out, at, bytes);
        at += bytes;
    }
    return out;
}

static void lines_check(lines *got, const lines *expected)
{
    assert_int_equal(got->n, expected->n);
    assert_true(got->n == 0 || memcmp(got->at, expected->at, got->n * sizeof *got->at) == 0);
    free(got->at);
}

/* Appends the lines of a block. */
static void lines_of(lines *out, const tracelog_lines *l, const char *log)
{
    for (const uint8_t *p = l->at; p < l->end;) {
        const uint8_t *feed = memchr(p, '\n', (size_t)(l->end - p));
        assert_non_null(feed);
        const uint64_t offset = l->offset + (uint64_t)(p - l->text), bytes = (uint64_t)(feed + 1 - p);
        assert_memory_equal(p, log + offset, (size_t)bytes);
        lines_add(out, offset, bytes);
        p = feed + 1;
    }
    if (l->text)
        for (unsigned i = 0; i < 16; i++) /* may be read */
            assert_int_equal(l->end[i], 0);
}

/* All blocks of a log. */
static lines cut(const char *log, size_t n, uint64_t size, tl_trace *trace)
{
    lines out = {0};
    tl_input *in = NULL;
    tracelog_text text = {0};
    assert_int_equal(tl_input_open_memory(&in, log, n, "log", NULL), 0);
    const tracelog_cutting c = {.in = in, .size = size, .trace = trace};
    for (uint64_t number = 0;; number++) {
        const size_t first = out.n;
        tracelog_lines l = {0};
        const int status = tracelog_cut(&c, number, &text, &l, NULL);
        assert_in_range(status, 0, 1);
        if (status == 0) {
            assert_true(number * size >= n);
            break;
        }
        lines_of(&out, &l, log);
        for (size_t i = first; i < out.n; i += 2) /* not from another block, except what a mark moves */
            assert_true(out.at[i] / size == number || (number == 0 && out.at[i] == 3));
    }
    tracelog_text_fini(&text);
    tl_input_close(in);
    return out;
}

static const char small[] =
    "prf tps 1\n\n\nsam str 0x0 1 1 0:0 0x1\nx\n\r\nprf trs 2\r\n#\n0123456789012345678901234567\n";

static void every_size_gives_the_same_lines(void **state)
{
    static const char *const heads[] = {"", "\n", "\xef\xbb\xbf", "\xef\xbb", "\xef\xbb\xbf\n"}, *const tails[] = {
                                                                                                     "", "x", "\n",
                                                                                                     "prf tps 5", "\r"};
    for (size_t k = 0; k < 25; k++) {
        log_text log = {0};
        text_add(&log, "%s%s%s", heads[k / 5], small, tails[k % 5]);
        lines expected = simple(log.p, log.n);
        for (uint64_t size = 1; size < log.n + 3; size++) {
            tl_trace trace = {0};
            tl_trace_init(&trace);
            lines got = cut(log.p, log.n, size, &trace);
            lines_check(&got, &expected);
            const bool ends = log.p[log.n - 1] == '\n';
            assert_int_equal(tl_trace_damages(&trace), ends ? 0 : 1);
            if (!ends) {
                const tl_damage *d = tl_trace_damage(&trace, 0);
                assert_string_equal(d->rule, "tracelog.truncated-line");
                assert_int_equal(d->offset, log.n - strlen(tails[k % 5]));
                assert_int_equal(d->bytes, strlen(tails[k % 5]));
            }
            tl_trace_fini(&trace);
        }
        free(expected.at);
        text_free(&log);
    }
}

static void hardly_any_text(void **state)
{
    static const char *const logs[] = {"", "\n", "x", "\xef\xbb\xbf", "\xef\xbb\xbf\n", "\xef\xbb\xbfx", "\r\n"};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        for (uint64_t size = 1; size < 6; size++) {
            tl_trace trace = {0};
            tl_trace_init(&trace);
            lines expected = simple(logs[i], strlen(logs[i])), got = cut(logs[i], strlen(logs[i]), size, &trace);
            lines_check(&got, &expected);
            assert_int_equal(tl_trace_damages(&trace), strchr(logs[i], 'x') ? 1 : 0);
            tl_trace_fini(&trace);
            free(expected.at);
        }
}

/* Lines longer than the part read with a block. */
static void lines_longer_than_blocks(void **state)
{
    static const uint64_t sizes[] = {1, 2, 7, 100, 4095, 4096, 4097, 5000, 12288, 65536};
    log_text log = {0};
    for (unsigned i = 0; i < 12; i++) {
        text_add(&log, "%s", small);
        for (unsigned k = 0; k < i * i * 9; k++)
            text_add(&log, "0123456789");
        text_add(&log, "\n");
    }
    lines expected = simple(log.p, log.n);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        lines got = cut(log.p, log.n, sizes[i], NULL);
        lines_check(&got, &expected);
    }
    free(expected.at);
    text_free(&log);
}

/* Whole lines in the order in which they appear while a log grows to n bytes, and the rest at the end. */
static lines follow(const char *log, size_t n, uint64_t size, size_t step, tl_trace *trace)
{
    lines out = {0};
    uint64_t offset = 0;
    tracelog_text text = {0};
    for (size_t there = step < n ? step : n;; there = n - there > step ? there + step : n) {
        tl_input *in = NULL;
        assert_int_equal(tl_input_open_memory(&in, log, there, "log", NULL), 0);
        const tracelog_cutting c = {.in = in, .size = size, .trace = trace};
        int status;
        do {
            const uint64_t before = offset;
            tracelog_lines l = {0};
            status = tracelog_cut_at(&c, &offset, &text, &l, NULL);
            assert_in_range(status, 0, 1);
            assert_true(status ? offset > before : offset == before);
            if (status)
                lines_of(&out, &l, log);
        } while (status);
        assert_true(offset == there || !memchr(log + offset, '\n', (size_t)(there - offset)));
        if (there == n)
            assert_int_equal(tracelog_cut_rest(&c, offset, NULL), 0);
        tl_input_close(in);
        if (there == n)
            break;
    }
    tracelog_text_fini(&text);
    return out;
}

static void a_log_that_grows(void **state)
{
    static const uint64_t sizes[] = {2, 3, 10, 1000};
    log_text log = {0};
    text_add(&log, "\xef\xbb\xbf%s%s!\n%slast", small, small, small);
    lines expected = simple(log.p, log.n);
    for (size_t i = 0; i < 4 * sizeof sizes / sizeof *sizes; i++) {
        tl_trace trace = {0};
        tl_trace_init(&trace);
        lines got = follow(log.p, log.n, sizes[i / 4], i % 4 * i + 1, &trace);
        /* The mark and an empty line are one if it comes alone. */
        lines_check(&got, &expected);
        got = follow(log.p, log.n, sizes[i / 4], i % 4 * i + 1, NULL); /* no list of damage */
        lines_check(&got, &expected);
        assert_int_equal(tl_trace_damages(&trace), 1);
        assert_string_equal(tl_trace_damage(&trace, 0)->rule, "tracelog.truncated-line");
        assert_int_equal(tl_trace_damage(&trace, 0)->offset, log.n - 4);
        assert_int_equal(tl_trace_damage(&trace, 0)->bytes, 4);
        tl_trace_fini(&trace);
    }
    free(expected.at);
    text_free(&log);
}

/* A line of that many bytes (including its end, if any) between others, which begins at `before`. */
static void check_long(char *log, size_t before, size_t bytes, bool ends, uint64_t size)
{
    const size_t n = before + bytes + (ends ? 20 : 0);
    memset(log, '1', n);
    for (size_t i = 9; i < before; i += 10)
        log[i] = '\n';
    if (before)
        log[before - 1] = '\n';
    if (ends)
        log[before + bytes - 1] = log[n - 11] = log[n - 1] = '\n';
    lines expected = simple(log, n);
    for (unsigned way = 0; way < 2; way++) {
        tl_trace trace = {0};
        tl_trace_init(&trace);
        lines got = way ? follow(log, n, size, n, &trace) : cut(log, n, size, &trace);
        lines_check(&got, &expected);
        const bool damaged = !ends || bytes > TRACELOG_LINE_MAX;
        assert_int_equal(tl_trace_damage_count(&trace), damaged ? 1 : 0);
        if (damaged) {
            const tl_damage *d = tl_trace_damage(&trace, 0);
            assert_string_equal(d->rule, ends ? "tracelog.line-length" : "tracelog.truncated-line");
            assert_int_equal(d->offset, before);
            assert_int_equal(d->bytes, bytes);
        }
        tl_trace_fini(&trace);
    }
    free(expected.at);
}

static void the_longest_lines(void **state)
{
    const size_t most = TRACELOG_LINE_MAX;
    static const size_t before[] = {0, 30, 65536, 65535, 100000};
    char *log = malloc(2 * most + 200000);
    assert_non_null(log);
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        check_long(log, before[i], most, true, 65536);
        check_long(log, before[i], most + 1, true, 65536);
    }
    check_long(log, 30, most / 2 * 3, true, 65536);
    check_long(log, 30, 2 * most, true, 131072);
    check_long(log, 30, most - 5, false, 65536);
    check_long(log, 30, most + 70000, false, 65536);
    free(log);
}

static void strict_gives_the_lines_before(void **state)
{
    static const char log[] = "prf tps 1\nprf tps 2\nprf tp";
    tl_input *in = NULL;
    tl_trace trace = {0};
    tracelog_text text = {0};
    tracelog_lines l = {0};
    tl_error e = {0};
    tl_trace_init(&trace);
    assert_int_equal(tl_input_open_memory(&in, log, sizeof log - 1, "log", NULL), 0);
    const tracelog_cutting c = {.in = in, .size = 1000, .trace = &trace, .strict = true};
    assert_int_equal(tracelog_cut(&c, 0, &text, &l, &e), TL_EDAMAGED);
    assert_int_equal(e.offset, 20);
    assert_int_equal(l.end - l.at, 20);
    assert_memory_equal(l.at, log, 20);
    assert_int_equal(tracelog_cut_rest(&c, 20, &e), TL_EDAMAGED);
    assert_int_equal(tracelog_cut_rest(&c, sizeof log - 1, &e), 0);
    assert_int_equal(tl_trace_damages(&trace), 0);
    tracelog_text_fini(&text);
    tl_input_close(in);
    tl_trace_fini(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_gives_the_same_lines),
        cmocka_unit_test(hardly_any_text),
        cmocka_unit_test(lines_longer_than_blocks),
        cmocka_unit_test(a_log_that_grows),
        cmocka_unit_test(the_longest_lines),
        cmocka_unit_test(strict_gives_the_lines_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

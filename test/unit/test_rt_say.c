/* The recorder's lines and messages, and its parsing of settings. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text/glob.h"
#include "rt/rt_say.c"
#include "rt/rt_words.c"

rt_core tl_rt;

/* How a message appears on standard error. */
static int kept = -1, ends[2];

static void listen_to_stderr(void)
{
    kept = dup(2);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], 2);
}

static const char *heard(void)
{
    static char text[4096];
    dup2(kept, 2);
    close(kept);
    close(ends[1]);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    text[n > 0 ? n : 0] = 0;
    return text;
}

static void test_pieces_of_a_line(void **state)
{
    rt_line l;
    rt_line_begin(&l);
    assert_string_equal(l.text, "");
    tl_rt_line_text(&l, "n=");
    tl_rt_line_number(&l, UINT64_MAX);
    tl_rt_line_text(&l, " ");
    tl_rt_line_signed(&l, INT64_MIN);
    tl_rt_line_text(&l, " ");
    tl_rt_line_signed(&l, 7);
    tl_rt_line_text(&l, " ");
    tl_rt_line_hex(&l, 0xdeadbeef0u);
    tl_rt_line_text(&l, NULL);
    assert_string_equal(l.text, "n=18446744073709551615 -9223372036854775808 7 deadbeef0(null)");
    assert_int_equal(l.n, strlen(l.text));
    rt_line_begin(&l);
    tl_rt_line_number(&l, 0);
    tl_rt_line_escaped(&l, "a\\b\nc d");
    assert_string_equal(l.text, "0a\\\\b\\nc d");
}

static void test_long_lines_are_cut(void **state)
{
    char long_text[3000];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, long_text);
    assert_int_equal(l.n, sizeof l.text - 1);
    assert_int_equal(strlen(l.text), l.n);
    tl_rt_line_number(&l, 5);
    assert_int_equal(l.n, sizeof l.text - 1);
    memset(long_text, '\n', sizeof long_text - 1); /* an escape is there whole or not at all */
    for (size_t first = 0; first < 2; first++) {
        rt_line_begin(&l);
        tl_rt_line_text(&l, first ? "y" : "");
        tl_rt_line_escaped(&l, long_text);
        assert_int_equal(l.text[l.n - 1], 'n');
        assert_int_equal((l.n - first) % 2, 0);
        assert_true(l.n >= sizeof l.text - 3);
    }
}

static void test_messages(void **state)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, "hello");
    errno = 77;
    listen_to_stderr();
    tl_rt_say(&l, 0, false);
    tl_rt_say(&l, ENOSPC, true);
    tl_rt_say(&l, -ENOSPC, true);
    tl_rt_say(&l, 4000, true);
    tl_rt.set.quiet = true;
    tl_rt_say(&l, 0, false);
    tl_rt_say(&l, EINVAL, true);
    tl_rt.set.quiet = false;
    assert_string_equal(heard(), "traceloom-rt: hello\n"
                                 "traceloom-rt: hello: No space left on device\n"
                                 "traceloom-rt: hello: No space left on device\n"
                                 "traceloom-rt: hello: error 4000\n"
                                 "traceloom-rt: hello: Invalid argument\n");
    assert_string_equal(tl_rt_errno_text(EACCES), strerror(EACCES));
    assert_null(tl_rt_errno_text(4000));
}

static volatile int raised;

static void count_signal(int number)
{
    (void)number;
    raised++;
}

/* A failing write of a message raises no signal in the program; the program's own writes still do. */
static void say_without_a_signal(int number)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_text(&l, "unheard");
    void (*before)(int) = signal(number, count_signal);
    raised = 0;
    tl_rt_say(&l, 0, true);
    tl_rt_say(&l, 0, true);
    const int of_messages = raised;
    const ssize_t written = write(2, "x", 1);
    signal(number, before);
    dup2(kept, 2);
    close(kept);
    assert_int_equal(of_messages, 0);
    assert_int_equal(written, -1);
    assert_int_equal(raised, 1);
}

static void test_messages_that_cannot_be_written(void **state)
{
    listen_to_stderr();
    close(ends[0]);
    close(ends[1]);
    say_without_a_signal(SIGPIPE);

    struct rlimit before, none;
    getrlimit(RLIMIT_FSIZE, &before);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    FILE *f = tmpfile();
    assert_non_null(f);
    kept = dup(2);
    dup2(fileno(f), 2);
    setrlimit(RLIMIT_FSIZE, &none);
    say_without_a_signal(SIGXFSZ);
    setrlimit(RLIMIT_FSIZE, &before);
    fclose(f);
}

static void test_an_error_is_said_once(void **state)
{
    listen_to_stderr();
    tl_rt_say_error("cannot write", "/a/b", ENOSPC);
    tl_rt_say_error("cannot write", "/a/c", EIO);
    tl_rt_say_error("cannot read", NULL, 0);
    assert_string_equal(heard(), "traceloom-rt: cannot write '/a/b': No space left on device\n"
                                 "traceloom-rt: cannot read\n");
}

static void test_errno_texts_are_the_usual_ones(void **state)
{
#ifndef __GLIBC__
    skip_because("another C library than glibc has other words");
#endif
    unsigned known = 0;
    for (int i = 1; i < 134; i++)
        if (tl_rt_errno_text(i)) {
            assert_string_equal(tl_rt_errno_text(i), strerror(i));
            known++;
        }
    assert_true(known >= 25);
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0}, {"42", 42}, {"18446744073709551615", UINT64_MAX}, {"0x1F", 31}, {"0Xff", 255}};
    static const char *const bad[] = {"", "x", "0x", "12a", " 1", "1 ", "-1", "18446744073709551616", "1.5"};
    uint64_t v;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(tl_rt_read_number(good[i].text, &v));
        assert_int_equal(v, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(tl_rt_read_number(bad[i], &v));
}

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"4096", 4096},
                {"64k", 65536},
                {"64K", 65536},
                {"64KiB", 65536},
                {"1M", UINT64_C(1) << 20},
                {"2G", UINT64_C(2) << 30},
                {"100b", 100},
                {"1tB", UINT64_C(1) << 40}};
    static const char *const bad[] = {"", "k", "1X", "64Mi1", "64kk", "20000000000G", "1.5M"};
    uint64_t v;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(tl_rt_read_size(good[i].text, &v));
        assert_int_equal(v, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(tl_rt_read_size(bad[i], &v));
}

static void test_times(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0}, {"7", 7}, {"7ns", 7}, {"5us", 5000}, {"1.5us", 1500}, {"2ms", 2000000}, {"3s", 3000000000u}};
    static const char *const bad[] = {"", "us", "5u", "5 us", "1.us", "0.5ns", "1.0005us", "99999999999s", "-1s"};
    uint64_t v;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(tl_rt_read_time(good[i].text, &v));
        assert_int_equal(v, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (tl_rt_read_time(bad[i], &v))
            fail_msg("\"%s\" was read as %llu ns", bad[i], (unsigned long long)v);
}

static void test_same(void **state)
{
    assert_true(tl_rt_same("", ""));
    assert_true(tl_rt_same("abc", "abc"));
    assert_false(tl_rt_same("abc", "ab"));
    assert_false(tl_rt_same("ab", "abc"));
    assert_false(tl_rt_same("", "a"));
}

/* Patterns mean the same as in the command: every pattern and text of a small alphabet. */
static void test_patterns_are_those_of_the_command(void **state)
{
    static const char piece[] = {'a', 'b', '*', '?', '[', ']', '-', '!', '\\'}, letter[] = {'a', 'b', ']', '-'};
    enum { PIECES = sizeof piece, LETTERS = sizeof letter, LONGEST = 5 };
    char pattern[LONGEST + 1];
    for (unsigned n = 0, all = 1; n <= LONGEST; n++, all *= PIECES)
        for (unsigned code = 0; code < all; code++) {
            unsigned rest = code;
            for (unsigned i = 0; i < n; i++, rest /= PIECES)
                pattern[i] = piece[rest % PIECES];
            pattern[n] = 0;
            for (unsigned text_code = 0; text_code < LETTERS * LETTERS * LETTERS; text_code++) {
                const char text[4] = {letter[text_code % LETTERS], letter[text_code / LETTERS % LETTERS],
                                      letter[text_code / LETTERS / LETTERS], 0};
                const char *s = text + (code + text_code) % 4;
                if (tl_rt_glob(pattern, s) != tl_glob(pattern, s))
                    fail_msg("pattern \"%s\", text \"%s\"", pattern, s);
            }
        }
}

static void test_patterns_of_names(void **state)
{
    assert_true(tl_rt_glob("net::*", "net::Reader::read"));
    assert_true(tl_rt_glob("*read*", "net::Reader::read"));
    assert_false(tl_rt_glob("read", "reader"));
    assert_true(tl_rt_glob("gr?n", "grün")); /* a character, not a byte */
    assert_true(tl_rt_glob("f[0-9]?", "f7x"));
    assert_false(tl_rt_glob("f[!0-9]?", "f7x"));
    assert_true(tl_rt_glob("operator\\[]", "operator[]"));
    /* Many stars still end soon. */
    char text[2001];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    assert_false(tl_rt_glob("*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}
#else
RT_SKIPPED(test_pieces_of_a_line)
RT_SKIPPED(test_long_lines_are_cut)
RT_SKIPPED(test_messages)
RT_SKIPPED(test_messages_that_cannot_be_written)
RT_SKIPPED(test_an_error_is_said_once)
RT_SKIPPED(test_errno_texts_are_the_usual_ones)
RT_SKIPPED(test_numbers)
RT_SKIPPED(test_sizes)
RT_SKIPPED(test_times)
RT_SKIPPED(test_same)
RT_SKIPPED(test_patterns_are_those_of_the_command)
RT_SKIPPED(test_patterns_of_names)
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_of_a_line),
        cmocka_unit_test(test_long_lines_are_cut),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_messages_that_cannot_be_written),
        cmocka_unit_test(test_an_error_is_said_once),
        cmocka_unit_test(test_errno_texts_are_the_usual_ones),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_patterns_are_those_of_the_command),
        cmocka_unit_test(test_patterns_of_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

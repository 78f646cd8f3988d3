/* Text for terminals: widths, cleaning, shortening, bars; and the facts about the terminal. */
#include <fcntl.h>
#include <locale.h>
#include <stdbool.h>
#include <unistd.h>

#include "check.h"
#include "output_check.h"
#include "view/terminal.h"

static const tl_terminal plain = {.unicode = false, .width = 80}, unicode = {.unicode = true, .width = 80};

/* A host may lack such a locale (a foreign one under qemu: libc's tables depend on the byte order). Most cases must
 * hold there, too. */
static bool has_utf8_locale;

static int use_utf8(void **state)
{
    has_utf8_locale = setlocale(LC_CTYPE, "C.UTF-8") != NULL;
    return 0;
}

static unsigned width(const char *s)
{
    return tl_text_width(s, strlen(s));
}

static void test_width(void **state)
{
    assert_int_equal(width(""), 0);
    assert_int_equal(width("inflate"), 7);
    assert_int_equal(width("größe"), 5);
    assert_int_equal(width("a\xff\xfe"), 3); /* bytes that are not UTF-8 count one each */
    assert_int_equal(width("\xe2\x94"), 2);  /* cut off */
}

static void test_width_by_the_locale(void **state)
{
    if (!has_utf8_locale) {
        skip_because("the host has no locale C.UTF-8");
    }
    assert_int_equal(width("日本"), 4);      /* wide characters */
    assert_int_equal(width("e\xcc\x81"), 1); /* a combining accent takes no column */
    tl_terminal t;
    tl_terminal_file(&t);
    assert_true(t.unicode);
}

/* Without a locale the terminal's abilities are unknown: only ASCII is drawn. */
static void test_no_locale(void **state)
{
    assert_non_null(setlocale(LC_CTYPE, "C"));
    tl_terminal t;
    tl_terminal_file(&t);
    const bool drawn = t.unicode;
    const unsigned columns = width("größe");
    setlocale(LC_CTYPE, "C.UTF-8");
    assert_false(drawn);
    assert_int_equal(columns, 5);
}

static const char *clean(const char *s)
{
    static char buf[64];
    return tl_text_clean(buf, sizeof buf, s);
}

static void test_clean(void **state)
{
    assert_string_equal(clean("main"), "main");
    assert_string_equal(clean("größe 日本"), "größe 日本");
    assert_string_equal(clean("a\033[31mb\n\t\x7f"), "a?[31mb???");
    assert_string_equal(clean("\xc2\x9b"
                              "31m"),
                        "?31m"); /* CSI as one character above ASCII */
    assert_string_equal(clean("\xe2\x80\xae"
                              "cba"),
                        "?cba"); /* right-to-left override */
    assert_string_equal(clean("\xff\xc0\xafx"), "???x");
    assert_string_equal(clean("\xe2\x94"), "??");
}

/* Written to an output, text of any length is as it would be in a buffer, wherever it is cut. */
static void test_clean_is_written(void **state)
{
    char text[2000], whole[sizeof text];
    for (size_t shift = 0; shift < 8; shift++) {
        size_t n = shift;
        memset(text, 'x', shift);
        while (n + 8 < sizeof text) {
            memcpy(text + n, "\xe6\x97\xa5\xc3\xa9\xff\n", 7);
            n += 7;
        }
        text[n] = 0;
        tl_output *out = open_plain("clean", true);
        tl_text_put_clean(out, text);
        tl_text_put_clean(out, "");
        assert_int_equal(tl_output_finish(out, NULL), 0);
        tl_output_close(out);
        size_t got;
        char *read = scratch_read("clean", &got);
        tl_text_clean(whole, sizeof whole, text);
        assert_int_equal(got, strlen(whole));
        assert_memory_equal(read, whole, got);
        free(read);
    }
}

static void test_clean_stops_at_the_end(void **state)
{
    char buf[8];
    memset(buf, '!', sizeof buf);
    assert_string_equal(tl_text_clean(buf, 4, "abcdef"), "abc");
    assert_int_equal(buf[4], '!');
    assert_string_equal(tl_text_clean(buf, 4, "a日b"),
                        "a"); /* no half characters: "a", three bytes and the end are five */
    assert_string_equal(tl_text_clean(buf, 1, "abc"), "");
}

static void test_fit(void **state)
{
    char buf[64];
    const char *name = "std::vector<int>::push_back";
    assert_ptr_equal(tl_text_fit(&unicode, buf, sizeof buf, name, 27), name); /* fits: nothing is copied */
    assert_string_equal(tl_text_fit(&unicode, buf, sizeof buf, name, 11), "std::…_back");
    assert_string_equal(tl_text_fit(&plain, buf, sizeof buf, name, 12), "std::.._back");
    assert_string_equal(tl_text_fit(&unicode, buf, sizeof buf, name, 2), "st");
    for (unsigned w = 1; w < 30; w++) {
        assert_true(width(tl_text_fit(&unicode, buf, sizeof buf, name, w)) <= w);
        assert_true(width(tl_text_fit(&plain, buf, sizeof buf, name, w)) <= w);
        assert_true(width(tl_text_fit(&unicode, buf, sizeof buf, "日本日本日本日本", w)) <= w);
    }
    assert_ptr_equal(tl_text_fit(&unicode, buf, 5, name, 11), name); /* no room for a shortened copy */
}

static void test_bar(void **state)
{
    char buf[256];
    assert_string_equal(tl_text_bar(&plain, buf, sizeof buf, 0.5, 10), "#####");
    assert_string_equal(tl_text_bar(&unicode, buf, sizeof buf, 0.5, 3), "█▌");
    assert_string_equal(tl_text_bar(&unicode, buf, sizeof buf, 1, 3), "███");
    assert_string_equal(tl_text_bar(&unicode, buf, sizeof buf, 0.00001, 10), "▏"); /* a trace of it */
    assert_string_equal(tl_text_bar(&unicode, buf, sizeof buf, 0, 4), "");
    assert_string_equal(tl_text_bar(&unicode, buf, sizeof buf, 7, 2), "██"); /* more than all is all */
    assert_string_equal(tl_text_bar(&unicode, buf, sizeof buf, -1, 2), "");
    assert_string_equal(tl_text_bar(&unicode, buf, sizeof buf, 0.0 / 0.0, 2), "");
    for (int share = 0; share <= 100; share++)
        assert_in_range(width(tl_text_bar(&unicode, buf, sizeof buf, share / 100.0, 20)), share ? 1 : 0,
                        (share + 4) / 5);
    assert_true(strlen(tl_text_bar(&unicode, buf, 10, 1, 20)) < 10); /* never beyond the buffer */
}

static void test_style(void **state)
{
    const tl_terminal color = {.color = true};
    assert_string_equal(tl_style_on(&plain, TL_HEADER), "");
    assert_string_equal(tl_style_on(&color, TL_PLAIN_TEXT), "\033[0m");
    assert_string_equal(tl_style_on(&color, TL_ACCENT), "\033[36m");
}

static void test_no_terminal(void **state)
{
    int end[2];
    assert_int_equal(pipe(end), 0);
    tl_terminal t;
    setenv("TERM", "xterm", 1);
    setenv("COLUMNS", "33", 1); /* for a terminal, not a pipe */
    tl_terminal_init(&t, end[1], TL_COLOR_AUTO);
    assert_false(t.tty || t.color);
    assert_int_equal(t.width, TL_WIDTH_DEFAULT);
    tl_terminal_init(&t, end[1], TL_COLOR_ALWAYS);
    assert_true(t.color && !t.tty);
    close(end[0]);
    close(end[1]);
}

/* A terminal of our own, or -1. */
static int open_terminal(int *master)
{
    *master = posix_openpt(O_RDWR | O_NOCTTY);
    if (*master < 0 || grantpt(*master) || unlockpt(*master))
        return -1;
    return open(ptsname(*master), O_RDWR | O_NOCTTY);
}

static void test_terminal(void **state)
{
    int master, fd = open_terminal(&master);
    if (fd < 0)
        skip_because("the system gives no terminal");
    tl_terminal t;
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    setenv("COLUMNS", "72", 1);
    tl_terminal_init(&t, fd, TL_COLOR_AUTO);
    assert_true(t.tty && t.color);
    assert_int_equal(t.width, 72);
    tl_terminal_init(&t, fd, TL_COLOR_NEVER);
    assert_false(t.color);
    setenv("NO_COLOR", "1", 1);
    tl_terminal_init(&t, fd, TL_COLOR_AUTO);
    assert_false(t.color);
    tl_terminal_init(&t, fd, TL_COLOR_ALWAYS);
    assert_true(t.color);
    setenv("NO_COLOR", "", 1);
    tl_terminal_init(&t, fd, TL_COLOR_AUTO);
    assert_true(t.color);
    setenv("TERM", "dumb", 1);
    tl_terminal_init(&t, fd, TL_COLOR_AUTO);
    assert_false(t.color);
    setenv("COLUMNS", "3", 1);
    tl_terminal_init(&t, fd, TL_COLOR_AUTO);
    assert_int_equal(t.width, TL_WIDTH_MIN);
    setenv("COLUMNS", "999999999", 1);
    tl_terminal_init(&t, fd, TL_COLOR_AUTO);
    assert_int_equal(t.width, TL_WIDTH_MAX);
    setenv("COLUMNS", "wide", 1); /* not a number: then the window counts, which has 0 columns here */
    tl_terminal_init(&t, fd, TL_COLOR_AUTO);
    assert_int_equal(t.width, TL_WIDTH_DEFAULT);
    close(fd);
    close(master);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_width_by_the_locale),
        cmocka_unit_test(test_no_locale),
        cmocka_unit_test(test_clean),
        cmocka_unit_test_setup_teardown(test_clean_is_written, scratch_enter, scratch_leave),
        cmocka_unit_test(test_clean_stops_at_the_end),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_bar),
        cmocka_unit_test(test_style),
        cmocka_unit_test(test_no_terminal),
        cmocka_unit_test(test_terminal),
    };
    return cmocka_run_group_tests(tests, use_utf8, NULL);
}

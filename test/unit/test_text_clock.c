/* Times of day in text: every date, against the C library's calendar; and which words and clocks are refused. */
#include <time.h>

#include "check.h"
#include "format/text/text_clock.h"
#include "model/trace_impl.h"

static void assert_second(int64_t second)
{
    char ours[TEXT_SECOND_SIZE + 1], theirs[80], expected[96];
    struct tm tm;
    const time_t t = (time_t)second;
    if ((int64_t)t != second)
        return;
    assert_non_null(gmtime_r(&t, &tm));
    for (int date = 0; date < 2; date++) {
        assert_true(strftime(theirs, sizeof theirs, date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", &tm) > 0);
        snprintf(expected, sizeof expected, "%s.", theirs);
        *text_second(ours, second, date) = 0;
        assert_string_equal(ours, expected);
    }
}

static void test_each_day_of_time_in_64_bits(void **state)
{
    const int64_t end = INT64_MAX / 1000000000;                     /* 2262 */
    for (int64_t second = -end - 1; second <= end; second += 86399) /* another second of each day */
        assert_second(second);
    static const int64_t special[] = {0, -1, 1, 951782400, 951868799, 951868800, 4107542399, 4107542400, -2203891201};
    for (size_t i = 0; i < TL_COUNT(special); i++)
        assert_second(special[i]);
    assert_second(end);
    assert_second(-end - 1);
}

static void test_words_and_clocks(void **state)
{
    static const struct {
        const char *word, *words;
        bool has_utc;
        uint64_t hz;
        int status;
        text_clock clock;
    } c[] = {
        {NULL, "wall", false, 0, 0, TEXT_CLOCK_RELATIVE},
        {"relative", "relative delta wall date", false, 0, 0, TEXT_CLOCK_RELATIVE},
        {"delta", "relative delta wall date", false, 0, 0, TEXT_CLOCK_DELTA},
        {"wall", "relative delta wall date", true, 1, 0, TEXT_CLOCK_WALL},
        {"date", "wall date", true, 1000, 0, TEXT_CLOCK_DATE},
        {"delta", "wall date", true, 1, TL_EINVAL, 0},
        {"Date", "wall date", true, 1, TL_EINVAL, 0},
        {"", "wall date", true, 1, TL_EINVAL, 0},
        {"date", "wall date", false, 1, TL_EUNSUPPORTED, 0},
        {"wall", "wall date", true, 0, TL_EUNSUPPORTED, 0}, /* ticks of unknown length */
    };
    for (size_t i = 0; i < TL_COUNT(c); i++) {
        tl_trace t = {.clock = {.has_utc = c[i].has_utc, .hz = c[i].hz}};
        const tl_write_options options = {.clock = c[i].word};
        const tl_write_context context = {.trace = &t, .options = &options};
        text_clock clock = TEXT_CLOCK_RELATIVE;
        tl_error e = {0};
        assert_int_equal(text_clock_choose(&clock, &context, c[i].words, &e), c[i].status);
        assert_int_equal(clock, c[i].status ? clock : c[i].clock);
        if (c[i].status)
            assert_contains(e.message, c[i].word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_day_of_time_in_64_bits),
        cmocka_unit_test(test_words_and_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

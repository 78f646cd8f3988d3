/* Times of day as text. */
#include "format/text/text_clock.h"

#include "base/text/text_writer.h"
#include "base/text/words.h"

enum { SECONDS_A_DAY = 86400, DAYS_400_YEARS = 146097, DAYS_100_YEARS = 36524, DAYS_4_YEARS = 1461 };

int text_clock_choose(text_clock *out, const tl_write_context *context, const char *words, tl_error *e)
{
    const char *word = context->options->clock;
    const tl_clock *clock = &context->trace->clock;
    if (!word)
        return 0;
    if (tl_word_place(word, words) < 0)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "--clock %s: this text has one of: %s", word, words);
    *out = (text_clock)tl_word_place(word, "relative delta wall date");
    if (*out >= TEXT_CLOCK_WALL && (!clock->has_utc || !clock->hz))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "--clock %s: the clock of this trace does not know the time of day", word);
    return 0;
}

static char *put_two(char *p, uint64_t v, char behind)
{
    p[0] = (char)('0' + v / 10);
    p[1] = (char)('0' + v % 10);
    p[2] = behind;
    return p + 3;
}

/* "2026-01-31 ". Years begin in March here, so that the day of a leap year is the last one. */
static char *put_date(char *p, int64_t days_since_1970)
{
    const int64_t from_march_0 = days_since_1970 + 719468;
    const int64_t era = (from_march_0 >= 0 ? from_march_0 : from_march_0 - (DAYS_400_YEARS - 1)) / DAYS_400_YEARS;
    const uint64_t day = (uint64_t)(from_march_0 - era * DAYS_400_YEARS);
    const uint64_t year = (day - day / (DAYS_4_YEARS - 1) + day / DAYS_100_YEARS - day / (DAYS_400_YEARS - 1)) / 365;
    const uint64_t of_year = day - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
    const uint64_t number = month < 10 ? month + 3 : month - 9;
    const int64_t shown = (int64_t)year + era * 400 + (number <= 2);
    p = put_two(p, (uint64_t)shown / 100, ' ') - 1; /* a time of 64 bits in ns is between 1677 and 2262 */
    p = put_two(p, (uint64_t)shown % 100, '-');
    return put_two(put_two(p, number, '-'), of_year - (153 * month + 2) / 5 + 1, ' ');
}

char *text_second(char *p, int64_t second, bool date)
{
    int64_t day = second / SECONDS_A_DAY;
    day -= day * SECONDS_A_DAY > second;
    const uint64_t of_day = (uint64_t)(second - day * SECONDS_A_DAY);
    if (date)
        p = put_date(p, day);
    return put_two(put_two(put_two(p, of_day / 3600, ':'), of_day / 60 % 60, ':'), of_day % 60, '.');
}

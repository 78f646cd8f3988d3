/* Dates and times of day, read from text. */
#include "base/text/utc_text.h"

#define NS_PER_S   1000000000u
#define NS_PER_DAY (86400 * (uint64_t)NS_PER_S)

/* Reads exactly n digits. */
static bool digits(const char **s, const char *end, unsigned n, unsigned *out)
{
    unsigned v = 0;
    if (n > (size_t)(end - *s))
        return false;
    for (unsigned i = 0; i < n; i++) {
        unsigned digit = (unsigned)(unsigned char)(*s)[i] - '0';
        if (digit > 9)
            return false;
        v = v * 10 + digit;
    }
    *s += n;
    *out = v;
    return true;
}

static bool skip(const char **s, const char *end, char c)
{
    if (*s == end || **s != c)
        return false;
    (*s)++;
    return true;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar, not earlier. */
static uint64_t days_since_1970(unsigned year, unsigned month, unsigned day)
{
    static const unsigned before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    unsigned y = year - 1, leap_days = y / 4 - y / 100 + y / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return (uint64_t)(year - 1970) * 365 + leap_days + before[month - 1] + (leap && month > 2) + day - 1;
}

/* "23:01", "23:01:24.5": ns since midnight. */
static bool clock_time(const char **s, const char *end, uint64_t *ns)
{
    unsigned hour, minute, second = 0, digit;
    uint64_t fraction = 0, place = NS_PER_S;
    if (!digits(s, end, 2, &hour) || !skip(s, end, ':') || !digits(s, end, 2, &minute))
        return false;
    if (skip(s, end, ':') && !digits(s, end, 2, &second))
        return false;
    if (skip(s, end, '.')) {
        const char *first = *s;
        while (digits(s, end, 1, &digit))
            fraction += digit * (place /= 10);
        if (*s == first)
            return false;
    }
    *ns = ((uint64_t)hour * 3600 + minute * 60 + second) * NS_PER_S + fraction;
    return hour <= 23 && minute <= 59 && second <= 60;
}

/* "Z", "+01:00", or nothing (UTC), at the end: ns that local time is ahead of UTC. */
static bool time_zone(const char **s, const char *end, int64_t *ahead)
{
    const bool west = skip(s, end, '-');
    unsigned hour, minute;
    *ahead = 0;
    if (west || skip(s, end, '+')) {
        if (!digits(s, end, 2, &hour) || !skip(s, end, ':') || !digits(s, end, 2, &minute) || hour > 23 || minute > 59)
            return false;
        *ahead = (int64_t)(hour * 60 + minute) * 60 * (west ? -(int64_t)NS_PER_S : (int64_t)NS_PER_S);
    } else {
        (void)skip(s, end, 'Z');
    }
    return *s == end;
}

bool tl_parse_utc(const char *s, size_t n, uint64_t *ns)
{
    const char *end = s + n;
    unsigned year, month, day;
    uint64_t clock = 0;
    int64_t ahead = 0;
    if (!digits(&s, end, 4, &year) || !skip(&s, end, '-') || !digits(&s, end, 2, &month) || !skip(&s, end, '-') ||
        !digits(&s, end, 2, &day))
        return false;
    const bool has_clock = skip(&s, end, 'T') || skip(&s, end, ' ');
    if (has_clock ? !clock_time(&s, end, &clock) || !time_zone(&s, end, &ahead) : (skip(&s, end, 'Z'), s != end))
        return false;
    if (year < 1970 || year > 2500 || month < 1 || month > 12 || day < 1 || day > 31)
        return false;
    const uint64_t local = days_since_1970(year, month, day) * NS_PER_DAY + clock;
    if (ahead > 0 && local < (uint64_t)ahead)
        return false;
    *ns = local - (uint64_t)ahead;
    return true;
}

bool tl_parse_time_of_day(const char *s, size_t n, uint64_t *ns, int64_t *ahead)
{
    const char *end = s + n;
    return clock_time(&s, end, ns) && time_zone(&s, end, ahead);
}

/* The table of words, and items of rare lines: long numbers, times, quoted texts. */
#include "format/tracelog/tracelog_words.h"

#include <pthread.h>

#include "format/tracelog/tracelog_items.h"
#include "format/tracelog/tracelog_scan.h"

tracelog_word tracelog_words[TRACELOG_WORD_SLOTS];

static void fill_words(void)
{
    for (uint32_t i = 0; i < TRACELOG_RECORDS; i++) {
        uint8_t text[8];
        memcpy(text, tracelog_shapes[i].words, 7);
        text[7] = ' ';
        const uint64_t word = tl_load64(text, false);
        uint32_t at = tracelog_word_slot(word);
        while (tracelog_words[at].text)
            at = (at + 1) & (TRACELOG_WORD_SLOTS - 1);
        tracelog_words[at] = (tracelog_word){word, i};
    }
}

void tracelog_words_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_words);
}

static int digit_of(uint8_t c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

const uint8_t *tracelog_hex_long(const uint8_t *p, uint64_t *value, unsigned *digits)
{
    if (digit_of(p[16]) < 0)
        return p + 16;
    uint64_t v = 0;
    for (int d; (d = digit_of(*p)) >= 0; p++) {
        if (v >> 60)
            return NULL;
        v = v << 4 | (uint64_t)d;
    }
    *value = v;
    *digits = 0;
    return p;
}

const uint8_t *tracelog_dec_long(const uint8_t *p, uint64_t *value)
{
    uint64_t v = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
            return NULL;
    *value = v;
    return p;
}

bool tracelog_parse_number(const char *p, size_t n, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(p[i] - '0'), &v))
            v = UINT64_MAX; /* overflows again, whatever follows */
    }
    *out = v;
    return n > 0;
}

bool tracelog_divide_texts(const uint8_t *p, size_t n, unsigned count, const uint8_t **begin, size_t *size)
{
    if (n < 2 || p[0] != '"' || p[n - 1] != '"')
        return false;
    p++;
    n -= 2;
    for (unsigned i = count; i-- > 1;) { /* there are no escapes: from the right */
        size_t at = n;
        while (at >= 3 && memcmp(p + at - 3, "\" \"", 3) != 0)
            at--;
        if (at < 3)
            return false;
        begin[i] = p + at;
        size[i] = n - at;
        n = at - 3;
    }
    begin[0] = p;
    size[0] = n;
    return true;
}

bool tracelog_is_one_text(const uint8_t *p, size_t n)
{
    const uint8_t *begin[2];
    size_t size[2];
    return tracelog_divide_texts(p, n, 1, begin, size) && !tracelog_divide_texts(p, n, 2, begin, size);
}

/* Days since 1970 of a date of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2; /* years begin in March, so that leap days are last */
    const int64_t era = year / 400, of_era = year % 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Reads numbers with as many digits as in the template: "d-d" has two of one digit. */
static bool match(const uint8_t *p, const char *template, int64_t *number)
{
    for (bool inside = false; *template; p++, template ++) {
        if (*template != 'd') {
            if (*p != (uint8_t) * template)
                return false;
            inside = false;
            continue;
        }
        if (*p < '0' || *p > '9')
            return false;
        if (!inside)
            *number++ = 0;
        number[-1] = number[-1] * 10 + (*p - '0');
        inside = true;
    }
    return true;
}

bool tracelog_parse_time(const uint8_t *p, size_t n, int64_t *ms, bool *has_zone)
{
    static const char time[] = "dddd-dd-dd dd:dd:dd.ddd", zone[] = "dd:dd";
    static const uint8_t days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, MILLI, NUMBERS };
    const size_t time_n = sizeof time - 1, zone_n = sizeof zone - 1;
    int64_t v[NUMBERS], shift[2] = {0, 0};
    *has_zone = n == time_n + 2 + zone_n;
    if ((n != time_n && !*has_zone) || !match(p, time, v))
        return false;
    if (v[YEAR] < 1 || v[MONTH] < 1 || v[MONTH] > 12 || v[DAY] < 1 || v[DAY] > days[v[MONTH] - 1] || v[HOUR] > 23 ||
        v[MINUTE] > 59 || v[SECOND] > 59)
        return false;
    const bool leap = v[YEAR] % 4 == 0 && (v[YEAR] % 100 != 0 || v[YEAR] % 400 == 0);
    if (v[MONTH] == 2 && v[DAY] == 29 && !leap)
        return false;
    if (*has_zone) {
        const uint8_t sign = p[time_n + 1];
        if (p[time_n] != ' ' || (sign != '+' && sign != '-') || !match(p + time_n + 2, zone, shift) || shift[0] > 23 ||
            shift[1] > 59)
            return false;
        if (sign == '+') {
            shift[0] = -shift[0];
            shift[1] = -shift[1];
        }
    }
    const int64_t minutes = (days_of(v[YEAR], v[MONTH], v[DAY]) * 24 + v[HOUR] + shift[0]) * 60 + v[MINUTE] + shift[1];
    *ms = (minutes * 60 + v[SECOND]) * 1000 + v[MILLI];
    /* The zone must not lead out of the calendar. */
    return minutes >= days_of(1, 1, 1) * 24 * 60 && minutes < days_of(10000, 1, 1) * 24 * 60;
}

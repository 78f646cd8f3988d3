/* Numbers of TraceLog lines against a plain reader, in both ways of reading them; texts and times. */
#include "tracelog_fixture.h"

#include "format/tracelog/tracelog_items.h"
#include "format/tracelog/tracelog_scan.h"

/* The same again as on hosts without SSE2. */
#undef TL_FORMAT_TRACELOG_ITEMS_H
#undef __SSE2__
#undef TRACELOG_BYTES
#define tracelog_marked    plain_marked
#define tracelog_hex8      plain_hex8
#define tracelog_hex16     plain_hex16
#define tracelog_hex       plain_hex
#define tracelog_0x        plain_0x
#define tracelog_behind    plain_behind
#define tracelog_dec       plain_dec
#define tracelog_dec_like  plain_dec_like
#define tracelog_dec_short plain_dec_short
#define tracelog_at_end    plain_at_end
#include "format/tracelog/tracelog_items.h"
#undef tracelog_hex16
#undef tracelog_hex
#undef tracelog_0x
#undef tracelog_dec
#undef tracelog_dec_like
#undef tracelog_dec_short
#undef tracelog_at_end

enum { LINE = 160, SLACK = 32 };

static unsigned digit_of(uint8_t c)
{
    return c >= '0' && c <= '9'   ? c - (unsigned)'0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10u
           : c >= 'A' && c <= 'F' ? c - 'A' + 10u
                                  : 99;
}

/* Digit by digit. NULL: none, or too large. */
static const uint8_t *simple(const uint8_t *p, unsigned base, uint64_t *value, unsigned *digits)
{
    bool large = false;
    *value = 0;
    for (*digits = 0; digit_of(*p) < base; p++, ++*digits) {
        large = large || *value > (UINT64_MAX - digit_of(*p)) / base;
        *value = *value * base + digit_of(*p);
    }
    return *digits && !large ? p : NULL;
}

/* `likely`: the expected number of digits, which must not matter. */
static void check_hex_at(const uint8_t *p, unsigned likely)
{
    uint64_t expected, value[2];
    unsigned n, digits[2];
    const uint8_t *end = simple(p, 16, &expected, &n);
    const uint8_t *got[2] = {tracelog_hex(p, likely, &value[0], &digits[0]),
                             plain_hex(p, likely, &value[1], &digits[1])};
    for (unsigned way = 0; way < 2; way++) {
        assert_ptr_equal(got[way], end);
        if (!end)
            continue;
        assert_int_equal(value[way], expected);
        assert_int_equal(digits[way], n > 16 ? 0 : n);
    }
}

static void check_dec_at(const uint8_t *p, unsigned likely, uint64_t most)
{
    enum { WAYS = 6 };
    uint64_t expected, value[WAYS];
    unsigned n, like[2] = {likely, likely};
    const uint8_t *end = simple(p, 10, &expected, &n);
    most = most < 99 ? 99 : most; /* with two digits there is no limit */
    if (end && expected > most)
        end = NULL;
    const uint8_t *got[WAYS] = {tracelog_dec(p, most, &value[0]),
                                tracelog_dec_short(p, most, likely, &value[1]),
                                tracelog_dec_like(p, most, &like[0], &value[2]),
                                plain_dec(p, most, &value[3]),
                                plain_dec_short(p, most, likely, &value[4]),
                                plain_dec_like(p, most, &like[1], &value[5])};
    assert_int_equal(like[0], n > 0 && n < 8 ? n : likely);
    assert_int_equal(like[1], like[0]);
    for (unsigned way = 0; way < WAYS; way++) {
        assert_ptr_equal(got[way], end);
        if (end)
            assert_int_equal(value[way], expected);
    }
}

/* Memory just as large as readers may look at. */
static uint8_t *room(void)
{
    uint8_t *p = malloc(LINE + SLACK);
    assert_non_null(p);
    return p;
}

static const uint8_t follows[] = {' ', ':', '\n', '\r', 'g',  'G',  'x',  '/',  '@',  '`',  '"',  '?',
                                  '.', 0,   0x7f, 0x80, 0xb0, 0xb9, 0xc1, 0xe1, 0xff, 0x10, 0x19, 0x41 ^ 0x80};

static void numbers_of_every_length(void **state)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    uint8_t *p = room();
    uint32_t seed = 1;
    for (unsigned n = 0; n < 44; n++)
        for (unsigned k = 0; k < 60 * sizeof follows; k++) {
            const unsigned zeros = random_below(&seed, 3) ? 0 : random_below(&seed, n + 1);
            const unsigned likely = random_below(&seed, 3) ? n : random_below(&seed, 20);
            const unsigned base = k % 2 ? 16 : 10, at = LINE - 1 - n - random_below(&seed, 17);
            for (unsigned i = 0; i < LINE + SLACK; i++) /* what follows looks like more of it */
                p[i] = (uint8_t)hex[random_below(&seed, 22)];
            for (unsigned i = 0; i < n; i++)
                p[at + i] = (uint8_t)hex[i < zeros ? 0 : random_below(&seed, base == 16 ? 22 : 10)];
            p[at + n] = follows[k % sizeof follows];
            if (base == 16)
                check_hex_at(p + at, likely);
            else
                check_dec_at(p + at, likely,
                             random_below(&seed, 2) ? UINT64_MAX : (uint64_t)1 << random_below(&seed, 64));
        }
    free(p);
}

typedef struct limit {
    const char *text;
    bool reads;
    uint64_t value;
} limit;

static void put(uint8_t *p, const char *text)
{
    memset(p, '1', LINE + SLACK);
    memcpy(p, text, strlen(text));
    p[strlen(text)] = '\n';
}

static void limits(void **state)
{
    static const limit hex[] = {{"0x", false, 0},
                                {"0X1", false, 0},
                                {"x1", false, 0},
                                {"0xg", false, 0},
                                {"0x0", true, 0},
                                {"0xffffffffffffffff", true, UINT64_MAX},
                                {"0x10000000000000000", false, 0},
                                {"0x0ffffffffffffffff", true, UINT64_MAX},
                                {"0x00000000000000001", true, 1},
                                {"0x000000000000000000000000000000000000000000deadBEEF", true, 0xdeadbeef},
                                {"0x00000000000000000000000000000000000000000fffffffffffffffff", false, 0}};
    static const limit dec[] = {{"18446744073709551615", true, UINT64_MAX},
                                {"18446744073709551616", false, 0},
                                {"18446744073709551625", false, 0},
                                {"99999999999999999999", false, 0},
                                {"000000018446744073709551615", true, UINT64_MAX},
                                {"00000000000000000000000000007", true, 7},
                                {"99", true, 99},
                                {"100", true, 100},
                                {"4294967296", true, (uint64_t)1 << 32},
                                {"-1", false, 0},
                                {"+1", false, 0}};
    uint8_t *p = room();
    uint64_t value[2];
    unsigned digits;
    for (size_t i = 0; i < sizeof hex / sizeof *hex; i++) {
        put(p, hex[i].text);
        const uint8_t *end = hex[i].reads ? p + strlen(hex[i].text) : NULL;
        assert_ptr_equal(tracelog_0x(p, 1, &value[0], &digits), end);
        assert_ptr_equal(plain_0x(p, 1, &value[1], &digits), end);
        assert_true(!end || (value[0] == hex[i].value && value[1] == hex[i].value));
    }
    for (size_t i = 0; i < sizeof dec / sizeof *dec; i++) {
        put(p, dec[i].text);
        const uint8_t *end = dec[i].reads ? p + strlen(dec[i].text) : NULL;
        assert_ptr_equal(tracelog_dec(p, UINT64_MAX, &value[0]), end);
        assert_true(!end || value[0] == dec[i].value);
        check_dec_at(p, 2, UINT64_MAX);
        if (end) {
            check_dec_at(p, 2, dec[i].value);
            check_dec_at(p, 2, dec[i].value ? dec[i].value - 1 : 0);
        }
    }
    free(p);
}

static void ends_of_lines(void **state)
{
    static const uint8_t feed[] = "\nx", both[] = "\r\nx", alone[] = "\rx", none[] = "xx";
    const uint8_t *next;
    assert_true(tracelog_at_end(feed, &next));
    assert_ptr_equal(next, feed + 1);
    assert_true(tracelog_at_end(both, &next));
    assert_ptr_equal(next, both + 2);
    assert_false(tracelog_at_end(alone, &next));
    assert_false(tracelog_at_end(none, &next));
}

static void numbers_that_are_a_whole_text(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        uint64_t value;
    } c[] = {{"", false, 0},
             {"0", true, 0},
             {"0010", true, 10},
             {"10 ", false, 0},
             {"0x1", false, 0},
             {"18446744073709551615", true, UINT64_MAX},
             {"18446744073709551616", true, UINT64_MAX},
             {"184467440737095516160", true, UINT64_MAX},
             {"100000000000000000000000000000000000000000", true, UINT64_MAX}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        uint64_t value = 77;
        assert_int_equal(tracelog_parse_number(c[i].text, strlen(c[i].text), &value), c[i].ok);
        if (c[i].ok && value != c[i].value)
            fail_msg("%s gives %llu", c[i].text, (unsigned long long)value);
    }
}

static void times(void **state)
{
    static const struct {
        const char *text;
        bool ok, zone;
        int64_t ms;
    } c[] = {{"1970-01-01 00:00:00.000", true, false, 0},
             {"1969-12-31 23:59:59.999", true, false, -1},
             {"2018-06-25 07:24:28.049 +09:00", true, true, INT64_C(1529879068049)},
             {"2018-06-24 12:54:28.049 -09:30", true, true, INT64_C(1529879068049)},
             {"2000-02-29 00:00:00.000", true, false, INT64_C(951782400000)},
             {"2024-02-29 00:00:00.000 +00:00", true, true, INT64_C(1709164800000)},
             {"0001-01-01 00:00:00.000 -00:01", true, true, INT64_C(-62135596740000)},
             {"0001-01-01 00:00:00.000 +00:01", false, false, 0},
             {"9999-12-31 23:59:59.999", true, false, INT64_C(253402300799999)},
             {"9999-12-31 23:59:59.999 -00:01", false, false, 0},
             {"1900-02-29 00:00:00.000", false, false, 0},
             {"2023-02-29 00:00:00.000", false, false, 0},
             {"2023-04-31 00:00:00.000", false, false, 0},
             {"2023-00-10 00:00:00.000", false, false, 0},
             {"2023-13-10 00:00:00.000", false, false, 0},
             {"2023-01-00 00:00:00.000", false, false, 0},
             {"0000-01-01 00:00:00.000", false, false, 0},
             {"2023-01-01 24:00:00.000", false, false, 0},
             {"2023-01-01 00:60:00.000", false, false, 0},
             {"2023-01-01 00:00:60.000", false, false, 0},
             {"2023-01-01 00:00:00.00", false, false, 0},
             {"2023-01-01 00:00:00.0000", false, false, 0},
             {"2023-01-01 00:00:00,000", false, false, 0},
             {"2023-01-01T00:00:00.000", false, false, 0},
             {"2023-01-01 00:00:00.000 ", false, false, 0},
             {"2023-01-01 00:00:00.000 +24:00", false, false, 0},
             {"2023-01-01 00:00:00.000 +01:60", false, false, 0},
             {"2023-01-01 00:00:00.000 *01:00", false, false, 0},
             {"2023-01-01 00:00:00.000+01:000", false, false, 0},
             {"2023-01-01 00:00:00.000 +0100", false, false, 0},
             {"", false, false, 0}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        int64_t ms = 0;
        bool zone = false;
        if (tracelog_parse_time((const uint8_t *)c[i].text, strlen(c[i].text), &ms, &zone) != c[i].ok)
            fail_msg("%s", c[i].text);
        if (c[i].ok && (ms != c[i].ms || zone != c[i].zone))
            fail_msg("%s gives %lld", c[i].text, (long long)ms);
    }
}

/* Every day of four centuries is the successor of a day, and no other day is one. */
static void days_follow_each_other(void **state)
{
    int64_t expected = 0, ms = 0;
    uint32_t found = 0;
    bool zone;
    for (unsigned year = 1970; year < 2370; year++)
        for (unsigned month = 1; month <= 12; month++)
            for (unsigned day = 1; day <= 31; day++) {
                char text[64];
                const int n = snprintf(text, sizeof text, "%u-%02u-%02u 00:00:00.000", year, month, day);
                if (!tracelog_parse_time((const uint8_t *)text, (size_t)n, &ms, &zone))
                    continue;
                assert_int_equal(ms, expected);
                expected += INT64_C(86400000);
                found++;
            }
    assert_int_equal(found, 400 * 365 + 97);
}

static void texts_are_divided_from_the_right(void **state)
{
    static const struct {
        const char *text;
        unsigned count;
        const char *part[3]; /* NULL: not divided */
    } c[] = {{"\"\"", 1, {""}},
             {"\"a\" \"b\"", 1, {"a\" \"b"}},
             {"\"a\"b\"", 1, {"a\"b"}},
             {"\"", 1, {NULL}},
             {"a\"", 1, {NULL}},
             {"\"a", 1, {NULL}},
             {"", 1, {NULL}},
             {"\"a\" \"b\" \"c\"", 3, {"a", "b", "c"}},
             {"\"\" \"\" \"\"", 3, {"", "", ""}},
             {"\"x\" \"a\" \"b\" \"c\"", 3, {"x\" \"a", "b", "c"}},
             {"\"a\" \" \"b\" \"c\"", 3, {"a\" ", "b", "c"}},
             {"\"a\"  \"b\" \"c\"", 3, {NULL}},
             {"\"a\" \"b\"", 3, {NULL}},
             {"\"a\" \" \"", 3, {NULL}}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const uint8_t *begin[3] = {NULL};
        size_t size[3] = {0};
        const bool ok = tracelog_divide_texts((const uint8_t *)c[i].text, strlen(c[i].text), c[i].count, begin, size);
        if (ok != (c[i].part[0] != NULL))
            fail_msg("%s", c[i].text);
        for (unsigned k = 0; ok && k < c[i].count; k++)
            if (size[k] != strlen(c[i].part[k]) || memcmp(begin[k], c[i].part[k], size[k]) != 0)
                fail_msg("%s: text %u", c[i].text, k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_length),
        cmocka_unit_test(limits),
        cmocka_unit_test(ends_of_lines),
        cmocka_unit_test(numbers_that_are_a_whole_text),
        cmocka_unit_test(times),
        cmocka_unit_test(days_follow_each_other),
        cmocka_unit_test(texts_are_divided_from_the_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

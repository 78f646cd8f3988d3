/* Functions of SQL that SQLite lacks, by hand. */
#include "query_fixture.h"

typedef struct expected {
    const char *sql, *answer;
} expected;

static void compare(const expected *cases, size_t n)
{
    query_fixture q;
    query_open(&q, NULL);
    for (size_t i = 0; i < n; i++) {
        char sql[512];
        snprintf(sql, sizeof sql, "SELECT %s", cases[i].sql);
        if (strcmp(query_ask(&q, sql), cases[i].answer) != 0)
            fail_msg("%s is %s, not %s", cases[i].sql, q.text, cases[i].answer);
    }
    query_close(&q);
}
#define COMPARE(cases) compare(cases, sizeof(cases) / sizeof *(cases))

static void steps_are_below_their_value(void **state)
{
    static const expected cases[] = {{"floor_to(7, 5)", "5"},
                                     {"floor_to(5, 5)", "5"},
                                     {"floor_to(0, 5)", "0"},
                                     {"floor_to(-1, 5)", "-5"},
                                     {"floor_to(-5, 5)", "-5"},
                                     {"floor_to(-6, 5)", "-10"},
                                     {"floor_to(9223372036854775807, 10)", "9223372036854775800"},
                                     {"floor_to(-9223372036854775807 - 1, 10)", "null"},
                                     {"floor_to(-9223372036854775807 - 1, 1)", "-9223372036854775808"},
                                     {"floor_to(NULL, 5)", "null"},
                                     {"floor_to(5, NULL)", "null"},
                                     {"floor_to('7', 5)", "null"},
                                     {"floor_to(7, 0)", "error: floor_to: the step is not above 0"},
                                     {"floor_to(7, -5)", "error: floor_to: the step is not above 0"}};
    COMPARE(cases);
}

static void intervals_share(void **state)
{
    static const expected cases[] = {{"overlap(0, 10, 5, 20)", "5"},
                                     {"overlap(5, 20, 0, 10)", "5"},
                                     {"overlap(0, 10, 10, 20)", "0"},
                                     {"overlap(0, 10, 30, 40)", "0"},
                                     {"overlap(0, 10, 2, 4)", "2"},
                                     {"overlap(-10, 10, -20, -5)", "5"},
                                     {"overlap(0, NULL, 5, 20)", "15"}, /* it goes on */
                                     {"overlap(5, 20, 0, NULL)", "15"},
                                     {"overlap(0, NULL, 5, NULL)", "null"},
                                     {"overlap(NULL, 10, 5, 20)", "null"},
                                     {"overlap(-9223372036854775807, 9223372036854775807, -9223372036854775807, "
                                      "9223372036854775807)",
                                      "0"}}; /* more than a number holds */
    COMPARE(cases);
}

static void numbers_as_text(void **state)
{
    static const expected cases[] = {
        {"hex64(255)", "0xff"},
        {"hex64(-1)", "0xffffffffffffffff"},
        {"hex64(1.5)", "null"},
        {"hex64(NULL)", "null"},
        {"u64(-1)", "18446744073709551615"},
        {"u64(7)", "7"},
        {"u64('7')", "null"},
        {"human(1500)", "1.50 us"},
        {"human(-1500)", "-1.50 us"},
        {"human(999)", "999 ns"},
        {"human(NULL)", "null"},
        {"human('x')", "null"},
        {"bytes(NULL)", "null"},
        {"utc(0)", "1970-01-01T00:00:00.000000000Z"},
        {"utc(-1)", "1969-12-31T23:59:59.999999999Z"},
        {"utc(1700000000001000123)", "2023-11-14T22:13:20.001000123Z"},
        {"utc(9223372036854775807)", "2262-04-11T23:47:16.854775807Z"},
        {"utc(-9223372036854775807 - 1)", "null"},
        {"utc(1.5)", "null"},
        {"utc_ns('1970-01-01')", "0"},
        {"utc_ns('2026-01-31T12:00:00Z')", "1769860800000000000"},
        {"utc_ns('2026-01-31 12:00:00.5+01:00')", "1769857200500000000"},
        {"utc(utc_ns('2262-04-11T23:47:16.854775807Z'))", "2262-04-11T23:47:16.854775807Z"},
        {"utc_ns('2262-04-11T23:47:16.854775808Z')", "error: utc_ns: not a date such as '2026-01-31T12:00:00Z'"},
        {"utc_ns('yesterday')", "error: utc_ns: not a date such as '2026-01-31T12:00:00Z'"},
        {"utc_ns('')", "error: utc_ns: not a date such as '2026-01-31T12:00:00Z'"},
        {"utc_ns(NULL)", "null"},
        {"hms(0)", "0:00:00.000000000"},
        {"hms(3723000000004)", "1:02:03.000000004"},
        {"hms(-60000000000)", "-0:01:00.000000000"},
        {"hms(-9223372036854775807 - 1)", "-2562047:47:16.854775808"},
        {"hms(1.6)", "0:00:00.000000002"},
        {"hms('x')", "null"},
        {"hms(NULL)", "null"},
        {"ns('1.5ms')", "1500000"},
        {"ns('7ns')", "7"},
        {"ns(NULL)", "null"},
        {"ns('')", "error: ns: not a duration such as '1.5ms'"},
        {"ns('1 fortnight')", "error: ns: not a duration such as '1.5ms'"}};
    COMPARE(cases);
}

static void patterns(void **state)
{
    static const expected cases[] = {
        {"'abc' REGEXP 'b'", "1"},
        {"'abc' REGEXP '^b'", "0"},
        {"'abc' REGEXP '^(a|x)b+c$'", "1"},
        {"NULL REGEXP 'a'", "null"},
        {"'a' REGEXP NULL", "null"},
        {"15 REGEXP '^1'", "1"},
        {"'a' REGEXP '('", "error: regexp: not a pattern, or one with { or \\, or of more than 256 bytes"},
        {"'a' REGEXP 'a{3}'", "error: regexp: not a pattern, or one with { or \\, or of more than 256 bytes"},
        {"sum('aba' REGEXP p) FROM (SELECT 'a' AS p UNION ALL SELECT 'c' UNION ALL SELECT 'b')", "2"},
        {"sum(x REGEXP 'a') FROM (SELECT 'a' AS x UNION ALL SELECT 'c' UNION ALL SELECT 'ba')", "2"}};
    COMPARE(cases);
}

/* Nearest rank: number ceil(p n / 100) of the values in order, from 1. */
static void percentiles(void **state)
{
#define OF(p) "percentile(v, " p ") FROM (SELECT 30 AS v UNION ALL SELECT 10 UNION ALL SELECT 40 UNION ALL SELECT 20)"
    static const expected cases[] = {{OF("0"), "10"},
                                     {OF("25"), "10"},
                                     {OF("25.1"), "20"},
                                     {OF("50"), "20"},
                                     {OF("75"), "30"},
                                     {OF("75.1"), "40"},
                                     {OF("100"), "40"},
                                     {OF("101"), "error: percentile: the second argument is not between 0 and 100"},
                                     {OF("-1"), "error: percentile: the second argument is not between 0 and 100"},
                                     {OF("NULL"), "error: percentile: the second argument is not between 0 and 100"},
                                     {"percentile(v, 50) FROM (SELECT 1 AS v WHERE 0)", "null"},
                                     {"percentile(NULL, 50)", "null"},
                                     {"percentile('x', 50)", "null"},
                                     {"percentile(-7, 50)", "-7"},
                                     {"percentile(ts, 50), percentile(ts, 99.99) FROM events", "29990,59990"},
                                     {"percentile(v, 0), percentile(v, 50), percentile(v, 100) FROM"
                                      " (SELECT -9223372036854775807 - 1 AS v UNION SELECT 9223372036854775807 UNION"
                                      " SELECT 0)",
                                      "-9223372036854775808,0,9223372036854775807"},
                                     {"percentile(ts, tid * 10) FROM events GROUP BY tid", "41970;47990"}};
    COMPARE(cases);
    /* Of 1,000 values of all sizes, with both signs. */
    static const char sql[] =
        "WITH RECURSIVE r(i, v) AS (SELECT 1, 12345 UNION ALL SELECT i + 1, v * 48271 % 2147483647 FROM r LIMIT 1000),"
        " n AS MATERIALIZED (SELECT (v - 1073741823) << (i % 33) AS v FROM r),"
        " s AS MATERIALIZED (SELECT v, row_number() OVER (ORDER BY v) AS k FROM n)"
        "SELECT count(*), sum((SELECT percentile(v, p) FROM n) = (SELECT v FROM s WHERE k = max(1, 10 * p)))"
        " FROM (SELECT i - 1 AS p FROM r LIMIT 101)";
    query_fixture q;
    query_open(&q, NULL);
    assert_string_equal(query_ask(&q, sql), "101,101");
    query_close(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_are_below_their_value), cmocka_unit_test(intervals_share),
                                       cmocka_unit_test(numbers_as_text), cmocka_unit_test(patterns),
                                       cmocka_unit_test(percentiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

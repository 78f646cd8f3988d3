/* Functions of SQL over histograms, and those that name things, by hand. */
#include <stdlib.h>

#include "model/hist_bytes.h"
#include "op/scan/stat_hist.h"
#include "query_fixture.h"

typedef struct expected {
    const char *sql, *answer;
} expected;

static void compare(const expected *cases, size_t n)
{
    query_fixture q;
    query_open(&q, NULL);
    for (size_t i = 0; i < n; i++)
        if (strcmp(query_ask(&q, cases[i].sql), cases[i].answer) != 0)
            fail_msg("%s is %s, not %s", cases[i].sql, q.text, cases[i].answer);
    query_close(&q);
}
#define COMPARE(cases) compare(cases, sizeof(cases) / sizeof *(cases))

/* calls, sum, min, max - min, then the count of the bucket of min, and distance and count of each further one. */
static void histograms(void **state)
{
    static const expected cases[] = {
        {"SELECT hex(hist(column1)) FROM (VALUES (10), (10), (13), (NULL), ('x'), (10.4))", "042B0A0303"
                                                                                            "0301"},
        {"SELECT hex(hist(column1)) FROM (VALUES (7))", "01070700"},
        {"SELECT hist(column1) FROM (VALUES (NULL))", "null"},
        {"SELECT hist(column1) FROM (VALUES (1), (-1))", "error: hist: a negative duration"},
        {"SELECT hex(hist(9223372036854775807)), hist_sum(hist(9223372036854775807))",
         "01FFFFFFFFFFFFFFFF7FFFFFFFFFFFFFFFFF7F00,9223372036854775807"},
        {"SELECT hex(hist_merge(column1)) FROM (VALUES (x'01070700'), (x'01070700'), (NULL), (x'00'))", "020E0700"},
        {"SELECT hist_merge(column1) FROM (VALUES (x'01070700'), (x'0107'))",
         "error: hist_merge: histogram: the bytes end inside a shortest call"},
        {"SELECT hist_merge(column1) FROM (VALUES (5))", "error: hist_merge: not a histogram, which is a BLOB"},
        {"SELECT hist_count(x'042B0A03030301'), hist_sum(x'042B0A03030301'), hist_count(x'00'), hist_sum(x'00')",
         "4,43,0,0"},
        {"SELECT hist_count(NULL), hist_sum(NULL), hist_percentile(NULL, 5), hist_percentile(x'00', 50)",
         "null,null,null,null"},
        {"SELECT hist_percentile(h, 0), hist_percentile(h, 75), hist_percentile(h, 75.01), hist_percentile(h, 100) "
         "FROM (SELECT x'042B0A03030301' AS h)",
         "10,10,13,13"},
        {"SELECT hist_percentile(x'00', 101)", "error: hist_percentile: the second argument is not between 0 and 100"},
        {"SELECT hist_percentile(x'00', 'x')", "error: hist_percentile: the second argument is not between 0 and 100"},
        {"SELECT hist_percentile(x'00', NULL)", "error: hist_percentile: the second argument is not between 0 and 100"},
        {"SELECT hist_count(x'')", "error: hist_count: histogram: the bytes end inside the number of calls"},
        {"SELECT hist_count('042B')", "error: hist_count: not a histogram, which is a BLOB"},
        {"SELECT hex(hist_diff(x'042B0A03030301', x'010A0A00'))", "03210A03020301"},
        {"SELECT hex(hist_diff(x'010A0A00', x'042B0A03030301'))", "00"},
        {"SELECT hist_diff(NULL, x'00'), hist_diff(x'00', NULL)", "null,null"},
        {"SELECT low, high, calls FROM hist_buckets(x'042B0A03030301')", "10,10,3;13,13,1"},
        {"SELECT low, high, calls FROM hist_buckets(x'042B0A03030301', 1)", "8,15,4"},
        {"SELECT low, high, calls FROM hist_buckets(x'042B0A03030301', 4)", "10,11,3;12,13,1"},
        {"SELECT count(*) FROM hist_buckets", "0"},
        {"SELECT count(*) FROM hist_buckets(NULL, 3)", "error: hist_buckets: parts is not a power of two, 1 to 256"},
        {"SELECT count(*) FROM hist_buckets(5)", "error: hist_buckets: argument 1, hist, is not a BLOB, or too long"},
        {"SELECT count(*) FROM hist_buckets('00')",
         "error: hist_buckets: argument 1, hist, is not a BLOB, or too long"},
        {"SELECT count(*) FROM hist_buckets(x'0107')", "error: histogram: the bytes end inside a shortest call"},
        {"SELECT hex(hist) FROM hist_buckets(x'01070700')", "01070700"},
        {"SELECT calls FROM hist_buckets(x'01070700') WHERE hist = x'01070700'", "1"},
        {"SELECT sum(b.calls) FROM call_stats('thread', 1000) AS s, hist_buckets(s.hist) AS b", "3000"},
        {"SELECT hist_percentile(hist, 99) FROM places WHERE hist IS NOT NULL", "10"}};
    COMPARE(cases);
}

/* Any bytes are a histogram or an error; the same for each of the functions. */
static void malformed_histograms(void **state)
{
    static const uint8_t good[] = {0x89, 0x01, 0x8f, 0x8e, 0xa1, 0x06, 0x0a, 0xb6, 0xc4, 0x07, 0x03, 0xea,
                                   0x03, 0x01, 0x6a, 0x01, 0x02, 0x01, 0xa6, 0x0e, 0x82, 0x01, 0x5c, 0x01};
    static const char *const functions[] = {"hist_count(%s)", "hist_sum(%s)", "hist_percentile(%s, 50)",
                                            "hist_diff(%s, x'00')", "hist_merge(%s)"};
    query_fixture q;
    query_open(&q, NULL);
    size_t fine = 0, errors = 0;
    for (size_t i = 0; i < sizeof good * 256 + sizeof good; i++) {
        char blob[2 * sizeof good + 4] = "x'", sql[256] = "SELECT ";
        const size_t n = i < sizeof good ? i : sizeof good, at = (i - n) / 256;
        for (size_t k = 0; k < n; k++)
            snprintf(blob + 2 + 2 * k, 3, "%02x", (unsigned)(i >= sizeof good && k == at ? (i - n) % 256 : good[k]));
        strcat(blob, "'");
        snprintf(sql + 7, sizeof sql - 7, functions[i % (sizeof functions / sizeof *functions)], blob);
        const bool is_error = strncmp(query_ask(&q, sql), "error: hist", 11) == 0;
        if (!is_error && strncmp(q.text, "error", 5) == 0)
            fail_msg("%s: %s", sql, q.text);
        errors += is_error;
        fine += !is_error;
    }
    assert_true(fine > 5 && errors > 1000);
    query_close(&q);
}

/* A call that was being added when its program ended: its shortest and its longest time are the bounds of a bucket,
 * which in nanoseconds are in two. */
static void one_call_with_two_ends(void **state)
{
    static const tl_column_info column = {"hist", "hist", TL_TEXT, TL_UNIT_BLOB, ""};
    tl_scale scale;
    tl_place_stat s = {.calls = 1, .total = 777, .outer = 777, .min = 776, .max = 777};
    tl_scan_block b = {0};
    tl_block block;
    tl_error e;
    tl_scale_init(&scale, 2500000000u);
    assert_int_equal(tl_hist_bucket(s.min), tl_hist_bucket(s.max));
    assert_int_not_equal(tl_hist_bucket(tl_scale_ns(&scale, s.min)), tl_hist_bucket(tl_scale_ns(&scale, s.max)));
    assert_true(tl_hist_add_slow(&s.hist, tl_hist_bucket(s.min), 1));
    assert_int_equal(tl_scan_block_init(&b, &column, 1, NULL, &e), 0);
    tl_scan_put_hist(&b, 0, 0, &s, &scale);
    assert_int_equal(tl_scan_block_done(&b, 1, &block, &e), 1);
    assert_string_equal(block.column[0].text[0], "01b602b60200"); /* one call, 310 ns long */
    tl_scan_block_fini(&b);
    tl_hist_fini(&s.hist);
}

static void names(void **state)
{
    static const expected cases[] = {
        {"SELECT errno_name(2), errno_name(1), errno_name(0), errno_name(-2), errno_name(9223372036854775807)",
         "ENOENT,EPERM,null,null,null"},
        {"SELECT errno_name('2'), errno_name(2.0), errno_name(NULL), errno_name(x'02')", "null,null,null,null"},
        {"SELECT syscall_name(56), syscall_name(64), syscall_name(-1), syscall_name(65536 + 56), syscall_name(NULL)",
         "openat,write,null,null,null"},
        {"SELECT disassemble(3573751839, NULL), disassemble(335544324, 4194304)", "nop,b 0x400010"},
        {"SELECT disassemble(-1, 0), disassemble(4294967296, 0), disassemble(1.5, 0), disassemble(NULL, NULL)",
         "null,null,null,null"},
        {"SELECT disassemble(4294967295, 'x') GLOB '.inst*'", "1"},
        {"SELECT demangle('main'), demangle(''), demangle(NULL), demangle(5), demangle(x'5f5a')",
         "main,,null,null,null"},
        {"SELECT human(1500, 'ns'), human(1500, 'ticks'), human(-1500, 'ticks'), human(1500, NULL)",
         "1.50 us,1.50 k,-1.50 k,null"},
        {"SELECT human()", "error: wrong number of arguments to function human()"},
        {"SELECT human(1, 'ns', 3)", "error: wrong number of arguments to function human()"},
        {"SELECT stack_text(1, 1, '/'), stack_contains(1, 1, '#*'), stack_contains(1, 1, 'x')", "#1,1,0"},
        {"SELECT stack_text(1, 0, '/'), stack_text(1, 2, '/'), stack_text(0, 1, '/'), stack_text(2, 1, '/')",
         "null,null,null,null"},
        {"SELECT stack_text(1, 1, NULL), stack_text('1', 1, ''), stack_text(1, 1e0, ''), stack_contains(1, 1, NULL)",
         "null,null,null,null"},
        {"SELECT stack_text(1, 1, printf('%65c', 'x'))", "error: stack_text: a separator of more than 64 bytes"},
        {"SELECT stack_text(-1, -9223372036854775807, ''), stack_contains(9223372036854775807, 1, '')", "null,null"},
        {"SELECT count(*) FROM calls WHERE stack_contains(trace, place_id, '#1')", "3000"}};
    COMPARE(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(histograms), cmocka_unit_test(malformed_histograms),
                                       cmocka_unit_test(one_call_with_two_ends), cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

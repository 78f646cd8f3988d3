/* Tests of base/text/json_write.h. */
#include "base/text/json_write.h"
#include "check.h"

static void check_string_n(const char *s, size_t n, const char *expected, uint64_t expected_bad)
{
    char *text = malloc(6 * n + 2 + 1);
    uint64_t bad = 100;
    char *end = tl_json_put_string(text, s, n, &bad);
    assert_true((size_t)(end - text) <= 6 * n + 2);
    *end = '\0';
    assert_string_equal(text, expected);
    assert_int_equal(bad, 100 + expected_bad);
    assert_ptr_equal(tl_json_put_string(text, s, n, NULL), end);
    free(text);
}

static void check_string(const char *s, const char *expected, uint64_t expected_bad)
{
    check_string_n(s, strlen(s), expected, expected_bad);
}

static void test_plain_strings(void **state)
{
    check_string("", "\"\"", 0);
    check_string("main", "\"main\"", 0);
    check_string("a/b 'c' <d> \x7f", "\"a/b 'c' <d> \x7f\"", 0);
}

static void test_escapes(void **state)
{
    check_string("a\"b\\c", "\"a\\\"b\\\\c\"", 0);
    check_string("\n\t\r\b\f", "\"\\n\\t\\r\\b\\f\"", 0);
    check_string("\x01\x1b\x1f", "\"\\u0001\\u001b\\u001f\"", 0);
    check_string_n("a\0b", 3, "\"a\\u0000b\"", 0);
}

static void test_utf8_passes_through(void **state)
{
    check_string("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x9b",
                 "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x9b\"", 0);
    /* The first and last of each length, around the surrogates, and the last of all. */
    check_string("\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
                 "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"",
                 0);
}

static void test_bytes_that_are_not_utf8(void **state)
{
    check_string("a\x80z", "\"a\\u0080z\"", 1);
    check_string("\xff\xfe", "\"\\u00ff\\u00fe\"", 2);
    check_string("\xc3", "\"\\u00c3\"", 1);
    check_string("\xc3z", "\"\\u00c3z\"", 1);
    check_string("\xe2\x82", "\"\\u00e2\\u0082\"", 2);
    check_string("\xf0\x9f\x90", "\"\\u00f0\\u009f\\u0090\"", 3);
    check_string("\xe2\x82\xc3\xbc", "\"\\u00e2\\u0082\xc3\xbc\"", 2); /* continues after the broken one */
    check_string("\xc0\xaf", "\"\\u00c0\\u00af\"", 2);                 /* longer than necessary */
    check_string("\xe0\x9f\xbf", "\"\\u00e0\\u009f\\u00bf\"", 3);
    check_string("\xf0\x8f\xbf\xbf", "\"\\u00f0\\u008f\\u00bf\\u00bf\"", 4);
    check_string("\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\"", 3);            /* a surrogate */
    check_string("\xf4\x90\x80\x80", "\"\\u00f4\\u0090\\u0080\\u0080\"", 4); /* beyond U+10FFFF */
}

/* A sequence cut off by the length, not by the end of memory. */
static void test_length_is_respected(void **state)
{
    check_string_n("\xc3\xbc", 1, "\"\\u00c3\"", 1);
    check_string_n("abc", 2, "\"ab\"", 0);
}

static char *take(tl_output *o, size_t *n)
{
    assert_int_equal(tl_output_finish(o, NULL), 0);
    char *text = tl_output_take_memory(o, n);
    tl_output_close(o);
    return text;
}

static void test_document(void **state)
{
    tl_output *o;
    tl_json j;
    assert_int_equal(tl_output_open_memory(&o, TL_PLAIN, NULL), 0);
    tl_json_init(&j, o);
    tl_json_object(&j);
    tl_json_key_u64(&j, "schema", 1);
    tl_json_key(&j, "list");
    tl_json_array(&j);
    tl_json_u64(&j, UINT64_MAX);
    tl_json_i64(&j, INT64_MIN);
    tl_json_array(&j);
    tl_json_array_end(&j);
    tl_json_object(&j);
    tl_json_object_end(&j);
    tl_json_bool(&j, true);
    tl_json_bool(&j, false);
    tl_json_null(&j);
    tl_json_string(&j, "s");
    tl_json_string(&j, NULL);
    tl_json_string_n(&j, "abc", 1);
    tl_json_array_end(&j);
    tl_json_key_string(&j, "a\"b", "c\nd");
    tl_json_key_string(&j, "none", NULL);
    tl_json_key_i64(&j, "minus", -5);
    tl_json_key_null(&j, "null");
    tl_json_key(&j, "object");
    tl_json_object(&j);
    tl_json_key_u64(&j, "x", 0);
    tl_json_object_end(&j);
    tl_json_object_end(&j);
    assert_int_equal(j.depth, 0);

    size_t n;
    char *text = take(o, &n);
    static const char expected[] =
        "{\"schema\":1,\"list\":[18446744073709551615,-9223372036854775808,[],{},true,false,null,\"s\",null,\"a\"],"
        "\"a\\\"b\":\"c\\nd\",\"none\":null,\"minus\":-5,\"null\":null,\"object\":{\"x\":0}}";
    assert_int_equal(n, sizeof expected - 1);
    assert_memory_equal(text, expected, n);
    free(text);
}

/* Strings far larger than the output's room are written in pieces: the result must be the same. */
static void check_long(const char *unit)
{
    size_t length = strlen(unit), n = 0;
    char *s = malloc(300000 + 8), *expected = malloc(6 * 300000 + 64);
    for (size_t shift = 0; shift < 5; shift++) {
        memset(s, 'x', shift);
        for (n = shift; n < 300000; n += length)
            memcpy(s + n, unit, length);
        n -= 1; /* and the last one is cut */
        size_t expected_n = (size_t)(tl_json_put_string(expected, s, n, NULL) - expected);

        tl_output *o;
        tl_json j;
        assert_int_equal(tl_output_open_memory(&o, TL_PLAIN, NULL), 0);
        tl_json_init(&j, o);
        tl_json_string_n(&j, s, n);
        size_t got_n;
        char *got = take(o, &got_n);
        assert_int_equal(got_n, expected_n);
        assert_memory_equal(got, expected, got_n);
        free(got);
    }
    free(s);
    free(expected);
}

static void test_long_strings(void **state)
{
    check_long("a");
    check_long("\x01");
    check_long("\xc3\xbc");
    check_long("\xe2\x82\xac");
    check_long("\xf0\x9f\x90\x9b");
    check_long("\x80");
    check_long("\xf0\x9f\x90\x9b\x80");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_strings),       cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_utf8_passes_through), cmocka_unit_test(test_bytes_that_are_not_utf8),
        cmocka_unit_test(test_length_is_respected), cmocka_unit_test(test_document),
        cmocka_unit_test(test_long_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

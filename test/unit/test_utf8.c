/* UTF-8: recognizing characters, and repairing other bytes. */
#include <stdbool.h>

#include "base/text/utf8.h"
#include "check.h"

static void test_lengths(void **state)
{
    const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"a", 1},
        {"\x7f", 1},
        {"\xc2\x80", 2},
        {"\xdf\xbf", 2},
        {"\xe0\xa0\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\x80", 0},             /* continuation */
        {"\xc0\x80", 0},         /* longer than need be */
        {"\xc1\xbf", 0},         /* the same */
        {"\xe0\x9f\xbf", 0},     /* the same */
        {"\xf0\x8f\xbf\xbf", 0}, /* the same */
        {"\xed\xa0\x80", 0},     /* surrogate */
        {"\xf4\x90\x80\x80", 0}, /* beyond U+10FFFF */
        {"\xf8\x88\x80\x80", 0},
        {"\xff", 0},
        {"\xc3", 0},     /* cut off */
        {"\xe2\x82", 0}, /* cut off */
        {"\xc3x", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(tl_utf8_length(cases[i].text, strlen(cases[i].text)), cases[i].length);
    assert_int_equal(tl_utf8_length("\xe2\x82\xac", 2), 0);
    assert_int_equal(tl_utf8_length("\0", 1), 1);
}

static void test_repair(void **state)
{
    char out[32];
    const char text[] = "a\xff\xe2\x82\xac\xe2\x82z";
    size_t n = tl_utf8_repair(out, text, sizeof text - 1);
    const char expected[] = "a\xc3\xbf\xe2\x82\xac\xc3\xa2\xc2\x82z";
    assert_int_equal(n, sizeof expected - 1);
    assert_memory_equal(out, expected, n);
    assert_int_equal(tl_utf8_repair(out, "", 0), 0);
}

/* Every character of the Basic Multilingual Plane, against the list of those kept from terminals. */
static void test_shown(void **state)
{
    for (uint32_t c = 1; c < 0x10000; c++) {
        char text[4] = "";
        size_t n = 0;
        if (c < 0x80) {
            text[n++] = (char)c;
        } else if (c < 0x800) {
            text[n++] = (char)(0xc0 | c >> 6);
            text[n++] = (char)(0x80 | (c & 0x3f));
        } else {
            text[n++] = (char)(0xe0 | c >> 12);
            text[n++] = (char)(0x80 | (c >> 6 & 0x3f));
            text[n++] = (char)(0x80 | (c & 0x3f));
        }
        const bool surrogate = c >= 0xd800 && c <= 0xdfff, control = c < 0x20 || (c >= 0x7f && c < 0xa0);
        const bool turns = c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
        assert_int_equal(tl_utf8_shown(text, n), surrogate || control || turns ? 0 : n);
        if (n == 3)
            assert_int_equal(tl_utf8_shown(text, 2), 0);
    }
    assert_int_equal(tl_utf8_shown("\xf0\x90\x80\x80", 4), 4);
    assert_int_equal(tl_utf8_shown("\x80", 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lengths), cmocka_unit_test(test_repair),
                                       cmocka_unit_test(test_shown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests of the words of TSDL: numbers, strings, comments, names; and harmless handling of broken text. */
#include "tsdl_schema.h"

/* The value of an environment entry, spelled like this. */
static const tl_property *env(const char *value)
{
    static char text[1 << 12];
    snprintf(text, sizeof text, TRACE "env { x = %s; };", value);
    const ctf_schema *s = schema_of(text);
    assert_int_equal(s->nproperty, 1);
    assert_string_equal(s->property[0].name, "x");
    return s->property;
}

static void env_fails(const char *value, const char *message)
{
    static char text[1 << 12];
    snprintf(text, sizeof text, TRACE "env { x = %s; };", value);
    schema_fails(text, message);
}

static void expect_number(const char *text, int64_t expected)
{
    const tl_property *p = env(text);
    assert_null(p->text);
    assert_int_equal(p->number, expected);
}

static void test_numbers(void **state)
{
    expect_number("0", 0);
    expect_number("1234", 1234);
    expect_number("+1234", 1234);
    expect_number("-1234", -1234);
    expect_number("06534", 06534);
    expect_number("0xABC234", 0xabc234);
    expect_number("0Xffu", 255);
    expect_number("7UL", 7);
    expect_number("7llu", 7);
    expect_number("-7ll", -7);
    expect_number("-(5)", -5);
    expect_number("-(-(5))", 5);
    expect_number("((6))", 6);
    expect_number("9223372036854775807", INT64_MAX);
    expect_number("-9223372036854775808", INT64_MIN);
    expect_number("'a'", 'a');
    expect_number("'\\n'", '\n');
    expect_number("L'\\0'", 0);
    expect_number("'ab'", 'a' << 8 | 'b');
    assert_string_equal(env("18446744073709551615")->text, "18446744073709551615");
}

static void test_broken_numbers(void **state)
{
    env_fails("|18446744073709551616", "a number of more than 64 bits");
    env_fails("|0x10000000000000000", "a number of more than 64 bits");
    env_fails("0|8", "'8' is not an octal digit");
    env_fails("|0x", "a malformed number");
    env_fails("|1a", "a malformed number");
    env_fails("|1lul", "a malformed number");
    env_fails("|1ullu", "a malformed number");
    env_fails("|-9223372036854775809", "a signed number of more than 64 bits");
    env_fails("1|.5", "expected ';', found '.'");
    env_fails("-|-1", "expected a value, found '-'");
}

static void test_strings(void **state)
{
    assert_string_equal(env("\"\"")->text, "");
    assert_string_equal(env("word")->text, "word");
    assert_string_equal(env("string")->text, "string");
    assert_string_equal(env("a.b->c")->text, "a.b.c");
    assert_string_equal(env("(word)")->text, "word");
    assert_string_equal(env("\"\\\"\"")->text, "\"");
    assert_string_equal(env("\"?\\x20\\040?\"")->text, "?  ?");
    assert_string_equal(env("\"\\a\\b\\f\\n\\r\\t\\v\\'\\?\\\\\"")->text, "\a\b\f\n\r\t\v'?\\");
    assert_string_equal(env("\"\\1a\\0011\"")->text, "\001a\0011");
    assert_string_equal(env("\"\\u00e9\\U0001f600\"")->text, "\xc3\xa9\xf0\x9f\x98\x80");
    assert_string_equal(env("L\"wide /* no comment */\"")->text, "wide /* no comment */");
    /* Other bytes become UTF-8: names are shown. */
    assert_string_equal(env("\"\\xff\xc3\xa9\"")->text, "\xc3\xbf\xc3\xa9");
}

static void test_broken_strings(void **state)
{
    env_fails("|\"abc", "a string without an end");
    env_fails("|\"abc\n\"", "a string without an end");
    env_fails("\"ab|\\q\"", "an unknown escape sequence in a string");
    env_fails("\"ab|\\x\"", "an escape sequence without digits");
    env_fails("\"ab|\\x100\"", "an escape sequence that is not at at a byte");
    env_fails("\"ab|\\400\"", "an escape sequence that is not at at a byte");
    env_fails("\"ab|\\u12\"", "an escape sequence with fewer than 4 hexadecimal digits");
    env_fails("\"ab|\\ud800\"", "an escape sequence that is not at at a character");
    env_fails("\"ab|\\U00110000\"", "an escape sequence that is not at at a character");
    env_fails("|\"ab\\0\"", "a string with a character of value 0");
    env_fails("|''", "a character constant without a character");
}

static void test_bytes_of_value_0(void **state)
{
    static const char padded[] = TRACE "\0\0\0", inside[] = TRACE "\0;", quoted[] = TRACE "env { x = \"a\0b\"; };";
    tl_error e = {0};
    const size_t n = strlen(TRACE);
    assert_int_equal(schema_parse_bytes(padded, sizeof padded - 1, &e), 0);
    assert_int_equal(schema_parse_bytes(inside, sizeof inside - 1, &e), TL_EDAMAGED);
    assert_int_equal(e.offset, n);
    assert_int_equal(schema_parse_bytes(quoted, sizeof quoted - 1, &e), TL_EDAMAGED);
    assert_int_equal(e.offset, n + strlen("env { x = \"a"));
    assert_string_equal(e.message, "line 2, column 13: a byte of value 0 in a string");
}

static void test_comments_and_lines(void **state)
{
    schema_of(
        "/* CTF 1.8 */\r\ntrace\r\n{\tmajor/**/=/***/1;//x\r\nminor=8 ; byte_order = le;/* / * */\r\n}\v\f;// the end");
    schema_fails(TRACE "|/* *", "a comment without an end");
    schema_fails(TRACE "|/*/", "a comment without an end");
    schema_fails(TRACE "|/ x", "a character '/' that does not belong here");
    schema_fails(TRACE "env|@", "a character '@' that does not belong here");
    schema_fails(TRACE "env |\x01", "a byte 0x01 that is not text");
    schema_fails(TRACE "env |\xff", "a byte 0xff that is not text");
    tl_error e = {0};
    assert_int_equal(schema_parse_bytes("\n\n  foo", 7, &e), TL_EDAMAGED);
    assert_string_equal(e.message, "line 3, column 3: expected a block or a declaration, found 'foo'");
    assert_int_equal(schema_parse_bytes("", 0, &e), TL_EDAMAGED);
    assert_string_equal(e.message, "line 1, column 1: no 'trace' block");
}

static void test_names(void **state)
{
    /* The two spellings of a letter are one name. */
    assert_string_equal(payload_of("u8 n\\u00e9e; u8 a[n\xc3\xa9"
                                   "e];"),
                        "{n\xc3\xa9"
                        "e:u8 a:[n\xc3\xa9"
                        "e]u8}@8");
    payload_fails("u8 a; u8 |\\u0061;", "'a' is declared twice");
    payload_fails("u8 x|\xff;", "a byte 0xff that is not text");
}

static const char sample[] =
    "/* CTF 1.8 */\n" TRACE TYPES
    "clock { name = \"m\"; uuid = \"c19b5ac9-b8e6-4f78-be95-a605d04e34c6\"; offset = -5; };\n"
    "typealias integer { size = 27; align = 1; map = clock.m.value; } := t27; typedef u8 arr[2][env.n];\n"
    "struct h { enum : u8 { a = 0 ... 30, \"b\" = '\\x1f' } id; variant <id> { t27 a; string b; } v; } align(8);\n"
    "env { n = 3; s = \"\\n\\u00e9\"; };\n"
    "stream { id = 1; event.header := struct h; packet.context := struct { u64 content_size; }; };\n"
    "event { name = e; fields := struct { u16 a:3, :2; u8 len; u8 s[len][2]; c t[stream.event.header.id]; arr x; }; "
    "};\n";

static void test_every_truncation_is_survived(void **state)
{
    const size_t n = strlen(sample);
    schema_of(sample);
    for (size_t i = 0; i < n; i++) {
        tl_error e = {0};
        int rc = schema_parse_bytes(sample, i, &e);
        if (rc < 0) {
            assert_int_equal(rc, TL_EDAMAGED);
            assert_true(e.offset <= i);
        } else {
            size_t last = i; /* only between two declarations */
            while (sample[last - 1] == ' ' || sample[last - 1] == '\n')
                last--;
            assert_int_equal(sample[last - 1], ';');
        }
    }
}

static void test_every_broken_byte_is_survived(void **state)
{
    static const char with[] = "x_0;{}[]<>()\"'\\:=.,*-\n \xff";
    const size_t n = strlen(sample);
    char *text = malloc(n);
    assert_non_null(text);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof with; k++) {
            tl_error e = {0};
            memcpy(text, sample, n);
            text[i] = with[k];
            if (schema_parse_bytes(text, n, &e) < 0)
                assert_true(e.code == TL_EDAMAGED && e.offset <= n && strncmp(e.message, "line ", 5) == 0);
        }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_numbers, schema_clean),
        cmocka_unit_test_teardown(test_broken_numbers, schema_clean),
        cmocka_unit_test_teardown(test_strings, schema_clean),
        cmocka_unit_test_teardown(test_broken_strings, schema_clean),
        cmocka_unit_test_teardown(test_bytes_of_value_0, schema_clean),
        cmocka_unit_test_teardown(test_comments_and_lines, schema_clean),
        cmocka_unit_test_teardown(test_names, schema_clean),
        cmocka_unit_test_teardown(test_every_truncation_is_survived, schema_clean),
        cmocka_unit_test_teardown(test_every_broken_byte_is_survived, schema_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests of base/text/json_read.h: values, places, strictness, and limits on hostile text. */
#include "base/compiler.h"
#include "base/text/json_read.h"
#include "check.h"

#define VALUES 1000000u

static tl_arena arena;

static const tl_json_value *parse_n(const char *text, size_t n)
{
    const tl_json_value *v = NULL;
    tl_error e;
    if (tl_json_parse(&v, &arena, text, n, VALUES, &e) < 0)
        fail_msg("%s: %s", text, e.message);
    return v;
}

static const tl_json_value *parse(const char *text)
{
    return parse_n(text, strlen(text));
}

static int clean(void **state)
{
    tl_arena_fini(&arena);
    return 0;
}

static void test_kinds(void **state)
{
    const tl_json_value *v = parse(" [null, true, false, 7, -7, 1.5, \"a\", [], {}]\r\n\t ");
    assert_int_equal(v->kind, TL_JSON_ARRAY);
    assert_int_equal(v->n, 9);
    assert_null(v->next);
    assert_null(v->name);
    static const struct {
        tl_json_kind kind;
        const char *name;
    } expected[] = {{TL_JSON_NULL, "null"},       {TL_JSON_BOOL, "a boolean"},         {TL_JSON_BOOL, "a boolean"},
                    {TL_JSON_UINT, "an integer"}, {TL_JSON_INT, "a negative integer"}, {TL_JSON_REAL, "another number"},
                    {TL_JSON_STRING, "a string"}, {TL_JSON_ARRAY, "an array"},         {TL_JSON_OBJECT, "an object"}};
    const tl_json_value *element = v->as.first;
    for (size_t i = 0; i < TL_COUNT(expected); i++, element = element->next) {
        assert_int_equal(element->kind, expected[i].kind);
        assert_string_equal(tl_json_kind_name(element), expected[i].name);
        if (i == 1 || i == 2)
            assert_int_equal(element->as.b, i == 1);
    }
    assert_null(element);
    assert_null(parse("[]")->as.first);
    assert_null(parse("{}")->as.first);
    assert_int_equal(parse("null")->kind, TL_JSON_NULL);
}

/* Integers are exact to the last bit; too large ones keep their text. */
static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        uint64_t u;
    } whole[] = {{"0", 0},
                 {"-0", 0},
                 {"9", 9},
                 {"9007199254740993", 9007199254740993u}, /* no double has this value */
                 {"9223372036854775807", INT64_MAX},
                 {"9223372036854775808", (uint64_t)INT64_MAX + 1},
                 {"18446744073709551615", UINT64_MAX}};
    for (size_t i = 0; i < TL_COUNT(whole); i++) {
        const tl_json_value *v = parse(whole[i].text);
        assert_int_equal(v->kind, TL_JSON_UINT);
        assert_true(v->as.u == whole[i].u);
    }
    static const struct {
        const char *text;
        int64_t i;
    } negative[] = {{"-1", -1}, {"-9223372036854775807", -INT64_MAX}, {"-9223372036854775808", INT64_MIN}};
    for (size_t i = 0; i < TL_COUNT(negative); i++) {
        const tl_json_value *v = parse(negative[i].text);
        assert_int_equal(v->kind, TL_JSON_INT);
        assert_true(v->as.i == negative[i].i);
    }
    static const char *const real[] = {"18446744073709551616",
                                       "-9223372036854775809",
                                       "99999999999999999999999999999999999",
                                       "0.0",
                                       "-0.5e-7",
                                       "1e400",
                                       "1E+2",
                                       "10.25"};
    for (size_t i = 0; i < TL_COUNT(real); i++) {
        const tl_json_value *v = parse(real[i]);
        assert_int_equal(v->kind, TL_JSON_REAL);
        assert_int_equal(v->n, strlen(real[i]));
        assert_string_equal(v->as.s, real[i]);
    }
}

static void test_strings(void **state)
{
    static const struct {
        const char *text, *value;
        uint32_t n;
    } cases[] = {
        {"\"\"", "", 0},
        {"\"a b\"", "a b", 3},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8},
        {"\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac", 6},
        {"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80", 4},
        {"\"\\uDBFF\\uDFFF\"", "\xf4\x8f\xbf\xbf", 4},
        {"\"\xe2\x82\xac\x7f\"", "\xe2\x82\xac\x7f", 4},
        {"\"a\\u0000b\"", "a\0b", 3},
        {"\"\\\\\\\"\"", "\\\"", 2},
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        const tl_json_value *v = parse(cases[i].text);
        assert_int_equal(v->kind, TL_JSON_STRING);
        assert_int_equal(v->n, cases[i].n);
        assert_memory_equal(v->as.s, cases[i].value, cases[i].n + 1);
    }
}

static void test_places(void **state)
{
    const char text[] = "  {\"a\" : [ 1,\n \"x\"], \"\\u0062\":{\"c\":-2 } }";
    const tl_json_value *v = parse(text);
    assert_int_equal(v->offset, 2);
    assert_int_equal(v->n, 2);
    const tl_json_value *a = tl_json_find(v, "a"), *b = tl_json_find(v, "b"), *c = tl_json_find(b, "c");
    assert_int_equal(a->name_offset, strstr(text, "\"a\"") - text);
    assert_int_equal(a->offset, strchr(text, '[') - text);
    assert_int_equal(a->as.first->offset, strchr(text, '1') - text);
    assert_int_equal(a->as.first->next->offset, strstr(text, "\"x\"") - text);
    assert_int_equal(b->name_offset, strstr(text, "\"\\u") - text);
    assert_string_equal(b->name, "b");
    assert_int_equal(b->name_n, 1);
    assert_int_equal(c->offset, strchr(text, '-') - text);
    assert_null(tl_json_find(v, "c"));
    assert_null(tl_json_find(a, "a"));
    assert_null(tl_json_find(NULL, "a"));
    assert_null(tl_json_find(v, ""));
    /* A name is compared as a whole, even with a NUL in it. */
    assert_null(tl_json_find(parse("{\"a\\u0000\":1}"), "a"));
}

static void test_strict(void **state)
{
    static const struct {
        const char *text;
        uint64_t offset;
        const char *message;
    } cases[] = {
        {"", 0, "expected a value, found the end of the text"},
        {"  ", 2, "expected a value, found the end"},
        {"\xef\xbb\xbf{}", 0, "expected a value"},
        {"[1,]", 3, "expected a value, found ']'"},
        {"[,1]", 1, "expected a value, found ','"},
        {"[1 2]", 3, "expected ',' or ']', found '2'"},
        {"[1}", 2, "expected ',' or ']', found '}'"},
        {"[1", 2, "expected ',' or ']', found the end"},
        {"[", 1, "expected a value, found the end"},
        {"]", 0, "expected a value"},
        {"{\"a\":1,}", 7, "expected the name of a member in quotes, found '}'"},
        {"{a:1}", 1, "expected the name of a member"},
        {"{,}", 1, "expected the name of a member"},
        {"{\"a\" 1}", 5, "expected ':' after the name of a member, found '1'"},
        {"{\"a\":}", 5, "expected a value, found '}'"},
        {"{\"a\":1 \"b\":2}", 7, "expected ',' or '}', found '\"'"},
        {"{\"a\":1]", 6, "expected ',' or '}', found ']'"},
        {"{\"a\"", 4, "expected ':'"},
        {"{", 1, "expected the name of a member in quotes, found the end"},
        {"1 2", 2, "expected nothing after the value, found '2'"},
        {"{} \xe2\x82\xac", 3, "found '\xe2\x82\xac'"},
        {"{}\x1e", 2, "found the byte 0x1e"},
        {"tru", 0, "expected a value, found 't'"},
        {"True", 0, "expected a value"},
        {"nul", 0, "expected a value"},
        {"NaN", 0, "expected a value"},
        {"/* */1", 0, "expected a value, found '/'"},
        {"[1 // x\n]", 3, "expected ',' or ']', found '/'"},
        {"'a'", 0, "expected a value, found '''"},
        {"01", 0, "superfluous zero"},
        {"-01", 0, "superfluous zero"},
        {"00", 0, "superfluous zero"},
        {"-", 1, "expected a digit, found the end"},
        {"+1", 0, "expected a value, found '+'"},
        {".5", 0, "expected a value, found '.'"},
        {"1.", 2, "expected a digit, found the end"},
        {"1.e3", 2, "expected a digit, found 'e'"},
        {"1e", 2, "expected a digit"},
        {"1e+", 3, "expected a digit"},
        {"0x10", 1, "expected nothing after the value, found 'x'"},
        {"\"a", 0, "does not end"},
        {"[\"a\\\"]", 1, "does not end"},
        {"\"\\", 0, "does not end"},
        {"\"a\nb\"", 2, "the byte 0x0a in a string"},
        {"\"a\tb\"", 2, "the byte 0x09 in a string"},
        {"\"\\x\"", 2, "after a backslash, found 'x'"},
        {"\"\\u12g4\"", 3, "four hexadecimal digits"},
        {"\"\\u123\"", 3, "four hexadecimal digits"},
        {"\"\\ud83d\"", 1, "\\ud83d is half of a surrogate pair"},
        {"\"\\ud83dx\"", 1, "half of a surrogate pair"},
        {"\"\\ud83d\\n\"", 1, "half of a surrogate pair"},
        {"\"\\ud83d\\u0041\"", 1, "half of a surrogate pair"},
        {"\"\\ude00\\ud83d\"", 1, "\\ude00 is half of a surrogate pair"},
        {"\"\xff\"", 1, "the byte 0xff in a string is not UTF-8"},
        {"\"\xc0\x80\"", 1, "not UTF-8"},
        {"\"\xed\xa0\x80\"", 1, "not UTF-8"},
        {"\"\xe2\x82\"", 1, "not UTF-8"},
        {"{\"\x01\":1}", 2, "the byte 0x01 in a string"},
    };
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        const tl_json_value *v = NULL;
        tl_error e = {0};
        int rc = tl_json_parse(&v, &arena, cases[i].text, strlen(cases[i].text), VALUES, &e);
        if (rc != TL_EDAMAGED || e.offset != cases[i].offset || !strstr(e.message, cases[i].message))
            fail_msg("%s: %d at %u: %s", cases[i].text, rc, (unsigned)e.offset, e.message);
        assert_null(v);
        assert_int_equal(tl_json_parse(&v, &arena, cases[i].text, strlen(cases[i].text), VALUES, NULL), TL_EDAMAGED);
    }
}

/* The text need not be terminated, and no byte after it is read. Each prefix of a valid text is an error. */
static void test_prefixes(void **state)
{
    static const char text[] =
        "{\"a\\u00e9\\ud83d\\ude00\":[-12.5e+3,true,null,false,\"\\n\"],\"b\":{\"c\":\"\xe2\x82\xac\"}}";
    const size_t n = sizeof text - 1;
    for (size_t cut = 0; cut < n; cut++) {
        char *copy = malloc(cut ? cut : 1);
        const tl_json_value *v;
        assert_non_null(copy);
        memcpy(copy, text, cut);
        tl_error e;
        assert_int_equal(tl_json_parse(&v, &arena, copy, cut, VALUES, &e), TL_EDAMAGED);
        assert_true(e.offset <= cut);
        free(copy);
    }
    assert_int_equal(parse_n(text, n)->n, 2);
    assert_int_equal(parse_n("12345", 2)->as.u, 12);
}

static void test_names_twice(void **state)
{
    const tl_json_value *v;
    tl_error e;
    const char small[] = "{\"a\":1,\"b\":2,\"\\u0061\":3}";
    assert_int_equal(tl_json_parse(&v, &arena, small, strlen(small), VALUES, &e), TL_EDAMAGED);
    assert_int_equal(e.offset, strstr(small, "\"\\u") - small);
    assert_string_equal(e.message, "the object has a second member \"a\"");
    const char nested[] = "{\"a\":{\"a\":1},\"b\":{\"a\":1}}";
    assert_int_equal(parse(nested)->n, 2);
    /* Large objects, where names are sorted: the first duplicate is reported. */
    for (unsigned n = 10; n <= 1000; n += 33) {
        char *text = malloc(n * 12 + 40);
        assert_non_null(text);
        size_t at = 1;
        text[0] = '{';
        for (unsigned i = 0; i < n; i++)
            at += (size_t)sprintf(text + at, "\"%u\":%u,", (i * 7919) % 100003, i);
        size_t sound = at;
        text[sound - 1] = '}';
        assert_int_equal(parse_n(text, sound)->n, n);
        text[sound - 1] = ',';
        sprintf(text + at, "\"0\":1,\"7919\":2,\"0\":3}");
        assert_int_equal(tl_json_parse(&v, &arena, text, strlen(text), VALUES, &e), TL_EDAMAGED);
        assert_int_equal(e.offset, sound);
        assert_string_equal(e.message, "the object has a second member \"0\"");
        free(text);
    }
}

static char *nested(unsigned depth, char open, char close)
{
    char *text = malloc(2 * (size_t)depth + 1);
    assert_non_null(text);
    memset(text, open, depth);
    memset(text + depth, close, depth);
    text[2 * depth] = '\0';
    return text;
}

static void test_limits(void **state)
{
    const tl_json_value *v;
    tl_error e;
    char *text = nested(TL_JSON_DEPTH_MAX, '[', ']');
    assert_int_equal(parse(text)->n, 1);
    free(text);
    text = nested(TL_JSON_DEPTH_MAX + 1, '[', ']');
    assert_int_equal(tl_json_parse(&v, &arena, text, strlen(text), VALUES, &e), TL_EUNSUPPORTED);
    assert_int_equal(e.offset, TL_JSON_DEPTH_MAX);
    free(text);
    assert_int_equal(tl_json_parse(&v, &arena, "[1,2,3]", 7, 4, &e), 0);
    assert_int_equal(tl_json_parse(&v, &arena, "[1,2,3]", 7, 3, &e), TL_ENOMEM);
    assert_int_equal(e.offset, 5);
    assert_int_equal(tl_json_parse(&v, &arena, "0", 0, 0, &e), TL_ENOMEM);
    assert_int_equal(tl_json_parse(&v, &arena, "0", (size_t)TL_JSON_TEXT_MAX + 1, 1, &e), TL_EUNSUPPORTED);
}

/* Repeats `unit` n times between a begin and an end, which replaces the last byte. */
static char *repeated(const char *begin, const char *unit, size_t n, const char *end)
{
    const size_t length = strlen(unit);
    char *text = malloc(strlen(begin) + n * length + strlen(end) + 1), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", begin);
    for (size_t i = 0; i < n; i++, at += length)
        memcpy(at, unit, length);
    sprintf(at - 1, "%s", end);
    return text;
}

/* What the header promises: 100 bytes for each value, and the text once. */
static void test_memory(void **state)
{
    static const char *const units[] = {"0,", "\"\",", "[],", "1.5,", "{\"\":{}},", "\"\\u00e9\xe2\x82\xac\","};
    for (size_t i = 0; i < TL_COUNT(units); i++) {
        const size_t n = 200000, values = strchr(units[i], '{') ? 3 * n + 1 : n + 1;
        char *text = repeated("[", units[i], n, "]");
        assert_int_equal(parse(text)->n, n);
        /* The arena takes chunks of 1 MiB. */
        assert_true(arena.total <= 100 * values + strlen(text) + (2 << 20));
        tl_arena_fini(&arena);
        free(text);
    }
    /* A million brackets, a number of a million digits, a string of a million escapes: none takes more memory than its
     * text. */
    char *text = nested(1000000, '[', ']');
    const tl_json_value *v;
    assert_int_equal(tl_json_parse(&v, &arena, text, strlen(text), VALUES, NULL), TL_EUNSUPPORTED);
    free(text);
    text = repeated("", "9", 1000000, " ");
    assert_int_equal(parse(text)->n, 999999);
    free(text);
    text = repeated("\"", "\\n", 1000000, "\\\"");
    assert_int_equal(parse(text)->n, 1000000);
    free(text);
    text = repeated("\"", "\\u0041", 100000, "1\"");
    assert_int_equal(parse(text)->n, 100000);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_kinds, clean),       cmocka_unit_test_teardown(test_numbers, clean),
        cmocka_unit_test_teardown(test_strings, clean),     cmocka_unit_test_teardown(test_places, clean),
        cmocka_unit_test_teardown(test_strict, clean),      cmocka_unit_test_teardown(test_prefixes, clean),
        cmocka_unit_test_teardown(test_names_twice, clean), cmocka_unit_test_teardown(test_limits, clean),
        cmocka_unit_test_teardown(test_memory, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

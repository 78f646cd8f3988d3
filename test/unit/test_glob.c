/* Tests of base/text/glob.h. */
#include <time.h>

#include "base/text/glob.h"
#include "check.h"

#define MATCH(pattern, text)    assert_true(tl_glob(pattern, text))
#define NO_MATCH(pattern, text) assert_false(tl_glob(pattern, text))

static void test_plain_text(void **state)
{
    MATCH("", "");
    MATCH("main", "main");
    NO_MATCH("main", "mai");
    NO_MATCH("main", "main2");
    NO_MATCH("main", "Main");
    NO_MATCH("", "x");
    NO_MATCH("x", "");
}

static void test_star(void **state)
{
    MATCH("*", "");
    MATCH("*", "anything");
    MATCH("**", "");
    MATCH("a*", "a");
    MATCH("*b", "aab");
    MATCH("a*b*c", "aXbYbZc");
    MATCH("a*b*c", "abcbc");
    NO_MATCH("a*b*c", "acb");
    MATCH("*abab", "abaabab");
    NO_MATCH("*abab", "ababa");
    /* It also matches separators. */
    MATCH("std::*::push_back", "std::vector<int>::push_back");
    MATCH("/usr/*.so", "/usr/lib/x/y.so");
}

static void test_question_mark(void **state)
{
    MATCH("?", "x");
    NO_MATCH("?", "");
    NO_MATCH("?", "xy");
    MATCH("a?c", "abc");
    MATCH("*?", "x");
    NO_MATCH("*?", "");
    /* One character, however many bytes it has; a stray byte is one, too. */
    MATCH("?", "\xc3\xbc");
    MATCH("a?c", "a\xe2\x82\xac"
                 "c");
    NO_MATCH("??", "\xc3\xbc");
    MATCH("?", "\xff");
    MATCH("?", "\x80");
}

static void test_class(void **state)
{
    MATCH("[abc]", "b");
    NO_MATCH("[abc]", "d");
    NO_MATCH("[abc]", "");
    MATCH("[a-z]", "q");
    NO_MATCH("[a-z]", "Q");
    MATCH("[a-cx-z]", "y");
    MATCH("[!a-z]", "Q");
    NO_MATCH("[!a-z]", "q");
    NO_MATCH("[!a-z]", "");
    MATCH("[^a-z]", "Q");
    MATCH("[]]", "]");
    MATCH("[]a]", "a");
    NO_MATCH("[!]]", "]");
    MATCH("[a-]", "-");
    MATCH("[-a]", "-");
    MATCH("[\\]]", "]");
    MATCH("[\\-a]", "-");
    NO_MATCH("[z-a]", "m");
    MATCH("x[0-9][0-9]*", "x42y");
    MATCH("*[0-9]", "abc7");
    /* Above ASCII, bytes are compared without sign. */
    MATCH("[\x80-\xff]", "\xe4");
}

static void test_unclosed_class_is_text(void **state)
{
    MATCH("[abc", "[abc");
    NO_MATCH("[abc", "a");
    MATCH("operator[", "operator[");
    MATCH("*[", "x[");
    MATCH("[", "[");
    MATCH("[!", "[!");
    MATCH("operator\\[\\]", "operator[]");
}

static void test_backslash(void **state)
{
    MATCH("\\*", "*");
    NO_MATCH("\\*", "x");
    MATCH("\\?", "?");
    NO_MATCH("\\?", "x");
    MATCH("\\\\", "\\");
    MATCH("a\\", "a\\");
    MATCH("\\a", "a");
    MATCH("*\\**", "a*b");
    NO_MATCH("*\\**", "ab");
}

/* Patterns that are exponential for a recursive matcher. */
static void test_pathological_patterns_end_soon(void **state)
{
    enum { N = 20000, STARS = 100 };
    char *text = malloc(N + 1), pattern[3 * STARS + 3];
    memset(text, 'a', N);
    text[N] = '\0';
    for (size_t i = 0; i < STARS; i++)
        memcpy(pattern + 2 * i, "a*", 2);
    clock_t begin = clock();
    strcpy(pattern + 2 * STARS, "b");
    NO_MATCH(pattern, text);
    strcpy(pattern + 2 * STARS, "a");
    MATCH(pattern, text);
    for (size_t i = 0; i < STARS; i++)
        memcpy(pattern + 3 * i, "*?a", 3);
    strcpy(pattern + 3 * STARS, "b");
    NO_MATCH(pattern, text);
    memset(pattern, '*', 2 * STARS);
    strcpy(pattern + 2 * STARS, "b");
    NO_MATCH(pattern, text);
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
    free(text);
}

/* Every pattern and text over a small alphabet against the definition. */
static int by_definition(const char *p, const char *t)
{
    if (!*p)
        return !*t;
    if (*p == '*')
        return by_definition(p + 1, t) || (*t && by_definition(p, t + 1));
    return *t && (*p == '?' || *p == *t) && by_definition(p + 1, t + 1);
}

static void test_against_the_definition(void **state)
{
    char pattern[7], text[7];
    for (unsigned p = 0; p < 4096; p++) {
        for (unsigned i = 0; i < 6; i++)
            pattern[i] = "ab*?"[p >> 2 * i & 3];
        for (size_t plength = 1; plength <= 6; plength++) {
            char part[7] = {0};
            memcpy(part, pattern, plength);
            for (unsigned t = 0; t < 64; t++) {
                for (unsigned i = 0; i < 6; i++)
                    text[i] = "ab"[t >> i & 1];
                text[6] = '\0';
                assert_int_equal(tl_glob(part, text + t % 6), by_definition(part, text + t % 6));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_text),
        cmocka_unit_test(test_star),
        cmocka_unit_test(test_question_mark),
        cmocka_unit_test(test_class),
        cmocka_unit_test(test_unclosed_class_is_text),
        cmocka_unit_test(test_backslash),
        cmocka_unit_test(test_pathological_patterns_end_soon),
        cmocka_unit_test(test_against_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

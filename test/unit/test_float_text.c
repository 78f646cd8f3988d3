/* Floating-point numbers as text: shortest, and as printf prints them. */
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/text/float_text.h"
#include "check.h"

/* The definition: the fewest digits that read back. */
static void shortest(char *text, size_t size, double v, bool single)
{
    int precision = single ? 6 : 15;
    do
        snprintf(text, size, "%.*g", precision, v);
    while ((single ? (double)strtof(text, NULL) : strtod(text, NULL)) != v && ++precision <= 17);
    if (!strpbrk(text, ".e"))
        strcat(text, ".0");
}

static void check(double v)
{
    char text[TL_FLOAT_TEXT_MAX + 1], expected[64];
    memset(text, 0xee, sizeof text);
    char *end = tl_put_double(text, v);
    assert_in_range(end - text, 1, TL_FLOAT_TEXT_MAX);
    *end = 0;
    shortest(expected, sizeof expected, v, false);
    assert_string_equal(text, expected);

    *tl_put_six(text, v) = 0;
    snprintf(expected, sizeof expected, "%g", v);
    assert_string_equal(text, expected);

    const float single = (float)v;
    if (!isfinite(single))
        return;
    end = tl_put_float(text, single);
    assert_in_range(end - text, 1, TL_FLOAT_TEXT_MAX);
    *end = 0;
    shortest(expected, sizeof expected, (double)single, true);
    assert_string_equal(text, expected);
}

static void test_values(void **state)
{
    static const double v[] = {0.0,      -0.0,          1.0,     0.1,     1e15,     999999999999999.0,
                               1e16,     123456789.125, DBL_MAX, DBL_MIN, 5e-324,   1.0 / 3,
                               1e-4,     9.9e-5,        1e-5,    1e6,     999999,   999999.5,
                               99999.95, 0.3,           2.5,     1048576, 16777217, 0.000123,
                               1e9 + .5, 4.35,          -4.35};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        check(v[i]);
    static const struct {
        float v;
        const char *text;
    } single[] = {{0.1f, "0.1"},  {1.5f, "1.5"}, {3.0f, "3.0"}, {FLT_MAX, "3.40282e+38"}, {16777216.0f, "16777216.0"},
                  {-0.0f, "-0.0"}};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        char text[TL_FLOAT_TEXT_MAX + 1];
        *tl_put_float(text, single[i].v) = 0;
        assert_true(strtof(text, NULL) == single[i].v);
        if (i != 3)
            assert_string_equal(text, single[i].text);
    }
}

static void test_random_values(void **state)
{
    uint64_t seed = 88172645463325252u;
    for (unsigned i = 0; i < 60000; i++) {
        double v;
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        switch (i % 5) {
        case 0:
            memcpy(&v, &seed, sizeof v);
            break;
        case 1:
            v = (double)((int64_t)(seed % 2000001) - 1000000) / 100;
            break;
        case 2:
            v = (double)(seed % 1000000000000000) / 1e6;
            break;
        case 3:
            v = (double)(seed >> (seed & 63));
            break;
        default:
            v = (double)(seed % 100000) / (double)(1 << (seed >> 60));
        }
        if (isfinite(v))
            check(v);
    }
}

static void test_six_of_what_is_no_number(void **state)
{
    static const double v[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        char text[TL_FLOAT_TEXT_MAX + 1], expected[32];
        *tl_put_six(text, v[i]) = 0;
        snprintf(expected, sizeof expected, "%g", v[i]);
        assert_string_equal(text, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_random_values),
        cmocka_unit_test(test_six_of_what_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

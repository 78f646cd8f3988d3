/* Floating-point numbers as text: simple decimals by exact arithmetic, all others by the C library. */
#include "base/text/float_text.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text/number.h"

/* Digits of the fast way. Integers of this many digits are exact in a double, and so are the powers of ten that divide
 * them: then one correctly rounded division gives the number that the text reads back as. */
enum { EXACT_DIGITS = 15, DOUBLE_DIGITS = 17, FLOAT_DIGITS = 9, FLOAT_LEAST = 6, FRACTION_MAX = 9, SIX = 6 };

#define EXACT_LIMIT 1e15
#define PLAIN_LEAST 1e-4 /* "%g" writes smaller numbers with an exponent */

static const double power[FRACTION_MAX + 1] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

/* digits / 10^fraction, with a point. */
static char *put_decimal(char *p, uint64_t digits, unsigned fraction)
{
    static const uint64_t whole[FRACTION_MAX + 1] = {1,      10,      100,      1000,      10000,
                                                     100000, 1000000, 10000000, 100000000, 1000000000};
    p = tl_put_u64(p, digits / whole[fraction]);
    *p++ = '.';
    if (fraction == 0) {
        *p++ = '0';
        return p;
    }
    char *end = p + fraction;
    uint64_t rest = digits % whole[fraction];
    for (char *q = end; q > p; rest /= 10)
        *--q = (char)('0' + rest % 10);
    return end;
}

/* Does the decimal, whose nearest double is `decimal`, read back as v? A double: if they are equal. A float: if it is
 * clearly within half the distance to v's neighbours, which is at least 2^-25 of v. */
static inline bool reads_back(double decimal, double v, bool single)
{
    const double distance = decimal < v ? v - decimal : decimal - v;
    return single ? distance < v * (1.0 / (1 << 25)) * 0.99 : distance == 0;
}

/* Writes v > 0 if it has few fractional digits, else NULL. */
static char *put_simple(char *p, double v, bool single)
{
    if (FLT_EVAL_METHOD != 0 || !(v >= PLAIN_LEAST && v < EXACT_LIMIT)) /* with more digits, divisions round twice */
        return NULL;
    const double limit = single ? power[FLOAT_LEAST] : EXACT_LIMIT;
    for (unsigned fraction = 0; fraction <= FRACTION_MAX; fraction++) {
        const double nearest = v * power[fraction] + 0.5;
        if (nearest >= limit)
            break;
        const double digits = (double)(uint64_t)nearest;
        if (reads_back(digits / power[fraction], v, single))
            return put_decimal(p, (uint64_t)digits, fraction);
    }
    return NULL;
}

static void neutral_point(char *text)
{
    char *point = strchr(text, ','); /* the caller may have set another locale */
    if (point)
        *point = '.';
}

static TL_COLD char *put_slowly(char *p, double v, bool single)
{
    char text[TL_FLOAT_TEXT_MAX + 8];
    int precision = single ? FLOAT_LEAST : EXACT_DIGITS;
    do
        snprintf(text, sizeof text, "%.*g", precision, v);
    while ((single ? (double)strtof(text, NULL) != v : strtod(text, NULL) != v) &&
           ++precision <= (single ? FLOAT_DIGITS : DOUBLE_DIGITS));
    neutral_point(text);
    size_t n = strlen(text);
    memcpy(p, text, n);
    if (!strpbrk(text, ".e")) {
        memcpy(p + n, ".0", 2);
        n += 2;
    }
    return p + n;
}

static char *put_shortest(char *p, double v, bool single)
{
    char *start = p;
    if (signbit(v)) {
        *p++ = '-';
        v = -v;
    }
    char *end = v == 0 ? put_decimal(p, 0, 0) : put_simple(p, v, single);
    return end ? end : put_slowly(start, start == p ? v : -v, single);
}

char *tl_put_double(char *p, double v)
{
    return put_shortest(p, v, false);
}

char *tl_put_float(char *p, float v)
{
    return put_shortest(p, (double)v, true);
}

char *tl_put_six(char *p, double v)
{
    char text[TL_FLOAT_TEXT_MAX];
    if (v > -power[SIX] && v < power[SIX] && v == (double)(int64_t)v && !(v == 0 && signbit(v)))
        return tl_put_i64(p, (int64_t)v);
    int n = snprintf(text, sizeof text, "%g", v);
    neutral_point(text);
    memcpy(p, text, (size_t)n);
    return p + n;
}

char *tl_put_real(char *p, double v, bool single)
{
    if (!isfinite(v)) {
        const char *text = isnan(v) ? "NaN" : v < 0 ? "-Infinity" : "Infinity";
        memcpy(p, text, strlen(text));
        return p + strlen(text);
    }
    return single ? tl_put_float(p, (float)v) : tl_put_double(p, v);
}

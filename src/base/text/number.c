/* Numbers: decimal and hexadecimal text, and exact conversion between ticks and nanoseconds.
 *
 * tl_scale keeps 10^9 / hz as a 64-bit mantissa: reciprocal = floor(10^9 * 2^shift / hz), with shift chosen so that its
 * highest bit is set. ticks * reciprocal >> shift then is the quotient or at most 2 below it:
 *   the mantissa is less than 1 too small, so the estimate is less than ticks / 2^shift + 1 below the exact value;
 *   shift >= 64: ticks / 2^shift < 1.  shift < 64: a result below 2^64 needs ticks < 2^(shift + 1), so it is < 2.
 * The remainder ticks * 10^9 - quotient * hz is then below 4 * hz, and with hz < 2^62 fits 64 bits: computed modulo
 * 2^64 it is exact, corrects the quotient, and decides the rounding. Other hz use long division. */
#include "base/text/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/wide.h"

#define NS_PER_S 1000000000u
#define FAST_HZ  ((uint64_t)1 << 62)

/* The digits 00 .. 99, two bytes each. */
static const char two_digits[201] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                    "8081828384858687888990919293949596979899";

static const uint64_t power_of_10[20] = {1u,
                                         10u,
                                         100u,
                                         1000u,
                                         10000u,
                                         100000u,
                                         1000000u,
                                         10000000u,
                                         100000000u,
                                         1000000000u,
                                         10000000000u,
                                         100000000000u,
                                         1000000000000u,
                                         10000000000000u,
                                         100000000000000u,
                                         1000000000000000u,
                                         10000000000000000u,
                                         100000000000000000u,
                                         1000000000000000000u,
                                         10000000000000000000u};

/* Text */

static inline unsigned count_digits(uint64_t v)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(v | 1);
    unsigned estimate = bits * 1233 >> 12; /* bits * log10(2), rounded down: exact, or one digit too few */
    return estimate + (v >= power_of_10[estimate]);
}

char *tl_put_u64(char *p, uint64_t v)
{
    unsigned n = v == 0 ? 1 : count_digits(v);
    char *end = p + n;
    for (p = end; v >= 10000; v /= 10000) {
        unsigned four = (unsigned)(v % 10000);
        p -= 4;
        memcpy(p, two_digits + four / 100 * 2, 2);
        memcpy(p + 2, two_digits + four % 100 * 2, 2);
    }
    unsigned rest = (unsigned)v;
    if (rest >= 100) {
        p -= 2;
        memcpy(p, two_digits + rest % 100 * 2, 2);
        rest /= 100;
    }
    if (rest >= 10)
        memcpy(p - 2, two_digits + rest * 2, 2);
    else
        p[-1] = (char)('0' + rest);
    return end;
}

char *tl_put_i64(char *p, int64_t v)
{
    if (v >= 0)
        return tl_put_u64(p, (uint64_t)v);
    *p++ = '-';
    return tl_put_u64(p, 0 - (uint64_t)v);
}

char *tl_put_hex(char *p, uint64_t v)
{
    unsigned n = (67 - (unsigned)__builtin_clzll(v | 1)) / 4;
    for (unsigned i = n; i-- > 0; v >>= 4)
        p[i] = "0123456789abcdef"[v & 15];
    return p + n;
}

/* n / d where n.high < d, so that the quotient fits 64 bits. Slow: for rare use. */
static uint64_t divide(tl_wide n, uint64_t d, uint64_t *remainder)
{
#ifdef __SIZEOF_INT128__
    tl_uint128 value = (tl_uint128)n.high << 64 | n.low;
    *remainder = (uint64_t)(value % d);
    return (uint64_t)(value / d);
#else
    uint64_t rest = n.high, quotient = 0;
    for (int bit = 63; bit >= 0; bit--) {
        bool carry = rest >> 63;
        rest = rest << 1 | (n.low >> bit & 1);
        quotient <<= 1;
        if (carry || rest >= d) {
            rest -= d;
            quotient |= 1;
        }
    }
    *remainder = rest;
    return quotient;
#endif
}

/* Rounds half to even; saturates. */
static inline uint64_t round_quotient(uint64_t quotient, uint64_t remainder, uint64_t d)
{
    uint64_t rest = d - remainder;
    bool up = remainder > rest || (remainder == rest && (quotient & 1));
    return quotient == UINT64_MAX ? quotient : quotient + up;
}

uint64_t tl_scale_exactly(uint64_t a, uint64_t b, uint64_t d)
{
    tl_wide product = tl_multiply(a, b);
    uint64_t remainder;
    if (product.high >= d)
        return UINT64_MAX;
    uint64_t quotient = divide(product, d, &remainder);
    return round_quotient(quotient, remainder, d);
}

/* Ticks and nanoseconds */

void tl_scale_init(tl_scale *s, uint64_t hz)
{
    *s = (tl_scale){.hz = hz};
    if (hz == 0 || hz == NS_PER_S || hz >= FAST_HZ)
        return;
    /* 10^9 * 2^34 / 1 has its highest bit set: the smallest possible shift. */
    tl_wide n = {.high = (uint64_t)NS_PER_S >> 30, .low = (uint64_t)NS_PER_S << 34};
    unsigned shift = 34;
    while (n.high < hz >> 1 || (n.high == hz >> 1 && n.low < hz << 63)) {
        n.high = n.high << 1 | n.low >> 63;
        n.low <<= 1;
        shift++;
    }
    uint64_t remainder;
    s->reciprocal = divide(n, hz, &remainder);
    s->shift = shift;
}

TL_COLD static uint64_t scale_ns_slowly(const tl_scale *s, uint64_t ticks)
{
    return s->hz < FAST_HZ ? ticks : tl_scale_exactly(ticks, NS_PER_S, s->hz);
}

TL_COLD static uint64_t scale_ns_down_slowly(const tl_scale *s, uint64_t ticks, uint64_t rest)
{
    tl_wide product = tl_multiply(ticks, NS_PER_S);
    uint64_t remainder;
    if (s->hz < FAST_HZ)
        return ticks;
    product.low += rest;
    product.high += product.low < rest;
    return product.high >= s->hz ? UINT64_MAX : divide(product, s->hz, &remainder);
}

/* ticks * 10^9 / hz rounded down, and the remainder; UINT64_MAX and 0 if it does not fit. */
TL_ALWAYS_INLINE uint64_t scale_quotient(const tl_scale *s, uint64_t ticks, uint64_t *rest)
{
    uint64_t hz = s->hz, quotient;
    *rest = 0;
    tl_wide product = tl_multiply(ticks, s->reciprocal);
    if (s->shift >= 64) {
        quotient = product.high >> (s->shift - 64);
    } else {
        if (TL_UNLIKELY(product.high >> s->shift != 0))
            return UINT64_MAX;
        quotient = product.high << (64 - s->shift) | product.low >> s->shift;
    }
    uint64_t remainder = ticks * NS_PER_S - quotient * hz;
    while (TL_UNLIKELY(remainder >= hz)) {
        if (quotient == UINT64_MAX)
            return quotient;
        remainder -= hz;
        quotient++;
    }
    *rest = remainder;
    return quotient;
}

uint64_t tl_scale_other_ns(const tl_scale *s, uint64_t ticks)
{
    if (TL_UNLIKELY(s->reciprocal == 0))
        return scale_ns_slowly(s, ticks);
    uint64_t remainder, quotient = scale_quotient(s, ticks, &remainder);
    return round_quotient(quotient, remainder, s->hz);
}

uint64_t tl_scale_ns_down(const tl_scale *s, uint64_t ticks, uint64_t rest)
{
    if (s->hz == NS_PER_S)
        return ticks;
    if (TL_UNLIKELY(s->reciprocal == 0))
        return scale_ns_down_slowly(s, ticks, rest);
    uint64_t remainder, quotient = scale_quotient(s, ticks, &remainder);
    return quotient + (remainder + rest >= s->hz && quotient != UINT64_MAX);
}

uint64_t tl_scale_ticks(const tl_scale *s, uint64_t ns)
{
    if (s->hz == 0 || s->hz == NS_PER_S)
        return ns;
    uint64_t nearest = tl_scale_exactly(ns, s->hz, NS_PER_S);
    if (nearest == UINT64_MAX)
        return nearest;
    /* The first tick that rounds to ns is half a nanosecond before it, up to the rounding of three divisions. */
    const uint64_t half = s->hz / (2 * NS_PER_S) + 2;
    uint64_t ticks = nearest > half ? nearest - half : 0,
             enough = nearest > UINT64_MAX - half ? UINT64_MAX : nearest + half;
    while (ticks < enough) {
        uint64_t middle = ticks + (enough - ticks) / 2;
        if (tl_scale_ns(s, middle) < ns)
            ticks = middle + 1;
        else
            enough = middle;
    }
    return ticks;
}

/* For people */

static uint64_t divide_rounded(uint64_t v, uint64_t d)
{
    return v / d + (v % d >= d - v % d);
}

/* Three digits and the first unit (each is 1000 times the one before) that needs no more. */
static char *three_digits(char *buf, size_t n, uint64_t value, const char *const *unit, unsigned units)
{
    if (value < 1000) {
        snprintf(buf, n, "%" PRIu64 "%s", value, unit[0]);
        return buf;
    }
    for (unsigned i = 1; i < units; i++)
        for (unsigned decimals = 3; decimals-- > 0;) {
            uint64_t digits = divide_rounded(value, power_of_10[3 * i - decimals]), one = power_of_10[decimals];
            if (digits >= 1000 && !(i == units - 1 && decimals == 0))
                continue;
            if (decimals == 0)
                snprintf(buf, n, "%" PRIu64 "%s", digits, unit[i]);
            else
                snprintf(buf, n, "%" PRIu64 ".%0*" PRIu64 "%s", digits / one, (int)decimals, digits % one, unit[i]);
            return buf;
        }
    return buf;
}

char *tl_human_count(char *buf, size_t n, uint64_t value)
{
    static const char *const unit[] = {"", " k", " M", " G", " T", " P", " E"};
    return three_digits(buf, n, value, unit, TL_COUNT(unit));
}

char *tl_human_time(char *buf, size_t n, uint64_t value, bool is_ns)
{
    static const char *const unit[] = {" ns", " us", " ms", " s"};
    if (!is_ns)
        return tl_human_count(buf, n, value);
    if (value < 59950000000u) /* "60.0 s" would be a minute */
        return three_digits(buf, n, value, unit, TL_COUNT(unit));
    uint64_t seconds = divide_rounded(value, NS_PER_S), minutes = divide_rounded(value, 60 * (uint64_t)NS_PER_S);
    if (seconds < 3600)
        snprintf(buf, n, "%" PRIu64 " min %02" PRIu64 " s", seconds / 60, seconds % 60);
    else
        snprintf(buf, n, "%" PRIu64 " h %02" PRIu64 " min", minutes / 60, minutes % 60);
    return buf;
}

char *tl_human_bytes(char *buf, size_t n, uint64_t value)
{
    static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (value < 1024) {
        snprintf(buf, n, "%" PRIu64 " B", value);
        return buf;
    }
    for (unsigned i = 0; i < TL_COUNT(unit); i++) {
        unsigned shift = 10 * (i + 1);
        uint64_t one = (uint64_t)1 << shift, tenths = ((value & (one - 1)) * 10 + one / 2) >> shift;
        tenths += (value >> shift) * 10;
        if (tenths < 10240 || i == TL_COUNT(unit) - 1) {
            snprintf(buf, n, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10, unit[i]);
            break;
        }
    }
    return buf;
}

char *tl_human_grouped(char *buf, size_t n, uint64_t value)
{
    char digits[20], text[27], *p = text;
    size_t left = (size_t)(tl_put_u64(digits, value) - digits);
    for (const char *d = digits; left > 0; left--) {
        *p++ = *d++;
        if (left % 3 == 1 && left > 1)
            *p++ = ',';
    }
    snprintf(buf, n, "%.*s", (int)(p - text), text);
    return buf;
}

/* Parsing */

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits at *s, at least one, and advances it. */
static bool scan_u64(const char **s, uint64_t *out)
{
    uint64_t v = 0;
    const char *p = *s;
    if (!is_digit(*p))
        return false;
    for (; is_digit(*p); p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *s = p;
    *out = v;
    return true;
}

bool tl_parse_u64(const char *s, uint64_t *out)
{
    uint64_t v;
    if (!scan_u64(&s, &v) || *s)
        return false;
    *out = v;
    return true;
}

bool tl_parse_count(const char *s, uint64_t *out)
{
    uint64_t v, factor = 1;
    if (!scan_u64(&s, &v))
        return false;
    if (*s == 'k' || *s == 'K')
        factor = 1000;
    else if (*s == 'M')
        factor = 1000000;
    else if (*s == 'G')
        factor = 1000000000;
    if (factor > 1)
        s++;
    if (*s || v > UINT64_MAX / factor)
        return false;
    *out = v * factor;
    return true;
}

bool tl_parse_duration(const char *s, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } unit[] = {{"", 1},         {"ns", 1},       {"us", 1000},          {"\302\265s", 1000},
                {"ms", 1000000}, {"s", NS_PER_S}, {"min", 60000000000u}, {"h", 3600000000000u}};
    uint64_t whole, fraction = 0;
    unsigned digits = 0;

    if (!scan_u64(&s, &whole))
        return false;
    if (*s == '.') {
        if (!is_digit(*++s))
            return false;
        /* After the 18th, digits are below a hundredth of a ns in any unit. */
        for (; is_digit(*s); s++)
            if (digits < 18) {
                fraction = fraction * 10 + (unsigned)(*s - '0');
                digits++;
            }
    }
    for (unsigned i = 0; i < TL_COUNT(unit); i++)
        if (strcmp(s, unit[i].name) == 0) {
            uint64_t part = tl_scale_exactly(fraction, unit[i].ns, power_of_10[digits]);
            if (whole > (UINT64_MAX - part) / unit[i].ns)
                return false;
            *ns = whole * unit[i].ns + part;
            return true;
        }
    return false;
}

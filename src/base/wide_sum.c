/* Text of sums that need more than 64 bits. */
#include "base/wide_sum.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

tl_sum tl_sum_times(uint64_t a, uint32_t b)
{
    const uint64_t low = (a & UINT32_MAX) * b, high = (a >> 32) * b;
    tl_sum s = {high >> 32, high << 32};
    tl_sum_add(&s, low);
    return s;
}

/* Divides by 10^9 and returns the remainder. */
static uint32_t take_nine_digits(tl_sum *s)
{
    enum { DIVISOR = 1000000000 };
    uint32_t part[4] = {(uint32_t)(s->high >> 32), (uint32_t)s->high, (uint32_t)(s->low >> 32), (uint32_t)s->low};
    uint64_t rest = 0;
    for (unsigned i = 0; i < 4; i++) {
        rest = rest << 32 | part[i];
        part[i] = (uint32_t)(rest / DIVISOR);
        rest %= DIVISOR;
    }
    *s = (tl_sum){(uint64_t)part[0] << 32 | part[1], (uint64_t)part[2] << 32 | part[3]};
    return (uint32_t)rest;
}

char *tl_sum_text(char buf[TL_SUM_TEXT], tl_sum s)
{
    uint32_t nine[5];
    unsigned n = 0;
    do
        nine[n++] = take_nine_digits(&s);
    while (s.high || s.low);
    int at = snprintf(buf, TL_SUM_TEXT, "%" PRIu32, nine[--n]);
    while (n > 0)
        at += snprintf(buf + at, TL_SUM_TEXT - (size_t)at, "%09" PRIu32, nine[--n]);
    return buf;
}

/* The numbers that are compared, and their names. */
#include <stdio.h>
#include <string.h>

#include "analysis/compare/compare_impl.h"

#define PERCENTILE_DIGITS 4u /* after the point: 99.9999 */

static const char *const words[] = {
    [TL_METRIC_CALLS] = "calls",     [TL_METRIC_TOTAL] = "total", [TL_METRIC_SELF] = "self",
    [TL_METRIC_PERCALL] = "percall", [TL_METRIC_MEAN] = "mean",   [TL_METRIC_SHORTEST] = "min",
    [TL_METRIC_LONGEST] = "max",     [TL_METRIC_SHARE] = "share", [TL_METRIC_SELF_SHARE] = "self-share"};

const char *tl_metric_name(tl_metric m, char buf[static TL_METRIC_NAME])
{
    if (m.kind != TL_METRIC_PERCENTILE) {
        snprintf(buf, TL_METRIC_NAME, "%s", words[m.kind]);
        return buf;
    }
    int n = snprintf(buf, TL_METRIC_NAME, "p%u.%04u", (unsigned)(m.ppm / 10000), (unsigned)(m.ppm % 10000));
    while (buf[n - 1] == '0')
        buf[--n] = 0;
    if (buf[n - 1] == '.')
        buf[n - 1] = 0;
    return buf;
}

/* "50", "99.9": parts of a million. */
static bool parse_percent(const char *s, size_t n, uint32_t *ppm)
{
    uint32_t v = 0, decimals = 0;
    bool point = false, digits = false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '.' && !point && digits) {
            point = true;
            continue;
        }
        if (s[i] < '0' || s[i] > '9' || v > 1000000 || decimals == PERCENTILE_DIGITS)
            return false;
        v = 10 * v + (uint32_t)(s[i] - '0');
        decimals += point;
        digits = true;
    }
    for (; decimals < PERCENTILE_DIGITS && v <= 1000000; decimals++)
        v *= 10;
    *ppm = v;
    return digits && (!point || s[n - 1] != '.') && v > 0 && v < 1000000;
}

bool tl_metric_parse(const char *s, size_t n, tl_metric *m)
{
    for (size_t i = 0; i < TL_COUNT(words); i++)
        if (strlen(words[i]) == n && memcmp(words[i], s, n) == 0) {
            *m = (tl_metric){(tl_metric_kind)i, 0};
            return true;
        }
    m->kind = TL_METRIC_PERCENTILE;
    return n > 1 && s[0] == 'p' && parse_percent(s + 1, n - 1, &m->ppm);
}

bool tl_metric_is_share(tl_metric m)
{
    return m.kind == TL_METRIC_SHARE || m.kind == TL_METRIC_SELF_SHARE;
}

bool tl_metric_is_time(tl_metric m)
{
    return m.kind != TL_METRIC_CALLS && !tl_metric_is_share(m);
}

bool tl_metric_needs_durations(tl_metric m)
{
    return m.kind == TL_METRIC_SHORTEST || m.kind == TL_METRIC_LONGEST || m.kind == TL_METRIC_PERCENTILE;
}

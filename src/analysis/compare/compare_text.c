/* Texts of numbers that are doubles: amounts are rounded to whole units of the clock. */
#include "analysis/compare/compare_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"

#define TIMES_FROM 10 /* a change above 1000 % is a factor */

const char *tl_amount_shown(char buf[static TL_AMOUNT_TEXT], double v, tl_amount_of what, const char *unit)
{
    const double size = fabs(v);
    char *p = buf;
    if (!isfinite(v)) {
        snprintf(buf, TL_AMOUNT_TEXT, "-");
        return buf;
    }
    if (what == TL_AMOUNT_OF_SHARE) {
        snprintf(buf, TL_AMOUNT_TEXT, "%.1f %%", 100 * v);
        return buf;
    }
    if (v < 0)
        *p++ = '-';
    const uint64_t whole = size < 1.8e19 ? (uint64_t)(size + 0.5) : UINT64_MAX;
    if (what == TL_AMOUNT_OF_COUNT)
        tl_human_grouped(p, TL_AMOUNT_TEXT - 1, whole);
    else if (strcmp(unit, "bytes") == 0)
        tl_human_bytes(p, TL_AMOUNT_TEXT - 1, whole);
    else
        tl_human_time(p, TL_AMOUNT_TEXT - 1, whole, strcmp(unit, "ns") == 0);
    return buf;
}

const char *tl_change_shown(char buf[static TL_CHANGE_TEXT], double change)
{
    if (isnan(change))
        snprintf(buf, TL_CHANGE_TEXT, "-");
    else if (isinf(change))
        snprintf(buf, TL_CHANGE_TEXT, "from 0");
    else if (change > TIMES_FROM)
        snprintf(buf, TL_CHANGE_TEXT, "x %.4g", change + 1);
    else
        snprintf(buf, TL_CHANGE_TEXT, "%+.1f %%", 100 * change);
    return buf;
}

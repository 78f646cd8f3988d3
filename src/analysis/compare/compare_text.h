/* Amounts and changes of comparisons as text. */
#ifndef TL_ANALYSIS_COMPARE_TEXT_H
#define TL_ANALYSIS_COMPARE_TEXT_H

#include "traceloom/compare.h"

#define TL_AMOUNT_TEXT 32u
#define TL_CHANGE_TEXT 16u

typedef enum tl_amount_of { TL_AMOUNT_OF_COUNT, TL_AMOUNT_OF_TIME, TL_AMOUNT_OF_SHARE } tl_amount_of;

/* "1,996", "5.52 us", "1.5 %"; "-": unknown. A negative one has its sign; `unit`: of times. Return buf. */
const char *tl_amount_shown(char buf[static TL_AMOUNT_TEXT], double v, tl_amount_of what, const char *unit);
/* "+5.1 %", "x 12.5" for large ones; "-": unknown. */
const char *tl_change_shown(char buf[static TL_CHANGE_TEXT], double change);

static inline tl_amount_of tl_amount_of_row(bool is_time, bool is_share)
{
    return is_time ? TL_AMOUNT_OF_TIME : is_share ? TL_AMOUNT_OF_SHARE : TL_AMOUNT_OF_COUNT;
}

#endif

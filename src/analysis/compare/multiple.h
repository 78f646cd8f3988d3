/* Many tests at once: p adjusted so that few of those called significant are false. */
#ifndef TL_ANALYSIS_MULTIPLE_H
#define TL_ANALYSIS_MULTIPLE_H

#include <stdint.h>

#include "traceloom/error.h"

typedef enum tl_adjustment {
    TL_ADJUST_FALSE_SHARE, /* Benjamini and Hochberg: the expected share of false ones among those called significant */
    TL_ADJUST_ANY_FALSE    /* Holm: the probability that any is false */
} tl_adjustment;

/* adjusted[i] of p[i], which may be the same array. Errors: TL_ENOMEM. */
int tl_adjust(tl_adjustment how, const double *p, double *adjusted, uint32_t n, tl_error *e);

#endif

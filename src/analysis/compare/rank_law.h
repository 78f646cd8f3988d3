/* The distribution of Mann-Whitney's U if both samples come from the same distribution: exact for small samples without
 * ties, else normal with a correction for ties. */
#ifndef TL_ANALYSIS_RANK_LAW_H
#define TL_ANALYSIS_RANK_LAW_H

#include <stdint.h>

#include "traceloom/error.h"

#define TL_RANK_EXACT_MAX 50u /* runs of each side up to which it is exact: beyond, the normal law is within 0.1 % */

/* Of samples of n and m values. */
typedef struct tl_rank_law {
    uint32_t n, m;
    double *below; /* [n * m + 1] P(U <= u); NULL: the normal law is used */
} tl_rank_law;

/* Errors: TL_ENOMEM. Either way call tl_rank_law_fini(). */
int tl_rank_law_init(tl_rank_law *l, uint32_t n, uint32_t m, tl_error *e);
void tl_rank_law_fini(tl_rank_law *l);

/* Two-sided p of U, which is half-integral with ties. `ties`: the sum of t^3 - t over all groups of t equal values. */
double tl_rank_law_p(const tl_rank_law *l, double u, double ties);
/* The largest k with P(U <= k - 1) <= tail; 0: there is none. Order statistics k and n * m - k + 1 (from 1) of all
 * differences are the ends of the interval whose level is at least 1 - 2 * tail. */
uint32_t tl_rank_law_k(const tl_rank_law *l, double tail);

#endif

/* How far one sample lies above another: the estimate of Hodges and Lehmann, its interval, and Mann-Whitney's p. */
#ifndef TL_ANALYSIS_SHIFT_H
#define TL_ANALYSIS_SHIFT_H

#include <stdbool.h>

#include "analysis/compare/rank_law.h"

#define TL_SHIFT_TAIL 0.025 /* on each side of an interval */

typedef struct tl_shift {
    double estimate; /* the median of all differences */
    double low, high;
    bool has_interval; /* the samples are large enough for one */
    double p;          /* two-sided */
} tl_shift;

/* Of two samples of law->n and law->m finite values, sorted ascending. `room` has 2 * n * m values. Exchanging the
 * samples gives exactly the negative. */
void tl_shift_of(tl_shift *s, const tl_rank_law *law, const double *base, const double *newer, double *room);
/* p alone, if `by` is subtracted from the second sample. */
double tl_shift_p(const tl_rank_law *law, const double *base, const double *newer, double by);
/* For qsort() of finite doubles. */
int tl_compare_double(const void *a, const void *b);
/* Of n > 0 sorted values. */
double tl_sorted_median(const double *sorted, size_t n);

#endif

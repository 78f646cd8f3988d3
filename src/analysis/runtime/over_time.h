/* Amounts over time, for charts, when the duration is not known in advance: a fixed number of bins, whose width doubles
 * whenever time exceeds them. Between 1024 and 2048 of them are then in use, so that any part is accurate to a
 * thousandth of the whole. */
#ifndef TL_ANALYSIS_OVER_TIME_H
#define TL_ANALYSIS_OVER_TIME_H

#include <stdbool.h>
#include <stdint.h>

#define TL_BINS 2048u

typedef struct tl_over_time {
    double amount[TL_BINS];
    uint64_t width; /* of a bin, in ns; 0: empty */
    uint64_t last;  /* the latest time with an amount */
} tl_over_time;

void tl_over_time_add(tl_over_time *t, uint64_t time, double amount);
/* The amount from <= time < to. */
double tl_over_time_sum(const tl_over_time *t, uint64_t from, uint64_t to);
/* The smallest 1, 2 or 5 times a power of ten such that at most `most` (> 0) of them cover `span`. */
uint64_t tl_round_interval(uint64_t span, unsigned most);

#endif

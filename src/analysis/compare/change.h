/* What happened to one number from the runs of one side to those of the other, and the verdict. */
#ifndef TL_ANALYSIS_CHANGE_H
#define TL_ANALYSIS_CHANGE_H

#include "analysis/compare/shift.h"
#include "traceloom/compare.h"

#define TL_RUNS_FOR_INTERVAL 4u /* a side: with fewer there is no interval of 95 % */
#define TL_SIGNIFICANT       0.05

/* Numbers are compared by their logarithms or, if one of them is 0, by their differences, as parts of the larger
 * median. */
typedef enum tl_change_scale {
    TL_SCALE_RELATIVE,
    TL_SCALE_PLAIN /* differences in the number's own unit */
} tl_change_scale;

typedef struct tl_change {
    uint32_t n, m; /* numbers of each side */
    double base_median, new_median;
    bool exact; /* all runs of a side have the same number */
    bool equal; /* both sides have the very same numbers */
    bool logs;  /* the scale of what follows; else differences are divided by `unit` */
    double unit;
    double estimate, low, high, p;
    bool has_interval;
} tl_change;

/* Room for comparing at most n and m numbers, and the laws of ranks that were needed. */
typedef struct tl_change_room {
    double *base, *newer, *differences;
    uint32_t n, m;
    tl_rank_law *law;
    uint32_t nlaw, law_capacity;
} tl_change_room;

/* Errors: TL_ENOMEM. Either way call tl_change_room_fini(). */
int tl_change_room_init(tl_change_room *r, uint32_t n, uint32_t m, tl_error *e);
void tl_change_room_fini(tl_change_room *r);

/* Of n and m numbers that are not negative; NaN: none. Errors: TL_ENOMEM. */
int tl_change_of(tl_change *c, tl_change_room *r, const double *base, uint32_t n, const double *newer, uint32_t m,
                 tl_change_scale scale, tl_error *e);
/* p of the last change if `by`, on its scale, is subtracted. */
double tl_change_p(const tl_change *c, const tl_change_room *r, double by);
/* A relative change on the scale of a change, and back; NaN: there is none, as from 0. */
double tl_change_scaled(const tl_change *c, double relative);
double tl_change_relative(const tl_change *c, double scaled);

/* counts: the number is a count. q: p, adjusted. */
tl_verdict tl_change_verdict(const tl_change *c, bool counts, double noise, double q);
/* How many runs a side would tell a change from none, for an unclear one; 0: unknown. */
uint32_t tl_change_runs(const tl_change *c, double noise);

#endif

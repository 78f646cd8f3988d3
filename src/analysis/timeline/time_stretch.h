/* A stretch of time without a border of any axis. Calls within it are summed up by place, and only the sums go to
 * slices, columns and lanes, so that a short call costs few additions. */
#ifndef TL_ANALYSIS_TIME_STRETCH_H
#define TL_ANALYSIS_TIME_STRETCH_H

#include "analysis/timeline/time_axis.h"

#define TL_TIME_NONE UINT32_MAX

/* What calls of a place belong to. Numbers are the caller's, from 0; TL_TIME_NONE: nothing. */
typedef struct tl_time_place {
    uint32_t function; /* of grid and longest calls; smaller numbers win ties */
    uint32_t slot;     /* of self time in slices */
    uint32_t heat;     /* row of durations over time */
    uint32_t slow;     /* row of exemplars */
} tl_time_place;

enum { TL_STRETCH_SEATS = 1024 }; /* a power of two */

/* Calls of a place on a track at a depth, where it is not the same for all. */
typedef struct tl_stretch_sum {
    uint32_t place, track, depth;
    tl_time_place at;
    uint64_t calls, ticks, self; /* calls 0: not in use */
} tl_stretch_sum;

typedef struct tl_time_stretch {
    uint64_t from, to;                     /* [from, to) */
    uint32_t slice, column, heat, longest; /* the piece of each axis */
    uint32_t n;                            /* sums in use: */
    uint16_t used[TL_STRETCH_SEATS];       /* [n] their seats */
    tl_stretch_sum sum[TL_STRETCH_SEATS];
} tl_time_stretch;

TL_ALWAYS_INLINE bool tl_time_stretch_has(const tl_time_stretch *s, uint64_t begin, uint64_t end)
{
    return begin >= s->from && begin < s->to && end <= s->to;
}

/* Narrows it to the piece of an axis at a time within the range. */
static inline uint32_t tl_time_stretch_narrow(tl_time_stretch *s, const tl_time_axis *a, uint64_t ts)
{
    const uint32_t piece = tl_time_axis_piece(a, ts);
    const uint64_t from = tl_time_axis_begin(a, piece), to = a->to - from > a->width ? from + a->width : a->to;
    s->from = from > s->from ? from : s->from;
    s->to = to < s->to ? to : s->to;
    return piece;
}

/* The sum that such a call belongs to: it may be one of other calls, which have to go first. */
TL_ALWAYS_INLINE tl_stretch_sum *tl_time_stretch_sum(tl_time_stretch *s, uint32_t place, uint32_t track, uint32_t depth)
{
    return &s->sum[(place + 5 * track + 11 * depth) % TL_STRETCH_SEATS];
}

TL_ALWAYS_INLINE bool tl_stretch_sum_is(const tl_stretch_sum *x, uint32_t place, uint32_t track, uint32_t depth)
{
    return x->calls && x->place == place && x->track == track && x->depth == depth;
}

#endif

/* The longest calls of any number, exactly, in bounded memory: three quarters of the room for the longest of all, and a
 * quarter for the longest others of each piece of time and track, in equal shares. If there is room for all calls, all
 * are kept. The result does not depend on the order in which calls come, nor on how they are distributed among several
 * of these that are merged: what one drops has enough longer calls in that one alone. */
#ifndef TL_ANALYSIS_LONGEST_H
#define TL_ANALYSIS_LONGEST_H

#include "analysis/timeline/time_axis.h"

#define TL_LONGEST_PIECES 256u /* of time, fewer if there are many tracks */

typedef struct tl_long_call {
    uint64_t begin, ticks;
    uint32_t track, depth, function;
    uint32_t is_open; /* it never ended */
} tl_long_call;

typedef struct tl_long_calls {
    tl_long_call *call;
    uint32_t n, capacity;
} tl_long_calls;

typedef struct tl_longest {
    uint32_t most_top, most_rest;
    uint64_t calls; /* added */
    tl_long_calls top;
    uint64_t least;    /* shorter calls are not among the longest ... */
    tl_long_call last; /* ... nor are those behind this one. */
    bool cut;          /* both are known from now on */
    /* The others. As long as there is room they are in one list, then in strata. */
    tl_long_calls rest;
    tl_time_axis axis;
    uint32_t tracks, share; /* share: calls of a stratum */
    struct tl_long_stratum {
        tl_long_calls calls; /* up to twice its share */
        uint64_t least;      /* as above */
        tl_long_call last;
    } * stratum;
    uint32_t strata;
    bool strict, failed; /* strict: strata are in use */
} tl_longest;

/* The result. */
typedef struct tl_long_result {
    tl_long_calls calls; /* by track, depth, begin */
    uint64_t left_out;
    uint64_t all_from; /* all calls of at least so many ticks are here; 0: all */
} tl_long_result;

/* For `most` calls of `tracks` tracks. tl_longest_fini() in any case. */
void tl_longest_init(tl_longest *l, uint32_t most, uint32_t tracks, uint64_t from, uint64_t to);
void tl_longest_fini(tl_longest *l);
/* If memory runs out, `failed` is set. */
void tl_longest_add(tl_longest *l, const tl_long_call *c);
/* Moves all of another one to this one. */
void tl_longest_merge(tl_longest *l, tl_longest *from);
/* Takes the result; false when memory ran out. tl_long_result_fini() in any case. */
bool tl_longest_finish(tl_longest *l, tl_long_result *out);
void tl_long_result_fini(tl_long_result *r);
/* The longest calls of a result: the same as if there had been room for `most` from the begin. */
bool tl_longest_fewer(const tl_long_result *r, tl_long_result *out, uint32_t most, uint32_t tracks, uint64_t from,
                      uint64_t to);

/* The stratum of a time, for: */
TL_ALWAYS_INLINE uint32_t tl_longest_piece(const tl_longest *l, uint64_t begin)
{
    uint64_t end = begin;
    tl_time_axis_clip(&l->axis, &begin, &end);
    return tl_time_axis_piece(&l->axis, begin);
}

/* Is a call that begins in that piece of time too short, so that it only has to be counted? */
TL_ALWAYS_INLINE bool tl_longest_skips(const tl_longest *l, uint32_t piece, uint32_t track, uint64_t ticks)
{
    return l->cut && ticks < l->least && l->strict && ticks < l->stratum[piece * l->tracks + track % l->tracks].least;
}

#endif

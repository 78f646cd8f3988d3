/* A range of time in pieces of equal length. */
#ifndef TL_ANALYSIS_TIME_AXIS_H
#define TL_ANALYSIS_TIME_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

typedef struct tl_time_axis {
    uint64_t from, to; /* ticks: [from, to), at least one */
    uint64_t width;    /* of a piece; the last one may reach beyond `to` */
    uint32_t n;        /* pieces */
    double pieces;     /* in a tick */
    bool whole;        /* what is outside of the range counts at its ends; otherwise not at all */
} tl_time_axis;

/* At most `most` (not 0) pieces. */
static inline tl_time_axis tl_time_axis_of(uint64_t from, uint64_t to, uint32_t most, bool whole)
{
    const uint64_t span = to > from ? to - from : 1;
    tl_time_axis a = {.from = from > UINT64_MAX - span ? UINT64_MAX - span : from, .whole = whole};
    a.to = a.from + span;
    a.width = span / most + (span % most != 0);
    a.n = (uint32_t)(span / a.width + (span % a.width != 0));
    a.pieces = 1.0 / (double)a.width;
    return a;
}

/* The same with `parts` pieces as one: borders stay where they were. */
static inline tl_time_axis tl_time_axis_join(tl_time_axis a, uint32_t parts)
{
    a.width = a.width > UINT64_MAX / parts ? UINT64_MAX : a.width * parts;
    a.n = (a.n + parts - 1) / parts;
    a.pieces = 1.0 / (double)a.width;
    return a;
}

/* Moves begin <= end into the range. False if nothing of it is there. */
TL_ALWAYS_INLINE bool tl_time_axis_clip(const tl_time_axis *a, uint64_t *begin, uint64_t *end)
{
    if (TL_LIKELY(*begin >= a->from && *end < a->to))
        return true;
    if (!a->whole && (*begin >= a->to || *end < a->from || (*end == a->from && *begin < a->from)))
        return false;
    *begin = *begin < a->from ? a->from : *begin < a->to ? *begin : a->to - 1;
    *end = *end < *begin ? *begin : *end < a->to ? *end : a->to;
    return true;
}

/* The piece of a time within the range. A division takes several times as long as a guess that is at most one off. */
TL_ALWAYS_INLINE uint32_t tl_time_axis_piece(const tl_time_axis *a, uint64_t ts)
{
    const uint64_t ticks = ts - a->from;
    uint64_t piece = (uint64_t)((double)ticks * a->pieces);
    if (piece * a->width > ticks)
        piece--;
    else if (ticks - piece * a->width >= a->width)
        piece++;
    return piece < a->n ? (uint32_t)piece : a->n - 1;
}

/* The last piece that [begin, end) touches. */
TL_ALWAYS_INLINE uint32_t tl_time_axis_last(const tl_time_axis *a, uint64_t begin, uint64_t end)
{
    return tl_time_axis_piece(a, end > begin ? end - 1 : begin);
}

TL_ALWAYS_INLINE uint64_t tl_time_axis_begin(const tl_time_axis *a, uint32_t piece)
{
    return a->from + piece * a->width;
}

/* The ticks of [begin, end) in a piece. */
TL_ALWAYS_INLINE uint64_t tl_time_axis_overlap(const tl_time_axis *a, uint32_t piece, uint64_t begin, uint64_t end)
{
    const uint64_t low = tl_time_axis_begin(a, piece);
    const uint64_t high = piece + 1 < a->n && a->to - low > a->width ? low + a->width : UINT64_MAX;
    const uint64_t from = begin > low ? begin : low, to = end < high ? end : high;
    return to > from ? to - from : 0;
}

#endif

/* The exact number of other lines of memory used since the last use of a line.
 *
 * Lines are kept in the order of their last use. The first few are in an array, where most lines are found at once;
 * each other line has a place in time, a set bit, and a Fenwick tree counts the set bits after it. When the places are
 * used up they are renumbered, with room for twice as many as there are lines.
 *
 * Memory: at most 112 bytes for each different line. */
#ifndef TL_ANALYSIS_REUSE_STACK_H
#define TL_ANALYSIS_REUSE_STACK_H

#include "base/compiler.h"
#include "base/hash.h"

#define TL_REUSE_FRONT     16u
#define TL_REUSE_LINES_MAX (1u << 26) /* 4 GiB in lines of 64 bytes */

#define TL_REUSE_COLD UINT64_MAX       /* not used before */
#define TL_REUSE_FULL (UINT64_MAX - 1) /* memory ran out, or there are too many lines */

/* A zeroed one is empty. */
typedef struct tl_reuse_stack {
    struct {
        uint64_t line;
        uint32_t at;         /* index in line */
    } front[TL_REUSE_FRONT]; /* the one used last first */
    uint32_t nfront;
    uint64_t *line;  /* all lines ever used, even before the last reset */
    uint32_t *place; /* of each: its place in time, or none */
    uint32_t n, capacity, place_capacity;
    tl_hash index;               /* line -> its index */
    uint64_t *set;               /* a bit for each place; [places / 64] */
    uint32_t *tree;              /* Fenwick, over the words of `set`; [places / 64] */
    uint32_t *owner;             /* of each place: index of the line; [places] */
    uint32_t places, next, live; /* next to give out; how many are set */
} tl_reuse_stack;

uint64_t tl_reuse_touch_slow(tl_reuse_stack *s, uint64_t line);

/* Uses a line. Returns how many others were used since its last use, or one of the two above. */
TL_ALWAYS_INLINE uint64_t tl_reuse_touch(tl_reuse_stack *s, uint64_t line)
{
    return TL_LIKELY(s->nfront && s->front[0].line == line) ? 0 : tl_reuse_touch_slow(s, line);
}

/* Makes all lines count as unused. */
void tl_reuse_reset(tl_reuse_stack *s);
/* Adds the lines of another one, for `n`; afterwards a reset is needed before lines are used. False when memory runs
 * out. */
bool tl_reuse_add_lines(tl_reuse_stack *s, const tl_reuse_stack *from);
void tl_reuse_fini(tl_reuse_stack *s);

#endif

/* How many other lines of memory were used since a line was used last, exactly.
 *
 * Lines are kept in the order of their last use. The first few stand in an array, in which most lines are found at
 * once; all others have a place in time, a bit that is set, and a Fenwick tree counts those that are set behind it.
 * When time is used up the places are given out anew, as many as there are lines, twice over.
 *
 * Memory: at most 112 bytes for each different line. */
#ifndef TL_ANALYSIS_REUSE_STACK_H
#define TL_ANALYSIS_REUSE_STACK_H

#include "base/compiler.h"
#include "base/hash.h"

#define TL_REUSE_FRONT     16u
#define TL_REUSE_LINES_MAX (1u << 26) /* 4 GiB in lines of 64 bytes */

#define TL_REUSE_COLD UINT64_MAX       /* it was not used before */
#define TL_REUSE_FULL (UINT64_MAX - 1) /* memory ran out, or there are too many lines */

/* A zeroed one is empty. */
typedef struct tl_reuse_stack {
    struct {
        uint64_t line;
        uint32_t at;         /* index in line */
    } front[TL_REUSE_FRONT]; /* the one used last first */
    uint32_t nfront;
    uint64_t *line;  /* all that were ever used, also before the last reset */
    uint32_t *place; /* of each: in time, or none */
    uint32_t n, capacity, place_capacity;
    tl_hash index;               /* line -> its index */
    uint64_t *set;               /* a bit for each place; [places / 64] */
    uint32_t *tree;              /* Fenwick, over the words of `set`; [places / 64] */
    uint32_t *owner;             /* of each place: index of the line; [places] */
    uint32_t places, next, live; /* next to be given out; how many are set */
} tl_reuse_stack;

uint64_t tl_reuse_touch_slow(tl_reuse_stack *s, uint64_t line);

/* Uses a line. Returns how many others were used since it was used last, or one of the two above. */
TL_ALWAYS_INLINE uint64_t tl_reuse_touch(tl_reuse_stack *s, uint64_t line)
{
    return TL_LIKELY(s->nfront && s->front[0].line == line) ? 0 : tl_reuse_touch_slow(s, line);
}

/* All lines count as not used from here on. */
void tl_reuse_reset(tl_reuse_stack *s);
/* Adds the lines of another, for `n`; to be used only if nothing is touched later without a reset before. False when
 * memory runs out. */
bool tl_reuse_add_lines(tl_reuse_stack *s, const tl_reuse_stack *from);
void tl_reuse_fini(tl_reuse_stack *s);

#endif

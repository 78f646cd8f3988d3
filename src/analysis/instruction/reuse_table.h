/* Reuse distances of data: how many other lines of memory a track used since its last use of a line.
 *
 * A fully associative LRU cache of n lines hits whenever the distance is below n: so the histogram has the misses of
 * every size. An access that touches two lines counts in both. Tracks are independent.
 *
 * Sampled (SHARDS): only lines selected by their hash are examined, one in a power of two; their distances and numbers
 * are multiplied. The hash is always the same, so results can be repeated.
 *
 * Memory: that of a tl_reuse_stack: 112 bytes for each distinct (examined) line, at most TL_REUSE_LINES_MAX. */
#ifndef TL_ANALYSIS_REUSE_TABLE_H
#define TL_ANALYSIS_REUSE_TABLE_H

#include "analysis/instruction/insn_classes.h"
#include "analysis/instruction/insn_pass.h"
#include "analysis/instruction/reuse_stack.h"

#define TL_REUSE_LINE_DEFAULT 64u
#define TL_REUSE_LINE_LARGEST 65536u /* larger lines make no sense */
#define TL_REUSE_SAMPLE_MAX   (UINT64_C(1) << 32)
#define TL_REUSE_BUCKETS      65u /* 0; 1; 2-3; 4-7; ...: bucket b > 0 begins at 1 << (b - 1) */

typedef struct tl_reuse_options {
    uint32_t line_size; /* a power of two up to TL_REUSE_LINE_LARGEST; 0: TL_REUSE_LINE_DEFAULT */
    uint64_t sample;    /* examine one line in this many: a power of two up to TL_REUSE_SAMPLE_MAX; 0, 1: all */
} tl_reuse_options;

typedef struct tl_reuse {
    unsigned shift; /* 1 << shift bytes per line */
    uint64_t sample;
    uint64_t accesses;                 /* to all lines, even those not examined */
    uint64_t looked;                   /* accesses to examined lines */
    uint64_t cold;                     /* of those: the first of a line in its track */
    uint64_t bucket[TL_REUSE_BUCKETS]; /* the others by distance, already multiplied */
    tl_reuse_stack stack;
    tl_insn_classes classes;
} tl_reuse;

extern const tl_insn_table tl_reuse_table;

/* Accesses, scaled up from the sample. */
static inline uint64_t tl_reuse_scaled(const tl_reuse *r, uint64_t n)
{
    return n * r->sample;
}

/* The distances of a bucket. */
static inline void tl_reuse_range(unsigned bucket, uint64_t *from, uint64_t *to)
{
    *from = bucket ? UINT64_C(1) << (bucket - 1) : 0;
    *to = bucket ? *from + (*from - 1) : 0;
}

/* How many of `looked` accesses miss in a cache of 1 << log2_lines lines, log2_lines < 64. */
uint64_t tl_reuse_misses(const tl_reuse *r, unsigned log2_lines);

#endif

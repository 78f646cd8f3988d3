/* The union of the trees of both sides: all paths of all runs, each with its numbers on both sides. */
#ifndef TL_ANALYSIS_UNION_TREE_H
#define TL_ANALYSIS_UNION_TREE_H

#include "traceloom/compare.h"

/* Means of the runs of a side. Durations are in tl_compare_unit(). */
typedef struct tl_union_side {
    double calls, total, self;
    double width; /* total, but at least what is in it: calls that never ended have no total */
} tl_union_side;

typedef struct tl_union_place {
    const char *name; /* in NEW, or in BASE if it is gone; NULL: the whole. Borrowed from the comparison */
    uint32_t parent;  /* index; 0 of the whole */
    tl_union_side side[2];
    double width; /* the larger of both, but at least what is below it: what is gone has a place beside what is new */
} tl_union_place;

/* Parents come before children, and place 0 is the whole. */
typedef struct tl_union_tree {
    tl_union_place *place; /* [n] */
    uint32_t n;
    uint32_t left_out; /* narrower ones, beyond `most` */
} tl_union_tree;

/* The `most` widest places, at least 1. Errors: TL_ENOMEM. tl_union_tree_fini() in any case. */
int tl_union_tree_of(tl_union_tree *u, const tl_compare *c, uint32_t most, tl_error *e);
void tl_union_tree_fini(tl_union_tree *u);

#endif

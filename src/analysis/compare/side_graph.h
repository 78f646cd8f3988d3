/* Callers and callees of the functions of a side that have no partner on the other. */
#ifndef TL_ANALYSIS_SIDE_GRAPH_H
#define TL_ANALYSIS_SIDE_GRAPH_H

#include "analysis/compare/compare_impl.h"

typedef struct tl_side_graph {
    const tl_side *side;
    uint32_t *first;   /* [functions + 1] an edge from a function (+ 1, or 0), + 1; 0: none */
    uint32_t *next;    /* [edges] */
    uint32_t *caller;  /* [functions] that with most calls, + 1, or 0 */
    double *of_caller; /* [functions] the share of its calls that come from there */
} tl_side_graph;

/* Errors: TL_ENOMEM. Either way call tl_side_graph_fini(). */
int tl_side_graph_init(tl_side_graph *g, const tl_side *s, tl_error *e);
void tl_side_graph_fini(tl_side_graph *g);

/* The subject of a function + 1; TL_NO_SUBJECT: it has no partner. *is_begin: it is the begin of stacks. */
static inline uint32_t tl_side_subject(const tl_side *s, uint32_t number, bool *is_begin)
{
    *is_begin = number == 0;
    return number ? s->function[number - 1].subject : TL_NO_SUBJECT;
}

#endif

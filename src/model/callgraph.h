/* A profile folded from a tree of stacks into a graph: a node per function, an edge per pair (caller, callee).
 *
 * Recursion counts once: time goes to a node, and to the edges into it, only from places whose stack does not contain
 * the function already. So the edges into a function add up to its total, and all self times to the whole. */
#ifndef TL_MODEL_CALLGRAPH_H
#define TL_MODEL_CALLGRAPH_H

#include "model/place_tree.h"

typedef struct tl_graph_node {
    uint64_t calls; /* of samples: those with the function on the stack */
    uint64_t own;   /* the same as calls; of samples: those with it on top, which add up to the whole */
    uint64_t self;
    uint64_t total; /* weight (see tl_place_tree) of the outermost places of the function */
} tl_graph_node;

typedef struct tl_graph_edge {
    uint32_t caller, callee; /* caller TL_NO_FUNCTION: the callee is outermost */
    uint64_t calls;          /* of samples: those with the callee's outermost places with this caller on the stack */
    uint64_t total;          /* weight of the callee's outermost places with this caller */
    uint64_t within;         /* calls made below those places, including these; for samples the same as calls */
} tl_graph_edge;

typedef struct tl_callgraph {
    const tl_profile *profile;
    tl_graph_node *node; /* [functions] */
    uint32_t *order;     /* [functions] in canonical order */
    tl_graph_edge *edge; /* by caller, then callee, in canonical order; those without a caller come last */
    uint32_t nedge;
    uint64_t self, calls; /* of all: sums of self and own */
} tl_callgraph;

int tl_callgraph_init(tl_callgraph *g, const tl_place_tree *t, tl_error *e);
void tl_callgraph_fini(tl_callgraph *g); /* after zeroing or any init */

#endif

/* Folds the tree of a profile into a graph of functions, in one walk. */
#include "model/callgraph.h"

#include <stdlib.h>

#include "base/grow.h"

typedef struct fold {
    tl_callgraph *g;
    const tl_place_tree *tree;
    tl_hash index;     /* caller << 32 | callee -> edge */
    uint32_t capacity; /* of g->edge */
    uint32_t *open;    /* [functions] how often it is on the current stack */
    uint64_t *within;  /* [places] calls below, saturated */
    uint32_t counting; /* of samples: the weight that is a count */
} fold;

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the call graph");
}

static tl_graph_edge *find_edge(fold *f, uint32_t caller, uint32_t callee)
{
    tl_callgraph *g = f->g;
    uint64_t key = (uint64_t)caller << 32 | callee;
    uint32_t i = tl_hash_get(&f->index, key);
    if (i != TL_HASH_NONE)
        return &g->edge[i];
    if (!TL_GROW(g->edge, g->nedge, 1, f->capacity) || !tl_hash_put(&f->index, key, g->nedge))
        return NULL;
    tl_graph_edge *edge = &g->edge[g->nedge++];
    *edge = (tl_graph_edge){.caller = caller, .callee = callee};
    return edge;
}

static bool enter(fold *f, uint32_t place)
{
    const tl_profile *p = f->tree->profile;
    const tl_place *at = &p->place[place];
    const tl_place_stat *stat = &p->stat[place];
    if (at->function == TL_NO_FUNCTION)
        return true;
    tl_graph_edge *edge = find_edge(f, p->place[at->parent].function, at->function);
    if (!edge)
        return false;
    tl_graph_node *node = &f->g->node[at->function];
    const bool outermost = f->open[at->function]++ == 0;
    /* For samples, `calls` of a place counts those with the place anywhere on the stack: each counts once. */
    const uint64_t calls = !p->nweight || outermost ? stat->calls : 0;
    node->calls = tl_add_saturated(node->calls, calls);
    node->own = tl_add_saturated(node->own, p->nweight ? tl_profile_weight_self(p, place, f->counting) : calls);
    node->self = tl_add_saturated(node->self, stat->self);
    edge->calls = tl_add_saturated(edge->calls, calls);
    if (outermost) {
        node->total = tl_add_saturated(node->total, f->tree->weight[place]);
        edge->total = tl_add_saturated(edge->total, f->tree->weight[place]);
        edge->within = tl_add_saturated(edge->within, f->within[place]);
    }
    return true;
}

static bool walk(fold *f)
{
    const tl_profile *p = f->tree->profile;
    for (uint32_t i = p->nplace; i-- > 1;) { /* children come after parents */
        f->within[i] = p->nweight ? p->stat[i].calls : tl_add_saturated(f->within[i], p->stat[i].calls);
        uint64_t *parent = &f->within[p->place[i].parent];
        *parent = tl_add_saturated(*parent, f->within[i]);
    }
    tl_place_walk w = {.tree = f->tree, .track = TL_NO_TRACK};
    while (tl_place_walk_next(&w)) {
        if (!w.leaving && !enter(f, w.place))
            return false;
        if (w.leaving && p->place[w.place].function != TL_NO_FUNCTION)
            f->open[p->place[w.place].function]--;
    }
    return true;
}

/* Edges sorted by the ranks of their functions. */
typedef struct ranked {
    uint64_t rank;
    tl_graph_edge edge;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    uint64_t x = ((const ranked *)a)->rank, y = ((const ranked *)b)->rank;
    return TL_COMPARE(x, y);
}

static int sort_edges(tl_callgraph *g, tl_error *e)
{
    const uint32_t n = g->profile->nfunction;
    uint32_t *rank = calloc((size_t)n + 1, sizeof *rank);
    ranked *list = calloc((size_t)g->nedge + 1, sizeof *list);
    int status = rank && list ? tl_profile_function_order(g->profile, g->order, e) : no_memory(e);
    if (status >= 0) {
        for (uint32_t i = 0; i < n; i++)
            rank[g->order[i]] = i;
        for (uint32_t i = 0; i < g->nedge; i++) {
            uint32_t caller = g->edge[i].caller;
            uint64_t high = caller == TL_NO_FUNCTION ? TL_NO_FUNCTION : rank[caller];
            list[i] = (ranked){.rank = high << 32 | rank[g->edge[i].callee], .edge = g->edge[i]};
        }
        qsort(list, g->nedge, sizeof *list, compare_ranked);
        for (uint32_t i = 0; i < g->nedge; i++)
            g->edge[i] = list[i].edge;
    }
    free(rank);
    free(list);
    return status < 0 ? status : 0;
}

int tl_callgraph_init(tl_callgraph *g, const tl_place_tree *t, tl_error *e)
{
    const tl_profile *p = t->profile;
    const size_t n = (size_t)p->nfunction + 1; /* malloc(0) may return NULL */
    *g = (tl_callgraph){.profile = p, .node = calloc(n, sizeof *g->node), .order = calloc(n, sizeof *g->order)};
    fold f = {.g = g, .tree = t, .open = calloc(n, sizeof *f.open), .within = calloc(p->nplace, sizeof *f.within)};
    int status = 0;
    f.counting = p->nweight ? tl_profile_counting_weight(p) : 0;
    if (!g->node || !g->order || !f.open || !f.within || !walk(&f))
        status = no_memory(e);
    if (status >= 0)
        status = sort_edges(g, e);
    for (uint32_t i = 0; status >= 0 && i < p->nfunction; i++) {
        g->self = tl_add_saturated(g->self, g->node[i].self);
        g->calls = tl_add_saturated(g->calls, g->node[i].own);
    }
    tl_hash_fini(&f.index);
    free(f.open);
    free(f.within);
    if (status < 0)
        tl_callgraph_fini(g);
    return status;
}

void tl_callgraph_fini(tl_callgraph *g)
{
    free(g->node);
    free(g->order);
    free(g->edge);
    *g = (tl_callgraph){0};
}

/* Lists of the edges of each caller, and the main caller of each function. */
#include "analysis/compare/side_graph.h"

#include <stdlib.h>

int tl_side_graph_init(tl_side_graph *g, const tl_side *s, tl_error *e)
{
    const uint32_t edges = s->edge_of.n;
    *g = (tl_side_graph){.side = s};
    g->first = calloc((size_t)s->nfunction + 1, sizeof *g->first);
    g->next = calloc((size_t)edges + 1, sizeof *g->next);
    g->caller = calloc((size_t)s->nfunction + 1, sizeof *g->caller);
    g->of_caller = calloc((size_t)s->nfunction + 1, sizeof *g->of_caller);
    double *sum = calloc((size_t)s->nfunction + 1, sizeof *sum);
    if (!g->first || !g->next || !g->caller || !g->of_caller || !sum) {
        free(sum);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match functions");
    }
    for (uint32_t i = 0; i < edges; i++) {
        const uint32_t from = (uint32_t)s->edge_of.pair[i].a, to = (uint32_t)s->edge_of.pair[i].b - 1;
        g->next[i] = g->first[from];
        g->first[from] = i + 1;
        if (from == to + 1)
            continue; /* recursion */
        sum[to] += s->edge[i].calls;
        if (s->edge[i].calls > g->of_caller[to]) {
            g->of_caller[to] = s->edge[i].calls;
            g->caller[to] = from;
        }
    }
    for (uint32_t i = 0; i < s->nfunction; i++)
        g->of_caller[i] = sum[i] > 0 ? g->of_caller[i] / sum[i] : 0;
    free(sum);
    return 0;
}

void tl_side_graph_fini(tl_side_graph *g)
{
    free(g->first);
    free(g->next);
    free(g->caller);
    free(g->of_caller);
    *g = (tl_side_graph){0};
}

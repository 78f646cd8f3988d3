/* Functions that one side lacks because they are part of their caller there: its callees are theirs, and so is its own
 * time. What is left without a partner becomes a subject of one side. */
#include <math.h>
#include <stdlib.h>

#include "analysis/compare/side_graph.h"

#define EXPLAINED 0.8 /* of the time in and below the function */

/* Self time of a function, a run. */
static double self_a_run(const tl_side *s, uint32_t f)
{
    return s->function[f].self / s->n;
}

/* How much of the time of function f, of `side`, its caller has on the other side: 0 .. 1. */
static double explained(const tl_compare *c, const tl_side_graph *g, int side, uint32_t f, uint32_t caller)
{
    const tl_side *here = &c->side[side], *there = &c->side[!side];
    const uint32_t host = c->subject[here->function[caller].subject].function[!side];
    const double grown = self_a_run(there, host) - self_a_run(here, caller), self = self_a_run(here, f);
    double found = fmin(self, fmax(grown, 0)), all = self;
    for (uint32_t i = g->first[f + 1]; i; i = g->next[i - 1]) {
        const uint32_t callee = (uint32_t)here->edge_of.pair[i - 1].b - 1;
        const uint32_t subject = here->function[callee].subject;
        const uint32_t partner = subject == TL_NO_SUBJECT ? TL_NO_SUBJECT : c->subject[subject].function[!side];
        const double time = callee == f ? 0 : here->edge[i - 1].total / here->n;
        all += time;
        if (partner != TL_NO_SUBJECT && tl_side_find_edge(there, host + 1, partner + 1))
            found += time;
    }
    return all > 0 ? found / all : 0;
}

/* The subject that function f of `side` is a part of on the other side, or TL_NO_SUBJECT. */
static uint32_t host_of(const tl_compare *c, const tl_side_graph *g, int side, uint32_t f)
{
    const tl_side *here = &c->side[side];
    if (g->caller[f] == 0 || g->of_caller[f] < EXPLAINED || here->function[f].subject != TL_NO_SUBJECT)
        return TL_NO_SUBJECT;
    const uint32_t caller = g->caller[f] - 1, subject = here->function[caller].subject;
    if (subject == TL_NO_SUBJECT || c->subject[subject].function[!side] == TL_NO_SUBJECT)
        return TL_NO_SUBJECT;
    return explained(c, g, side, f, caller) >= EXPLAINED ? subject : TL_NO_SUBJECT;
}

/* Subjects of what has no partner. */
static int add_rest(tl_compare *c, int side, tl_error *e)
{
    tl_side_graph g;
    tl_side *s = &c->side[side];
    uint32_t *host = calloc((size_t)s->nfunction + 1, sizeof *host);
    int status = tl_side_graph_init(&g, s, e);
    if (status == 0 && !host)
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match functions");
    for (uint32_t i = 0; i < s->nfunction && status == 0; i++)
        host[i] = host_of(c, &g, side, i);
    for (uint32_t i = 0; i < s->nfunction && status == 0; i++) {
        if (s->function[i].subject != TL_NO_SUBJECT)
            continue;
        const uint32_t subject = tl_compare_add_subject(c, side ? TL_NO_SUBJECT : i, side ? i : TL_NO_SUBJECT);
        if (subject == TL_NO_SUBJECT)
            status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match functions");
        else
            c->subject[subject].inlined = host[i];
    }
    tl_side_graph_fini(&g);
    free(host);
    return status;
}

int tl_compare_find_inlined(tl_compare *c, tl_error *e)
{
    const int status = add_rest(c, 0, e);
    return status < 0 ? status : add_rest(c, 1, e);
}

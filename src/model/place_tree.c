/* Prepares the tree of a profile for walking. */
#include "model/place_tree.h"

#include <stdlib.h>

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to walk the call tree");
}

/* Links children in canonical order: goes through the order backwards and puts each place before its siblings. */
static int link_children(tl_place_tree *t, tl_error *e)
{
    const tl_profile *p = t->profile;
    uint32_t *order = calloc(p->nplace, sizeof *order);
    if (!order)
        return no_memory(e);
    int status = tl_profile_canonical_order(p, order, e);
    for (uint32_t i = p->nplace; status >= 0 && i-- > 0;) {
        uint32_t place = order[i];
        if (place == 0)
            continue;
        uint32_t parent = p->place[place].parent;
        t->next[place] = t->child[parent];
        t->child[parent] = place;
    }
    free(order);
    return status < 0 ? status : 0;
}

/* Parents come before children, so one backward pass sees every child before its parent. */
static void weigh(tl_place_tree *t)
{
    const tl_profile *p = t->profile;
    for (uint32_t i = p->nplace; i-- > 0;) {
        const tl_place_stat *stat = &p->stat[i];
        uint64_t seen = tl_add_saturated(t->weight[i], stat->self);
        t->weight[i] = seen > stat->total ? seen : stat->total;
        if (i > 0) {
            uint64_t *parent = &t->weight[p->place[i].parent];
            *parent = tl_add_saturated(*parent, t->weight[i]);
        }
    }
}

static bool has_function(const tl_profile *p, uint32_t place)
{
    return p->place[place].function != TL_NO_FUNCTION;
}

static uint32_t deepest(const tl_place_tree *t)
{
    tl_place_walk w = {.tree = t, .track = TL_NO_TRACK};
    uint32_t depth = 0;
    while (tl_place_walk_next(&w))
        if (w.depth > depth)
            depth = w.depth;
    return depth;
}

int tl_place_tree_init(tl_place_tree *t, const tl_profile *p, tl_error *e)
{
    *t = (tl_place_tree){.profile = p,
                         .child = calloc(p->nplace, sizeof *t->child),
                         .next = calloc(p->nplace, sizeof *t->next),
                         .weight = calloc(p->nplace, sizeof *t->weight)};
    int status = t->child && t->next && t->weight ? link_children(t, e) : no_memory(e);
    if (status < 0) {
        tl_place_tree_fini(t);
        return status;
    }
    weigh(t);
    t->depth = deepest(t);
    return 0;
}

void tl_place_tree_fini(tl_place_tree *t)
{
    free(t->child);
    free(t->next);
    free(t->weight);
    *t = (tl_place_tree){0};
}

int tl_place_walk_init(tl_place_walk *w, const tl_place_tree *t, tl_error *e)
{
    uint32_t *stack = calloc((size_t)t->depth + 1, sizeof *stack);
    if (!stack)
        return no_memory(e);
    *w = (tl_place_walk){.tree = t, .track = TL_NO_TRACK, .stack = stack};
    return 0;
}

void tl_place_walk_fini(tl_place_walk *w)
{
    free(w->stack);
    *w = (tl_place_walk){0};
}

void tl_place_walk_start(tl_place_walk *w, uint32_t root)
{
    *w = (tl_place_walk){
        .tree = w->tree, .root = root, .place = root, .track = w->tree->profile->place[root].track, .stack = w->stack};
}

static void enter(tl_place_walk *w, uint32_t place)
{
    const tl_place *at = &w->tree->profile->place[place];
    w->place = place;
    w->leaving = false;
    if (at->parent == 0)
        w->track = at->track;
    if (at->function == TL_NO_FUNCTION)
        return;
    if (w->stack)
        w->stack[w->depth] = at->function;
    w->depth++;
}

bool tl_place_walk_next(tl_place_walk *w)
{
    const tl_place_tree *t = w->tree;
    if (!w->leaving) {
        if (t->child[w->place])
            enter(w, t->child[w->place]);
        else if (w->place == w->root)
            return false;
        else
            w->leaving = true;
        return true;
    }
    if (has_function(t->profile, w->place))
        w->depth--;
    if (t->next[w->place]) {
        enter(w, t->next[w->place]);
        return true;
    }
    w->place = t->profile->place[w->place].parent;
    return w->place != w->root;
}

/* The largest length with sum(min(depth, length) * samples at that depth) <= budget: each further frame costs one per
 * sample that is at least so deep. */
static uint32_t fit(const uint64_t *at_depth, uint32_t depth, uint64_t budget)
{
    uint64_t deeper = 0, frames = 0;
    for (uint32_t d = 1; d <= depth; d++)
        deeper = tl_add_saturated(deeper, at_depth[d]);
    for (uint32_t d = 1; d <= depth; d++) {
        frames = tl_add_saturated(frames, deeper);
        if (frames > budget)
            return d - 1 > TL_STACK_CUT_LEAST ? d - 1 : TL_STACK_CUT_LEAST;
        deeper = deeper > at_depth[d] ? deeper - at_depth[d] : 0;
    }
    return UINT32_MAX;
}

int tl_place_tree_longest(const tl_place_tree *t, uint64_t (*samples)(const tl_profile *p, uint32_t place),
                          uint64_t budget, uint32_t *longest, tl_error *e)
{
    uint64_t *at_depth = calloc((size_t)t->depth + 1, sizeof *at_depth);
    if (!at_depth)
        return no_memory(e);
    tl_place_walk w = {.tree = t, .track = TL_NO_TRACK};
    while (tl_place_walk_next(&w))
        if (!w.leaving)
            at_depth[w.depth] = tl_add_saturated(at_depth[w.depth], samples(t->profile, w.place));
    *longest = fit(at_depth, t->depth, budget);
    free(at_depth);
    return 0;
}

uint64_t tl_place_is_used(const tl_profile *p, uint32_t place)
{
    if (!has_function(p, place))
        return 0;
    if (!p->nweight)
        return p->stat[place].calls > 0 || p->stat[place].self > 0;
    for (uint32_t i = 0; i < p->nweight; i++)
        if (tl_profile_weight_self(p, place, i))
            return 1;
    return 0;
}

uint64_t tl_place_has_self(const tl_profile *p, uint32_t place)
{
    return has_function(p, place) && p->stat[place].self > 0;
}

uint64_t tl_profile_histograms(const tl_profile *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; p->has_histogram && i < p->nplace; i++)
        n += tl_hist_next(&p->stat[i].hist, 0) < TL_HIST_BUCKETS;
    return n;
}

uint64_t tl_profile_called_places(const tl_profile *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; !p->nweight && i < p->nplace; i++)
        n += p->stat[i].calls > 0;
    return n;
}

const char *tl_place_walk_thread(const tl_place_walk *w)
{
    if (w->track == TL_NO_TRACK)
        return NULL;
    const char *name = w->tree->profile->track[w->track].name;
    return name ? name : "thread";
}

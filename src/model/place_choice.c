/* Chooses the widest places in one walk and one sort, and adds up the others. */
#include "model/place_choice.h"

#include <stdlib.h>

#include "base/grow.h"

static bool add(tl_place_choice *c, tl_chosen new)
{
    if (!TL_GROW(c->list, c->n, 1, c->capacity))
        return false;
    c->list[c->n++] = new;
    return true;
}

static int compare(const void *a, const void *b)
{
    const tl_chosen *x = a, *y = b;
    if (x->width != y->width)
        return x->width < y->width ? 1 : -1;
    return TL_COMPARE(x->number, y->number);
}

/* Callers come before what they call, so one backward pass sees all that is below a place. */
static bool find_used(tl_place_choice *c, const tl_place_tree *t)
{
    const tl_profile *p = t->profile;
    c->used = calloc(p->nplace, sizeof *c->used);
    for (uint32_t i = c->used ? p->nplace : 0; i-- > 1;) {
        c->used[i] = c->used[i] || t->weight[i] || tl_place_is_used(p, i);
        c->used[p->place[i].parent] |= c->used[i];
    }
    return c->used != NULL;
}

/* All places that may be chosen. False when memory runs out. */
static bool collect(tl_place_choice *c, const tl_place_tree *t, const tl_choice_limit *limit)
{
    uint32_t number = 0, depth = 0;
    tl_place_walk w = {.tree = t, .track = TL_NO_TRACK};
    while (tl_place_walk_next(&w)) {
        if (w.leaving) {
            depth--;
            continue;
        }
        depth++;
        number++;
        const uint64_t width = t->weight[w.place];
        if (width == 0) {
            if (!t->profile->nweight) /* samples may have other weights */
                c->timeless += tl_place_is_used(t->profile, w.place);
            if (!c->used || !c->used[w.place])
                continue;
        } else {
            c->places++;
            c->self = tl_add_saturated(c->self, t->profile->stat[w.place].self);
        }
        if (depth > limit->depth)
            c->too_deep = true;
        else if (!add(c, (tl_chosen){width, w.place, depth, number}))
            return false;
    }
    return true;
}

/* Counts what is left out, now that list[] is complete. */
static void count(tl_place_choice *c, const tl_place_tree *t)
{
    uint64_t wide = 0;
    c->narrowest = c->n ? c->list[c->n - 1].width : 0;
    c->self_out = c->self;
    for (size_t i = 0; i < c->n; i++) {
        const uint64_t shown = t->profile->stat[c->list[i].place].self;
        c->self_out = c->self_out > shown ? c->self_out - shown : 0;
        wide += c->list[i].width != 0;
    }
    c->left_out = c->places - wide;
}

int tl_place_choose(tl_place_choice *c, const tl_place_tree *t, const tl_choice_limit *limit, tl_error *e)
{
    *c = (tl_place_choice){0};
    if ((limit->with_timeless && !find_used(c, t)) || !collect(c, t, limit))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to choose places of the call tree");
    if (c->n > 1)
        qsort(c->list, c->n, sizeof *c->list, compare);
    if (c->n > limit->places)
        c->n = limit->places;
    count(c, t);
    return 0;
}

void tl_place_choice_fini(tl_place_choice *c)
{
    free(c->list);
    free(c->used);
    *c = (tl_place_choice){0};
}

static void add_weights(const tl_profile *p, uint64_t *weights, uint32_t to, uint32_t place)
{
    for (uint32_t i = 0; weights && i < p->nweight; i++) {
        uint64_t *sum = &weights[(size_t)to * p->nweight + i];
        *sum = tl_add_saturated(*sum, tl_profile_weight_self(p, place, i));
    }
}

void tl_place_others(const tl_place_choice *c, const tl_place_tree *t, uint32_t *keeper, tl_others *others,
                     uint64_t *weights)
{
    const tl_profile *p = t->profile;
    for (uint32_t i = 0; i < p->nplace; i++)
        keeper[i] = UINT32_MAX;
    keeper[0] = 0;
    for (size_t i = 0; i < c->n; i++)
        keeper[c->list[i].place] = c->list[i].place;
    for (uint32_t i = 1; i < p->nplace; i++) { /* parents come before children */
        const uint32_t parent = p->place[i].parent;
        if (keeper[i] == i)
            continue;
        const uint32_t to = keeper[i] = keeper[parent];
        if (c->used && !c->used[i])
            continue;
        tl_others *o = &others[to];
        o->places++;
        o->calls = tl_add_saturated(o->calls, p->stat[i].calls);
        o->self = tl_add_saturated(o->self, p->stat[i].self);
        o->unwound = tl_add_saturated(o->unwound, tl_profile_place_unwound(p, i));
        if (to == parent)
            o->width = tl_add_saturated(o->width, t->weight[i]);
        add_weights(p, weights, to, i);
    }
}

/* Puts the widest places of a profile side by side. */
#include "format/svg/svg_layout.h"

#include <stdlib.h>

#include "model/place_choice.h"

/* The chosen places as a tree of their own. Node 0 is the whole, node i + 1 is chosen place i. */
typedef struct nodes {
    const tl_profile *profile;
    uint32_t *of_place;     /* [places] node; 0: none */
    uint32_t *child, *next; /* [nodes] 0: none */
    uint64_t *x;            /* [nodes] where the next child begins */
} nodes;

static uint32_t parent_of(const tl_place_choice *c, const nodes *t, uint32_t node)
{
    return t->of_place[t->profile->place[c->list[node - 1].place].parent];
}

static void link_nodes(const tl_place_choice *c, nodes *t)
{
    for (uint32_t i = 1; i <= c->n; i++)
        t->of_place[c->list[i - 1].place] = i;
    for (uint32_t i = (uint32_t)c->n; i > 0; i--) { /* narrow ones first, each put before its siblings */
        uint32_t parent = parent_of(c, t, i);
        t->next[i] = t->child[parent];
        t->child[parent] = i;
    }
}

static void put_box(svg_layout *l, const tl_place_choice *c, nodes *t, uint32_t node)
{
    const tl_chosen *chosen = &c->list[node - 1];
    uint64_t *x = &t->x[parent_of(c, t, node)];
    t->x[node] = *x;
    l->box[l->n++] = (svg_box){chosen->place, chosen->depth, *x, chosen->width};
    *x = tl_add_saturated(*x, chosen->width);
    if (chosen->depth > l->depth)
        l->depth = chosen->depth;
}

static void arrange(svg_layout *l, const tl_place_choice *c, nodes *t)
{
    link_nodes(c, t);
    l->box[l->n++] = (svg_box){.place = 0, .width = l->whole};
    for (uint32_t node = t->child[0]; node;) {
        put_box(l, c, t, node);
        if (t->child[node]) {
            node = t->child[node];
            continue;
        }
        while (node && !t->next[node])
            node = parent_of(c, t, node);
        node = t->next[node]; /* that of the whole is 0 */
    }
}

int svg_layout_init(svg_layout *l, const tl_place_tree *tree, tl_error *e)
{
    const tl_choice_limit limit = {.places = SVG_BOXES_MAX - 1, .depth = SVG_DEPTH_MAX}; /* one box is for the whole */
    tl_place_choice c;
    nodes t = {.profile = tree->profile};
    *l = (svg_layout){.whole = tree->weight[0]};
    int status = tl_place_choose(&c, tree, &limit, e);
    if (status < 0)
        goto out;
    l->places = c.places;
    l->timeless = c.timeless;
    l->self = c.self;
    l->left_out = c.left_out;
    l->self_out = c.self_out;
    l->narrowest = c.narrowest;
    l->too_deep = c.too_deep;
    status = TL_ENOMEM;
    t.of_place = calloc(tree->profile->nplace, sizeof *t.of_place);
    t.child = calloc(c.n + 1, sizeof *t.child);
    t.next = calloc(c.n + 1, sizeof *t.next);
    t.x = calloc(c.n + 1, sizeof *t.x);
    l->box = calloc(c.n + 1, sizeof *l->box);
    if (!t.of_place || !t.child || !t.next || !t.x || !l->box)
        goto out;
    arrange(l, &c, &t);
    status = 0;
out:
    tl_place_choice_fini(&c);
    free(t.of_place);
    free(t.child);
    free(t.next);
    free(t.x);
    if (status < 0) {
        svg_layout_fini(l);
        tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the picture of the call tree");
    }
    return status;
}

void svg_layout_fini(svg_layout *l)
{
    free(l->box);
    *l = (svg_layout){0};
}

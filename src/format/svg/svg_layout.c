/* Chooses the widest places and puts them side by side, in one walk and one sort. */
#include "format/svg/svg_layout.h"

#include <stdlib.h>

#include "base/grow.h"

typedef struct candidate {
    uint64_t width;
    uint32_t place, depth, number; /* number: in the order of the walk, so that parents come before children */
} candidate;

typedef struct chooser {
    const tl_place_tree *tree;
    candidate *list;
    size_t n, capacity;
} chooser;

static bool add(chooser *c, candidate new)
{
    if (!TL_GROW(c->list, c->n, 1, c->capacity))
        return false;
    c->list[c->n++] = new;
    return true;
}

/* Wide ones first. A child is never wider than its parent, so every prefix of the list is a tree. */
static int compare(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->width != y->width)
        return x->width < y->width ? 1 : -1;
    return TL_COMPARE(x->number, y->number);
}

static bool choose(svg_layout *l, chooser *c)
{
    const tl_place_tree *t = c->tree;
    uint32_t number = 0, depth = 0;
    tl_place_walk w = {.tree = t, .track = TL_NO_TRACK};
    while (tl_place_walk_next(&w)) {
        if (w.leaving) {
            depth--;
            continue;
        }
        depth++;
        number++;
        if (t->weight[w.place] == 0) {
            if (!t->profile->nweight) /* samples may have other weights */
                l->timeless += tl_place_is_used(t->profile, w.place);
            continue;
        }
        l->places++;
        l->self = tl_add_saturated(l->self, t->profile->stat[w.place].self);
        if (depth > SVG_DEPTH_MAX)
            l->too_deep = true;
        else if (!add(c, (candidate){t->weight[w.place], w.place, depth, number}))
            return false;
    }
    if (c->n == 0)
        return true;
    qsort(c->list, c->n, sizeof *c->list, compare);
    if (c->n > SVG_BOXES_MAX - 1) /* one is for the whole */
        c->n = SVG_BOXES_MAX - 1;
    l->narrowest = c->list[c->n - 1].width;
    l->left_out = l->places - c->n;
    l->self_out = l->self;
    for (size_t i = 0; i < c->n; i++) {
        uint64_t shown = t->profile->stat[c->list[i].place].self;
        l->self_out = l->self_out > shown ? l->self_out - shown : 0;
    }
    return true;
}

/* The chosen places as a tree of their own. Node 0 is the whole, node i + 1 is candidate i. */
typedef struct nodes {
    uint32_t *of_place;     /* [places] node; 0: none */
    uint32_t *child, *next; /* [nodes] 0: none */
    uint64_t *x;            /* [nodes] where the next child begins */
} nodes;

static uint32_t parent_of(const chooser *c, const nodes *t, uint32_t node)
{
    return t->of_place[c->tree->profile->place[c->list[node - 1].place].parent];
}

static void link_nodes(const chooser *c, nodes *t)
{
    for (uint32_t i = 1; i <= c->n; i++)
        t->of_place[c->list[i - 1].place] = i;
    for (uint32_t i = (uint32_t)c->n; i > 0; i--) { /* narrow ones first, each put before its siblings */
        uint32_t parent = parent_of(c, t, i);
        t->next[i] = t->child[parent];
        t->child[parent] = i;
    }
}

static void put_box(svg_layout *l, const chooser *c, nodes *t, uint32_t node)
{
    const candidate *chosen = &c->list[node - 1];
    uint64_t *x = &t->x[parent_of(c, t, node)];
    t->x[node] = *x;
    l->box[l->n++] = (svg_box){chosen->place, chosen->depth, *x, chosen->width};
    *x = tl_add_saturated(*x, chosen->width);
    if (chosen->depth > l->depth)
        l->depth = chosen->depth;
}

static void arrange(svg_layout *l, const chooser *c, nodes *t)
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
    chooser c = {.tree = tree};
    nodes t = {0};
    *l = (svg_layout){.whole = tree->weight[0]};
    int status = TL_ENOMEM;
    if (!choose(l, &c))
        goto out;
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
    free(c.list);
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

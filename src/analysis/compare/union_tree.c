/* Numbers both trees by path, and keeps the widest places. */
#include "analysis/compare/union_tree.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/compare/compare_impl.h"
#include "base/grow.h"

static const tl_metric measured[] = {{TL_METRIC_CALLS, 0}, {TL_METRIC_TOTAL, 0}, {TL_METRIC_SELF, 0}};

static tl_union_side mean_of(const tl_compare *c, int side, tl_item item)
{
    const uint32_t n = c->side[side].n;
    tl_union_side mean = {0};
    for (uint32_t run = 0; run < n; run++) {
        double value[TL_COUNT(measured)];
        tl_measure(c, side, run, item, measured, TL_COUNT(measured), value);
        mean.calls += value[0] / n;
        mean.total += value[1] / n;
        mean.self += value[2] / n;
    }
    return mean;
}

/* Children are behind their parents, so going back meets them first. */
static void set_widths(tl_union_place *place, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;) { /* so far, width has that of all children */
        tl_union_place *p = &place[i], *above = &place[p->parent];
        for (int side = 0; side < 2; side++) {
            tl_union_side *s = &p->side[side];
            s->width = fmax(s->total, s->width + s->self);
            if (i > 0)
                above->side[side].width += s->width;
        }
        p->width = fmax(p->width, fmax(p->side[0].width, p->side[1].width));
        if (i > 0)
            above->width += p->width;
    }
}

typedef struct ranked {
    double width;
    uint32_t place;
} ranked;

/* Wide ones first, of equal ones the first: so every prefix has the parents of its places. */
static int compare_ranks(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    const int by_width = TL_COMPARE(y->width, x->width);
    return by_width ? by_width : TL_COMPARE(x->place, y->place);
}

/* Leaves the `most` widest places. False when memory runs out. */
static bool choose(tl_union_tree *u, uint32_t most)
{
    ranked *rank = tl_alloc(u->n, sizeof *rank);
    uint32_t *to = calloc(u->n, sizeof *to), kept = 0; /* 0: left out, but for the whole */
    for (uint32_t i = 0; rank && i < u->n; i++)
        rank[i] = (ranked){i ? u->place[i].width : INFINITY, i};
    if (rank)
        qsort(rank, u->n, sizeof *rank, compare_ranks);
    for (uint32_t i = 0; rank && to && i < most; i++)
        to[rank[i].place] = 1;
    for (uint32_t i = 0; rank && to && i < u->n; i++)
        if (to[i]) {
            to[i] = kept;
            u->place[kept] = u->place[i];
            u->place[kept].parent = to[u->place[i].parent];
            kept++;
        }
    const bool ok = rank && to;
    free(rank);
    free(to);
    u->left_out = u->n - kept;
    u->n = kept;
    return ok;
}

int tl_union_tree_of(tl_union_tree *u, const tl_compare *c, uint32_t most, tl_error *e)
{
    *u = (tl_union_tree){.place = calloc((size_t)c->path.n + 1, sizeof *u->place), .n = c->path.n + 1};
    for (uint32_t i = 1; u->place && i < u->n; i++) {
        const tl_item item = tl_compare_item(c, true, i - 1);
        const uint32_t above = tl_path_caller(c, item.path);
        u->place[i] = (tl_union_place){.name = tl_subject_shown(c, item.subject),
                                       .parent = above == TL_NO_SUBJECT ? 0 : above + 1,
                                       .side = {mean_of(c, 0, item), mean_of(c, 1, item)}};
    }
    if (u->place)
        set_widths(u->place, u->n);
    if (u->place && (u->n <= most || choose(u, most)))
        return 0;
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to compare trees");
}

void tl_union_tree_fini(tl_union_tree *u)
{
    free(u->place);
    *u = (tl_union_tree){0};
}

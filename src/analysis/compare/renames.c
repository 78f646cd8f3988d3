/* Guesses which function has a new name: the same main caller, the same callees, and no other that could be meant. */
#include <math.h>
#include <stdlib.h>

#include "analysis/compare/side_graph.h"
#include "base/grow.h"

#define ALIKE         0.8 /* of the callees' time, or of calls and of time */
#define ROUNDS        4u  /* a renamed function makes others below it recognisable */
#define SIBLINGS_MOST 64u /* functions without a partner below one caller: among more, none is recognised */

/* The functions of a side without a partner, by main caller. */
typedef struct orphan {
    uint32_t function;
    uint32_t caller; /* subject; TL_NO_SUBJECT: the begin of stacks */
    uint32_t fits;   /* how many of the other side could be it ... */
    uint32_t with;   /* ... and one of them */
} orphan;

typedef struct orphans {
    orphan *item;
    uint32_t n;
} orphans;

static int compare(const void *a, const void *b)
{
    const orphan *x = a, *y = b;
    return x->caller != y->caller ? TL_COMPARE(x->caller, y->caller) : TL_COMPARE(x->function, y->function);
}

static bool collect(orphans *o, const tl_side_graph *g)
{
    const tl_side *s = g->side;
    *o = (orphans){.item = tl_alloc((size_t)s->nfunction + 1, sizeof *o->item)};
    for (uint32_t i = 0; o->item && i < s->nfunction; i++) {
        bool is_begin;
        const uint32_t caller = tl_side_subject(s, g->caller[i], &is_begin);
        if (s->function[i].subject == TL_NO_SUBJECT && !s->function[i].unnamed && (is_begin || caller != TL_NO_SUBJECT))
            o->item[o->n++] = (orphan){.function = i, .caller = caller};
    }
    if (o->item)
        qsort(o->item, o->n, sizeof *o->item, compare);
    return o->item != NULL;
}

/* The share of the time of a function's callees whose partners the other function calls, too; -1: it has none. */
static double alike(const tl_side_graph *g, uint32_t f, const tl_side_graph *other, uint32_t as, int other_side,
                    const tl_compare *c)
{
    double all = 0, same = 0;
    for (uint32_t i = g->first[f + 1]; i; i = g->next[i - 1]) {
        const uint32_t callee = (uint32_t)g->side->edge_of.pair[i - 1].b - 1;
        const uint32_t subject = callee == f ? TL_NO_SUBJECT : g->side->function[callee].subject;
        const double time = callee == f ? 0 : g->side->edge[i - 1].total;
        all += time;
        if (subject != TL_NO_SUBJECT && c->subject[subject].function[other_side] != TL_NO_SUBJECT &&
            tl_side_find_edge(other->side, as + 1, c->subject[subject].function[other_side] + 1))
            same += time;
    }
    return all > 0 ? same / all : -1;
}

static bool near(double a, double b)
{
    return fmin(a, b) >= ALIKE * fmax(a, b);
}

/* As often called, and as long in all: the only signs of functions that call nothing. */
static bool is_as_busy(const tl_side *s, uint32_t f, const tl_side *other, uint32_t as)
{
    const tl_side_function *a = &s->function[f], *b = &other->function[as];
    return near(a->calls / s->n, b->calls / other->n) && near(a->total / s->n, b->total / other->n);
}

static bool could_be(const tl_compare *c, const tl_side_graph *g, uint32_t old, uint32_t newer)
{
    const double there = alike(&g[0], old, &g[1], newer, 1, c), back = alike(&g[1], newer, &g[0], old, 0, c);
    if (there >= 0 || back >= 0)
        return there >= ALIKE && back >= ALIKE;
    return is_as_busy(g[0].side, old, g[1].side, newer);
}

/* Compares those of one caller. */
static void compare_siblings(const tl_compare *c, const tl_side_graph *g, orphan *old, uint32_t nold, orphan *newer,
                             uint32_t nnew)
{
    if (nold > SIBLINGS_MOST || nnew > SIBLINGS_MOST)
        return;
    for (uint32_t i = 0; i < nold; i++)
        for (uint32_t k = 0; k < nnew; k++)
            if (could_be(c, g, old[i].function, newer[k].function)) {
                old[i].fits++;
                newer[k].fits++;
                old[i].with = k;
            }
}

static uint32_t same_caller(const orphans *o, uint32_t from)
{
    uint32_t n = 0;
    while (from + n < o->n && o->item[from + n].caller == o->item[from].caller)
        n++;
    return n;
}

/* False without memory. *any: there were some. */
static bool pair(tl_compare *c, const tl_side_graph *g, orphans *old, orphans *newer, bool *any)
{
    for (uint32_t i = 0, k = 0; i < old->n && k < newer->n;) {
        const uint32_t nold = same_caller(old, i), nnew = same_caller(newer, k);
        const uint32_t a = old->item[i].caller, b = newer->item[k].caller;
        if (a == b)
            compare_siblings(c, g, &old->item[i], nold, &newer->item[k], nnew);
        for (uint32_t at = i; a == b && at < i + nold; at++) {
            const orphan *o = &old->item[at];
            if (o->fits != 1 || newer->item[k + o->with].fits != 1)
                continue;
            const uint32_t subject = tl_compare_add_subject(c, o->function, newer->item[k + o->with].function);
            if (subject == TL_NO_SUBJECT)
                return false;
            c->subject[subject].maybe_renamed = *any = true;
        }
        i += a <= b ? nold : 0;
        k += b <= a ? nnew : 0;
    }
    return true;
}

int tl_compare_guess_renames(tl_compare *c, tl_error *e)
{
    tl_side_graph g[2] = {{0}};
    int status = tl_side_graph_init(&g[0], &c->side[0], e);
    if (status == 0)
        status = tl_side_graph_init(&g[1], &c->side[1], e);
    bool any = true;
    for (uint32_t round = 0; round < ROUNDS && any && status == 0; round++) {
        orphans o[2] = {{0}};
        any = false;
        if (!collect(&o[0], &g[0]) || !collect(&o[1], &g[1]) || !pair(c, g, &o[0], &o[1], &any))
            status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match functions");
        free(o[0].item);
        free(o[1].item);
    }
    tl_side_graph_fini(&g[0]);
    tl_side_graph_fini(&g[1]);
    return status;
}

/* The table of places: the call tree depth-first, the heaviest branch first. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/function/table_rows.h"
#include "base/grow.h"

typedef struct sorting {
    const tl_profile *p;
    const uint32_t *canonical; /* places in canonical order: positions in it are sorted */
} sorting;

static int compare_places(const void *x, const void *y, void *argument)
{
    const sorting *s = argument;
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    uint32_t pa = s->canonical[a], pb = s->canonical[b];
    uint32_t fa = s->p->place[pa].function, fb = s->p->place[pb].function;
    bool thread_a = fa == TL_NO_FUNCTION, thread_b = fb == TL_NO_FUNCTION;
    if (thread_a != thread_b)
        return thread_a ? -1 : 1;
    uint64_t ta = s->p->stat[pa].total, tb = s->p->stat[pb].total;
    if (!thread_a && ta != tb)
        return ta > tb ? -1 : 1;
    if (!thread_a && s->p->function[fa].id != s->p->function[fb].id)
        return s->p->function[fa].id < s->p->function[fb].id ? -1 : 1;
    return TL_COMPARE(a, b);
}

/* All places depth-first, siblings by total descending, then by function id; threads in canonical order. */
static int heaviest_first(const tl_profile *p, uint32_t *order, tl_error *e)
{
    uint32_t n = p->nplace;
    uint32_t *canonical = tl_alloc(n, sizeof *canonical);
    if (!canonical)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to sort %" PRIu32 " places", n);
    int status = tl_profile_canonical_order(p, canonical, e);
    if (status < 0)
        goto out;
    for (uint32_t i = 1; i < n; i++)
        order[i - 1] = i; /* canonical[0] is the root */
    qsort_r(order, n - 1, sizeof *order, compare_places, &(sorting){.p = p, .canonical = canonical});
    for (uint32_t i = 1; i < n; i++)
        order[i - 1] = canonical[order[i - 1]];
    status = tl_profile_depth_first(p, order, order, e);
out:
    free(canonical);
    return status;
}

int tl_tree_rows(tl_table *out, const tl_profile *p, tl_error *e)
{
    tl_table t = {.row = tl_alloc(p->nplace, sizeof *t.row)};
    uint32_t *order = tl_alloc(p->nplace, sizeof *order);
    int status = TL_ENOMEM;
    if (!t.row || !order) {
        tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of %" PRIu32 " places", p->nplace);
        goto out;
    }
    status = heaviest_first(p, order, e);
    if (status < 0)
        goto out;
    uint32_t track = TL_NO_TRACK;
    for (uint32_t i = 1; i < p->nplace; i++) {
        const tl_place *at = &p->place[order[i]];
        if (at->parent == 0)
            track = at->track; /* a thread's root */
        if (!p->stat[order[i]].calls && !p->stat[order[i]].total)
            continue;
        tl_row *row = &t.row[t.n];
        *row = (tl_row){.function = at->function, .place = order[i], .track = track, .position = t.n};
        row->caller = p->place[at->parent].function;
        tl_row_set_place(row, p, order[i]);
        t.n++;
    }
    *out = t;
    t.row = NULL;
out:
    free(t.row);
    free(order);
    return status;
}

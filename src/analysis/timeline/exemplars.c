/* Calls that are worth a look. */
#include "analysis/timeline/exemplars.h"

#include <string.h>

#include "base/compiler.h"

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Is a before b, if both are as far from what is wanted? */
static bool is_before(const tl_exemplar *a, const tl_exemplar *b)
{
    if (a->ticks != b->ticks)
        return a->ticks > b->ticks;
    if (a->track != b->track)
        return a->track < b->track;
    if (a->begin != b->begin)
        return a->begin < b->begin;
    return a->depth != b->depth ? a->depth < b->depth : a->place < b->place;
}

/* List of `n` with the nearest to a duration first; none is nearer to UINT64_MAX than a longer one. */
static void insert(tl_exemplar *list, uint32_t *n, uint32_t most, uint64_t wanted, const tl_exemplar *x)
{
    const uint64_t mine = distance(x->ticks, wanted);
    uint32_t at = *n;
    while (at > 0) {
        const uint64_t other = distance(list[at - 1].ticks, wanted);
        if (other < mine || (other == mine && !is_before(x, &list[at - 1])))
            break;
        at--;
    }
    if (at == most)
        return;
    *n += *n < most;
    memmove(list + at + 1, list + at, (*n - 1 - at) * sizeof *list);
    list[at] = *x;
}

static void add_longest(tl_exemplar_row *r, const tl_exemplar *x)
{
    if (TL_LIKELY(x->ticks < r->least))
        return;
    insert(r->longest, &r->nlongest, TL_EXEMPLAR_LONGEST, UINT64_MAX, x);
    if (r->nlongest == TL_EXEMPLAR_LONGEST)
        r->least = r->longest[TL_EXEMPLAR_LONGEST - 1].ticks;
}

static void add_near(tl_exemplar_row *r, unsigned i, const tl_exemplar *x)
{
    if (TL_LIKELY(distance(x->ticks, r->near[i]) > r->farthest[i]))
        return;
    insert(r->around[i], &r->nnear[i], TL_EXEMPLAR_EACH, r->near[i], x);
    if (r->nnear[i] == TL_EXEMPLAR_EACH)
        r->farthest[i] = distance(r->around[i][TL_EXEMPLAR_EACH - 1].ticks, r->near[i]);
}

void tl_exemplars_init(tl_exemplar_row *r)
{
    r->least = 0;
    for (unsigned i = 0; i < TL_EXEMPLAR_NEAR; i++)
        r->farthest[i] = UINT64_MAX;
}

void tl_exemplars_add(tl_exemplar_row *r, const tl_exemplar *x)
{
    add_longest(r, x);
    for (unsigned i = 0; i < TL_EXEMPLAR_NEAR; i++)
        add_near(r, i, x);
}

void tl_exemplars_merge(tl_exemplar_row *r, const tl_exemplar_row *from)
{
    for (uint32_t i = 0; i < from->nlongest; i++)
        add_longest(r, &from->longest[i]);
    for (unsigned i = 0; i < TL_EXEMPLAR_NEAR; i++)
        for (uint32_t k = 0; k < from->nnear[i]; k++)
            add_near(r, i, &from->around[i][k]);
}

/* Lanes of a picture of calls. */
#include "analysis/timeline/lanes.h"

#include <stdlib.h>

#include "base/grow.h"

/* So many are kept before those that are too many are dropped: dropping costs as much as adding them. */
uint32_t tl_lanes_rows(uint32_t most)
{
    return most + most / 4 + 1;
}

bool tl_lanes_init(tl_lanes *l, uint32_t most)
{
    *l = (tl_lanes){.most = most};
    l->lane = tl_alloc(tl_lanes_rows(most), sizeof *l->lane);
    l->free = tl_alloc(tl_lanes_rows(most), sizeof *l->free);
    for (uint32_t i = tl_lanes_rows(most); l->free && i > 0; i--)
        l->free[l->nfree++] = i - 1;
    return l->lane && l->free;
}

void tl_lanes_fini(tl_lanes *l)
{
    free(l->lane);
    free(l->free);
    tl_hash_fini(&l->index);
    *l = (tl_lanes){0};
}

static uint64_t key_of(const tl_lane *lane)
{
    return (uint64_t)lane->depth << 32 | lane->track;
}

static int by_depth(const void *a, const void *b)
{
    const uint64_t x = key_of(a), y = key_of(b);
    return x < y ? -1 : x > y;
}

static int by_track(const void *a, const void *b)
{
    const tl_lane *x = a, *y = b;
    return x->track != y->track ? (x->track < y->track ? -1 : 1) : by_depth(a, b);
}

/* Drops those that are too many. */
static void drop(tl_lanes *l)
{
    if (l->n <= l->most)
        return;
    qsort(l->lane, l->n, sizeof *l->lane, by_depth);
    l->full = true;
    l->limit = key_of(&l->lane[l->most]);
    for (uint32_t i = l->most; i < l->n; i++)
        l->free[l->nfree++] = l->lane[i].row;
    l->n = l->most;
}

TL_COLD tl_lane *tl_lanes_add_slow(tl_lanes *l, uint64_t key, bool *fresh, bool *failed)
{
    if (l->n == tl_lanes_rows(l->most)) {
        drop(l);
        tl_hash_fini(&l->index);
        for (uint32_t i = 0; i < l->n && !*failed; i++)
            *failed = !tl_hash_put(&l->index, key_of(&l->lane[i]), i);
        if (*failed || key >= l->limit)
            return NULL;
    }
    if (!tl_hash_put(&l->index, key, l->n)) {
        *failed = true;
        return NULL;
    }
    l->lane[l->n] = (tl_lane){.track = (uint32_t)key, .depth = (uint32_t)(key >> 32), .row = l->free[--l->nfree]};
    *fresh = true;
    return &l->lane[l->n++];
}

void tl_lanes_finish(tl_lanes *l)
{
    drop(l);
    if (l->n)
        qsort(l->lane, l->n, sizeof *l->lane, by_track);
    tl_hash_fini(&l->index);
}

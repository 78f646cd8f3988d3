/* Stacks of open calls: growth, and the search for a function that is not on top.
 *
 * A search looks at the topmost NEAR frames first. If that fails, the track begins to count its open calls per
 * function, so that exits of functions that are not open only cost a table lookup. */
#include "model/nest.h"

#include <stdlib.h>

#include "base/grow.h"

enum { NEAR = 64 };

void tl_nest_fini(tl_nest *nest)
{
    for (uint32_t i = 0; i < nest->ntrack; i++) {
        free(nest->track[i].open);
        tl_hash_fini(&nest->track[i].count);
    }
    free(nest->track);
    *nest = (tl_nest){0};
}

/* Stops counting, when memory runs out. */
static void give_up_counting(tl_nest_track *t)
{
    tl_hash_fini(&t->count);
    t->counted = false;
}

static void add_count(tl_nest_track *t, uint64_t function, uint32_t change)
{
    uint32_t n = tl_hash_get(&t->count, function);
    if (!tl_hash_put(&t->count, function, (n == TL_HASH_NONE ? 0 : n) + change))
        give_up_counting(t);
}

TL_NOINLINE bool tl_nest_push_slow(tl_nest *nest, tl_nest_track *t, uint64_t function)
{
    (void)nest;
    if (!TL_GROW(t->open, t->n, 1, t->capacity))
        return false;
    t->open[t->n++] = function;
    if (t->counted)
        add_count(t, function, 1);
    return true;
}

void tl_nest_uncount(tl_nest_track *t, uint64_t function)
{
    add_count(t, function, (uint32_t)-1);
}

static void start_counting(tl_nest_track *t)
{
    t->counted = true;
    for (uint32_t i = 0; i < t->n && t->counted; i++)
        add_count(t, t->open[i], 1);
}

TL_NOINLINE uint32_t tl_nest_find_slow(tl_nest *nest, tl_nest_track *t, uint64_t function)
{
    if (t->beyond > 0) { /* assumed to end an entry that was too deep */
        t->beyond--;
        return 0;
    }
    for (uint32_t up = 1; up <= t->n; up++) {
        if (t->open[t->n - up] == function)
            return up;
        if (up < NEAR)
            continue;
        if (!t->counted)
            start_counting(t);
        uint32_t n = t->counted ? tl_hash_get(&t->count, function) : 1;
        if (n == 0 || n == TL_HASH_NONE)
            break;
    }
    nest->unmatched_exits++;
    return 0;
}

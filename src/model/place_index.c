/* Finds places by parent and function. */
#include "model/place_index.h"

#include <stdlib.h>

enum { SLOTS_LEAST = 64 };

static void enter(tl_place_index *x, const tl_place *place, uint32_t number)
{
    uint32_t i = tl_place_index_start(x, place[number].parent, place[number].function);
    while (x->slot[i])
        i = (i + 1) & x->mask;
    x->slot[i] = number;
}

static bool grow(tl_place_index *x, const tl_place *place)
{
    const uint32_t old = x->slot ? x->mask + 1 : 0, n = old ? 2 * old : SLOTS_LEAST;
    uint32_t *slot = n > old ? calloc(n, sizeof *slot) : NULL;
    if (!slot)
        return false;
    tl_place_index larger = {.slot = slot, .mask = n - 1, .n = x->n, .seed = x->seed};
    if (!old)
        larger.seed = tl_hash_seed(x);
    for (uint32_t i = 0; i < old; i++)
        if (x->slot[i])
            enter(&larger, place, x->slot[i]);
    free(x->slot);
    *x = larger;
    return true;
}

bool tl_place_index_add(tl_place_index *x, const tl_place *place, uint32_t number)
{
    if ((!x->slot || x->n > x->mask / 2) && !grow(x, place))
        return false;
    enter(x, place, number);
    x->n++;
    return true;
}

void tl_place_index_fini(tl_place_index *x)
{
    free(x->slot);
    *x = (tl_place_index){0};
}

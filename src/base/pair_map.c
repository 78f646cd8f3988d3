/* Pairs to indices: the pairs in an array, and slots of their indices that double at half full. */
#include "base/pair_map.h"

#include <stdlib.h>

#include "base/grow.h"

#define SLOTS_LEAST 64u
#define SLOTS_MOST  ((uint32_t)1 << 28) /* their size fits 32 bits */

static void put(const tl_pair_map *m, struct tl_pair_slot *slot, uint32_t mask, uint32_t index)
{
    const uint64_t hash = tl_pair_hash(m, m->pair[index].a, m->pair[index].b);
    uint32_t i = (uint32_t)(hash >> 32) & mask;
    while (slot[i].index != TL_HASH_NONE)
        i = (i + 1) & mask;
    slot[i] = (struct tl_pair_slot){.index = index, .tag = (uint32_t)hash};
}

static bool grow(tl_pair_map *m)
{
    const uint32_t n = m->slot ? m->mask + 1 : SLOTS_LEAST / 2;
    if (n > SLOTS_MOST / 2)
        return false;
    struct tl_pair_slot *slot = tl_alloc((size_t)n * 2, sizeof *slot);
    if (!slot)
        return false;
    for (uint32_t i = 0; i < n * 2; i++)
        slot[i] = (struct tl_pair_slot){.index = TL_HASH_NONE};
    if (!m->slot)
        m->seed = tl_hash_seed(m);
    for (uint32_t i = 0; i < m->n; i++)
        put(m, slot, n * 2 - 1, i);
    free(m->slot);
    m->slot = slot;
    m->mask = n * 2 - 1;
    return true;
}

uint32_t tl_pair_map_add(tl_pair_map *m, uint64_t a, uint64_t b, uint32_t most)
{
    if (m->n >= most || m->n == TL_HASH_NONE - 1 || !TL_GROW(m->pair, m->n, 1, m->capacity))
        return TL_HASH_NONE;
    if ((!m->slot || m->n > m->mask / 2) && !grow(m))
        return TL_HASH_NONE;
    m->pair[m->n] = (tl_pair){a, b};
    put(m, m->slot, m->mask, m->n);
    return m->n++;
}

void tl_pair_map_fini(tl_pair_map *m)
{
    free(m->pair);
    free(m->slot);
    *m = (tl_pair_map){0};
}

uint32_t *tl_pair_table_at(tl_pair_table *t, uint64_t a, uint64_t b)
{
    uint32_t i = tl_pair_map_get(&t->pairs, a, b);
    if (i == TL_HASH_NONE && TL_GROW_TO(t->value, t->nvalue, t->pairs.n, TL_HASH_NONE))
        i = tl_pair_map_add(&t->pairs, a, b, TL_HASH_NONE);
    return i == TL_HASH_NONE ? NULL : &t->value[i];
}

void tl_pair_table_fini(tl_pair_table *t)
{
    tl_pair_map_fini(&t->pairs);
    free(t->value);
    *t = (tl_pair_table){0};
}

/* Pairs of numbers to indices 0, 1, 2, ... in the order of first use: for tables whose rows have two keys. Not
 * thread-safe. */
#ifndef TL_BASE_PAIR_MAP_H
#define TL_BASE_PAIR_MAP_H

#include "base/hash.h"

typedef struct tl_pair {
    uint64_t a, b;
} tl_pair;

/* A zeroed map is an empty one. */
typedef struct tl_pair_map {
    tl_pair *pair; /* [n], by index */
    uint32_t n, capacity;
    uint64_t seed; /* as in tl_hash */
    uint32_t mask; /* slots - 1 */
    struct tl_pair_slot {
        uint32_t index; /* TL_HASH_NONE: free */
        uint32_t tag;   /* hash bits, compared before the pair itself */
    } * slot;
} tl_pair_map;

TL_ALWAYS_INLINE uint64_t tl_pair_hash(const tl_pair_map *m, uint64_t a, uint64_t b)
{
    const tl_wide first = tl_multiply(a ^ m->seed, tl_hash_odd[2]);
    return tl_hash_spread(first.low ^ first.high, b);
}

/* The index of a pair, or TL_HASH_NONE. */
TL_ALWAYS_INLINE uint32_t tl_pair_map_get(const tl_pair_map *m, uint64_t a, uint64_t b)
{
    if (TL_UNLIKELY(!m->slot))
        return TL_HASH_NONE;
    const uint64_t hash = tl_pair_hash(m, a, b);
    for (uint32_t i = (uint32_t)(hash >> 32) & m->mask;; i = (i + 1) & m->mask) {
        const struct tl_pair_slot s = m->slot[i];
        if (s.index == TL_HASH_NONE)
            return TL_HASH_NONE;
        if (s.tag == (uint32_t)hash && m->pair[s.index].a == a && m->pair[s.index].b == b)
            return s.index;
    }
}

/* Adds a pair that is not there yet. Its index is n; TL_HASH_NONE when memory runs out or there are `most` pairs; then
 * the map is unchanged. */
uint32_t tl_pair_map_add(tl_pair_map *m, uint64_t a, uint64_t b, uint32_t most);
/* The index of a pair, added if needed; TL_HASH_NONE without memory. */
TL_ALWAYS_INLINE uint32_t tl_pair_map_number(tl_pair_map *m, uint64_t a, uint64_t b)
{
    const uint32_t i = tl_pair_map_get(m, a, b);
    return i != TL_HASH_NONE ? i : tl_pair_map_add(m, a, b, TL_HASH_NONE);
}
void tl_pair_map_fini(tl_pair_map *m);

/* Pairs of numbers to values. A zeroed table is an empty one. */
typedef struct tl_pair_table {
    tl_pair_map pairs;
    uint32_t *value; /* [nvalue], by index of the pair */
    uint32_t nvalue; /* at least pairs.n */
} tl_pair_table;

/* The value of a pair, valid until the next tl_pair_table_at(); NULL: not there. */
TL_ALWAYS_INLINE uint32_t *tl_pair_table_find(const tl_pair_table *t, uint64_t a, uint64_t b)
{
    const uint32_t i = tl_pair_map_get(&t->pairs, a, b);
    return i == TL_HASH_NONE ? NULL : &t->value[i];
}
/* The same, but adds a missing pair with value 0. NULL when memory runs out; the table is then as
 * before. */
uint32_t *tl_pair_table_at(tl_pair_table *t, uint64_t a, uint64_t b);
void tl_pair_table_fini(tl_pair_table *t);

#endif

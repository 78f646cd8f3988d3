/* Maps ids to indices if most ids are small: an array for small ones, a hash table for the others. */
#ifndef TL_BASE_ID_MAP_H
#define TL_BASE_ID_MAP_H

#include "base/hash.h"

#define TL_ID_MAP_DIRECT (1u << 16) /* ids below this are in the array, which grows up to here */

/* A zeroed map is an empty one. */
typedef struct tl_id_map {
    uint32_t *direct; /* [ndirect] */
    uint32_t ndirect;
    tl_hash rest;
} tl_id_map;

/* The index of an id, or TL_HASH_NONE. */
TL_ALWAYS_INLINE uint32_t tl_id_map_get(const tl_id_map *m, uint64_t id)
{
    if (TL_LIKELY(id < m->ndirect))
        return m->direct[id];
    return id < TL_ID_MAP_DIRECT ? TL_HASH_NONE : tl_hash_get(&m->rest, id);
}

/* Sets the index of an id, new or not; not TL_HASH_NONE. False when memory runs out; then the map is unchanged. */
bool tl_id_map_put(tl_id_map *m, uint64_t id, uint32_t index);
void tl_id_map_fini(tl_id_map *m);

#endif

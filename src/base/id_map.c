/* The array of small ids doubles until it holds the id. */
#include "base/id_map.h"

#include <stdlib.h>

#include "base/grow.h"

bool tl_id_map_put(tl_id_map *m, uint64_t id, uint32_t index)
{
    if (id >= TL_ID_MAP_DIRECT)
        return tl_hash_put(&m->rest, id, index);
    const uint32_t before = m->ndirect;
    if (id >= before && !TL_GROW(m->direct, before, (uint32_t)id + 1 - before, m->ndirect))
        return false;
    for (uint32_t i = before; i < m->ndirect; i++)
        m->direct[i] = TL_HASH_NONE;
    m->direct[id] = index;
    return true;
}

void tl_id_map_fini(tl_id_map *m)
{
    free(m->direct);
    tl_hash_fini(&m->rest);
    *m = (tl_id_map){0};
}

/* The array of small ids doubles until it holds the id. */
#include "base/id_map.h"

#include <stdlib.h>

static bool grow(tl_id_map *m, uint32_t id)
{
    uint32_t n = m->ndirect ? m->ndirect : 256;
    while (n <= id)
        n *= 2;
    uint32_t *larger = realloc(m->direct, n * sizeof *larger);
    if (!larger)
        return false;
    for (uint32_t i = m->ndirect; i < n; i++)
        larger[i] = TL_HASH_NONE;
    m->direct = larger;
    m->ndirect = n;
    return true;
}

bool tl_id_map_put(tl_id_map *m, uint64_t id, uint32_t index)
{
    if (id >= TL_ID_MAP_DIRECT)
        return tl_hash_put(&m->rest, id, index);
    if (id >= m->ndirect && !grow(m, (uint32_t)id))
        return false;
    m->direct[id] = index;
    return true;
}

void tl_id_map_fini(tl_id_map *m)
{
    free(m->direct);
    tl_hash_fini(&m->rest);
    *m = (tl_id_map){0};
}

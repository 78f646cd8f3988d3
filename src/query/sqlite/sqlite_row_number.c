/* The number of a row, in any scan of its table. */
#include "query/sqlite/sqlite_row_number.h"

#define BYTES_OF_ONE 32u /* about, in the table */

bool tl_row_number(tl_row_numbers *r, const tl_hasher *content, uint64_t most, int64_t *number)
{
    const uint64_t key = tl_hasher_end(*content);
    const uint32_t before = tl_hash_get(&r->seen, key), n = before == TL_HASH_NONE ? 0 : before;
    if (n == TL_HASH_NONE - 1 || r->seen.n > most / BYTES_OF_ONE || !tl_hash_put(&r->seen, key, n + 1))
        return false;
    tl_hasher all = *content;
    tl_hasher_add(&all, n);
    *number = (int64_t)(tl_hasher_end(all) >> 1);
    return true;
}

void tl_row_numbers_fini(tl_row_numbers *r)
{
    tl_hash_fini(&r->seen);
    *r = (tl_row_numbers){0};
}

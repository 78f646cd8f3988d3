/* Stacks of open begins, one for each class and key, as lists in one array. */
#include "analysis/runtime/open_begins.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"

int tl_begins_init(tl_begins *b, uint32_t classes, tl_error *e)
{
    *b = (tl_begins){.nclass = classes};
    b->latest = calloc((size_t)classes + 1, sizeof *b->latest);
    return b->latest ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match begins and ends");
}

int tl_begins_add(tl_begins *b, uint32_t cls, uint64_t key, uint32_t value, tl_error *e)
{
    uint32_t i = b->free;
    if (cls >= b->nclass)
        return 0;
    if (!i) {
        if (!TL_GROW(b->entry, b->n, 1, b->capacity))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %" PRIu32 " begins without end", b->n);
        i = b->n + 1;
    }
    const uint32_t before = tl_hash_get(&b->latest[cls], key);
    if (!tl_hash_put(&b->latest[cls], key, i))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %" PRIu32 " begins without end", b->n);
    if (b->free)
        b->free = b->entry[i - 1].before;
    else
        b->n++;
    b->entry[i - 1] = (struct tl_begin){before == TL_HASH_NONE ? 0 : before, value};
    return 0;
}

bool tl_begins_take(tl_begins *b, uint32_t cls, uint64_t key, uint32_t *value)
{
    const uint32_t i = cls < b->nclass ? tl_hash_get(&b->latest[cls], key) : TL_HASH_NONE;
    if (i == TL_HASH_NONE || i == 0)
        return false;
    struct tl_begin *entry = &b->entry[i - 1];
    *value = entry->value;
    tl_hash_put(&b->latest[cls], key, entry->before); /* the key exists: nothing is allocated */
    entry->before = b->free;
    b->free = i;
    return true;
}

void tl_begins_fini(tl_begins *b)
{
    for (uint32_t i = 0; b->latest && i < b->nclass; i++)
        tl_hash_fini(&b->latest[i]);
    free(b->latest);
    free(b->entry);
    *b = (tl_begins){0};
}

/* Names as keys: a hash table of their hashes. Names of equal hashes take the next free number as theirs. */
#include "format/ctf/metadata/ctf2010_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* The key of a name, or a free one for it; its number is *number. */
static uint64_t find(const ctf2010_names *t, const char *s, size_t n, uint32_t *number)
{
    uint64_t key = tl_hash_bytes(s, n);
    for (;; key++) {
        *number = tl_hash_get(&t->hash, key);
        if (*number == TL_HASH_NONE)
            return key;
        const ctf2010_name *name = &t->name[*number];
        if (name->n == n && memcmp(name->s, s, n) == 0)
            return key;
    }
}

uint32_t ctf2010_names_find(const ctf2010_names *t, const char *s, size_t n)
{
    uint32_t number;
    find(t, s, n, &number);
    return number;
}

bool ctf2010_names_add(ctf2010_names *t, const char *s, size_t n)
{
    if (!TL_GROW(t->name, t->n, 1, t->capacity))
        return false;
    uint32_t number;
    const uint64_t key = find(t, s, n, &number);
    if (!tl_hash_put(&t->hash, key, t->n))
        return false;
    t->name[t->n++] = (ctf2010_name){s, n};
    return true;
}

void ctf2010_names_fini(ctf2010_names *t)
{
    tl_hash_fini(&t->hash);
    free(t->name);
    *t = (ctf2010_names){0};
}

/* Hash tables: u64 -> u32 by open addressing, and interned strings. Not thread-safe. */
#ifndef TL_BASE_HASH_H
#define TL_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/compiler.h"
#include "base/hasher.h"

#define TL_HASH_NONE UINT32_MAX

/* u64 -> u32; values must not be TL_HASH_NONE. A zeroed table is an empty one. */
typedef struct tl_hash {
    struct tl_hash_slot {
        uint64_t key;
        uint32_t value; /* TL_HASH_NONE: free */
        uint32_t pad;
    } * slot;
    uint64_t seed; /* tl_hash_seed(): different in each table and run */
    uint32_t mask; /* slots - 1 */
    uint32_t n;
} tl_hash;

/* Mixes bits, the same in every run. Not for tables whose keys come from a file. */
TL_ALWAYS_INLINE uint64_t tl_hash_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
}

/* The value of a key, or TL_HASH_NONE. */
TL_ALWAYS_INLINE uint32_t tl_hash_get(const tl_hash *h, uint64_t key)
{
    if (!h->slot)
        return TL_HASH_NONE;
    for (uint32_t i = tl_hash_place(key, h->seed) & h->mask;; i = (i + 1) & h->mask)
        if (h->slot[i].value == TL_HASH_NONE || h->slot[i].key == key)
            return h->slot[i].value;
}

/* Sets a key, new or not. False when memory runs out; then the table is unchanged. */
bool tl_hash_put(tl_hash *h, uint64_t key, uint32_t value);
void tl_hash_fini(tl_hash *h);

/* Interned strings: equal text has equal pointers, for as long as the set lives. */
typedef struct tl_strings {
    tl_arena arena;
    struct tl_string_slot *slot;
    uint32_t mask, n;
} tl_strings;

/* A NUL-terminated copy; NULL when memory runs out. s need not be terminated. */
const char *tl_strings_get(tl_strings *t, const char *s, size_t n);
/* The same for text that may contain NUL: it becomes the bytes c0 80, which occur in no UTF-8 text; tl_json_string()
 * shows them as NUL again. */
const char *tl_strings_get_text(tl_strings *t, const char *s, size_t n);
/* Whether a string is there already. */
bool tl_strings_has(const tl_strings *t, const char *s, size_t n);
void tl_strings_fini(tl_strings *t);

#endif

/* Hash tables: growth by doubling at half full, linear probing. */
#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Tables are at most half full, so that probing for a missing key ends soon. */
#define SLOTS_LEAST 16u
#define SLOTS_MOST  ((uint32_t)1 << 31)

/* The number of slots after the next growth; 0 if it cannot grow. */
static uint32_t next_slots(bool empty, uint32_t mask, size_t slot_size)
{
    if (empty)
        return SLOTS_LEAST;
    if (mask >= SLOTS_MOST - 1 || mask + 1 > SIZE_MAX / 2 / slot_size)
        return 0;
    return (mask + 1) * 2;
}

static bool hash_grow(tl_hash *h)
{
    uint32_t slots = next_slots(!h->slot, h->mask, sizeof *h->slot);
    if (slots == 0)
        return false;
    struct tl_hash_slot *slot = tl_alloc((size_t)slots, sizeof *slot);
    if (!slot)
        return false;
    for (uint32_t i = 0; i < slots; i++)
        slot[i] = (struct tl_hash_slot){.value = TL_HASH_NONE};

    if (!h->slot)
        h->seed = tl_hash_seed(h);
    uint32_t mask = slots - 1;
    for (uint32_t from = 0; h->slot && from <= h->mask; from++) {
        if (h->slot[from].value == TL_HASH_NONE)
            continue;
        uint32_t i = tl_hash_place(h->slot[from].key, h->seed) & mask;
        while (slot[i].value != TL_HASH_NONE)
            i = (i + 1) & mask;
        slot[i] = h->slot[from];
    }
    free(h->slot);
    h->slot = slot;
    h->mask = mask;
    return true;
}

bool tl_hash_put(tl_hash *h, uint64_t key, uint32_t value)
{
    assert(value != TL_HASH_NONE);
    for (;;) {
        uint32_t i = tl_hash_place(key, h->seed) & h->mask;
        if (h->slot) {
            while (h->slot[i].value != TL_HASH_NONE && h->slot[i].key != key)
                i = (i + 1) & h->mask;
            if (h->slot[i].value != TL_HASH_NONE) {
                h->slot[i].value = value;
                return true;
            }
            if (h->n <= h->mask / 2) {
                h->slot[i].key = key;
                h->slot[i].value = value;
                h->n++;
                return true;
            }
        }
        if (!hash_grow(h))
            return false;
    }
}

void tl_hash_fini(tl_hash *h)
{
    free(h->slot);
    *h = (tl_hash){0};
}

struct tl_string_slot {
    const char *s; /* NULL: free */
    uint64_t hash;
    size_t n;
};

static bool strings_grow(tl_strings *t)
{
    uint32_t slots = next_slots(!t->slot, t->mask, sizeof *t->slot);
    struct tl_string_slot *slot = slots == 0 ? NULL : calloc(slots, sizeof *slot);
    if (!slot)
        return false;

    uint32_t mask = slots - 1;
    for (uint32_t from = 0; t->slot && from <= t->mask; from++) {
        if (!t->slot[from].s)
            continue;
        uint32_t i = (uint32_t)t->slot[from].hash & mask;
        while (slot[i].s)
            i = (i + 1) & mask;
        slot[i] = t->slot[from];
    }
    free(t->slot);
    t->slot = slot;
    t->mask = mask;
    return true;
}

/* The slot of a string, or the free one where it belongs. */
static struct tl_string_slot *strings_find(const tl_strings *t, const char *s, size_t n, uint64_t hash)
{
    uint32_t i = (uint32_t)hash & t->mask;
    while (t->slot[i].s) {
        const struct tl_string_slot *slot = &t->slot[i];
        if (slot->hash == hash && slot->n == n && (n == 0 || memcmp(slot->s, s, n) == 0))
            break;
        i = (i + 1) & t->mask;
    }
    return &t->slot[i];
}

const char *tl_strings_get(tl_strings *t, const char *s, size_t n)
{
    if (!t->slot && !strings_grow(t))
        return NULL;
    uint64_t hash = tl_hash_bytes(s, n);
    struct tl_string_slot *slot = strings_find(t, s, n, hash);
    if (slot->s)
        return slot->s;
    if (t->n > t->mask / 2) {
        if (!strings_grow(t))
            return NULL;
        slot = strings_find(t, s, n, hash);
    }
    char *copy = tl_arena_strndup(&t->arena, s, n);
    if (!copy)
        return NULL;
    *slot = (struct tl_string_slot){.s = copy, .hash = hash, .n = n};
    t->n++;
    return copy;
}

bool tl_strings_has(const tl_strings *t, const char *s, size_t n)
{
    return t->slot && strings_find(t, s, n, tl_hash_bytes(s, n))->s;
}

const char *tl_strings_get_text(tl_strings *t, const char *s, size_t n)
{
    if (TL_LIKELY(n == 0 || !memchr(s, 0, n)))
        return tl_strings_get(t, s, n);
    char *hidden = tl_alloc(n, 2), *p = hidden;
    if (!hidden)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == 0)
            *p++ = (char)0xc0;
        *p++ = s[i] ? s[i] : (char)0x80;
    }
    const char *got = tl_strings_get(t, hidden, (size_t)(p - hidden));
    free(hidden);
    return got;
}

void tl_strings_fini(tl_strings *t)
{
    free(t->slot);
    tl_arena_fini(&t->arena);
    *t = (tl_strings){0};
}

/* Memory as last seen: pages in a table of open addressing, whose slots are valid only in the generation that filled
 * them. Forgetting everything starts a new generation; the pages stay in their array for reuse.
 *
 * A page may hold bytes that are no longer known, so that forgetting only clears bits. They become 0 when the whole
 * page is read. */
#include "base/shadow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/hash.h"

enum {
    CACHED = 16,      /* pages found without the table: accesses alternate between stack, heap and data */
    SLOTS_LEAST = 64, /* a power of two; tables are at most half full */
    WORD = 64         /* bytes for one word of `known` */
};
#define NO_NUMBER UINT64_MAX /* not a page's number: those have 52 bits */

typedef struct held_page {
    tl_shadow_page page;
    bool leftover; /* unknown bytes may differ from 0 */
} held_page;

typedef struct shadow_slot {
    uint64_t number; /* address / TL_SHADOW_PAGE */
    held_page *page;
    uint64_t generation; /* differs from the table's: free */
} shadow_slot;

struct tl_shadow {
    uint64_t cached_number[CACHED];
    held_page *cached[CACHED];
    shadow_slot *slot;
    uint64_t seed, generation;
    uint32_t mask;
    held_page **page; /* n of this generation, ordered by address if `sorted`, then unused ones */
    uint32_t n, held, capacity;
    bool sorted;
};

static void cache_clear(tl_shadow *s)
{
    memset(s->cached_number, 0xff, sizeof s->cached_number);
}

int tl_shadow_new(tl_shadow **out, tl_error *e)
{
    tl_shadow *s = calloc(1, sizeof *s);
    shadow_slot *slot = calloc(SLOTS_LEAST, sizeof *slot);
    if (!s || !slot) {
        free(s);
        free(slot);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the memory of a trace");
    }
    s->slot = slot;
    s->mask = SLOTS_LEAST - 1;
    s->generation = 1;
    s->seed = tl_hash_seed(s);
    s->sorted = true;
    cache_clear(s);
    *out = s;
    return 0;
}

void tl_shadow_free(tl_shadow *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->held; i++)
        free(s->page[i]);
    free(s->page);
    free(s->slot);
    free(s);
}

/* The slot of a page, or the free one where it belongs. */
static shadow_slot *slot_of(const tl_shadow *s, uint64_t number)
{
    uint32_t i = tl_hash_place(number, s->seed) & s->mask;
    while (s->slot[i].generation == s->generation && s->slot[i].number != number)
        i = (i + 1) & s->mask;
    return &s->slot[i];
}

static bool table_grow(tl_shadow *s)
{
    if (s->mask >= UINT32_MAX / 2)
        return false;
    const uint32_t slots = (s->mask + 1) * 2;
    shadow_slot *const slot = calloc(slots, sizeof *slot);
    if (!slot)
        return false;
    shadow_slot *const old = s->slot;
    const uint32_t old_mask = s->mask;
    s->slot = slot;
    s->mask = slots - 1;
    for (uint32_t i = 0;; i++) {
        if (old[i].generation == s->generation)
            *slot_of(s, old[i].number) = old[i];
        if (i == old_mask)
            break;
    }
    free(old);
    return true;
}

/* An unused page with nothing known; NULL when memory runs out. */
static held_page *page_take(tl_shadow *s)
{
    if (s->n == s->held) {
        if (!TL_GROW(s->page, s->held, 1, s->capacity))
            return NULL;
        held_page *fresh = calloc(1, sizeof *fresh);
        if (!fresh)
            return NULL;
        s->page[s->held++] = fresh;
        return fresh;
    }
    held_page *page = s->page[s->n];
    memset(page->page.known, 0, sizeof page->page.known);
    page->leftover = true;
    return page;
}

static void cache_put(tl_shadow *s, uint64_t number, held_page *page)
{
    s->cached_number[number % CACHED] = number;
    s->cached[number % CACHED] = page;
}

/* The page, made if needed; NULL when memory runs out. */
TL_NOINLINE static held_page *page_make(tl_shadow *s, uint64_t number)
{
    shadow_slot *slot = slot_of(s, number);
    if (slot->generation != s->generation) {
        if (s->n > s->mask / 2) {
            if (!table_grow(s))
                return NULL;
            slot = slot_of(s, number);
        }
        held_page *page = page_take(s);
        if (!page)
            return NULL;
        page->page.address = number * TL_SHADOW_PAGE;
        s->sorted = s->sorted && (s->n == 0 || s->page[s->n - 1]->page.address < page->page.address);
        s->n++;
        *slot = (shadow_slot){.number = number, .page = page, .generation = s->generation};
    }
    cache_put(s, number, slot->page);
    return slot->page;
}

/* The page, or NULL. Changes only the cache, which is invisible to callers. */
TL_NOINLINE static held_page *page_look_up(const tl_shadow *s, uint64_t number)
{
    const shadow_slot *slot = slot_of(s, number);
    if (slot->generation != s->generation)
        return NULL;
    cache_put((tl_shadow *)s, number, slot->page); /* the cast is safe: every tl_shadow is allocated, never const */
    return slot->page;
}

TL_ALWAYS_INLINE held_page *page_find(const tl_shadow *s, uint64_t number)
{
    if (TL_LIKELY(s->cached_number[number % CACHED] == number))
        return s->cached[number % CACHED];
    return page_look_up(s, number);
}

TL_ALWAYS_INLINE held_page *page_need(tl_shadow *s, uint64_t number)
{
    if (TL_LIKELY(s->cached_number[number % CACHED] == number))
        return s->cached[number % CACHED];
    return page_make(s, number);
}

/* Copies with a constant size for the usual ones. */
TL_ALWAYS_INLINE void copy_bytes(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n == 8)
        memcpy(to, from, 8);
    else if (n == 4)
        memcpy(to, from, 4);
    else if (n == 16)
        memcpy(to, from, 16);
    else if (n == 1)
        *to = *from;
    else
        memcpy(to, from, n);
}

TL_ALWAYS_INLINE bool same_bytes(const uint8_t *a, const uint8_t *b, size_t n)
{
    if (n == 8)
        return memcmp(a, b, 8) == 0;
    if (n == 4)
        return memcmp(a, b, 4) == 0;
    if (n == 1)
        return *a == *b;
    return memcmp(a, b, n) == 0;
}

/* The bits of n bytes from byte `first` of a word; 1 <= n <= WORD - first. */
TL_ALWAYS_INLINE uint64_t bits_of(size_t first, size_t n)
{
    return (UINT64_MAX >> (WORD - n)) << first;
}

/* How many of n bytes at an address lie in the same unit of `unit` bytes. */
TL_ALWAYS_INLINE size_t within(uint64_t address, size_t n, size_t unit)
{
    const size_t room = unit - (size_t)(address % unit);
    return n < room ? n : room;
}

int tl_shadow_set(tl_shadow *s, uint64_t address, const void *data, size_t n, tl_error *e)
{
    const uint8_t *p = data;
    while (n > 0) {
        held_page *const page = page_need(s, address / TL_SHADOW_PAGE);
        if (TL_UNLIKELY(!page))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %zu pages of a trace's memory", (size_t)s->n + 1);
        const size_t part = within(address, n, WORD), at = (size_t)(address % TL_SHADOW_PAGE);
        copy_bytes(page->page.data + at, p, part);
        page->page.known[at / WORD] |= bits_of(at % WORD, part);
        p += part;
        n -= part;
        address += part;
    }
    return 0;
}

int tl_shadow_fill(tl_shadow *s, uint64_t address, const void *data, size_t n, tl_error *e)
{
    const uint8_t *p = data;
    while (n > 0) {
        held_page *const page = page_need(s, address / TL_SHADOW_PAGE);
        if (TL_UNLIKELY(!page))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %zu pages of a trace's memory", (size_t)s->n + 1);
        const size_t part = within(address, n, WORD), at = (size_t)(address % TL_SHADOW_PAGE);
        uint64_t *const known = &page->page.known[at / WORD];
        const uint64_t bits = bits_of(at % WORD, part);
        if (TL_LIKELY((*known & bits) == 0))
            copy_bytes(page->page.data + at, p, part);
        else
            for (size_t i = 0; (*known & bits) != bits && i < part; i++)
                if (!(*known >> (at % WORD + i) & 1))
                    page->page.data[at + i] = p[i];
        *known |= bits;
        p += part;
        n -= part;
        address += part;
    }
    return 0;
}

size_t tl_shadow_differs(const tl_shadow *s, uint64_t address, const void *data, size_t n)
{
    const uint8_t *const p = data;
    for (size_t done = 0; done < n;) {
        const held_page *const page = page_find(s, address / TL_SHADOW_PAGE);
        if (!page) {
            const size_t part = within(address, n - done, TL_SHADOW_PAGE);
            done += part;
            address += part;
            continue;
        }
        const size_t part = within(address, n - done, WORD), at = (size_t)(address % TL_SHADOW_PAGE);
        const uint64_t known = page->page.known[at / WORD] & bits_of(at % WORD, part);
        if (known != 0 && !same_bytes(page->page.data + at, p + done, part)) {
            for (size_t i = 0; i < part; i++)
                if ((known >> (at % WORD + i) & 1) && page->page.data[at + i] != p[done + i])
                    return done + i;
        }
        done += part;
        address += part;
    }
    return n;
}

size_t tl_shadow_get(const tl_shadow *s, uint64_t address, void *data, size_t n)
{
    uint8_t *const p = data;
    for (size_t done = 0; done < n;) {
        const held_page *const page = page_find(s, address / TL_SHADOW_PAGE);
        if (!page)
            return done;
        const size_t part = within(address, n - done, WORD), at = (size_t)(address % TL_SHADOW_PAGE);
        const uint64_t missing = ~page->page.known[at / WORD] & bits_of(at % WORD, part);
        const size_t good = missing == 0 ? part : (size_t)__builtin_ctzll(missing) - at % WORD;
        copy_bytes(p + done, page->page.data + at, good);
        done += good;
        address += good;
        if (missing != 0)
            return done;
    }
    return n;
}

/* Is any of the bits from .. to-1 of the page set? With `forget`, clears them. */
static bool page_bits(held_page *page, size_t from, size_t to, bool forget)
{
    bool any = false;
    while (from < to) {
        const size_t part = within(from, to - from, WORD);
        uint64_t *const known = &page->page.known[from / WORD];
        const uint64_t bits = bits_of(from % WORD, part);
        any = any || (*known & bits) != 0;
        if (forget && (*known & bits) != 0) {
            *known &= ~bits;
            page->leftover = true;
        }
        from += part;
    }
    return any;
}

/* The same for n bytes at an address. If that covers more pages than exist, visits the existing ones. */
static bool range_bits(const tl_shadow *s, uint64_t address, size_t n, bool forget)
{
    bool any = false;
    if (n / TL_SHADOW_PAGE > s->n) {
        for (uint32_t i = 0; i < s->n && (forget || !any); i++) {
            held_page *const page = s->page[i];
            const uint64_t into = page->page.address - address, before = address - page->page.address;
            if (into < n)
                any |= page_bits(page, 0, n - into < TL_SHADOW_PAGE ? (size_t)(n - into) : TL_SHADOW_PAGE, forget);
            if (before < TL_SHADOW_PAGE)
                any |= page_bits(page, (size_t)before, TL_SHADOW_PAGE, forget);
        }
        return any;
    }
    while (n > 0 && (forget || !any)) {
        held_page *const page = page_find(s, address / TL_SHADOW_PAGE);
        const size_t part = within(address, n, TL_SHADOW_PAGE), at = (size_t)(address % TL_SHADOW_PAGE);
        if (page)
            any |= page_bits(page, at, at + part, forget);
        address += part;
        n -= part;
    }
    return any;
}

bool tl_shadow_knows_any(const tl_shadow *s, uint64_t address, size_t n)
{
    return range_bits(s, address, n, false);
}

void tl_shadow_forget(tl_shadow *s, uint64_t address, size_t n)
{
    range_bits(s, address, n, true);
}

void tl_shadow_clear(tl_shadow *s)
{
    if (s->n == 0)
        return;
    s->generation++; /* 64 bits: never the same again */
    s->n = 0;
    s->sorted = true;
    cache_clear(s);
}

static int by_address(const void *left, const void *right)
{
    const held_page *const *a = left, *const *b = right;
    const uint64_t x = (*a)->page.address, y = (*b)->page.address;
    return TL_COMPARE(x, y);
}

const tl_shadow_page *tl_shadow_next_page(tl_shadow *s, uint64_t from)
{
    if (!s->sorted)
        qsort(s->page, s->n, sizeof *s->page, by_address);
    s->sorted = true;

    uint32_t low = 0, high = s->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (s->page[middle]->page.address < from)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < s->n && !page_bits(s->page[low], 0, TL_SHADOW_PAGE, false))
        low++;
    if (low == s->n)
        return NULL;

    held_page *const page = s->page[low];
    for (size_t i = 0; page->leftover && i < TL_SHADOW_PAGE; i++)
        if (!(page->page.known[i / WORD] >> (i % WORD) & 1))
            page->page.data[i] = 0;
    page->leftover = false;
    return &page->page;
}

size_t tl_shadow_pages(const tl_shadow *s)
{
    return s->held;
}

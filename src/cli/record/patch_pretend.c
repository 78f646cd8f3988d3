/* A bit for each page of an address space, in parts that are made when they are needed. */
#include "cli/record/patch_pretend.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TOP         (UINT64_C(1) << 47)
#define STACK       UINT64_C(0x7ffff7fde000) /* it may grow down to here */
#define PIE_LOW     (UINT64_C(1) << 32)      /* below, nothing is taken from a program that can lie anywhere */
#define LOWEST      UINT64_C(0x10000)
#define CHUNK_BYTES (UINT64_C(1) << 20)
#define PART_SHIFT  28
#define PART_BYTES  (UINT64_C(1) << PART_SHIFT)
#define PART_PAGES  (PART_BYTES / PATCH_PAGE)
#define PART_CHUNKS (PART_BYTES / CHUNK_BYTES)
#define PARTS       (TOP >> PART_SHIFT)

enum { CHUNKS = 16384 }; /* as the recorder: mappings that a process may have are limited */

typedef struct pretended_part {
    uint64_t used[PART_PAGES / 64];
    uint64_t chunk[PART_CHUNKS / 64]; /* of these, something was taken */
    uint8_t *bytes;                   /* of all pages; NULL: none was taken */
} part;

static part *part_at(const tl_pretended *p, uint64_t address)
{
    return address < TOP ? p->part[address >> PART_SHIFT] : NULL;
}

static part *make_part(tl_pretended *p, uint64_t address)
{
    part **at = &p->part[address >> PART_SHIFT];
    if (!*at)
        *at = calloc(1, sizeof **at);
    return *at;
}

static uint64_t page_in_part(uint64_t address)
{
    return address % PART_BYTES / PATCH_PAGE;
}

static bool is_used(const tl_pretended *p, uint64_t address)
{
    const part *q = part_at(p, address);
    const uint64_t page = page_in_part(address);
    return address < p->low || address >= p->high || (q && q->used[page / 64] >> page % 64 & 1);
}

static void mark(part *q, uint64_t page, bool used)
{
    const uint64_t bit = UINT64_C(1) << page % 64;
    q->used[page / 64] = used ? q->used[page / 64] | bit : q->used[page / 64] & ~bit;
}

/* The chunks of the range are mapped; false: too many. */
static bool map_chunks(tl_pretended *p, part *q, uint64_t address, uint64_t size)
{
    const uint64_t from = address % PART_BYTES / CHUNK_BYTES, to = (address + size - 1) % PART_BYTES / CHUNK_BYTES;
    for (uint64_t i = from; i <= to; i++) {
        const uint64_t bit = UINT64_C(1) << i % 64;
        if (q->chunk[i / 64] & bit)
            continue;
        if (p->chunks == CHUNKS)
            return false;
        q->chunk[i / 64] |= bit;
        p->chunks++;
    }
    return true;
}

static uint8_t *take(patch_space *space, uint64_t address, uint64_t size)
{
    tl_pretended *p = (tl_pretended *)space;
    if (size == 0 || (address | size) % PATCH_PAGE || address >= TOP || size > PART_BYTES - address % PART_BYTES)
        return NULL; /* a range over the edge of two parts is rare */
    for (uint64_t a = address; a < address + size; a += PATCH_PAGE)
        if (is_used(p, a))
            return NULL;
    part *q = make_part(p, address);
    if (!q || !map_chunks(p, q, address, size))
        return NULL;
    if (!q->bytes) {
        void *bytes =
            mmap(NULL, PART_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (bytes == MAP_FAILED)
            return NULL;
        q->bytes = bytes;
    }
    for (uint64_t a = address; a < address + size; a += PATCH_PAGE)
        mark(q, page_in_part(a), true);
    return q->bytes + address % PART_BYTES;
}

static void give(patch_space *space, uint64_t address, uint64_t size)
{
    part *q = part_at((tl_pretended *)space, address);
    if (!q || !q->bytes)
        return;
    madvise(q->bytes + address % PART_BYTES, (size_t)size, MADV_DONTNEED);
    for (uint64_t a = address; a < address + size; a += PATCH_PAGE)
        mark(q, page_in_part(a), false);
}

/* A word of pages, at the first of which `address` is, that are all in use. */
static bool is_word_used(const tl_pretended *p, uint64_t address)
{
    const part *q = part_at(p, address);
    const uint64_t page = page_in_part(address);
    return page % 64 == 0 && q && q->used[page / 64] == UINT64_MAX;
}

/* The first free range of n bytes that begins at or above `from`, and ends below `end`; 0: none. */
static uint64_t find_up(const tl_pretended *p, uint64_t from, uint64_t end, uint64_t n)
{
    uint64_t free = 0;
    for (uint64_t a = from; a < end && end - a >= PATCH_PAGE; a += PATCH_PAGE) {
        if (is_word_used(p, a)) {
            free = 0;
            a += 63 * PATCH_PAGE;
            continue;
        }
        free = is_used(p, a) ? 0 : free + PATCH_PAGE;
        if (free >= n)
            return a + PATCH_PAGE - free;
    }
    return 0;
}

/* The last one that ends at or below `end`. */
static uint64_t find_down(const tl_pretended *p, uint64_t from, uint64_t end, uint64_t n)
{
    uint64_t free = 0;
    for (uint64_t a = end; a > from && a - from >= PATCH_PAGE; a -= PATCH_PAGE) {
        if (a - from >= 64 * PATCH_PAGE && is_word_used(p, a - 64 * PATCH_PAGE)) {
            free = 0;
            a -= 63 * PATCH_PAGE;
            continue;
        }
        free = is_used(p, a - PATCH_PAGE) ? 0 : free + PATCH_PAGE;
        if (free >= n)
            return a - PATCH_PAGE;
    }
    return 0;
}

static uint64_t find(patch_space *space, uint64_t low, uint64_t high, uint64_t near, uint64_t size)
{
    const tl_pretended *p = (const tl_pretended *)space;
    low = low > p->low ? low : p->low;
    high = high < p->high ? high + 1 : p->high;
    const uint64_t from = (low + PATCH_PAGE - 1) & ~(uint64_t)(PATCH_PAGE - 1), to = high & ~(uint64_t)(PATCH_PAGE - 1);
    if (from >= to || size == 0 || to - from < size)
        return 0;
    near &= ~(uint64_t)(PATCH_PAGE - 1);
    near = near < from ? from : near > to ? to : near;
    const uint64_t above = find_up(p, near, to, size), below = find_down(p, from, near, size);
    if (!above || !below)
        return above ? above : below;
    return above - near < near - below ? above : below;
}

bool tl_pretend_begin(tl_pretended *p, uint64_t program)
{
    *p = (tl_pretended){.space = {.take = take, .give = give, .find = find},
                        .low = program < PIE_LOW ? LOWEST : PIE_LOW,
                        .high = STACK,
                        .part = calloc(PARTS, sizeof(part *))};
    return p->part != NULL;
}

bool tl_pretend_use(tl_pretended *p, uint64_t from, uint64_t to)
{
    to = to < TOP ? to : TOP;
    for (uint64_t a = from & ~(uint64_t)(PATCH_PAGE - 1); a < to; a += PATCH_PAGE) {
        part *q = make_part(p, a);
        const uint64_t page = page_in_part(a);
        if (!q)
            return false;
        if (page % 64 == 0 && to - a >= 64 * PATCH_PAGE) {
            q->used[page / 64] = UINT64_MAX;
            a += 63 * PATCH_PAGE;
        } else {
            mark(q, page, true);
        }
    }
    return true;
}

void tl_pretend_end(tl_pretended *p)
{
    for (uint64_t i = 0; p->part && i < PARTS; i++) {
        if (p->part[i] && p->part[i]->bytes)
            munmap(p->part[i]->bytes, PART_BYTES);
        free(p->part[i]);
    }
    free(p->part);
    *p = (tl_pretended){0};
}

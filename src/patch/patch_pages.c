/* Bookkeeping of pages: a hash of their addresses, and a bit for each byte. */
#include "patch/patch_pages.h"

enum { BATCH = 64, SEARCH_PAGES = 64, CHUNK_BITS = 20, ADDRESS_BITS = 47, PAGE_BITS = 12, INDEX_BITS = 29 };

#define PAGE_OF(at) ((at) & ~(uint64_t)(PATCH_PAGE - 1))

static uint32_t hash(uint64_t page)
{
    return (uint32_t)((page >> PAGE_BITS) * 0x9e3779b97f4a7c15u >> 32);
}

static patch_page *lookup(const patch_pages *p, uint64_t page)
{
    for (uint32_t i = hash(page) & (p->slots - 1);; i = (i + 1) & (p->slots - 1)) {
        if (!p->slot[i])
            return NULL;
        if (p->slot[i] >> INDEX_BITS == page >> PAGE_BITS)
            return p->page[(p->slot[i] & (((uint64_t)1 << INDEX_BITS) - 1)) - 1];
    }
}

static void enter(uint64_t *slot, uint32_t slots, uint64_t page, uint32_t index)
{
    uint32_t i = hash(page) & (slots - 1);
    while (slot[i])
        i = (i + 1) & (slots - 1);
    slot[i] = page >> PAGE_BITS << INDEX_BITS | (index + 1);
}

static bool grow(patch_pages *p)
{
    const uint32_t slots = p->slots * 2;
    uint64_t *slot = p->memory->take(slots * sizeof *slot);
    if (!slot)
        return false;
    patch_page **page = p->memory->grow(p->page, p->room * sizeof(patch_page *), slots / 2 * sizeof(patch_page *));
    if (!page) {
        p->memory->give(slot, slots * sizeof *slot);
        return false;
    }
    p->page = page;
    p->room = slots / 2;
    for (uint32_t i = 0; i < p->pages; i++)
        enter(slot, slots, page[i]->address, i);
    p->memory->give(p->slot, p->slots * sizeof *slot);
    p->slot = slot;
    p->slots = slots;
    return true;
}

/* The MiB of an address, among those around the region near the code; PATCH_CHUNKS: far away. */
static uint32_t chunk_of(const patch_pages *p, uint64_t at)
{
    const uint64_t chunk = (at >> CHUNK_BITS) - (p->near.address >> CHUNK_BITS) + PATCH_CHUNKS / 2;
    return chunk < PATCH_CHUNKS ? (uint32_t)chunk : PATCH_CHUNKS;
}

/* May there be a page of ours in the same MiB? */
static bool has_pages(const patch_pages *p, uint64_t at)
{
    const uint32_t chunk = chunk_of(p, at);
    return chunk == PATCH_CHUNKS || p->chunks[chunk / 64] >> chunk % 64 & 1;
}

static void mark_chunk(patch_pages *p, uint64_t at)
{
    const uint32_t chunk = chunk_of(p, at);
    if (chunk < PATCH_CHUNKS)
        p->chunks[chunk / 64] |= (uint64_t)1 << chunk % 64;
}

static patch_page *new_page(patch_pages *p)
{
    if (!p->batch_left) {
        patch_page *const batch = p->memory->take(BATCH * sizeof *batch);
        const size_t before = p->nbatch * sizeof *p->batches, after = before + sizeof *p->batches;
        void **batches = !batch ? NULL : before ? p->memory->grow(p->batches, before, after) : p->memory->take(after);
        if (!batches) {
            if (batch)
                p->memory->give(batch, BATCH * sizeof *batch);
            return NULL;
        }
        p->batches = batches;
        p->batches[p->nbatch++] = p->batch = batch;
        p->batch_left = BATCH;
    }
    p->batch_left--;
    return p->batch++;
}

static bool is_near(const patch_pages *p, uint64_t page)
{
    return page - p->near.address < p->near.size;
}

/* The page, made if needed and `fresh`, or if it lies in the region near the code. */
static patch_page *page_at(patch_pages *p, uint64_t page, bool fresh)
{
    patch_page *known = lookup(p, page);
    if (known || (!fresh && !is_near(p, page)))
        return known;
    if (p->pages == p->room && !grow(p))
        return NULL;
    uint8_t *bytes =
        is_near(p, page) ? p->near.bytes + (page - p->near.address) : p->space->take(p->space, page, PATCH_PAGE);
    if (!bytes)
        return NULL;
    known = new_page(p);
    if (!known) {
        if (!is_near(p, page))
            p->space->give(p->space, page, PATCH_PAGE);
        return NULL;
    }
    known->address = page;
    known->bytes = bytes;
    p->page[p->pages] = known;
    enter(p->slot, p->slots, page, p->pages++);
    mark_chunk(p, page);
    return known;
}

bool patch_pages_begin(patch_pages *p, patch_space *space, const patch_memory *memory)
{
    *p = (patch_pages){.space = space, .memory = memory, .slots = 1024, .room = 512};
    p->slot = memory->take(p->slots * sizeof *p->slot);
    p->page = memory->take(p->room * sizeof *p->page);
    if (p->slot && p->page)
        return true;
    patch_pages_end(p, false);
    return false;
}

bool patch_pages_near(patch_pages *p, uint64_t low, uint64_t high, uint64_t near, uint64_t size)
{
    const uint64_t at = p->space->find(p->space, low, high, near, size);
    uint8_t *bytes = at ? p->space->take(p->space, at, size) : NULL;
    if (!bytes)
        return false;
    p->near = (patch_region){at, size, bytes};
    p->cursor = at;
    for (uint64_t chunk = at; chunk < at + size; chunk += (uint64_t)1 << CHUNK_BITS)
        mark_chunk(p, chunk);
    mark_chunk(p, at + size - 1);
    return true;
}

/* What is not claimed of the region near the code, in whole runs. */
static void give_near(patch_pages *p, bool keep)
{
    uint64_t from = p->near.address;
    const uint64_t end = p->near.address + p->near.size;
    for (uint64_t at = from; at < end; at += PATCH_PAGE) {
        const patch_page *page = keep ? lookup(p, at) : NULL;
        if (!page || !page->claims)
            continue;
        if (at > from)
            p->space->give(p->space, from, at - from);
        from = at + PATCH_PAGE;
    }
    if (end > from)
        p->space->give(p->space, from, end - from);
}

void patch_pages_end(patch_pages *p, bool keep)
{
    if (p->near.size)
        give_near(p, keep);
    for (uint32_t i = 0; i < p->pages; i++)
        if (!is_near(p, p->page[i]->address) && !(keep && p->page[i]->claims))
            p->space->give(p->space, p->page[i]->address, PATCH_PAGE);
    for (uint32_t i = 0; i < p->nbatch; i++)
        p->memory->give(p->batches[i], BATCH * sizeof *p->batch);
    if (p->batches)
        p->memory->give(p->batches, p->nbatch * sizeof *p->batches);
    if (p->page)
        p->memory->give(p->page, p->room * sizeof *p->page);
    if (p->slot)
        p->memory->give(p->slot, p->slots * sizeof *p->slot);
}

/* The bits of `n` bytes from `from` on that lie in word w. */
static uint64_t bits(uint32_t w, uint32_t from, uint32_t n)
{
    const uint32_t first = w * 64, last = first + 64;
    const uint32_t low = from > first ? from : first, high = from + n < last ? from + n : last;
    return low >= high ? 0 : (high - low == 64 ? ~(uint64_t)0 : ((uint64_t)1 << (high - low)) - 1) << (low - first);
}

static bool is_free(const patch_page *page, uint32_t from, uint32_t n)
{
    for (uint32_t w = from / 64; w <= (from + n - 1) / 64; w++)
        if (page->used[w] & bits(w, from, n))
            return false;
    return true;
}

bool patch_pages_free(patch_pages *p, uint64_t at, uint32_t size, bool fresh)
{
    const uint64_t end = at + size;
    if (end < at || end >> ADDRESS_BITS || (!fresh && !has_pages(p, at)))
        return false;
    /* The second page is asked first for what is there already: a page is taken only if the claim will be good. */
    for (int pass = fresh ? 0 : 1; pass < 2; pass++)
        for (uint64_t a = at; a < end; a = PAGE_OF(a) + PATCH_PAGE) {
            const uint64_t stop = PAGE_OF(a) + PATCH_PAGE < end ? PAGE_OF(a) + PATCH_PAGE : end;
            const patch_page *page = page_at(p, PAGE_OF(a), fresh && pass == 1);
            if (!page && pass == 1)
                return false;
            if (page && !is_free(page, (uint32_t)(a - page->address), (uint32_t)(stop - a)))
                return false;
        }
    return true;
}

void patch_pages_claim(patch_pages *p, uint64_t at, const uint8_t *bytes, uint32_t size)
{
    for (uint64_t a = at; a < at + size;) {
        patch_page *page = lookup(p, PAGE_OF(a));
        const uint32_t from = (uint32_t)(a - page->address);
        const uint32_t n = at + size - a < PATCH_PAGE - from ? (uint32_t)(at + size - a) : PATCH_PAGE - from;
        for (uint32_t w = from / 64; w <= (from + n - 1) / 64; w++)
            page->used[w] |= bits(w, from, n);
        for (uint32_t i = 0; i < n; i++)
            page->bytes[from + i] = bytes[a - at + i];
        page->claims++;
        a += n;
    }
}

void patch_pages_release(patch_pages *p, uint64_t at, uint32_t size)
{
    for (uint64_t a = at; a < at + size;) {
        patch_page *page = lookup(p, PAGE_OF(a));
        const uint32_t from = (uint32_t)(a - page->address);
        const uint32_t n = at + size - a < PATCH_PAGE - from ? (uint32_t)(at + size - a) : PATCH_PAGE - from;
        for (uint32_t w = from / 64; w <= (from + n - 1) / 64; w++)
            page->used[w] &= ~bits(w, from, n);
        for (uint32_t i = 0; i < n; i++)
            page->bytes[from + i] = 0;
        page->claims--;
        a += n;
    }
}

/* The first free place of n bytes that begins in [from, to] of a page, and lies in it; PATCH_PAGE: none. */
static uint32_t search_in(const patch_page *page, uint32_t from, uint32_t to, uint32_t n)
{
    uint32_t run = 0;
    for (uint32_t i = from; i < PATCH_PAGE && i <= to + n - 1; i++) {
        if (i % 64 == 0 && page->used[i / 64] == ~(uint64_t)0) {
            run = 0;
            i += 63;
            continue;
        }
        run = page->used[i / 64] >> i % 64 & 1 ? 0 : run + 1;
        if (run == n)
            return i + 1 - n;
    }
    return PATCH_PAGE;
}

uint64_t patch_pages_search(patch_pages *p, uint64_t low, uint64_t high, uint32_t size)
{
    unsigned left = SEARCH_PAGES;
    for (uint64_t at = PAGE_OF(low); at <= high && left > 0; at += PATCH_PAGE) {
        if (!has_pages(p, at)) {
            at |= ((uint64_t)1 << CHUNK_BITS) - PATCH_PAGE;
            continue;
        }
        left--;
        const patch_page *page = page_at(p, at, false);
        if (!page)
            continue;
        const uint32_t from = low > at ? (uint32_t)(low - at) : 0;
        const uint32_t to = high - at < PATCH_PAGE ? (uint32_t)(high - at) : PATCH_PAGE - 1;
        const uint32_t found = search_in(page, from, to, size);
        if (found < PATCH_PAGE)
            return at + found;
    }
    return 0;
}

uint64_t patch_pages_next(patch_pages *p, uint32_t size)
{
    const uint64_t end = p->near.address + p->near.size;
    while (p->near.size && p->cursor + size <= end) {
        const uint64_t at = PAGE_OF(p->cursor);
        const patch_page *page = page_at(p, at, false);
        if (!page)
            return 0;
        const uint32_t found = search_in(page, (uint32_t)(p->cursor - at), PATCH_PAGE - 1, size);
        if (found < PATCH_PAGE) {
            p->cursor = at + found + size;
            return at + found;
        }
        p->cursor = at + PATCH_PAGE;
    }
    return 0;
}

/* Sorts regions by address, in place. */
static void sift(patch_region *a, uint32_t from, uint32_t n)
{
    for (uint32_t i = from, child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && a[child + 1].address > a[child].address)
            child++;
        if (a[i].address >= a[child].address)
            return;
        const patch_region t = a[i];
        a[i] = a[child];
        a[child] = t;
    }
}

static void sort(patch_region *a, uint32_t n)
{
    for (uint32_t i = n / 2; i-- > 0;)
        sift(a, i, n);
    for (uint32_t i = n; i-- > 1;) {
        const patch_region t = a[0];
        a[0] = a[i];
        a[i] = t;
        sift(a, 0, i);
    }
}

bool patch_pages_regions(const patch_pages *p, patch_code *out)
{
    uint32_t n = 0, kept = 0;
    out->region_room = p->pages * sizeof *out->region;
    out->region = p->pages ? out->memory.take(out->region_room) : NULL;
    if (p->pages && !out->region)
        return false;
    for (uint32_t i = 0; i < p->pages; i++)
        if (p->page[i]->claims)
            out->region[n++] = (patch_region){p->page[i]->address, PATCH_PAGE, p->page[i]->bytes};
    out->counts.pages = n;
    sort(out->region, n);
    for (uint32_t i = 0; i < n; i++) {
        patch_region *last = kept ? &out->region[kept - 1] : NULL;
        if (last && last->address + last->size == out->region[i].address &&
            last->bytes + last->size == out->region[i].bytes)
            last->size += PATCH_PAGE;
        else
            out->region[kept++] = out->region[i];
    }
    out->regions = kept;
    return true;
}

/* Pages that blocks and jumps are put into, and which of their bytes are taken.
 *
 * Pages come from the space one by one, or as one region near the code. Claims are of any size and alignment, since the
 * bytes of instructions decide where a jump goes. One thread. */
#ifndef TL_PATCH_PAGES_H
#define TL_PATCH_PAGES_H

#include "patch/patch_memory.h"
#include "patch/patch_place.h"
#include "patch/patch_space.h"

typedef struct patch_page {
    uint64_t address;
    uint8_t *bytes;
    uint64_t used[PATCH_PAGE / 64]; /* a bit for each byte */
    uint32_t claims;                /* 0: to be given back at the end */
} patch_page;

#define PATCH_CHUNKS 8192 /* 8 GiB: no jump reaches farther */

typedef struct patch_pages {
    patch_space *space;
    const patch_memory *memory;
    patch_region near;                  /* taken at once; size 0: none */
    uint64_t cursor;                    /* where the next block near the code is tried */
    uint64_t chunks[PATCH_CHUNKS / 64]; /* a bit for each MiB around that has a page of ours */
    patch_page **page;                  /* in the order taken */
    uint32_t pages, room;
    uint64_t *slot;    /* hash of addresses: of the page, and index + 1 in the low bits */
    uint32_t slots;    /* a power of two */
    patch_page *batch; /* pages are allocated many at once: the rest of the latest batch */
    uint32_t batch_left;
    void **batches;
    uint32_t nbatch;
} patch_pages;

bool patch_pages_begin(patch_pages *p, patch_space *space, const patch_memory *memory);
/* Frees the bookkeeping. `keep`: pages with claims stay taken; else all are given back. */
void patch_pages_end(patch_pages *p, bool keep);
/* Takes the region near the code; false: there is no room. */
bool patch_pages_near(patch_pages *p, uint64_t low, uint64_t high, uint64_t near, uint64_t size);

/* Can [at, at + size) be claimed? `fresh`: also if that takes new pages, which is then done. */
bool patch_pages_free(patch_pages *p, uint64_t at, uint32_t size, bool fresh);
/* Claims what patch_pages_free() said is free, and writes the bytes there. */
void patch_pages_claim(patch_pages *p, uint64_t at, const uint8_t *bytes, uint32_t size);
void patch_pages_release(patch_pages *p, uint64_t at, uint32_t size);
/* A free place of `size` bytes near the code, behind those found before; 0: none. */
uint64_t patch_pages_next(patch_pages *p, uint32_t size);
/* The first free place of `size` bytes that begins in [low, high] and lies in pages that are ours; 0: none. At most 64
 * pages are looked at. */
uint64_t patch_pages_search(patch_pages *p, uint64_t low, uint64_t high, uint32_t size);

/* All pages with claims, as regions in order of address, neighbours joined; false: no memory. */
bool patch_pages_regions(const patch_pages *p, patch_code *out);

#endif

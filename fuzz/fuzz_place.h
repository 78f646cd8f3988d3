/* What a placed plan promises: changes are apart, lead to our pages and back, and are those of functions that are
 * patched. The space only pretends, and counts what is taken and given back. */
#ifndef TL_FUZZ_PLACE_H
#define TL_FUZZ_PLACE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "patch/patch_place.h"

#define PLACE_PAGES   4096
#define PLACE_NEAR    (UINT64_C(1) << 24)
#define PLACE_NOWHERE UINT64_C(0x7fffffff0000) /* here and above there is no memory */

/* Pages are alive from take() to give(). */
static struct {
    uint64_t page[PLACE_PAGES]; /* 0: given back */
    uint8_t *bytes[PLACE_PAGES];
    unsigned pages;
    uint8_t *near, *near_alive; /* alive: a byte for each page */
    uint64_t near_at, near_size, alive;
    void (*promise)(bool, const char *);
} space_of;

static uint8_t *space_take(patch_space *space, uint64_t at, uint64_t size)
{
    (void)space;
    space_of.promise(size > 0 && (at | size) % PATCH_PAGE == 0, "whole pages are taken");
    if (at < 0x10000 || at > PLACE_NOWHERE || (at < 0x600000 && at + size > 0x400000))
        return NULL;
    if (size > PATCH_PAGE) {
        space_of.promise(!space_of.near, "one region near the code");
        space_of.near = calloc(1, (size_t)size);
        space_of.near_alive = malloc((size_t)(size / PATCH_PAGE));
        memset(space_of.near_alive, 1, (size_t)(size / PATCH_PAGE));
        space_of.near_at = at;
        space_of.near_size = size;
        space_of.alive += size / PATCH_PAGE;
        return space_of.near;
    }
    if (space_of.pages == PLACE_PAGES || at - space_of.near_at < space_of.near_size)
        return NULL;
    for (unsigned i = 0; i < space_of.pages; i++)
        space_of.promise(space_of.page[i] != at, "a page is taken once");
    space_of.page[space_of.pages] = at;
    space_of.alive++;
    return space_of.bytes[space_of.pages++] = calloc(1, PATCH_PAGE);
}

static void give_page(uint64_t at)
{
    const uint64_t near = at - space_of.near_at;
    unsigned i = 0;
    space_of.alive--;
    if (near < space_of.near_size) {
        space_of.promise(space_of.near_alive[near / PATCH_PAGE], "given back once");
        space_of.near_alive[near / PATCH_PAGE] = 0;
        return;
    }
    while (i < space_of.pages && space_of.page[i] != at)
        i++;
    space_of.promise(i < space_of.pages, "what is given back was taken");
    free(space_of.bytes[i]);
    space_of.bytes[i] = NULL;
    space_of.page[i] = 0;
}

/* In the same or smaller pieces. */
static void space_give(patch_space *space, uint64_t at, uint64_t size)
{
    (void)space;
    space_of.promise(size > 0 && (at | size) % PATCH_PAGE == 0, "whole pages are given back");
    for (uint64_t a = at; a < at + size; a += PATCH_PAGE)
        give_page(a);
}

static uint64_t space_find(patch_space *space, uint64_t low, uint64_t high, uint64_t near, uint64_t size)
{
    (void)space, (void)near, (void)size;
    return low <= PLACE_NEAR && PLACE_NEAR <= high ? PLACE_NEAR : 0;
}

static void space_end(void)
{
    space_of.promise(space_of.alive == 0, "all of the space is given back");
    for (unsigned i = 0; i < space_of.pages; i++)
        free(space_of.bytes[i]);
    free(space_of.near);
    free(space_of.near_alive);
    space_of.near = space_of.near_alive = NULL;
    space_of.pages = 0;
    space_of.near_size = 0;
}

/* Exactly the pages of the regions are still taken. */
static void check_regions(const patch_code *c)
{
    uint64_t pages = 0;
    for (uint32_t i = 0; i < c->regions; i++) {
        const patch_region *r = &c->region[i];
        pages += r->size / PATCH_PAGE;
        space_of.promise(i == 0 || r[-1].address + r[-1].size <= r->address, "regions are in order");
    }
    space_of.promise(pages == space_of.alive && pages == c->counts.pages, "what is not used is given back");
}

static void check_changes(const patch_plan *p, const patch_code *c, void (*promise)(bool, const char *))
{
    const patch_part *code = p->code[0];
    for (uint32_t i = 0; i < c->changes; i++) {
        const patch_change *b = &c->change[i];
        const uint64_t at = b->address - code->address;
        promise(b->size > 0 && b->size <= PATCH_CHANGE_BYTES && b->live <= b->size, "sizes");
        promise(at < code->size && b->size <= code->size - at, "within the code");
        promise(i == 0 || b[-1].address + b[-1].size <= b->address, "apart, in order");
        promise(p->function[b->function].why == PATCH_OK, "of functions that are patched");
        for (unsigned k = 0; k < b->size; k++)
            promise(b->was[k] == code->bytes[at + k], "what was there");
    }
}

/* Returns false if there was no memory. */
static bool place(patch_plan *p, bool alone, bool exact, bool shadow, void (*promise)(bool, const char *))
{
    const patch_stubs stubs = {{1 << 26, 2 << 26, 3 << 26, 4 << 26, 5 << 26, 6 << 26, 7 << 26}, 1, 2, 3};
    const patch_order order = {.stubs = &stubs, .alone = alone, .exact = exact, .shadow = shadow};
    patch_space space = {space_take, space_give, space_find};
    patch_code c;
    uint64_t where;
    uint32_t ok = 0;
    space_of.promise = promise;
    if (!patch_place(&c, p, &space, &order)) {
        space_end();
        return false;
    }
    promise(patch_check(&c, p, &where), "each jump leads to a block and back");
    check_changes(p, &c, promise);
    check_regions(&c);
    for (uint32_t i = 0; i < p->functions; i++) {
        ok += p->function[i].why == PATCH_OK;
        promise(!exact || p->function[i].why != PATCH_OK || !p->function[i].late, "exact means no late ends");
    }
    promise(c.counts.patched == ok, "counts");
    patch_code_drop(&c, &space);
    space_end();
    return true;
}

#endif

/* The instruction of a site's that becomes a jump. Mostly it is the site's own. Where that one is too short, it may be
 * another one on the same straight way: behind the pushes that a function begins with, or before the instructions that
 * lead to an end, if no jump is known to arrive in between. Only one instruction is changed all the same. */
#ifndef TL_PATCH_ANCHOR_H
#define TL_PATCH_ANCHOR_H

#include "patch/patch_placer.h"

typedef struct patch_anchor {
    uint64_t at;
    uint8_t length; /* of the instruction */
    uint8_t room;   /* length, and dead bytes behind it */
    patch_block block;
} patch_anchor;

enum { PATCH_ANCHORS = 8, PATCH_JUMP = 5 };

static inline patch_anchor patch_anchor_own(const patch_placer *p, uint32_t site)
{
    const patch_site *s = &p->plan->site[site];
    return (patch_anchor){s->address, s->length, s->room, {p->plan, s, s->address, s->length, p->table, 0}};
}

/* All that a site may have, its own first. Returns how many. */
unsigned patch_anchors_of(patch_placer *p, uint32_t site, patch_anchor out[PATCH_ANCHORS]);

/* Does a jump go to the own begin of the function? */
bool patch_has_self(const patch_plan *plan, const patch_function *f);

/* ---- what ways are made of ---- */

/* [at, at + n) is code that no change has taken, no jump counts on, and no known one leads to the middle of. */
bool patch_untouched(patch_placer *p, uint64_t at, uint32_t n);
/* The n bytes at `at` become the first ones of `bytes`; those from `live` on are dead. */
void patch_change_add(patch_placer *p, patch_placed *placed, uint64_t at, const uint8_t *bytes, uint8_t n,
                      uint8_t live);
/* Claims a place for the block near the code, and puts it there. 0: none. */
uint64_t patch_block_near(patch_placer *p, patch_placed *placed, const patch_block *b);
/* Puts the block at `target`, or a jump to it; `fresh`: also into new pages. False: no room. */
bool patch_land(patch_placer *p, patch_placed *placed, const patch_block *b, uint64_t target, bool fresh);
/* Gives back what was claimed for a site but the first `pieces`. */
void patch_unclaim(patch_placer *p, patch_placed *placed, unsigned pieces);

static inline void patch_jump_bytes(uint8_t out[PATCH_JUMP], uint64_t at, uint64_t target)
{
    const uint32_t d = (uint32_t)(target - (at + PATCH_JUMP));
    out[0] = 0xe9;
    for (unsigned i = 0; i < 4; i++)
        out[1 + i] = (uint8_t)(d >> 8 * i);
}

static inline uint8_t patch_smaller(uint32_t a, uint32_t b)
{
    return (uint8_t)(a < b ? a : b);
}

/* patch_pun_x86_64.c: jumps that borrow bytes; into pages that are ours, or with `fresh` into new ones. */
bool patch_pun(patch_placer *p, const patch_anchor *a, patch_placed *placed, bool fresh);
bool patch_evict(patch_placer *p, const patch_anchor *a, patch_placed *placed, bool fresh);

#endif

/* The work of placing one object: its code as it will be, and what was placed for each site. */
#ifndef TL_PATCH_PLACER_H
#define TL_PATCH_PLACER_H

#include "patch/patch_emit.h"
#include "patch/patch_pages.h"
#include "patch/patch_place.h"

/* How far what is done for a site may lie from it: instructions on the way to it, or behind the pushes of an entry ...
 */
#define PATCH_ASIDE    32
/* ... and behind that an instruction that gives way, and the bytes that its jump borrows. */
#define PATCH_BORROWED 24
/* Farther than this from one another, sites know nothing of each other. */
#define PATCH_REACH    (2 * PATCH_ASIDE + PATCH_BORROWED)

typedef enum patch_way {
    PATCH_WAY_NONE,
    PATCH_WAY_DIRECT,
    PATCH_WAY_PUNNED,
    PATCH_WAY_EVICTED,
    PATCH_WAY_SEVERAL
} patch_way;

enum { PATCH_PIECES = 8, PATCH_SITE_CHANGES = 4 };

/* What was done for a site, so that it can be undone. */
typedef struct patch_placed {
    uint64_t piece[PATCH_PIECES]; /* claimed: address */
    uint64_t change[PATCH_SITE_CHANGES];
    uint8_t piece_size[PATCH_PIECES];
    uint8_t change_size[PATCH_SITE_CHANGES], change_live[PATCH_SITE_CHANGES];
    uint8_t pieces, changes, way;
} patch_placed;

/* An executable part. */
typedef struct patch_draft {
    const patch_part *part;
    uint8_t *code;  /* as it will be */
    uint8_t *owned; /* a bit for each byte: it is part of a change ... */
    uint8_t *fixed; /* ... or must stay as it is: a jump before it borrows it, or a change before it leads around */
} patch_draft;

typedef struct patch_placer {
    patch_plan *plan;
    const patch_order *order;
    patch_memory brief; /* of all arrays that are not the code's */
    patch_pages pages;
    patch_draft draft[PATCH_PARTS_MAX];
    unsigned drafts;
    patch_placed *placed; /* one for each site */
    uint64_t table;       /* of stubs */
} patch_placer;

/* Tries all ways for a site, the best first. False: none. */
bool patch_way_find(patch_placer *p, uint32_t site);
bool patch_way_find_aarch64(patch_placer *p, uint32_t site); /* there is one only */
/* Forgets what was placed for a site. What is `fixed` stays so, for the cluster to undo. */
void patch_way_undo(patch_placer *p, uint32_t site);

/* ---- the code as it will be ---- */

static inline patch_draft *patch_draft_of(patch_placer *p, uint64_t at, uint64_t size)
{
    for (unsigned i = 0; i < p->drafts; i++) {
        const patch_part *part = p->draft[i].part;
        if (at >= part->address && size <= part->size && at - part->address <= part->size - size)
            return &p->draft[i];
    }
    return NULL;
}

static inline bool patch_bit(const uint8_t *bits, uint64_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static inline void patch_bits_set(uint8_t *bits, uint64_t from, uint64_t n, bool to)
{
    for (uint64_t i = from; i < from + n; i++)
        bits[i / 8] = (uint8_t)((bits[i / 8] & ~(1U << i % 8)) | (unsigned)to << i % 8);
}

#endif

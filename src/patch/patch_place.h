/* The finished plan of an object: for each site the bytes that turn it into a jump, and the code that it leads to.
 *
 * A jump over 2 GiB has five bytes. A shorter instruction gives its own bytes only: those of the jump's displacement
 * that lie behind it stay as they are ("instruction punning"), so the target can be chosen in a window alone, or not at
 * all. Where the window has no room, the instruction behind gives way first ("eviction"), and what was its bytes can be
 * chosen. AArch64 needs nothing of that: all instructions have four bytes.
 *
 * No code is changed here: blocks are written into pages of the space, changes of code are a list. */
#ifndef TL_PATCH_PLACE_H
#define TL_PATCH_PLACE_H

#include "patch/patch_plan.h"
#include "patch/patch_space.h"

#define PATCH_CHANGE_BYTES 9 /* a jump, and prefixes before it */

/* A change of code: the bytes of one instruction, and dead ones behind it. */
typedef struct patch_change {
    uint64_t address;
    uint32_t function; /* index of that of the site, whose entry or end it is */
    uint8_t size;      /* bytes that differ or not: 1 .. 9 */
    uint8_t live;      /* bytes from here on are never executed while the change is off: they may be written at any time
                          before. 0: all of them; others jump there, so such a change is on before all others, and
                          off only if no thread can be on its way */
    bool tied;         /* another change, at a lower address, counts on these bytes: it is on after this one, and
                          off before it. Clusters are changes in a row, each tied but the first one */
    bool several;      /* of more than one instruction: only while no thread can be in the middle */
    uint8_t was[PATCH_CHANGE_BYTES], now[PATCH_CHANGE_BYTES];
} patch_change;

#define PATCH_STUB_ENTERS 7

/* What blocks call and jump to. They are in the recorder (patch_stub_*.S); any distance. */
typedef struct patch_stubs {
    uint64_t enter[PATCH_STUB_ENTERS]; /* after so many registers were pushed */
    uint64_t exit;                     /* jumped to in place of `ret` */
    uint64_t tail;
    uint64_t leave; /* called before another kind of return */
} patch_stubs;

/* Pages taken of the space. */
typedef struct patch_region {
    uint64_t address, size;
    uint8_t *bytes; /* where they are written */
} patch_region;

typedef struct patch_counts {
    uint32_t functions, patched, late; /* late: of the patched ones, those that lack an end */
    uint32_t ends, ends_patched;
    uint32_t direct, punned, evicted, several; /* sites, by the way they were patched */
    uint32_t why[PATCH_WHYS];
    uint64_t pages; /* in use, of blocks and jumps */
} patch_counts;

typedef struct patch_code {
    patch_change *change; /* by address; do not overlap */
    uint32_t changes;
    patch_region *region;
    uint32_t regions;
    patch_counts counts;
    patch_memory memory;
    size_t change_room, region_room;
} patch_code;

typedef struct patch_order {
    const patch_stubs *stubs;
    bool alone;  /* no thread is in the code now, so that changes of several instructions are allowed */
    bool exact;  /* functions of which an end cannot be patched are left out, too */
    bool shadow; /* shadow stacks are in use: each return needs its own call, so calls are not moved */
} patch_order;

/* Places all functions that are PATCH_OK, whose `number` is set; those that fail become PATCH_NO_ROOM, and then have no
 * change. False: no memory; nothing has to be freed, and all that was taken of the space is given back. */
bool patch_place(patch_code *out, patch_plan *plan, patch_space *space, const patch_order *order);
/* Follows every jump of the finished code from its change to its block and back, with the decoder alone. False: a fault
 * of ours, at *where; nothing may be written then. */
bool patch_check(const patch_code *code, const patch_plan *plan, uint64_t *where);
/* Forgets the lists; the pages stay. */
void patch_code_free(patch_code *code);
/* Gives all pages back, too. */
void patch_code_drop(patch_code *code, patch_space *space);

#endif

/* Inside of the planner: what its steps share while a plan is made.
 *
 *   patch_ranges.c   the ranges of code, sorted, and what each may be by its first row and instruction
 *   patch_scan.c     all instructions of a range: targets of branches; candidates, which are what may become a site
 *   patch_parts.c    fragments, by who jumps where
 *   patch_sites.c    sites, made of candidates
 *   patch_dead.c     how much room they have */
#ifndef TL_PATCH_PLANNER_H
#define TL_PATCH_PLANNER_H

#include "patch/patch_frames.h"
#include "patch/patch_plan.h"

#define PATCH_NONE UINT32_MAX
#define PATCH_MANY (UINT32_MAX - 1)

/* What is known of a range, beside its patch_function. */
typedef struct patch_known {
    uint64_t frame;    /* address of its entry in .eh_frame; 0: it has none */
    uint32_t source;   /* the other range that jumps here; PATCH_NONE, PATCH_MANY */
    uint32_t set;      /* the function and its fragments: towards one of them */
    uint32_t function; /* of a set, at that one: the function in it; PATCH_NONE, PATCH_MANY */
    uint8_t trouble;   /* patch_why: PATCH_OK, or why its function is left out */
    bool framed;       /* where it begins, its frame is that of a function */
    bool marked;       /* begins with endbr64 or bti */
    bool called;       /* directly, at its begin */
    bool entered;      /* called in its middle */
    bool returns;      /* or jumps indirectly */
    bool ends;         /* that, or jumps to other ranges */
    bool falls;        /* its last instruction goes on into what follows */
    bool back;         /* jumps into the middle of its source */
    bool poked;        /* its source jumps into its middle */
    bool begun;        /* ... or to its begin */
    bool part;         /* a fragment, although it begins like a function */
    bool once;         /* only its entry is a site */
} patch_known;

typedef struct patch_planner {
    patch_plan *plan;
    patch_memory brief; /* of all arrays that are not the plan's */
    patch_known *known; /* for each function */
    size_t known_room;
    bool full;        /* PATCH_SITES_MAX was reached */
    uint32_t *bucket; /* for each 256 bytes of code the first function that ends behind their begin */
    size_t bucket_room;
    uint64_t first_bit[PATCH_PARTS_MAX], first_bucket[PATCH_PARTS_MAX]; /* of each part of code */
} patch_planner;

/* Fills plan->function and known; false: no memory, or no functions. */
bool patch_ranges_find(patch_planner *p, const patch_range *symbol, uint32_t symbols);
static inline void patch_trouble(patch_planner *p, uint32_t f, patch_why why)
{
    if (p->known[f].trouble == PATCH_OK)
        p->known[f].trouble = (uint8_t)why;
}

/* The buckets, and no target; false: no memory. */
bool patch_index_make(patch_planner *p);
uint32_t patch_index_find(const patch_planner *p, uint64_t address);
void patch_index_mark(patch_planner *p, uint64_t address);
/* Fills plan->site with candidates: `kind` is that of the instruction, a patch_kind; `room` is not known yet. */
bool patch_scan_all(patch_planner *p);
void patch_parts_find(patch_planner *p);
void patch_sites_make(patch_planner *p, const patch_named *named);

/* Makes one instruction of the nops where the function begins. */
void patch_extend_nops(const patch_plan *plan, const patch_function *f, patch_site *s);
/* Where dead bytes end that begin at `at`, behind an instruction that control does not pass; at `end` at the latest. */
uint64_t patch_dead_until(const patch_plan *plan, uint64_t at, uint64_t end);
uint8_t patch_room_behind(const patch_plan *plan, uint32_t range, const patch_site *s);

/* The rules of a range, followed as far as they were asked for. */
typedef struct patch_rows {
    uint32_t range; /* PATCH_NONE: of none yet */
    patch_cfa_walk walk;
} patch_rows;

/* Is there nothing of the function on the stack, as where it began? Asked for ranges and addresses in ascending order.
 */
bool patch_is_frame_gone(const patch_planner *p, patch_rows *rows, uint32_t range, uint64_t address);

static inline bool patch_is_gone(const patch_plan *plan, patch_cfa cfa)
{
    return cfa.known && cfa.reg == plan->machine->stack && cfa.offset == plan->machine->stack_offset;
}

/* The part of code that holds the range; NULL: none does. */
const patch_part *patch_code_part(const patch_plan *plan, uint64_t begin, uint64_t size);

/* May its instructions become sites, or those of a function that it belongs to? */
static inline bool patch_is_body(const patch_function *f)
{
    return f->why == PATCH_OK || f->why == PATCH_IS_PART;
}

/* Where a call would arrive. */
static inline bool patch_is_begin(const patch_function *f, uint64_t address)
{
    return address == f->begin || address == f->begin + f->entry;
}

/* Room for n elements of `each` bytes, at least doubled when it grows; false: no memory. */
bool patch_room(const patch_memory *memory, void **array, size_t *room, size_t n, size_t each);

#endif

/* What is to be patched in an object: its functions, and in them the instructions where a call begins or ends.
 *
 * Nothing is written. Functions come from .eh_frame (patch_frames.h), or without it from symbols; each is decoded from
 * end to end, and what is not understood, or not safe, is left out with a reason. Pure, but for memory; no libc; one
 * thread for each plan. */
#ifndef TL_PATCH_PLAN_H
#define TL_PATCH_PLAN_H

#include "patch/patch_image.h"
#include "patch/patch_machine.h"
#include "patch/patch_memory.h"

/* Limits of one object: the rest is PATCH_BEYOND. */
#define PATCH_FUNCTIONS_MAX 1048576
#define PATCH_SITES_MAX     4194304

/* Why a range of code is not patched, in the words of patch_why_text(). */
typedef enum patch_why {
    PATCH_OK,
    /* no functions: not counted */
    PATCH_IS_PART,    /* a fragment; belongs to the function `parent` */
    PATCH_IS_LINKAGE, /* jumps through memory: PLT */
    PATCH_IS_RETURN,  /* of a signal handler */
    PATCH_IS_START,   /* nobody called it: its return address is undefined */
    /* functions that are left out */
    PATCH_NO_CODE,      /* its range does not lie in executable memory, or overlaps another's */
    PATCH_UNKNOWN_CODE, /* at + detail */
    PATCH_OPEN_END,     /* its last instruction goes on into the next function */
    PATCH_SHARED_PART,  /* a fragment of several functions */
    PATCH_ENTERED,      /* another function jumps into its middle, or it into another's */
    PATCH_BY_NAME,      /* its return address is used twice, or it is the loader's: the caller of the planner said so */
    PATCH_NO_ROOM,      /* no place for the jump of its entry, or of a jump to its own begin */
    PATCH_BEYOND,       /* a limit of the object was reached before */
    PATCH_CHANGED,      /* its code in memory is not that of the plan: another tool patched it */
    PATCH_NOT_WANTED,   /* by patterns */
    PATCH_WHYS
} patch_why;

typedef struct patch_function {
    uint64_t begin;
    uint32_t size;
    uint32_t entry;       /* of its first instruction behind endbr64 or bti, from begin */
    uint32_t parent;      /* of a fragment: index of its function; else its own index */
    uint32_t next_part;   /* the next fragment of the same function; 0: none */
    uint32_t site, sites; /* those that lie in this range: site[site .. site+sites) of the plan */
    uint32_t detail;      /* PATCH_UNKNOWN_CODE: where, from begin */
    uint32_t number;      /* for the recorder; the planner leaves it 0 */
    uint8_t why;          /* patch_why */
    bool tables; /* it, or a fragment of the same function, has an indirect jump that may stay inside: its middle may be
                    a target unknown to us */
    bool late;   /* it has an end that is no site, or could not be patched */
} patch_function;

/* What an instruction does to the call. An entry may be an end, too: a function that is one `ret` or one `jmp`. */
typedef enum patch_site_kind {
    PATCH_ENTRY, /* nothing else: the instruction is carried out as it is */
    PATCH_RETURN,
    PATCH_TAIL,     /* a direct jump, also a conditional one, to another function's begin */
    PATCH_INDIRECT, /* a jump through a register or memory where the frame is gone: an end, if it leaves the function */
    PATCH_SELF      /* a direct jump to the own begin, which is no call */
} patch_site_kind;

typedef struct patch_site {
    uint64_t address;
    uint64_t target;   /* of a direct jump */
    uint32_t before;   /* where instructions of the same range begin: bit k says at address - 1 - k */
    uint32_t function; /* index; in a fragment that of the parent */
    uint8_t kind;      /* patch_site_kind */
    bool entry;        /* of `function` */
    uint8_t length;    /* of the instruction; a run of nops at the begin of a function counts as one */
    uint8_t room;      /* length, and bytes behind it that are never executed; no target of a known jump, at most 255 */
} patch_site;

typedef struct patch_plan {
    const patch_image *image;
    const patch_machine *machine;
    patch_memory memory;
    patch_function *function; /* by address; ranges do not overlap. The first one is empty, PATCH_IS_START */
    uint32_t functions;
    patch_site *site; /* by address; those of functions with PATCH_OK and of their fragments only */
    uint32_t sites;
    uint8_t *target; /* a bit for each byte of `code`: is it the target of a known direct jump or call? */
    const patch_part *code[PATCH_PARTS_MAX]; /* ... in this order; all executable parts */
    unsigned codes;
    bool framed;     /* functions come from .eh_frame */
    uint32_t beyond; /* ranges beyond PATCH_FUNCTIONS_MAX, which are not listed: counted as PATCH_BEYOND */
    bool shadow;     /* set when it is placed (patch_order) */
    size_t function_room, site_room, target_room; /* bytes taken of memory */
} patch_plan;

/* Addresses that the caller knows by name; of each kind at most PATCH_NAMED. */
enum { PATCH_NAMED = 32 };
typedef struct patch_named {
    const uint64_t *never; /* these functions are PATCH_BY_NAME */
    unsigned nevers;
    const uint64_t *enter; /* of these only entries are sites: they return twice */
    unsigned enters;
} patch_named;

typedef struct patch_range {
    uint64_t begin, size;
} patch_range;

/* False: no memory, or neither frames nor symbols (`symbol`: begin and size of functions, in any order, used if there
 * is no .eh_frame; may be NULL). On false nothing has to be freed. */
bool patch_plan_make(patch_plan *p, const patch_image *image, const patch_machine *machine, const patch_memory *memory,
                     const patch_named *named, const patch_range *symbol, uint32_t symbols);
void patch_plan_free(patch_plan *p);

/* Is the address the target of a known direct jump or call? False outside of code. */
bool patch_plan_is_target(const patch_plan *p, uint64_t address);
/* Is any address in [begin, end)? */
bool patch_has_target(const patch_plan *plan, uint64_t begin, uint64_t end);
/* The bytes of code from `address` on, and how many can be read; NULL: it is not in executable memory. */
const uint8_t *patch_code_at(const patch_plan *plan, uint64_t address, size_t *n);
/* The function whose range has the address; UINT32_MAX: none. */
uint32_t patch_plan_find(const patch_plan *p, uint64_t address);
/* Names for patch_named, whose callers look them up in the object's exports; each list ends with NULL. */
extern const char *const patch_never[], *const patch_twice[];
/* "a fragment of several functions", ...: static, for people. */
const char *patch_why_text(patch_why why);

#endif

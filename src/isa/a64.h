/* What an instruction of A64 is, from its 32 bits alone: class, branch target, memory, registers.
 *
 * Knows nothing of traces. All functions are pure; any thread. Encodings as in the Arm Architecture Reference Manual,
 * up to Armv9.4 with SVE2 and SME. Unallocated words get the class of their neighbours: nothing here checks whether a
 * word is an instruction. */
#ifndef TL_ISA_A64_H
#define TL_ISA_A64_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

typedef enum a64_class {
    A64_INT,
    A64_LOAD, /* also SIMD registers, exclusive, ordered, tags */
    A64_STORE,
    A64_JUMP,          /* B */
    A64_CALL,          /* BL */
    A64_COND,          /* B.cond, CBZ, CBNZ, TBZ, TBNZ: the branches that may fall through */
    A64_INDIRECT,      /* BR */
    A64_INDIRECT_CALL, /* BLR */
    A64_RETURN,        /* RET */
    A64_EXCEPTION,     /* SVC, HVC, SMC, BRK, HLT, DCPS, ERET, DRPS */
    A64_SYSTEM,        /* MRS, MSR, SYS, hints, barriers */
    A64_SIMD,          /* with floating point */
    A64_ATOMIC,        /* compare and swap, swap, read-modify-write, memory copy and set */
    A64_PREFETCH,
    A64_SVE,
    A64_SME,
    A64_OTHER
} a64_class;
#define A64_CLASSES ((unsigned)A64_OTHER + 1)

a64_class a64_class_of(uint32_t op);
/* The same with the common classes inline, for loops over hundreds of millions. A table value that is not a class means
 * that the highest bits do not suffice. */
extern const uint8_t a64_class_table[2048];
TL_ALWAYS_INLINE a64_class a64_class_quick(uint32_t op)
{
    const unsigned found = a64_class_table[op >> 21];
    return TL_LIKELY(found < A64_CLASSES) ? (a64_class)found : a64_class_of(op);
}

/* "int", "branch.cond", ...: static. */
const char *a64_class_name(a64_class c);

static inline bool a64_is_branch(a64_class c)
{
    return c >= A64_JUMP && c <= A64_RETURN;
}

/* Does the instruction end a basic block? */
static inline bool a64_ends_block(a64_class c)
{
    return c >= A64_JUMP && c <= A64_EXCEPTION;
}

static inline bool a64_is_call(a64_class c)
{
    return c == A64_CALL || c == A64_INDIRECT_CALL;
}

/* What an instruction for caches does with the line or block at the address in its register. */
typedef enum a64_cache {
    A64_NO_CACHE,
    A64_CACHE_CLEARS, /* DC ZVA, GZVA: stores zeros */
    A64_CACHE_INSNS,  /* IC IVAU */
    A64_CACHE_DATA    /* DC IVAC, CVAC, CVAU, CVAP, CVADP, CIVAC */
} a64_cache;
a64_cache a64_cache_of(uint32_t op);

/* The target of a direct branch (JUMP, CALL, COND) at pc; false for all others. */
bool a64_direct_target(uint64_t pc, uint32_t op, uint64_t *target);

#endif

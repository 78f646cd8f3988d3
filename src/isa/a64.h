/* What an instruction of A64 is, from its 32 bits alone: class, branch target, memory, registers.
 *
 * Knows nothing of traces. All functions are pure; any thread. Encodings as in the Arm Architecture Reference Manual,
 * up to Armv9.4 with SVE2 and SME. A word that is not allocated there may have the class of its neighbours: whether it
 * is an instruction at all is not asked. */
#ifndef TL_ISA_A64_H
#define TL_ISA_A64_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

typedef enum a64_class {
    A64_INT,
    A64_LOAD, /* also of SIMD registers, exclusive, ordered, of tags */
    A64_STORE,
    A64_JUMP,          /* B */
    A64_CALL,          /* BL */
    A64_COND,          /* B.cond, CBZ, CBNZ, TBZ, TBNZ: the branches that may go on behind themselves */
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
/* The same, with the common ones in line: for loops over hundreds of millions. A value of the table that is not a class
 * says that the highest bits are not enough. */
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

/* Does a basic block end with it? */
static inline bool a64_ends_block(a64_class c)
{
    return c >= A64_JUMP && c <= A64_EXCEPTION;
}

static inline bool a64_is_call(a64_class c)
{
    return c == A64_CALL || c == A64_INDIRECT_CALL;
}

/* Where a direct branch (JUMP, CALL, COND) at pc goes; false for all others. */
bool a64_direct_target(uint64_t pc, uint32_t op, uint64_t *target);

#endif

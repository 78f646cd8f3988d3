/* What an instruction needs in a stream beside its own token and its accesses. */
#ifndef TL_QEMU_INSN_EXAMINE_H
#define TL_QEMU_INSN_EXAMINE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    INSN_ENDS_BLOCK = 1 << 0,    /* the next one gives its pc */
    INSN_SETS_TARGET = 1 << 1,   /* BR, BLR, RET, ERET */
    INSN_SIGNED_TARGET = 1 << 2, /* with an address that is authenticated: not that of the register */
    INSN_CALLS_SYSTEM = 1 << 3,  /* SVC */
    INSN_READS_SYSTEM = 1 << 4,  /* MRS */
    INSN_WRITES_SYSTEM = 1 << 5, /* MSR of a register */
    INSN_IS_DC = 1 << 6,
    INSN_STORES_EXCLUSIVE = 1 << 7,
    INSN_WANTS_FLAGS = 1 << 8, /* conditional select, MRS of a random number */
    INSN_IS_TRIGGER = 1 << 9,  /* HINT #9 */
    INSN_SWAPS = 1 << 10,      /* LDADD and similar, SWP, CAS: QEMU shows one access for both */
    INSN_REPEATS = 1 << 11,    /* of 16 bytes, atomic: QEMU may begin it again, alone */
    INSN_ACCESSES = 1 << 12    /* loads, stores: may call back */
};

/* Tokens are due once it has been executed. */
#define INSN_DUE_LATER (INSN_SETS_TARGET | INSN_READS_SYSTEM | INSN_STORES_EXCLUSIVE | INSN_WANTS_FLAGS | INSN_SWAPS)
/* Tokens are due at once, or something else is. */
#define INSN_DUE_NOW   (INSN_WRITES_SYSTEM | INSN_IS_DC)

typedef struct insn {
    uint64_t pc, target; /* target: of a direct branch; else pc + 4 */
    uint32_t opcode, is;
} insn;

void insn_examine(insn *i, uint64_t pc, uint32_t opcode);

#endif

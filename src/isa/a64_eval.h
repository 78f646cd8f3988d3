/* What A64 instructions do to the general registers and the flags, as far as known values determine it.
 *
 * Not an emulator: it uses the values in a trace (loads, system registers) and computes integer instructions;
 * everything else becomes unknown, and is never guessed. A known address makes its base register known. Pure; any
 * thread. */
#ifndef TL_ISA_A64_EVAL_H
#define TL_ISA_A64_EVAL_H

#include <stddef.h>

#include "isa/a64_operands.h"

typedef struct a64_state {
    uint64_t x[32]; /* X0 .. X30, SP; 0 if unknown */
    uint32_t known; /* a bit for each */
    uint32_t nzcv;  /* N is bit 31, V bit 28; if has_nzcv */
    bool has_nzcv;
} a64_state;

/* What was observed of one instruction. */
typedef struct a64_seen {
    bool no_pc; /* the instruction's address is unknown: PC-relative results are, too */
    bool has_address;
    uint64_t address;      /* of its first access */
    const uint8_t *loaded; /* the bytes that its loads got, in order */
    size_t nloaded;        /* 0: not observed */
    bool has_value;
    uint64_t value; /* MRS and MSR: value of the system register; store exclusive: its status */
} a64_seen;

/* Executes the instruction at pc. */
void a64_eval(a64_state *s, uint64_t pc, uint32_t op, const a64_seen *seen);

/* Before an instruction: derives its base register from the address of its first access, and the register of BR, BLR or
 * RET from the target, whatever was known of them. Either may be NULL: not observed. */
void a64_learn(a64_state *s, uint32_t op, const uint64_t *address, const uint64_t *target);

/* Sets one register, or makes it unknown. 31 is SP. */
static inline void a64_know(a64_state *s, unsigned n, uint64_t value)
{
    s->x[n] = value;
    s->known |= (uint32_t)1 << n;
}

static inline void a64_forget(a64_state *s, uint32_t registers)
{
    for (unsigned n = 0; n < 32; n++)
        if (registers >> n & 1)
            s->x[n] = 0;
    s->known &= ~registers;
}

/* Integer instructions, a64_eval_integer.c: a result for Rd. */
typedef struct a64_result {
    bool known, flags_known;
    uint64_t value;
    uint32_t nzcv; /* if flags_known: the new flags, for instructions that set them */
} a64_result;
a64_result a64_eval_integer(const a64_state *s, uint64_t pc, uint32_t op);
/* Does a condition (0 EQ .. 15 NV) hold? */
bool a64_condition_holds(unsigned condition, uint32_t nzcv);

#endif

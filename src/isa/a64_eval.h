/* What instructions of A64 do to the general registers and the flags, as far as it follows from what is known.
 *
 * Not an emulator: it takes what a trace tells (what was loaded, what a system register had) and computes integer
 * instructions; whatever does not follow becomes unknown, and is never guessed. An address that is known makes its base
 * register known. Pure; any thread. */
#ifndef TL_ISA_A64_EVAL_H
#define TL_ISA_A64_EVAL_H

#include <stddef.h>

#include "isa/a64_operands.h"

typedef struct a64_state {
    uint64_t x[32]; /* X0 .. X30, SP; 0 where not known */
    uint32_t known; /* a bit for each */
    uint32_t nzcv;  /* N is bit 31, V bit 28; if has_nzcv */
    bool has_nzcv;
} a64_state;

/* What was seen of one instruction. */
typedef struct a64_seen {
    bool no_pc; /* where the instruction is, is not known: then nothing follows from it */
    bool has_address;
    uint64_t address;      /* of its first access */
    const uint8_t *loaded; /* in the order of its loads */
    size_t nloaded;        /* 0: nothing was seen */
    bool has_value;
    uint64_t value; /* MRS and MSR: of the system register. Store exclusive: its status */
} a64_seen;

/* The instruction at pc was executed. */
void a64_eval(a64_state *s, uint64_t pc, uint32_t op, const a64_seen *seen);

/* The instruction comes next: its base register follows from the address of its first access, and the register of BR,
 * BLR or RET from where it goes, whatever was known of them. Either may be NULL: not seen. */
void a64_learn(a64_state *s, uint32_t op, const uint64_t *address, const uint64_t *target);

/* One register gets a value, or becomes unknown. 31 is SP. */
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
    uint32_t nzcv; /* if flags_known: of instructions that set them */
} a64_result;
a64_result a64_eval_integer(const a64_state *s, uint64_t pc, uint32_t op);
/* Does a condition (0 EQ .. 15 NV) hold? */
bool a64_condition_holds(unsigned condition, uint32_t nzcv);

#endif

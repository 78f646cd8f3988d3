/* Where basic blocks begin in a stream of instructions.
 *
 * A block begins with the first instruction, after a branch or an exception instruction, where the PC is not the
 * previous one + 4, where the level changes, and where the PC becomes known or unknown. */
#ifndef TL_ISA_A64_BLOCK_H
#define TL_ISA_A64_BLOCK_H

#include "isa/a64.h"

/* Zeroed: no instruction so far. */
typedef struct a64_cutter {
    uint64_t next;   /* the PC at which the block continues */
    uint32_t expect; /* the expected state: bit 0 set, bit 1 has a PC, the level above */
} a64_cutter;

/* Does a block begin with this instruction? cls is its a64_class_of(); pc counts only with has_pc. */
static inline bool a64_cutter_step(a64_cutter *c, bool has_pc, uint64_t pc, unsigned level, a64_class cls)
{
    uint32_t here = 1u | (uint32_t)has_pc << 1 | level << 2;
    bool begins = here != c->expect || (has_pc && pc != c->next);
    c->next = pc + 4;
    c->expect = a64_ends_block(cls) ? 0 : here;
    return begins;
}

/* The part of a64_class_of() that a64_cutter_step() needs: A64_INT for all instructions that end no block. The others
 * are in one group of the encoding, which most instructions are not. */
static inline a64_class a64_block_class(uint32_t op)
{
    return (op & 0x1c000000) == 0x14000000 ? a64_class_of(op) : A64_INT;
}

#endif

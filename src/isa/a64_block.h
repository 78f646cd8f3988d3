/* Where basic blocks begin in a stream of instructions.
 *
 * A block begins with the first instruction, behind a branch or an exception instruction, where the PC is not the PC
 * before + 4, where the level changes, and where the PC becomes known or unknown. */
#ifndef TL_ISA_A64_BLOCK_H
#define TL_ISA_A64_BLOCK_H

#include "isa/a64.h"

/* Zeroed: no instruction so far. */
typedef struct a64_cutter {
    uint64_t next;   /* the PC at which the block goes on */
    uint32_t expect; /* what says so: bit 0 known, bit 1 has a PC, the level above */
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

/* As much of a64_class_of() as a64_cutter_step() needs, for those who want no more of it: A64_INT for all that end no
 * block. Those that do are in one group of the encoding, and most instructions are not. */
static inline a64_class a64_block_class(uint32_t op)
{
    return (op & 0x1c000000) == 0x14000000 ? a64_class_of(op) : A64_INT;
}

#endif

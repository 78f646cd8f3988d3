/* Finds out by its 32 bits what an instruction needs in a stream. */
#include "qemu/insn_examine.h"

#include "isa/a64.h"

static bool is_like(uint32_t op, uint32_t mask, uint32_t value)
{
    return (op & mask) == value;
}

static uint32_t system_kind(uint32_t op)
{
    const uint32_t crm = op >> 8 & 15;
    uint32_t is = 0;
    if (is_like(op, 0xfff00000, 0xd5300000))
        is |= INSN_READS_SYSTEM;
    if (is_like(op, 0xfff00000, 0xd5100000))
        is |= INSN_WRITES_SYSTEM;
    if (is_like(op, 0xfff8f000, 0xd5087000) && (crm == 4 || crm == 6 || crm >= 10))
        is |= INSN_IS_DC;
    if (a64_cache_of(op) == A64_CACHE_INSNS)
        is |= INSN_IS_DC;
    if (is_like(op, 0xffffffc0, 0xd53b2400)) /* RNDR, RNDRRS */
        is |= INSN_WANTS_FLAGS;
    if (op == 0xd503213f)
        is |= INSN_IS_TRIGGER;
    return is;
}

static uint32_t memory_kind(uint32_t op)
{
    uint32_t is = INSN_ACCESSES;
    const bool pair = is_like(op, 0xbfe00000, 0x88200000); /* STXP, STLXP */
    if (pair || is_like(op, 0x3fe00000, 0x08000000))       /* STXR, STLXR */
        is |= INSN_STORES_EXCLUSIVE;
    if (is_like(op, 0x3b200c00, 0x38200000) || is_like(op, 0x3fa07c00, 0x08a07c00))
        is |= INSN_SWAPS;
    if (pair || is_like(op, 0xbfa07c00, 0x08207c00)) /* CASP */
        is |= INSN_REPEATS;
    return is;
}

void insn_examine(insn *i, uint64_t pc, uint32_t op)
{
    const a64_class class = a64_class_of(op);
    *i = (insn){.pc = pc, .target = pc + 4, .opcode = op};
    if (is_like(op, 0x0a000000, 0x08000000))
        i->is = memory_kind(op);
    else if (is_like(op, 0xffc00000, 0xd5000000))
        i->is = system_kind(op);
    else if (is_like(op, 0x3fe00000, 0x1a800000)) /* CSEL .. CSNEG */
        i->is = INSN_WANTS_FLAGS;
    if (a64_ends_block(class))
        i->is |= INSN_ENDS_BLOCK;
    if (is_like(op, 0xfe000000, 0xd6000000))
        i->is |= INSN_SETS_TARGET | (is_like(op, 0x00fffc00, 0x001f0000) || is_like(op, 0x00fffc00, 0x003f0000) ||
                                             is_like(op, 0x00fffc00, 0x005f0000)
                                         ? 0
                                         : INSN_SIGNED_TARGET);
    if (is_like(op, 0xffe0001f, 0xd4000001))
        i->is |= INSN_CALLS_SYSTEM;
    a64_direct_target(pc, op, &i->target);
}

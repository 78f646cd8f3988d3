/* Operands of A64 instructions, in the places of most encodings. */
#include "format/champsim/champsim_registers.h"

#include "isa/a64.h"

enum { ZERO = 31, LINK = 30 };

/* Registers in the order found; those that do not fit into a record are left out. */
typedef struct operand_list {
    champsim_operands out;
    unsigned sources, destinations;
} operand_list;

static uint32_t bits(uint32_t op, unsigned high, unsigned low)
{
    return op >> low & ((2u << (high - low)) - 1);
}

static unsigned rd(uint32_t op)
{
    return op & 31;
}

static unsigned rn(uint32_t op)
{
    return op >> 5 & 31;
}

static unsigned rm(uint32_t op)
{
    return op >> 16 & 31;
}

static unsigned ra(uint32_t op)
{
    return op >> 10 & 31;
}

static void reads(operand_list *l, unsigned number)
{
    if (number != 0 && l->sources < CHAMPSIM_SOURCES)
        l->out.source[l->sources++] = (uint8_t)number;
}

static void writes(operand_list *l, unsigned number)
{
    if (number != 0 && l->destinations < CHAMPSIM_DESTINATIONS)
        l->out.destination[l->destinations++] = (uint8_t)number;
}

/* Number 31 is the zero register, which is not an operand ... */
static unsigned general(unsigned number)
{
    return number == ZERO ? 0 : CHAMPSIM_X0 + number;
}

/* ... or the stack pointer. */
static unsigned general_or_sp(unsigned number)
{
    return number == ZERO ? CHAMPSIM_SP : CHAMPSIM_X0 + number;
}

static unsigned vector(unsigned number)
{
    return CHAMPSIM_V0 + number;
}

static void branch(operand_list *l, uint32_t op, a64_class c)
{
    /* No program branches to the zero register; ChampSim would take it for a direct branch. */
    const unsigned to = general(rn(op) == ZERO ? LINK : rn(op));
    switch (c) {
    case A64_COND:
        reads(l, CHAMPSIM_IP);
        if (bits(op, 31, 24) == 0x54 || rd(op) == ZERO)
            reads(l, CHAMPSIM_FLAGS);
        else
            reads(l, general(rd(op)));
        break;
    case A64_INDIRECT:
        reads(l, to);
        break;
    case A64_CALL:
    case A64_INDIRECT_CALL:
        reads(l, CHAMPSIM_IP);
        reads(l, CHAMPSIM_SP);
        if (c == A64_INDIRECT_CALL)
            reads(l, to);
        break;
    case A64_RETURN:
        reads(l, CHAMPSIM_SP);
        break;
    default: /* a jump reads nothing */
        break;
    }
    writes(l, CHAMPSIM_IP);
    if (a64_is_call(c) || c == A64_RETURN)
        writes(l, CHAMPSIM_SP);
    l->out.is_branch = true;
    l->out.is_conditional = c == A64_COND;
}

static void memory(operand_list *l, uint32_t op, a64_class c)
{
    const bool of_vectors = bits(op, 26, 26), upper = bits(op, 24, 24);
    const unsigned row = bits(op, 29, 28);
    const bool literal = row == 1 && !upper, pair = row == 2;
    const unsigned first = of_vectors ? vector(rd(op)) : general(rd(op));
    const unsigned second = !pair ? 0 : of_vectors ? vector(ra(op)) : general(ra(op));
    /* Pre- and post-index write the base back. */
    const bool pair_back = pair && bits(op, 23, 23);
    const bool back = pair_back || (row == 3 && !upper && !bits(op, 21, 21) && bits(op, 10, 10));
    const bool has_offset = row == 3 && !upper && bits(op, 21, 21) && bits(op, 11, 10) == 2;
    if (!literal)
        reads(l, general_or_sp(rn(op)));
    if (has_offset)
        reads(l, general(rm(op)));
    if (c == A64_ATOMIC) {
        reads(l, general(rm(op)));
        writes(l, general(rd(op)));
        return;
    }
    if (c == A64_LOAD) {
        writes(l, first);
        writes(l, second);
    } else {
        reads(l, first);
        reads(l, second);
    }
    if (back)
        writes(l, general_or_sp(rn(op)));
}

/* Data processing with an immediate. */
static void immediate(operand_list *l, uint32_t op)
{
    const unsigned form = bits(op, 28, 23), kind = bits(op, 30, 29);
    switch (form) {
    case 0x20: /* ADR, ADRP */
    case 0x21:
        writes(l, general(rd(op)));
        break;
    case 0x22:   /* ADD, SUB */
    case 0x23: { /* the same for tags: no flags */
        const bool flags = form == 0x22 && (kind & 1);
        reads(l, general_or_sp(rn(op)));
        writes(l, flags ? general(rd(op)) : general_or_sp(rd(op)));
        writes(l, flags ? CHAMPSIM_FLAGS : 0);
        break;
    }
    case 0x24: /* AND, ORR, EOR, ANDS */
        reads(l, general(rn(op)));
        writes(l, kind == 3 ? general(rd(op)) : general_or_sp(rd(op)));
        writes(l, kind == 3 ? CHAMPSIM_FLAGS : 0);
        break;
    case 0x25: /* MOVN, MOVZ, MOVK */
        reads(l, kind == 3 ? general(rd(op)) : 0);
        writes(l, general(rd(op)));
        break;
    case 0x26: /* SBFM, BFM, UBFM */
        reads(l, general(rn(op)));
        reads(l, kind == 1 ? general(rd(op)) : 0);
        writes(l, general(rd(op)));
        break;
    default: /* EXTR */
        reads(l, general(rn(op)));
        reads(l, general(rm(op)));
        writes(l, general(rd(op)));
        break;
    }
}

static void add_or_logical(operand_list *l, uint32_t op)
{
    const bool adds = bits(op, 24, 24), extended = adds && bits(op, 21, 21);
    const bool flags = adds ? bits(op, 29, 29) : bits(op, 30, 29) == 3;
    reads(l, extended ? general_or_sp(rn(op)) : general(rn(op)));
    reads(l, general(rm(op)));
    writes(l, extended && !flags ? general_or_sp(rd(op)) : general(rd(op)));
    writes(l, flags ? CHAMPSIM_FLAGS : 0);
}

/* Data processing with registers only. */
static void registers(operand_list *l, uint32_t op)
{
    if (!bits(op, 28, 28)) {
        add_or_logical(l, op);
        return;
    }
    const unsigned form = bits(op, 24, 21);
    reads(l, general(rn(op)));
    switch (form) {
    case 0: /* with carry */
        reads(l, general(rm(op)));
        reads(l, CHAMPSIM_FLAGS);
        writes(l, general(rd(op)));
        writes(l, bits(op, 29, 29) ? CHAMPSIM_FLAGS : 0);
        break;
    case 2: /* conditional compare, with a register or an immediate */
        reads(l, bits(op, 11, 11) ? 0 : general(rm(op)));
        reads(l, CHAMPSIM_FLAGS);
        writes(l, CHAMPSIM_FLAGS);
        break;
    case 4: /* conditional select */
        reads(l, general(rm(op)));
        reads(l, CHAMPSIM_FLAGS);
        writes(l, general(rd(op)));
        break;
    case 6: /* two sources, or one */
        reads(l, bits(op, 30, 30) ? 0 : general(rm(op)));
        writes(l, general(rd(op)));
        break;
    default: /* three */
        reads(l, general(rm(op)));
        reads(l, general(ra(op)));
        writes(l, general(rd(op)));
        break;
    }
}

static void system_register(operand_list *l, uint32_t op)
{
    if ((op & 0xfff00000) == 0xd5300000) /* MRS */
        writes(l, general(rd(op)));
    else if ((op & 0xfff00000) == 0xd5100000) /* MSR */
        reads(l, general(rd(op)));
}

champsim_operands champsim_operands_of(uint32_t op)
{
    operand_list l = {0};
    const a64_class c = a64_class_of(op);
    if (a64_is_branch(c)) {
        branch(&l, op, c);
        return l.out;
    }
    switch (c) {
    case A64_LOAD:
    case A64_STORE:
    case A64_ATOMIC:
        memory(&l, op, c);
        break;
    case A64_SIMD:
    case A64_SVE:
        reads(&l, vector(rn(op)));
        reads(&l, vector(rm(op)));
        writes(&l, vector(rd(op)));
        break;
    case A64_SYSTEM:
        system_register(&l, op);
        break;
    case A64_INT:
        if (bits(op, 28, 26) == 4)
            immediate(&l, op);
        else
            registers(&l, op);
        break;
    default: /* exceptions, prefetches, SME, unknown ones: none */
        break;
    }
    return l.out;
}

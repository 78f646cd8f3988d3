/* Registers and memory of atomic read-modify-write, of 64-byte accesses, and of memory copy and set. */
#include "isa/a64_decode.h"

static void memory(uint32_t op, a64_access access, a64_atomic kind, unsigned registers, unsigned element,
                   a64_operands *o)
{
    uint32_t n = a64_field(op, 9, 5);
    o->memory.access = (uint8_t)access;
    o->memory.base = (uint8_t)n;
    o->memory.atomic = (uint8_t)kind;
    o->memory.registers = (uint8_t)registers;
    o->memory.element = (uint8_t)element;
    o->memory.size = (uint16_t)(registers * element);
    o->reads.x |= (uint32_t)1 << n;
}

/* CAS and CASP: in the exclusive group; bit 30 has the size of pairs. */
static void compare_and_swap(uint32_t op, a64_operands *o)
{
    static const uint8_t one[8] = {U(XM), R(XD)}, two[8] = {U(XM_2), R(XD_2)};
    bool pair = !a64_bit(op, 23);
    memory(op, A64_READS_WRITES, A64_CAS, pair ? 2 : 1, 1u << (pair ? 2 + a64_bit(op, 30) : a64_field(op, 31, 30)), o);
    o->memory.acquire = a64_bit(op, 22);
    o->memory.release = a64_bit(op, 15);
    a64_add_slots(pair ? two : one, op, o);
}

/* 128-bit atomics, and those that check a translation table entry (RCW*). */
static void of_128_bits(uint32_t op, a64_operands *o)
{
    static const uint8_t both[8] = {U(XD), U(XM)}, one[8] = {U(XM), R(XD)}, two[8] = {U(XM_2), R(XD_2)},
                         rcw[8] = {U(XD), U(XM), W(NZCV)}, flags[8] = {W(NZCV)};
    unsigned low = a64_field(op, 11, 10), kind = a64_field(op, 15, 12);
    if (low >= 2) { /* RCWCAS, RCWCASP */
        memory(op, A64_READS_WRITES, A64_CAS, low - 1, 8, o);
        a64_add_slots(low == 2 ? one : two, op, o);
        a64_add_slots(flags, op, o);
    } else {
        static const uint8_t kinds[16] = {
            [1] = A64_CLR, [3] = A64_SET, [8] = A64_SWP, [9] = A64_CLR, [10] = A64_SWP, [11] = A64_SET};
        if (!kinds[kind] || low)
            return;
        memory(op, A64_READS_WRITES, (a64_atomic)kinds[kind], 2, 8, o);
        a64_add_slots(kind > 8 ? rcw : both, op, o);
    }
    o->memory.acquire = a64_bit(op, 23);
    o->memory.release = a64_bit(op, 22);
}

static void of_64_bytes(uint32_t op, a64_operands *o)
{
    static const uint8_t slots[3][8] = {{R(XD_8)}, {R(XD_8), W(XM)}, {W(XD_8)}};
    unsigned kind = a64_field(op, 14, 12);
    memory(op, kind == 5 ? A64_READS : A64_WRITES, A64_NOT_ATOMIC, 8, 8, o);
    a64_add_slots(slots[kind == 1 ? 0 : kind == 5 ? 2 : 1], op, o);
}

static void read_modify_write(uint32_t op, a64_operands *o)
{
    static const uint8_t kinds[8] = {A64_ADD, A64_CLR, A64_EOR, A64_SET, A64_SMAX, A64_SMIN, A64_UMAX, A64_UMIN};
    static const uint8_t usual[8] = {R(XM), W(XD)}, load[8] = {W(XD)}, rcw[8] = {R(XM), W(XD), W(NZCV)};
    static const uint8_t rcw_kinds[4] = {A64_SWP, A64_CLR, A64_SWP, A64_SET};
    unsigned size = a64_field(op, 31, 30), order = a64_field(op, 23, 22), kind = a64_field(op, 14, 12);
    bool acquire = order & 2, release = order & 1;
    if (!a64_bit(op, 15)) {
        memory(op, A64_READS_WRITES, (a64_atomic)kinds[kind], 1, 1u << size, o);
        a64_add_slots(usual, op, o);
    } else if (kind == 0) {
        memory(op, A64_READS_WRITES, A64_SWP, 1, 1u << size, o);
        a64_add_slots(usual, op, o);
    } else if (kind == 4 && order == 2) { /* LDAPR */
        memory(op, A64_READS, A64_NOT_ATOMIC, 1, 1u << size, o);
        a64_add_slots(load, op, o);
    } else if (size == 3 && !order && (kind <= 3 || kind == 5)) {
        of_64_bytes(op, o);
        return;
    } else if (size < 2 && kind <= 3) {
        memory(op, A64_READS_WRITES, (a64_atomic)rcw_kinds[kind], 1, 8, o);
        a64_add_slots(rcw, op, o);
    } else {
        return;
    }
    o->memory.acquire = acquire;
    o->memory.release = release;
}

/* A copy takes three instructions: the first sets the flags, the others read them. */
static void copy_or_set(uint32_t op, a64_operands *o)
{
    static const uint8_t copy[8] = {U(XD), U(XM), U(XN)}, set[8] = {U(XD), R(XM), U(XN)};
    bool sets = a64_field(op, 23, 22) == 3;
    unsigned stage = sets ? a64_field(op, 15, 14) : a64_field(op, 23, 22);
    memory(op, sets ? A64_WRITES : A64_READS_WRITES, sets ? A64_FILL : A64_COPY, 0, 0, o);
    o->reads.x &= 0x7fffffff; /* Xn is the size: the base is Xd */
    o->memory.base = (uint8_t)a64_field(op, 4, 0);
    unsigned index = sets ? a64_field(op, 9, 5) : a64_field(op, 20, 16);
    o->memory.index = (uint8_t)(index == 31 ? A64_NO_REG : index);
    o->memory.tags = sets && a64_bit(op, 26);
    a64_add_slots(sets ? set : copy, op, o);
    if (stage == 0)
        o->writes.p |= A64_NZCV;
    else
        o->reads.p |= A64_NZCV;
}

void a64_decode_atomic(uint32_t op, a64_operands *o)
{
    switch (a64_field(op, 29, 28)) {
    case 0:
        compare_and_swap(op, o);
        break;
    case 1:
        if (a64_bit(op, 21))
            of_128_bits(op, o);
        else
            copy_or_set(op, o);
        break;
    default:
        read_modify_write(op, o);
        break;
    }
}

/* Registers and memory of loads and stores of SIMD registers. */
#include "isa/a64_decode.h"

static void base(uint32_t op, a64_mode mode, int32_t imm, a64_operands *o)
{
    uint32_t n = a64_field(op, 9, 5);
    o->memory.base = (uint8_t)n;
    o->memory.mode = (uint8_t)mode;
    o->memory.imm = imm;
    o->reads.x |= (uint32_t)1 << n;
    if (mode == A64_MODE_PRE || mode == A64_MODE_POST)
        o->writes.x |= (uint32_t)1 << n;
}

static void transfer(bool load, uint32_t which, unsigned registers, unsigned element, a64_operands *o)
{
    o->memory.access = (uint8_t)(load ? A64_READS : A64_WRITES);
    o->memory.registers = (uint8_t)registers;
    o->memory.element = (uint8_t)element;
    o->memory.size = (uint16_t)(registers * element);
    if (load)
        o->writes.v |= which;
    else
        o->reads.v |= which;
}

/* Vt and the next ones. */
static uint32_t list(uint32_t op, unsigned count)
{
    uint32_t which = 0;
    for (unsigned i = 0; i < count; i++)
        which |= (uint32_t)1 << ((op + i) & 31);
    return which;
}

/* After the access, the base grows by its size or by a register. */
static void base_of_list(uint32_t op, unsigned size, a64_operands *o)
{
    uint32_t m = a64_field(op, 20, 16);
    if (!a64_bit(op, 23)) {
        base(op, A64_MODE_OFFSET, 0, o);
        return;
    }
    base(op, A64_MODE_POST, m == 31 ? (int32_t)size : 0, o);
    o->memory.index = (uint8_t)(m == 31 ? A64_NO_REG : m);
    o->reads.x |= a64_x(m);
}

static void whole_registers(uint32_t op, a64_operands *o)
{
    static const uint8_t counts[16] = {[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
    unsigned count = counts[a64_field(op, 15, 12)], element = a64_bit(op, 30) ? 16 : 8;
    if (!count)
        return;
    base_of_list(op, count * element, o);
    transfer(a64_bit(op, 22), list(op, count), count, element, o);
}

static void lanes(uint32_t op, a64_operands *o)
{
    unsigned opcode = a64_field(op, 15, 13), scale = opcode >> 1, count = ((opcode & 1) << 1 | a64_bit(op, 21)) + 1;
    bool load = a64_bit(op, 22), replicate = scale == 3;
    if (replicate)
        scale = a64_field(op, 11, 10);
    else if (scale == 2 && a64_bit(op, 10))
        scale = 3;
    uint32_t which = list(op, count);
    base_of_list(op, count << scale, o);
    transfer(load, which, count, 1u << scale, o);
    if (load && !replicate)
        o->reads.v |= which;                   /* the other lanes stay */
    if (!a64_bit(op, 23) && a64_bit(op, 16)) { /* LDAP1, STL1 */
        o->memory.acquire = load;
        o->memory.release = !load;
    }
}

static void single(uint32_t op, a64_operands *o)
{
    unsigned size = a64_field(op, 31, 30) | a64_bit(op, 23) << 2;
    if (size <= 4 && a64_decode_address(op, size, o))
        transfer(a64_bit(op, 22), list(op, 1), 1, 1u << size, o);
}

/* LDAPUR, STLUR */
static void ordered(uint32_t op, a64_operands *o)
{
    unsigned size = a64_field(op, 31, 30) | a64_bit(op, 23) << 2;
    bool load = a64_bit(op, 22);
    if (size > 4)
        return;
    base(op, A64_MODE_OFFSET, a64_field_signed(op, 20, 12), o);
    transfer(load, list(op, 1), 1, 1u << size, o);
    o->memory.acquire = load;
    o->memory.release = !load;
}

static void pairs(uint32_t op, a64_operands *o)
{
    static const a64_mode modes[4] = {A64_MODE_OFFSET, A64_MODE_POST, A64_MODE_OFFSET, A64_MODE_PRE};
    unsigned opcode = a64_field(op, 31, 30), element = 4u << opcode;
    if (opcode == 3)
        return;
    base(op, modes[a64_field(op, 24, 23)], a64_field_signed(op, 21, 15) * (int32_t)element, o);
    transfer(a64_bit(op, 22), list(op, 1) | (uint32_t)1 << a64_field(op, 14, 10), 2, element, o);
}

void a64_decode_memory_simd(uint32_t op, a64_operands *o)
{
    switch (a64_field(op, 29, 28)) {
    case 0:
        if (a64_bit(op, 31))
            return;
        if (a64_bit(op, 24))
            lanes(op, o);
        else
            whole_registers(op, o);
        return;
    case 1:
        if (!a64_bit(op, 24)) {
            if (a64_field(op, 31, 30) == 3)
                return;
            transfer(true, list(op, 1), 1, 4u << a64_field(op, 31, 30), o);
            o->memory.base = A64_BASE_PC;
            o->memory.mode = A64_MODE_LITERAL;
            o->memory.imm = a64_field_signed(op, 23, 5) * 4;
        } else if (a64_field(op, 11, 10) == 1) {
            a64_decode_atomic(op, o);
        } else if (a64_field(op, 11, 10) == 2 && !a64_bit(op, 21)) {
            ordered(op, o);
        }
        return;
    case 2:
        pairs(op, o);
        return;
    default:
        single(op, o);
        return;
    }
}

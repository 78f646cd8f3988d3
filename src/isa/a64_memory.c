/* Registers and memory of loads and stores of general registers, and of prefetches. */
#include "isa/a64_decode.h"

/* The usual base, Xn or SP, which some modes change. */
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

static void access(a64_operands *o, a64_access what, unsigned registers, unsigned element)
{
    o->memory.access = (uint8_t)what;
    o->memory.registers = (uint8_t)registers;
    o->memory.element = (uint8_t)element;
    o->memory.size = (uint16_t)(registers * element);
}

/* Loads or stores one or two registers, Xt and Xt2. */
static void transfer(uint32_t op, bool load, bool pair, unsigned element, a64_operands *o)
{
    uint32_t which = a64_x(a64_field(op, 4, 0)) | (pair ? a64_x(a64_field(op, 14, 10)) : 0);
    access(o, load ? A64_READS : A64_WRITES, pair ? 2 : 1, element);
    if (load)
        o->writes.x |= which;
    else
        o->reads.x |= which;
}

static void row_0(uint32_t op, a64_operands *o)
{
    bool ordered = a64_bit(op, 23), load = a64_bit(op, 22), third = a64_bit(op, 21), strong = a64_bit(op, 15);
    unsigned size = a64_field(op, 31, 30);
    if (a64_bit(op, 24))
        return; /* not allocated */
    if (third && (ordered || size < 2)) {
        a64_decode_atomic(op, o);
        return;
    }
    base(op, A64_MODE_OFFSET, 0, o);
    transfer(op, load, third, 1u << size, o);
    o->memory.exclusive = !ordered;
    o->memory.acquire = load && (strong || ordered); /* ordered but not exclusive: LDLAR, STLLR */
    o->memory.release = !load && (strong || ordered);
    if (!ordered && !load)
        o->writes.x |= a64_x(a64_field(op, 20, 16)); /* the status */
}

static void literal(uint32_t op, a64_operands *o)
{
    static const uint8_t sizes[4] = {4, 8, 4, 0};
    unsigned size = sizes[a64_field(op, 31, 30)];
    o->memory.base = A64_BASE_PC;
    o->memory.mode = A64_MODE_LITERAL;
    o->memory.imm = a64_field_signed(op, 23, 5) * 4;
    if (size)
        transfer(op, true, false, size, o);
    else
        access(o, A64_PREFETCHES, 0, 0);
}

static void tags(uint32_t op, a64_operands *o)
{
    static const a64_mode modes[4] = {A64_MODE_OFFSET, A64_MODE_POST, A64_MODE_OFFSET, A64_MODE_PRE};
    unsigned opcode = a64_field(op, 23, 22), low = a64_field(op, 11, 10);
    base(op, modes[low], a64_field_signed(op, 20, 12) * 16, o);
    o->memory.tags = true;
    if (low) { /* STG, STZG, ST2G, STZ2G */
        access(o, A64_WRITES, 0, 0);
        o->memory.size = (uint16_t)(opcode == 1 ? 16 : opcode == 3 ? 32 : 0);
        o->reads.x |= (uint32_t)1 << a64_field(op, 4, 0); /* 31 is the stack pointer */
    } else if (opcode == 1 || opcode == 3) {              /* LDG, LDGM */
        access(o, A64_READS, 0, 0);
        o->writes.x |= a64_x(a64_field(op, 4, 0));
        if (opcode == 1)
            o->reads.x |= a64_x(a64_field(op, 4, 0));
    } else { /* STZGM, STGM */
        access(o, A64_WRITES, 0, 0);
        o->reads.x |= a64_x(a64_field(op, 4, 0));
    }
}

/* LDIAPP, STILP; LDAPR and STLR with base update. */
static void ordered_pairs(uint32_t op, a64_operands *o)
{
    bool load = a64_bit(op, 22), single = a64_bit(op, 23), moves = single || !a64_bit(op, 12);
    unsigned element = 1u << a64_field(op, 31, 30);
    int32_t step = (int32_t)(single ? element : 2 * element);
    base(op, !moves ? A64_MODE_OFFSET : load ? A64_MODE_POST : A64_MODE_PRE, !moves ? 0 : load ? step : -step, o);
    transfer(op, load, false, element, o);
    if (!single) {
        uint32_t second = a64_x(a64_field(op, 20, 16));
        access(o, load ? A64_READS : A64_WRITES, 2, element);
        if (load)
            o->writes.x |= second;
        else
            o->reads.x |= second;
    }
    o->memory.acquire = load;
    o->memory.release = !load;
}

static void row_1(uint32_t op, a64_operands *o)
{
    unsigned low = a64_field(op, 11, 10), size = a64_field(op, 31, 30);
    if (!a64_bit(op, 24)) {
        literal(op, o);
    } else if (a64_bit(op, 21)) {
        if (size == 3)
            tags(op, o);
        else
            a64_decode_atomic(op, o);
    } else if (low == 0) { /* LDAPUR, STLUR */
        bool load = a64_field(op, 23, 22) != 0;
        base(op, A64_MODE_OFFSET, a64_field_signed(op, 20, 12), o);
        transfer(op, load, false, 1u << size, o);
        o->memory.acquire = load;
        o->memory.release = !load;
    } else if (low == 2) {
        ordered_pairs(op, o);
    } else if (low == 3) { /* GCSSTR, GCSSTTR */
        base(op, A64_MODE_OFFSET, 0, o);
        transfer(op, false, false, 8, o);
    } else {
        a64_decode_atomic(op, o);
    }
}

static void pairs(uint32_t op, a64_operands *o)
{
    static const a64_mode modes[4] = {A64_MODE_OFFSET, A64_MODE_POST, A64_MODE_OFFSET, A64_MODE_PRE};
    unsigned opcode = a64_field(op, 31, 30);
    bool load = a64_bit(op, 22), tagged = opcode == 1 && !load;
    unsigned element = opcode == 2 || tagged ? 8 : 4;
    base(op, modes[a64_field(op, 24, 23)], a64_field_signed(op, 21, 15) * (int32_t)(tagged ? 16 : element), o);
    transfer(op, load, true, element, o);
    o->memory.tags = tagged; /* STGP */
}

/* One register, or a prefetch encoded like it. */
static void single(uint32_t op, a64_operands *o)
{
    unsigned size = a64_field(op, 31, 30), opcode = a64_field(op, 23, 22);
    if (opcode == 2 && size == 3) {
        access(o, A64_PREFETCHES, 0, 0);
        if (o->memory.mode == A64_MODE_REGISTER &&
            a64_field(op, 4, 3) == 3) { /* RPRFM: the register is not an offset */
            o->memory.mode = A64_MODE_OFFSET;
            o->memory.index = A64_NO_REG;
            o->memory.extend = A64_LSL;
            o->memory.shift = 0;
        }
    } else {
        transfer(op, opcode != 0, false, 1u << size, o);
    }
}

static void authenticated(uint32_t op, a64_operands *o)
{
    int32_t imm = (a64_bit(op, 22) ? -512 : 0) + (int32_t)a64_field(op, 20, 12);
    base(op, a64_bit(op, 11) ? A64_MODE_PRE : A64_MODE_OFFSET, imm * 8, o);
    transfer(op, true, false, 8, o);
}

/* The index of LDR and STR. */
static void register_offset(uint32_t op, unsigned shift, a64_operands *o)
{
    static const a64_extend extends[4] = {A64_UXTW, A64_LSL, A64_SXTW, A64_SXTX};
    uint32_t m = a64_field(op, 20, 16), option = a64_field(op, 15, 13);
    base(op, A64_MODE_REGISTER, 0, o);
    o->memory.index = (uint8_t)(m == 31 ? A64_NO_REG : m);
    o->memory.extend = (uint8_t)extends[(option & 1) | (option >> 1 & 2)];
    o->memory.shift = (uint8_t)(a64_bit(op, 12) ? shift : 0);
    o->reads.x |= a64_x(m);
}

/* The address of LDR and STR, which are the same for general and SIMD registers; size: log2 of the bytes. */
bool a64_decode_address(uint32_t op, unsigned size, a64_operands *o)
{
    static const a64_mode modes[4] = {A64_MODE_OFFSET, A64_MODE_POST, A64_MODE_OFFSET, A64_MODE_PRE};
    if (a64_bit(op, 24)) {
        base(op, A64_MODE_UNSIGNED, (int32_t)(a64_field(op, 21, 10) << size), o);
        return true;
    }
    if (!a64_bit(op, 21)) {
        base(op, modes[a64_field(op, 11, 10)], a64_field_signed(op, 20, 12), o);
        return true;
    }
    if (a64_field(op, 11, 10) != 2)
        return false;
    register_offset(op, size, o);
    return true;
}

static void row_3(uint32_t op, a64_operands *o)
{
    if (a64_decode_address(op, a64_field(op, 31, 30), o))
        single(op, o);
    else if (a64_bit(op, 10))
        authenticated(op, o);
    else
        a64_decode_atomic(op, o);
}

void a64_decode_memory(uint32_t op, a64_operands *o)
{
    switch (a64_field(op, 29, 28)) {
    case 0:
        row_0(op, o);
        break;
    case 1:
        row_1(op, o);
        break;
    case 2:
        pairs(op, o);
        break;
    default:
        row_3(op, o);
        break;
    }
}

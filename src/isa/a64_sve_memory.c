/* Registers and memory of the loads, stores and prefetches of SVE.
 *
 * Sizes are logarithms here: msz of an element in memory, esz of the lane that it goes to. */
#include "isa/a64_decode.h"

/* Element sizes by the type field of contiguous loads. */
static const uint8_t type_msz[16] = {0, 0, 0, 0, 2, 1, 1, 1, 1, 1, 2, 2, 0, 0, 0, 3};
static const uint8_t type_esz[16] = {0, 1, 2, 3, 3, 1, 2, 3, 3, 2, 2, 3, 3, 2, 1, 3};

static void access(a64_access what, unsigned msz, unsigned esz, unsigned registers, a64_operands *o)
{
    o->memory.access = (uint8_t)what;
    o->memory.element = (uint8_t)(1u << msz);
    o->memory.lane = (uint8_t)(1u << esz);
    o->memory.registers = (uint8_t)registers;
}

/* Zt and the next ones, under a predicate. */
static void transfer(uint32_t op, bool load, unsigned msz, unsigned esz, unsigned registers, a64_operands *o)
{
    uint32_t list = 0;
    for (unsigned i = 0; i < registers; i++)
        list |= (uint32_t)1 << ((op + i) & 31);
    access(load ? A64_READS : A64_WRITES, msz, esz, registers, o);
    if (load)
        o->writes.v |= list;
    else
        o->reads.v |= list;
    o->reads.p |= (uint32_t)1 << a64_field(op, 12, 10);
    o->memory.guarded = true;
}

static void prefetch(uint32_t op, unsigned msz, unsigned esz, a64_operands *o)
{
    access(A64_PREFETCHES, msz, esz, 1, o);
    o->reads.p |= (uint32_t)1 << a64_field(op, 12, 10);
    o->memory.guarded = true;
}

static void first_fault(a64_operands *o)
{
    o->reads.p |= A64_FFR;
    o->writes.p |= A64_FFR;
}

static void base(uint32_t op, a64_mode mode, a64_operands *o)
{
    o->memory.mode = (uint8_t)mode;
    o->memory.base = (uint8_t)a64_field(op, 9, 5);
    o->reads.x |= (uint32_t)1 << a64_field(op, 9, 5);
}

/* Xn + imm; vectors: in units of the access size at the vector length. */
static void at_constant(uint32_t op, int32_t imm, bool vectors, a64_operands *o)
{
    base(op, A64_MODE_OFFSET, o);
    o->memory.imm = imm;
    o->memory.imm_vectors = vectors;
}

/* Xn + Xm << shift */
static void at_register(uint32_t op, unsigned shift, a64_operands *o)
{
    uint32_t m = a64_field(op, 20, 16);
    base(op, A64_MODE_REGISTER, o);
    o->memory.index = (uint8_t)(m == 31 ? A64_NO_REG : m);
    o->memory.shift = (uint8_t)shift;
    o->reads.x |= a64_x(m);
}

/* Xn + each lane of Zm */
static void at_lanes(uint32_t op, a64_extend extend, unsigned shift, a64_operands *o)
{
    base(op, A64_MODE_VECTOR, o);
    o->memory.index = (uint8_t)a64_field(op, 20, 16);
    o->memory.index_vector = true;
    o->memory.extend = (uint8_t)extend;
    o->memory.shift = (uint8_t)shift;
    o->reads.v |= (uint32_t)1 << a64_field(op, 20, 16);
}

static void base_vector(uint32_t op, a64_operands *o)
{
    o->memory.mode = A64_MODE_VECTOR;
    o->memory.base = (uint8_t)a64_field(op, 9, 5);
    o->memory.base_vector = true;
    o->reads.v |= (uint32_t)1 << a64_field(op, 9, 5);
}

/* Each lane of Zn + imm */
static void at_vector(uint32_t op, unsigned msz, a64_operands *o)
{
    base_vector(op, o);
    o->memory.imm = (int32_t)(a64_field(op, 20, 16) << msz);
}

/* Each lane of Zn + Xm */
static void at_vector_register(uint32_t op, a64_operands *o)
{
    uint32_t m = a64_field(op, 20, 16);
    base_vector(op, o);
    o->memory.index = (uint8_t)(m == 31 ? A64_NO_REG : m);
    o->reads.x |= a64_x(m);
}

/* LDR, STR of a whole vector or predicate. */
static void whole(uint32_t op, bool load, a64_operands *o)
{
    bool vector = a64_bit(op, 14);
    at_constant(op, a64_field_signed(op, 21, 16) * 8 + (int32_t)a64_field(op, 12, 10), true, o);
    access(load ? A64_READS : A64_WRITES, 0, vector ? 0 : 3, 1, o); /* a predicate has one bit per byte of a vector */
    a64_regs *to = load ? &o->writes : &o->reads;
    if (vector)
        to->v |= (uint32_t)1 << a64_field(op, 4, 0);
    else
        to->p |= (uint32_t)1 << a64_field(op, 3, 0);
}

/* One element for all lanes. */
static void replicate(uint32_t op, a64_operands *o)
{
    unsigned type = a64_field(op, 24, 23) << 2 | a64_field(op, 14, 13), msz = type_msz[type];
    at_constant(op, (int32_t)(a64_field(op, 21, 16) << msz), false, o);
    transfer(op, true, msz, type_esz[type], 1, o);
    o->memory.size = (uint16_t)(1u << msz);
}

/* Shared by gathers of 32 and 64 bits: Xn + Zm, extended from 32 bits. */
static void gather_extended(uint32_t op, unsigned esz, a64_operands *o)
{
    unsigned msz = a64_field(op, 24, 23);
    a64_extend extend = a64_bit(op, 22) ? A64_SXTW : A64_UXTW;
    if (a64_bit(op, 21) && msz == 0) {
        at_lanes(op, extend, a64_field(op, 14, 13), o);
        prefetch(op, a64_field(op, 14, 13), esz, o);
        return;
    }
    at_lanes(op, extend, a64_bit(op, 21) ? msz : 0, o);
    transfer(op, true, msz, esz, 1, o);
    if (a64_bit(op, 13))
        first_fault(o);
}

static void gather_32(uint32_t op, a64_operands *o)
{
    unsigned msz = a64_field(op, 24, 23), opcode = a64_field(op, 15, 13);
    if (a64_field(op, 24, 22) == 6 && opcode <= 2) {
        whole(op, true, o);
    } else if (a64_field(op, 24, 22) == 7 && opcode < 4) {
        at_constant(op, a64_field_signed(op, 21, 16), true, o);
        prefetch(op, opcode, opcode, o);
    } else if (opcode < 4) {
        gather_extended(op, 2, o);
    } else if (a64_bit(op, 22)) {
        replicate(op, o);
    } else if (a64_bit(op, 21)) {
        at_vector(op, msz, o);
        transfer(op, true, msz, 2, 1, o);
        if (opcode & 1)
            first_fault(o);
    } else if (opcode <= 5) {
        at_vector_register(op, o);
        transfer(op, true, msz, 2, 1, o);
    } else if (opcode == 6) {
        at_register(op, msz, o);
        prefetch(op, msz, msz, o);
    } else {
        at_vector(op, msz, o);
        prefetch(op, msz, 2, o);
    }
}

static void gather_64(uint32_t op, a64_operands *o)
{
    unsigned msz = a64_field(op, 24, 23), opcode = a64_field(op, 15, 13), form = a64_field(op, 22, 21);
    if (opcode < 4) {
        gather_extended(op, 3, o);
        return;
    }
    if (form == 3 && msz == 0) {
        at_lanes(op, A64_LSL, opcode - 4, o);
        prefetch(op, opcode - 4, 3, o);
    } else if (form >= 2) {
        at_lanes(op, A64_LSL, form == 3 ? msz : 0, o);
        transfer(op, true, msz, 3, 1, o);
    } else if (form == 1) {
        at_vector(op, msz, o);
        transfer(op, true, msz, 3, 1, o);
    } else if (opcode == 7) {
        at_vector(op, msz, o);
        prefetch(op, msz, 3, o);
    } else {
        bool quad = opcode == 5;
        at_vector_register(op, o);
        transfer(op, true, quad ? 4 : msz, quad ? 4 : 3, 1, o);
    }
    if (form && (opcode & 1) && o->memory.access == A64_READS)
        first_fault(o);
}

/* Loads that repeat 16 or 32 bytes over the whole vector, and those into 128-bit lanes encoded with them. */
static void load_block(uint32_t op, bool constant, a64_operands *o)
{
    unsigned msz = a64_field(op, 24, 23), bytes = a64_bit(op, 21) ? 32 : 16;
    if (constant && a64_bit(op, 20)) {
        at_constant(op, a64_field_signed(op, 19, 16), true, o);
        transfer(op, true, msz, 4, 1, o);
        return;
    }
    if (constant)
        at_constant(op, a64_field_signed(op, 19, 16) * (int32_t)bytes, false, o);
    else
        at_register(op, msz, o);
    transfer(op, true, msz, msz, 1, o);
    o->memory.size = (uint16_t)bytes;
}

static void load_contiguous(uint32_t op, a64_operands *o)
{
    unsigned type = a64_field(op, 24, 21), msz = a64_field(op, 24, 23), count = a64_field(op, 22, 21) + 1;
    unsigned opcode = a64_field(op, 15, 13);
    switch (opcode) {
    case 0:
    case 1:
        load_block(op, opcode == 1, o);
        break;
    case 2:
    case 3: /* LD1, LDFF1 */
        at_register(op, type_msz[type], o);
        transfer(op, true, type_msz[type], type_esz[type], 1, o);
        break;
    case 4: /* lanes of 128 bits: LD1W, LD1D; LD2Q, LD3Q, LD4Q */
        at_register(op, count == 1 ? msz : 4, o);
        transfer(op, true, count == 1 ? msz : 4, 4, count == 1 ? 1 : msz + 1, o);
        break;
    case 5: /* LD1, LDNF1 */
        at_constant(op, a64_field_signed(op, 19, 16), true, o);
        transfer(op, true, type_msz[type], type_esz[type], 1, o);
        break;
    case 6: /* LDNT1, LD2, LD3, LD4 */
        at_register(op, msz, o);
        transfer(op, true, msz, msz, count, o);
        break;
    default:
        at_constant(op, a64_field_signed(op, 19, 16), true, o);
        if (a64_bit(op, 20))
            transfer(op, true, 4, 4, msz + 1, o);
        else
            transfer(op, true, msz, msz, count, o);
        break;
    }
    if (opcode == 3 || (opcode == 5 && a64_bit(op, 20)))
        first_fault(o);
}

/* Stores to Xn plus a constant or a register. */
static void store_contiguous(uint32_t op, bool constant, unsigned msz, unsigned esz, unsigned count, a64_operands *o)
{
    if (constant)
        at_constant(op, a64_field_signed(op, 19, 16), true, o);
    else
        at_register(op, msz, o);
    transfer(op, false, msz, esz, count, o);
}

static void scatter(uint32_t op, a64_operands *o)
{
    unsigned msz = a64_field(op, 24, 23), opcode = a64_field(op, 15, 13), form = a64_field(op, 22, 21);
    unsigned esz = form < 2 ? 3 : 2;
    if (opcode != 5) {
        at_lanes(op, opcode == 4 ? A64_UXTW : A64_SXTW, form & 1 ? msz : 0, o);
    } else if (form < 2) {
        at_lanes(op, A64_LSL, form == 1 ? msz : 0, o);
    } else {
        at_vector(op, msz, o);
        esz = form == 2 ? 3 : 2;
    }
    transfer(op, false, msz, esz, 1, o);
}

static void store(uint32_t op, a64_operands *o)
{
    unsigned msz = a64_field(op, 24, 23), esz = a64_field(op, 22, 21), opcode = a64_field(op, 15, 13);
    unsigned lane = (msz == 2 && esz == 0) || (msz == 3 && esz == 2) ? 4 : esz;
    if (a64_field(op, 24, 22) == 6 && (opcode == 0 || opcode == 2)) {
        whole(op, false, o);
        return;
    }
    switch (opcode) {
    case 0: /* ST2Q, ST3Q, ST4Q */
        store_contiguous(op, !a64_bit(op, 21), 4, 4, a64_field(op, 23, 22) + 1, o);
        break;
    case 1: /* STNT1, ST1Q */
        at_vector_register(op, o);
        if (a64_bit(op, 21))
            transfer(op, false, 4, 4, 1, o);
        else
            transfer(op, false, msz, a64_bit(op, 22) ? 2 : 3, 1, o);
        break;
    case 2:
        store_contiguous(op, false, msz, lane, 1, o);
        break;
    case 3: /* STNT1, ST2, ST3, ST4 */
        store_contiguous(op, false, msz, msz, esz + 1, o);
        break;
    case 7:
        if (a64_bit(op, 20))
            store_contiguous(op, true, msz, msz, esz + 1, o);
        else
            store_contiguous(op, true, msz, lane, 1, o);
        break;
    default:
        scatter(op, o);
        break;
    }
}

void a64_decode_sve_memory(uint32_t op, a64_operands *o)
{
    switch (a64_field(op, 30, 29)) {
    case 0:
        gather_32(op, o);
        break;
    case 1:
        load_contiguous(op, o);
        break;
    case 2:
        gather_64(op, o);
        break;
    default:
        store(op, o);
        break;
    }
}

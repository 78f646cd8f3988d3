/* Registers, numbers and names of system instructions and of those that raise exceptions. */
#include "isa/a64_system.h"

#include "isa/a64_decode.h"

enum {
    NUMBER_NZCV = A64_SYSTEM_NUMBER(3, 3, 4, 2, 0),
    NUMBER_FPCR = A64_SYSTEM_NUMBER(3, 3, 4, 4, 0),
    NUMBER_FPSR = A64_SYSTEM_NUMBER(3, 3, 4, 4, 1)
};

static bool exception(uint32_t op, a64_system *out)
{
    static const struct {
        uint32_t mask, value;
        a64_system_kind kind;
    } kinds[] = {
        {0xffe0001f, 0xd4000001, A64_SVC},  {0xffe0001f, 0xd4000002, A64_HVC},  {0xffe0001f, 0xd4000003, A64_SMC},
        {0xffe0001f, 0xd4200000, A64_BRK},  {0xffe0001f, 0xd4400000, A64_HLT},  {0xffe0001c, 0xd4a00000, A64_DCPS},
        {0xffffffff, 0xd69f03e0, A64_ERET}, {0xfffffbff, 0xd69f0bff, A64_ERET}, {0xffff0000, 0x00000000, A64_UDF},
    };
    for (size_t i = 0; i < TL_COUNT(kinds); i++) {
        if ((op & kinds[i].mask) != kinds[i].value)
            continue;
        out->kind = (uint8_t)kinds[i].kind;
        if (kinds[i].kind == A64_UDF)
            out->number = (uint16_t)op;
        else if (kinds[i].kind != A64_ERET)
            out->number = (uint16_t)a64_field(op, 20, 5);
        return true;
    }
    return false;
}

/* SYS: the kind of operation. */
static a64_system_kind operation(uint32_t op)
{
    static const uint8_t by_crm[16] = {
        [1] = A64_IC,  [4] = A64_DC,  [5] = A64_IC,  [6] = A64_DC,  [8] = A64_AT,  [9] = A64_AT,
        [10] = A64_DC, [11] = A64_DC, [12] = A64_DC, [13] = A64_DC, [14] = A64_DC, [15] = A64_DC};
    unsigned crn = a64_field(op, 15, 12), kind = by_crm[a64_field(op, 11, 8)];
    if (a64_bit(op, 21) || a64_bit(op, 22))
        return A64_SYS;
    if (crn == 8 || crn == 9)
        return A64_TLBI;
    return crn == 7 && kind ? (a64_system_kind)kind : A64_SYS;
}

/* op0 0: instructions without a register, or that wait until the time in one. */
static a64_system_kind processor_state(uint32_t op, a64_system *out)
{
    unsigned op1 = a64_field(op, 18, 16), crn = a64_field(op, 15, 12), crm = a64_field(op, 11, 8);
    unsigned op2 = a64_field(op, 7, 5);
    out->value = (uint8_t)crm;
    out->number = (uint16_t)op2;
    if (crn == 4) {
        out->number = (uint16_t)(op1 << 3 | op2);
        return out->number <= 2 && !crm ? A64_FLAG_OP : A64_MSR_IMM;
    }
    if (op1 != 3)
        return A64_SYS;
    switch (crn) {
    case 1:
        out->gpr = (uint8_t)a64_field(op, 4, 0);
        return A64_WAIT;
    case 2:
        out->value = 0;
        out->number = (uint16_t)(crm << 3 | op2);
        return A64_HINT;
    case 3:
        return A64_BARRIER;
    default:
        return A64_SYS;
    }
}

bool a64_system_of(uint32_t op, a64_system *out)
{
    *out = (a64_system){.gpr = A64_NO_REG};
    if ((op & 0xff000000) != 0xd5000000)
        return exception(op, out);
    out->number = (uint16_t)a64_field(op, 20, 5);
    unsigned op0 = a64_field(op, 20, 19);
    out->gpr = (uint8_t)a64_field(op, 4, 0);
    if (op0 == 0 && !a64_field(op, 22, 21) && (out->gpr == 31 || a64_field(op, 18, 12) == 0x31)) {
        out->gpr = A64_NO_REG;
        out->kind = (uint8_t)processor_state(op, out);
    } else if (op0 <= 1) {
        out->kind = (uint8_t)operation(op);
    } else {
        out->kind = a64_bit(op, 21) ? A64_MRS : A64_MSR;
    }
    if (out->gpr == 31)
        out->gpr = A64_NO_REG;
    return true;
}

static void hint(unsigned number, a64_operands *o)
{
    static const uint8_t strip[8] = {U(XLR)}, of_1716[8] = {U(X17), R(X16)}, of_sp[8] = {U(XLR), R(XSP)},
                         features[8] = {U(X16)};
    if (number == 7)
        a64_add_slots(strip, 0, o); /* XPACLRI */
    else if (number >= 8 && number <= 14 && !(number & 1))
        a64_add_slots(of_1716, 0, o); /* PACIA1716, ... */
    else if (number >= 24 && number <= 31)
        a64_add_slots(number & 1 ? of_sp : strip, 0, o); /* PACIASP, PACIAZ, ... */
    else if (number == 40)
        a64_add_slots(features, 0, o); /* CHKFEAT */
}

/* System registers that instructions also use. */
static uint32_t flags_of(uint16_t number)
{
    switch (number) {
    case NUMBER_NZCV:
        return A64_NZCV;
    case NUMBER_FPCR:
        return A64_FPCR;
    case NUMBER_FPSR:
        return A64_FPSR;
    default:
        return 0;
    }
}

void a64_decode_system(uint32_t op, a64_operands *o)
{
    a64_system s;
    a64_system_of(op, &s);
    uint32_t which = 0;
    if (s.gpr != A64_NO_REG)
        which = (uint32_t)1 << s.gpr | (a64_bit(op, 22) && s.gpr < 30 ? (uint32_t)2 << s.gpr : 0); /* bit 22: two */
    if (s.kind == A64_HINT)
        hint(s.number, o);
    else if (s.kind == A64_FLAG_OP)
        a64_add_slots((const uint8_t[8]){U(NZCV)}, op, o);
    else if (a64_bit(op, 21))
        o->writes.x |= which;
    else
        o->reads.x |= which;
    if (s.kind == A64_MRS)
        o->reads.p |= flags_of(s.number);
    else if (s.kind == A64_MSR)
        o->writes.p |= flags_of(s.number);
}

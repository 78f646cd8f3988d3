/* Registers and memory of SME and SME2, with the loads and stores of several vectors that share its encodings.
 *
 * ZA is one register here, so writing a part of it also reads it. */
#include "isa/a64_decode.h"

/* Moves between ZA and vectors, the lookup table ZT0. */
static const a64_row rows_c0[] = {
    {0xff3e8000, 0xc0000000, {U(ZAR), R(PG), R(ZN), R(XV12)}}, /* MOVA to a slice */
    {0xff3e8000, 0xc0008000, {U(ZAR), R(PG), R(ZN), R(XV12)}},
    {0xff3e0200, 0xc0020200, {W(ZD), U(ZAR), R(XV12)}},        /* MOVAZ */
    {0xff3e0000, 0xc0020000, {U(ZD), R(PG), R(ZAR), R(XV12)}}, /* MOVA from a slice */
    {0xff3f0c00, 0xc0040000, {U(ZAR), R(ZN2), R(XV12)}},       /* MOVA of two or four vectors */
    {0xff3f0c00, 0xc0040400, {U(ZAR), R(ZN4), R(XV12)}},
    {0xff3f0c00, 0xc0040800, {U(ZAR), R(ZN2), R(XV8)}},
    {0xff3f0c00, 0xc0040c00, {U(ZAR), R(ZN4), R(XV8)}},
    {0xff3f0e00, 0xc0060000, {W(ZD2), R(ZAR), R(XV12)}},
    {0xff3f0e00, 0xc0060400, {W(ZD4), R(ZAR), R(XV12)}},
    {0xff3f0e00, 0xc0060800, {W(ZD2), R(ZAR), R(XV8)}},
    {0xff3f0e00, 0xc0060c00, {W(ZD4), R(ZAR), R(XV8)}},
    {0xff3f0e00, 0xc0060200, {W(ZD2), U(ZAR), R(XV12)}}, /* MOVAZ */
    {0xff3f0e00, 0xc0060600, {W(ZD4), U(ZAR), R(XV12)}},
    {0xff3f0e00, 0xc0060a00, {W(ZD2), U(ZAR), R(XV8)}},
    {0xff3f0e00, 0xc0060e00, {W(ZD4), U(ZAR), R(XV8)}},
    {0xffff0000, 0xc0080000, {U(ZAR)}}, /* ZERO */
    {0xfffc0000, 0xc00c0000, {U(ZAR), R(XV8)}},
    {0xffffffff, 0xc0480001, {W(ZT0)}},
    {0xffff0000, 0xc04c0000, {W(XD), R(ZT0)}}, /* MOVT */
    {0xffff0000, 0xc04e0000, {U(ZT0), R(XD)}},
    {0xffff0000, 0xc04f0000, {U(ZT0), R(ZD)}},
    {0xff380000, 0xc0100000, {U(ZAR), R(PG), R(PN13), R(ZN)}}, /* ADDHA, ADDVA */
    {0xfff80000, 0xc0c80000, {W(ZD), R(ZN), R(ZT0)}},          /* LUTI2, LUTI4 */
    {0xfffffc00, 0xc08b0000, {W(ZD4), R(ZN2), R(ZT0)}},
    {0xfffffc00, 0xc09b0000, {W(ZDS4), R(ZN2), R(ZT0)}},
    {0xfff84000, 0xc0884000, {W(ZD2), R(ZN), R(ZT0)}},
    {0xfff84000, 0xc0880000, {W(ZD4), R(ZN), R(ZT0)}},
    {0xfff84000, 0xc0984000, {W(ZDS2), R(ZN), R(ZT0)}},
    {0xfff84000, 0xc0980000, {W(ZDS4), R(ZN), R(ZT0)}},
};

/* Several vectors. */
static const a64_row rows_c1[] = {
    {0xff300000, 0xc1000000, {U(ZAR), R(XV8), R(ZN), R(ZM16)}}, /* with a lane */
    {0xff308000, 0xc1100000, {U(ZAR), R(XV8), R(ZN2), R(ZM16)}},
    {0xff308000, 0xc1108000, {U(ZAR), R(XV8), R(ZN4), R(ZM16)}},
    {0xffa09400, 0xc1200400, {U(ZAR), R(XV8), R(ZN), R(ZM16)}}, /* with one vector */
    {0xffb08000, 0xc1200000, {U(ZAR), R(XV8), R(ZN_2), R(ZM16)}},
    {0xffb08000, 0xc1300000, {U(ZAR), R(XV8), R(ZN_4), R(ZM16)}},
    {0xffa19c00, 0xc1a01c00, {U(ZAR), R(XV8), R(ZN2)}}, /* ADD, FADD, ... to ZA */
    {0xffa19c00, 0xc1a11c00, {U(ZAR), R(XV8), R(ZN4)}},
    {0xffa18000, 0xc1a00000, {U(ZAR), R(XV8), R(ZN2), R(ZM2)}}, /* with equally many vectors */
    {0xffa18000, 0xc1a10000, {U(ZAR), R(XV8), R(ZN4), R(ZM4)}},
    {0xff21e000, 0xc1208000, {W(ZD2), R(PN10), R(ZN2), R(ZM2)}}, /* SEL */
    {0xff21e000, 0xc1218000, {W(ZD4), R(PN10), R(ZN4), R(ZM4)}},
    {0xff20f800, 0xc120a000, {U(ZD2), R(ZM16)}}, /* in place, with one vector */
    {0xff20f800, 0xc120a800, {U(ZD4), R(ZM16)}},
    {0xff20f800, 0xc120b000, {U(ZD2), R(ZM2)}}, /* in place, with equally many vectors */
    {0xff20f800, 0xc120b800, {U(ZD4), R(ZM4)}},
    {0xff20f800, 0xc120c000, {U(ZD2), R(ZN), R(ZM)}}, /* SCLAMP, FCLAMP, ... */
    {0xff20f800, 0xc120c800, {U(ZD4), R(ZN), R(ZM)}},
    {0xffe0fc00, 0xc1e0d400, {W(ZD), R(ZN2)}}, /* SQRSHR, ... */
    {0xff20f800, 0xc120d800, {W(ZD), R(ZN4)}},
    {0xff20f800, 0xc120d000, {W(ZD2), R(ZN), R(ZM)}}, /* ZIP, UZP */
    {0xffffe000, 0xc1a0e000, {W(ZD2), R(ZN)}},        /* FCVT, FCVTL to two */
    {0xff3fe000, 0xc120e000, {W(ZD), R(ZN2)}},        /* FCVT, FCVTN */
    {0xff3fe000, 0xc123e000, {W(ZD), R(ZN2)}},        /* SQCVT, ... */
    {0xff3fe000, 0xc124e000, {W(ZD), R(ZN2)}},        /* FCVT to 8 bits */
    {0xff3fe000, 0xc125e000, {W(ZD2), R(ZN)}},        /* SUNPK, UUNPK */
    {0xff3fe000, 0xc126e000, {W(ZD2), R(ZN)}},        /* F1CVT, ... */
    {0xff30e000, 0xc120e000, {W(ZD2), R(ZN2)}},       /* FCVTZS, SCVTF, FRINTN, ... */
    {0xff3fe000, 0xc133e000, {W(ZD), R(ZN4)}},        /* SQCVT, SQCVTN, ... */
    {0xff3fe000, 0xc134e000, {W(ZD), R(ZN4)}},        /* FCVT, FCVTN to 8 bits */
    {0xff3fe000, 0xc135e000, {W(ZD4), R(ZN2)}},       /* SUNPK, UUNPK */
    {0xff30e000, 0xc130e000, {W(ZD4), R(ZN4)}},       /* FCVTZS, ZIP, UZP, FRINTN, ... */
};

static void base(uint32_t op, a64_mode mode, int32_t imm, a64_operands *o)
{
    o->memory.mode = (uint8_t)mode;
    o->memory.base = (uint8_t)a64_field(op, 9, 5);
    o->memory.imm = imm;
    o->memory.imm_vectors = mode == A64_MODE_OFFSET;
    o->reads.x |= (uint32_t)1 << a64_field(op, 9, 5);
}

static void at_register(uint32_t op, unsigned shift, a64_operands *o)
{
    uint32_t m = a64_field(op, 20, 16);
    base(op, A64_MODE_REGISTER, 0, o);
    o->memory.index = (uint8_t)(m == 31 ? A64_NO_REG : m);
    o->memory.shift = (uint8_t)shift;
    o->reads.x |= a64_x(m);
}

/* LD1, ST1, LDNT1, STNT1 of two or four vectors. */
static void vectors(uint32_t op, a64_operands *o)
{
    static const uint8_t slots[2][2][2][8] = {
        {{{R(PN10), R(ZD2)}, {R(PN10), R(ZD4)}}, {{R(PN10), R(ZDS2)}, {R(PN10), R(ZDS4)}}},
        {{{R(PN10), W(ZD2)}, {R(PN10), W(ZD4)}}, {{R(PN10), W(ZDS2)}, {R(PN10), W(ZDS4)}}}};
    bool load = !a64_bit(op, 21);
    unsigned msz = a64_field(op, 14, 13), four = a64_bit(op, 15);
    if (a64_bit(op, 22))
        base(op, A64_MODE_OFFSET, a64_field_signed(op, 19, 16), o);
    else
        at_register(op, msz, o);
    o->memory.access = (uint8_t)(load ? A64_READS : A64_WRITES);
    o->memory.element = o->memory.lane = (uint8_t)(1u << msz);
    o->memory.registers = four ? 4 : 2;
    o->memory.guarded = true;
    a64_add_slots(slots[load][a64_bit(op, 24)][four], op, o);
}

/* Slices of ZA, and ZT0. */
static void slices(uint32_t op, a64_operands *o)
{
    static const uint8_t load[8] = {U(ZAR), R(PG), R(XV12)}, store[8] = {R(ZAR), R(PG), R(XV12)};
    static const uint8_t load_all[8] = {U(ZAR), R(XV12)}, store_all[8] = {R(ZAR), R(XV12)};
    static const uint8_t load_zt0[8] = {W(ZT0)}, store_zt0[8] = {R(ZT0)};
    bool stores = a64_bit(op, 21);
    unsigned msz = a64_field(op, 23, 22);
    o->memory.access = (uint8_t)(stores ? A64_WRITES : A64_READS);
    o->memory.registers = 1;
    if (a64_bit(op, 24) && msz == 0) { /* LDR, STR */
        bool zt0 = a64_field(op, 20, 15) == 0x3f;
        base(op, A64_MODE_OFFSET, zt0 ? 0 : (int32_t)a64_field(op, 3, 0), o);
        o->memory.element = zt0 ? 64 : 1;
        o->memory.lane = zt0 ? 0 : 1;
        o->memory.size = zt0 ? 64 : 0;
        o->memory.imm_vectors = !zt0;
        if (zt0)
            a64_add_slots(stores ? store_zt0 : load_zt0, op, o);
        else
            a64_add_slots(stores ? store_all : load_all, op, o);
        return;
    }
    if (a64_bit(op, 24))
        msz = 4;
    at_register(op, msz, o);
    o->memory.element = o->memory.lane = (uint8_t)(1u << msz);
    o->memory.guarded = true;
    a64_add_slots(stores ? store : load, op, o);
}

void a64_decode_sme(uint32_t op, a64_operands *o)
{
    static const uint8_t outer[8] = {U(ZAR), R(PG), R(PN13), R(ZN), R(ZM)};
    switch (a64_field(op, 30, 29)) {
    case 0:
        if (a64_bit(op, 23))
            a64_add_slots(outer, op, o);
        break;
    case 1:
        if (a64_bit(op, 23))
            a64_add_slots(outer, op, o);
        else
            vectors(op, o);
        break;
    case 2:
        if (a64_bit(op, 24))
            a64_add_row(rows_c1, TL_COUNT(rows_c1), op, o);
        else
            a64_add_row(rows_c0, TL_COUNT(rows_c0), op, o);
        break;
    default:
        slices(op, o);
        break;
    }
}

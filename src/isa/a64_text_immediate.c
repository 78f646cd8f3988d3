/* Text of data processing with an immediate: arithmetic, logic, moves, bit fields, addresses of code. */
#include "isa/a64_text_out.h"

/* ADR, ADRP */
static bool put_address(a64_out *o)
{
    const bool page = o->op >> 31;
    const int64_t distance = a64_signed(o->op, 5, 19) * 4 + (int64_t)a64_bits(o->op, 29, 2);
    a64_put(o, page ? "adrp " : "adr ");
    a64_put_reg(o, true, a64_bits(o->op, 0, 5));
    a64_comma(o);
    a64_put_place(o, page ? distance * 4096 : distance);
    return true;
}

static bool put_arithmetic(a64_out *o)
{
    const uint32_t op = o->op, rd = a64_bits(op, 0, 5), rn = a64_bits(op, 5, 5), imm = a64_bits(op, 10, 12);
    const bool is64 = op >> 31, subtract = op >> 30 & 1, flags = op >> 29 & 1, high = op >> 22 & 1;
    if (!subtract && !flags && imm == 0 && !high && (rd == 31 || rn == 31)) {
        a64_put(o, "mov ");
        a64_put_reg_sp(o, is64, rd);
        a64_comma(o);
        a64_put_reg_sp(o, is64, rn);
        return true;
    }
    if (flags && rd == 31) {
        a64_put(o, subtract ? "cmp " : "cmn ");
    } else {
        a64_put(o, subtract ? "sub" : "add");
        a64_put(o, flags ? "s " : " ");
        if (flags)
            a64_put_reg(o, is64, rd);
        else
            a64_put_reg_sp(o, is64, rd);
        a64_comma(o);
    }
    a64_put_reg_sp(o, is64, rn);
    a64_comma(o);
    a64_put_imm(o, imm);
    if (high)
        a64_put(o, ", lsl #12");
    return true;
}

/* The value of a logical immediate: a run of ones, rotated, in an element of 2 to 64 bits, repeated. */
static bool mask_of(uint32_t op, bool is64, uint64_t *mask)
{
    const uint32_t n = a64_bits(op, 22, 1), immr = a64_bits(op, 16, 6), imms = a64_bits(op, 10, 6);
    const uint32_t length = n << 6 | (~imms & 63);
    unsigned log = 0;
    while (length >> (log + 1))
        log++;
    if (length < 2 || (n && !is64))
        return false;
    const unsigned size = 1u << log, ones = (imms & (size - 1)) + 1, turn = immr & (size - 1);
    if (ones == size)
        return false;
    const uint64_t run = (UINT64_C(1) << ones) - 1; /* ones < 64 */
    const uint64_t all = size == 64 ? ~UINT64_C(0) : (UINT64_C(1) << size) - 1;
    uint64_t element = turn ? (run >> turn | run << (size - turn)) & all : run;
    for (unsigned i = size; i < 64; i *= 2)
        element |= element << i;
    *mask = is64 ? element : element & UINT32_MAX;
    return true;
}

/* Can MOVZ make it? Of two equivalent forms, the preferred one shows the immediate. */
static bool is_movz(uint64_t v, bool is64)
{
    if (!is64)
        v &= UINT32_MAX;
    for (unsigned shift = 0; shift < (is64 ? 64 : 32); shift += 16)
        if ((v & ~(UINT64_C(0xffff) << shift)) == 0)
            return true;
    return false;
}

static bool put_move(a64_out *o, bool is64, bool is_sp, uint64_t v)
{
    const uint32_t rd = a64_bits(o->op, 0, 5);
    a64_put(o, "mov ");
    if (is_sp)
        a64_put_reg_sp(o, is64, rd);
    else
        a64_put_reg(o, is64, rd);
    a64_comma(o);
    a64_put_imm(o, is64 ? (int64_t)v : (int64_t)(int32_t)(uint32_t)v);
    return true;
}

static bool put_logic(a64_out *o)
{
    static const char name[4][5] = {"and ", "orr ", "eor ", "ands"};
    const uint32_t op = o->op, rd = a64_bits(op, 0, 5), rn = a64_bits(op, 5, 5), which = a64_bits(op, 29, 2);
    const bool is64 = op >> 31;
    uint64_t mask;
    if (!mask_of(op, is64, &mask))
        return false;
    if (which == 1 && rn == 31 && !is_movz(mask, is64) && !is_movz(~mask, is64))
        return put_move(o, is64, true, mask);
    if (which == 3 && rd == 31) {
        a64_put(o, "tst ");
    } else {
        a64_put(o, name[which]);
        if (which == 3) {
            a64_put_char(o, ' ');
            a64_put_reg(o, is64, rd);
        } else {
            a64_put_reg_sp(o, is64, rd);
        }
        a64_comma(o);
    }
    a64_put_reg(o, is64, rn);
    a64_put(o, ", #");
    a64_put_hex(o, mask);
    return true;
}

/* MOVN, MOVZ, MOVK */
static bool put_wide(a64_out *o)
{
    const uint32_t op = o->op, which = a64_bits(op, 29, 2), shift = 16 * a64_bits(op, 21, 2);
    const bool is64 = op >> 31;
    const uint64_t imm = a64_bits(op, 5, 16), v = imm << shift;
    if (which == 1 || (!is64 && shift >= 32))
        return false;
    const bool plain = imm != 0 || shift == 0;
    if (which == 2 && plain)
        return put_move(o, is64, false, v);
    if (which == 0 && plain && !is_movz(~v, is64))
        return put_move(o, is64, false, ~v);
    a64_put(o, which == 0 ? "movn " : which == 2 ? "movz " : "movk ");
    a64_put_reg(o, is64, a64_bits(op, 0, 5));
    a64_comma(o);
    a64_put_imm(o, (int64_t)imm);
    if (shift) {
        a64_put(o, ", lsl ");
        a64_put_imm(o, shift);
    }
    return true;
}

/* name Rd, Rn, #a{, #b} */
static bool put_field(a64_out *o, const char *name, bool is64, uint32_t a, uint32_t b)
{
    a64_put(o, name);
    a64_put_char(o, ' ');
    a64_put_reg(o, is64, a64_bits(o->op, 0, 5));
    a64_comma(o);
    a64_put_reg(o, is64, a64_bits(o->op, 5, 5));
    a64_comma(o);
    a64_put_imm(o, a);
    if (b) {
        a64_comma(o);
        a64_put_imm(o, b);
    }
    return true;
}

static bool put_extension(a64_out *o, const char *name, bool is64)
{
    a64_put(o, name);
    a64_put_char(o, ' ');
    a64_put_reg(o, is64, a64_bits(o->op, 0, 5));
    a64_comma(o);
    a64_put_reg(o, false, a64_bits(o->op, 5, 5));
    return true;
}

/* SBFM, BFM, UBFM: each has a better name. */
static bool put_bitfield(a64_out *o)
{
    const uint32_t op = o->op, which = a64_bits(op, 29, 2), immr = a64_bits(op, 16, 6), imms = a64_bits(op, 10, 6);
    const bool is64 = op >> 31, is_signed = which == 0;
    const uint32_t width = is64 ? 64 : 32;
    if (which == 3 || (op >> 22 & 1) != is64 || immr >= width || imms >= width)
        return false;
    if (which == 1) {
        const uint32_t low = (width - immr) % width;
        if (a64_bits(op, 5, 5) == 31 && (immr == 0 || imms < immr)) {
            a64_put(o, "bfc ");
            a64_put_reg(o, is64, a64_bits(op, 0, 5));
            a64_comma(o);
            a64_put_imm(o, low);
            a64_comma(o);
            a64_put_imm(o, imms + 1);
            return true;
        }
        return imms < immr ? put_field(o, "bfi", is64, low, imms + 1)
                           : put_field(o, "bfxil", is64, immr, imms - immr + 1);
    }
    if (immr == 0 && (is_signed || !is64)) {
        if (imms == 7)
            return put_extension(o, is_signed ? "sxtb" : "uxtb", is64);
        if (imms == 15)
            return put_extension(o, is_signed ? "sxth" : "uxth", is64);
        if (imms == 31 && is64)
            return put_extension(o, "sxtw", is64);
    }
    if (imms == width - 1)
        return put_field(o, is_signed ? "asr" : "lsr", is64, immr, 0);
    if (!is_signed && imms + 1 == immr)
        return put_field(o, "lsl", is64, width - 1 - imms, 0);
    if (immr > imms)
        return put_field(o, is_signed ? "sbfiz" : "ubfiz", is64, width - immr, imms + 1);
    return put_field(o, is_signed ? "sbfx" : "ubfx", is64, immr, imms - immr + 1);
}

static bool put_extract(a64_out *o)
{
    const uint32_t op = o->op, rn = a64_bits(op, 5, 5), rm = a64_bits(op, 16, 5), low = a64_bits(op, 10, 6);
    const bool is64 = op >> 31;
    if ((op & 0x60200000) != 0 || (op >> 22 & 1) != is64 || (!is64 && low >= 32))
        return false;
    a64_put(o, rn == rm ? "ror " : "extr ");
    a64_put_reg(o, is64, a64_bits(op, 0, 5));
    a64_comma(o);
    a64_put_reg(o, is64, rn);
    if (rn != rm) {
        a64_comma(o);
        a64_put_reg(o, is64, rm);
    }
    a64_comma(o);
    a64_put_imm(o, low);
    return true;
}

bool a64_text_immediate(a64_out *o)
{
    switch (a64_bits(o->op, 23, 3)) {
    case 0:
    case 1:
        return put_address(o);
    case 2:
        return put_arithmetic(o);
    case 4:
        return put_logic(o);
    case 5:
        return put_wide(o);
    case 6:
        return put_bitfield(o);
    case 7:
        return put_extract(o);
    default:
        return false; /* with tags, minimum and maximum */
    }
}

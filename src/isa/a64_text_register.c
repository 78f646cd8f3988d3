/* Text of data processing of registers: arithmetic, logic, conditions, multiplication, pointer authentication. */
#include "isa/a64_text_out.h"

/* ", lsl #3", or nothing */
static void put_shift(a64_out *o)
{
    static const char name[4][4] = {"lsl", "lsr", "asr", "ror"};
    const uint32_t kind = a64_bits(o->op, 22, 2), amount = a64_bits(o->op, 10, 6);
    if (kind == 0 && amount == 0)
        return;
    a64_comma(o);
    a64_put(o, name[kind]);
    a64_put_char(o, ' ');
    a64_put_imm(o, amount);
}

/* name Rd, Rn, Rm{, shift}, without the registers that the name implies */
static bool put_shifted(a64_out *o, const char *name, bool show_rd, bool show_rn)
{
    const bool is64 = o->op >> 31;
    a64_put(o, name);
    a64_put_char(o, ' ');
    if (show_rd) {
        a64_put_reg(o, is64, a64_bits(o->op, 0, 5));
        a64_comma(o);
    }
    if (show_rn) {
        a64_put_reg(o, is64, a64_bits(o->op, 5, 5));
        a64_comma(o);
    }
    a64_put_reg(o, is64, a64_bits(o->op, 16, 5));
    put_shift(o);
    return true;
}

static bool put_logic(a64_out *o)
{
    static const char name[8][5] = {"and", "bic", "orr", "orn", "eor", "eon", "ands", "bics"};
    const uint32_t op = o->op, which = a64_bits(op, 29, 2) << 1 | a64_bits(op, 21, 1);
    const bool no_shift = a64_bits(op, 22, 2) == 0 && a64_bits(op, 10, 6) == 0;
    if (!(op >> 31) && (op >> 15 & 1))
        return false;
    if (a64_bits(op, 5, 5) == 31 && which == 2 && no_shift)
        return put_shifted(o, "mov", true, false);
    if (a64_bits(op, 5, 5) == 31 && which == 3)
        return put_shifted(o, "mvn", true, false);
    if (a64_bits(op, 0, 5) == 31 && which == 6)
        return put_shifted(o, "tst", false, true);
    return put_shifted(o, name[which], true, true);
}

static const char arithmetic_name[4][5] = {"add", "adds", "sub", "subs"};

static bool put_arithmetic(a64_out *o)
{
    const uint32_t op = o->op, which = a64_bits(op, 29, 2);
    if (a64_bits(op, 22, 2) == 3 || (!(op >> 31) && (op >> 15 & 1)))
        return false;
    if ((which & 1) && a64_bits(op, 0, 5) == 31)
        return put_shifted(o, which == 1 ? "cmn" : "cmp", false, true);
    if (which >= 2 && a64_bits(op, 5, 5) == 31)
        return put_shifted(o, which == 2 ? "neg" : "negs", true, false);
    return put_shifted(o, arithmetic_name[which], true, true);
}

static bool put_extended(a64_out *o)
{
    static const char name[8][5] = {"uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"};
    const uint32_t op = o->op, which = a64_bits(op, 29, 2), option = a64_bits(op, 13, 3), shift = a64_bits(op, 10, 3),
                   rd = a64_bits(op, 0, 5), rn = a64_bits(op, 5, 5);
    const bool is64 = op >> 31, flags = which & 1;
    if (a64_bits(op, 22, 2) != 0 || shift > 4)
        return false;
    if (flags && rd == 31) {
        a64_put(o, which == 1 ? "cmn " : "cmp ");
    } else {
        a64_put(o, arithmetic_name[which]);
        a64_put_char(o, ' ');
        if (flags)
            a64_put_reg(o, is64, rd);
        else
            a64_put_reg_sp(o, is64, rd);
        a64_comma(o);
    }
    a64_put_reg_sp(o, is64, rn);
    a64_comma(o);
    a64_put_reg(o, is64 && (option & 3) == 3, a64_bits(op, 16, 5));
    if (option == (is64 ? 3u : 2u) && (rn == 31 || (rd == 31 && !flags))) { /* with SP the extension is a shift */
        if (shift) {
            a64_put(o, ", lsl ");
            a64_put_imm(o, shift);
        }
        return true;
    }
    a64_comma(o);
    a64_put(o, name[option]);
    if (shift) {
        a64_put_char(o, ' ');
        a64_put_imm(o, shift);
    }
    return true;
}

/* name Rd, Rn, Rm of one width, without Rn or Rm on request */
static bool put_plain(a64_out *o, const char *name, bool show_rn, bool show_rm)
{
    const bool is64 = o->op >> 31;
    a64_put(o, name);
    a64_put_char(o, ' ');
    a64_put_reg(o, is64, a64_bits(o->op, 0, 5));
    if (show_rn) {
        a64_comma(o);
        a64_put_reg(o, is64, a64_bits(o->op, 5, 5));
    }
    if (show_rm) {
        a64_comma(o);
        a64_put_reg(o, is64, a64_bits(o->op, 16, 5));
    }
    return true;
}

static bool put_carry(a64_out *o)
{
    static const char name[4][5] = {"adc", "adcs", "sbc", "sbcs"};
    const uint32_t which = a64_bits(o->op, 29, 2);
    if (a64_bits(o->op, 10, 6) != 0)
        return false; /* of flags */
    if (which >= 2 && a64_bits(o->op, 5, 5) == 31)
        return put_plain(o, which == 2 ? "ngc" : "ngcs", false, true);
    return put_plain(o, name[which], true, true);
}

static bool put_compare(a64_out *o)
{
    const uint32_t op = o->op;
    const bool is64 = op >> 31;
    if (!(op >> 29 & 1) || (op & 0x410) != 0)
        return false;
    a64_put(o, op >> 30 & 1 ? "ccmp " : "ccmn ");
    a64_put_reg(o, is64, a64_bits(op, 5, 5));
    a64_comma(o);
    if (op >> 11 & 1)
        a64_put_imm(o, a64_bits(op, 16, 5));
    else
        a64_put_reg(o, is64, a64_bits(op, 16, 5));
    a64_comma(o);
    a64_put_imm(o, a64_bits(op, 0, 4));
    a64_comma(o);
    a64_put_cond(o, a64_bits(op, 12, 4));
    return true;
}

static bool put_select(a64_out *o)
{
    static const char name[4][6] = {"csel", "csinc", "csinv", "csneg"}, same[4][5] = {"", "cinc", "cinv", "cneg"};
    const uint32_t op = o->op, which = a64_bits(op, 30, 1) << 1 | a64_bits(op, 10, 1), cond = a64_bits(op, 12, 4);
    const uint32_t rn = a64_bits(op, 5, 5);
    if ((op >> 29 & 1) || (op >> 11 & 1))
        return false;
    if (which > 0 && rn == a64_bits(op, 16, 5) && cond < 14) {
        const bool set = rn == 31 && which < 3;
        put_plain(o, set ? (which == 1 ? "cset" : "csetm") : same[which], !set, false);
        a64_comma(o);
        a64_put_cond(o, cond ^ 1);
        return true;
    }
    put_plain(o, name[which], true, true);
    a64_comma(o);
    a64_put_cond(o, cond);
    return true;
}

/* Two sources */
static bool put_two(a64_out *o)
{
    static const char crc[8][8] = {"crc32b", "crc32h", "crc32w", "crc32x", "crc32cb", "crc32ch", "crc32cw", "crc32cx"};
    static const char shift[4][4] = {"lsl", "lsr", "asr", "ror"};
    const uint32_t op = o->op, which = a64_bits(op, 10, 6);
    const bool is64 = op >> 31;
    if (op >> 29 & 1)
        return false;
    if (which == 2 || which == 3)
        return put_plain(o, which == 2 ? "udiv" : "sdiv", true, true);
    if (which >= 8 && which < 12)
        return put_plain(o, shift[which - 8], true, true);
    if (which < 16 || which >= 24 || ((which & 3) == 3) != is64)
        return false;
    a64_put(o, crc[which - 16]);
    a64_put_char(o, ' ');
    a64_put_reg(o, false, a64_bits(op, 0, 5));
    a64_comma(o);
    a64_put_reg(o, false, a64_bits(op, 5, 5));
    a64_comma(o);
    a64_put_reg(o, is64, a64_bits(op, 16, 5));
    return true;
}

/* Signing and checking of pointers */
static bool put_pointer(a64_out *o)
{
    static const char name[18][7] = {"pacia",  "pacib",  "pacda",  "pacdb",  "autia",  "autib",
                                     "autda",  "autdb",  "paciza", "pacizb", "pacdza", "pacdzb",
                                     "autiza", "autizb", "autdza", "autdzb", "xpaci",  "xpacd"};
    const uint32_t op = o->op, which = a64_bits(op, 10, 6), rn = a64_bits(op, 5, 5);
    if (!(op >> 31) || which >= 18 || (which >= 8 && rn != 31))
        return false;
    a64_put(o, name[which]);
    a64_put_char(o, ' ');
    a64_put_reg(o, true, a64_bits(op, 0, 5));
    if (which < 8) {
        a64_comma(o);
        a64_put_reg_sp(o, true, rn);
    }
    return true;
}

/* One source */
static bool put_one(a64_out *o)
{
    static const char name[2][6][6] = {{"rbit", "rev16", "rev", "", "clz", "cls"},
                                       {"rbit", "rev16", "rev32", "rev", "clz", "cls"}};
    const uint32_t op = o->op, which = a64_bits(op, 10, 6), group = a64_bits(op, 16, 5);
    if (op >> 29 & 1)
        return false;
    if (group == 1)
        return put_pointer(o);
    if (group != 0 || which >= 6 || name[op >> 31][which][0] == '\0')
        return false;
    return put_plain(o, name[op >> 31][which], true, false);
}

/* Three sources: Rd, Rn, Rm, Ra */
static bool put_three(a64_out *o)
{
    static const struct {
        char name[7], alias[7]; /* the alias has no Ra */
    } known[16] = {
        [0] = {"madd", "mul"}, [1] = {"msub", "mneg"},     [2] = {"smaddl", "smull"},   [3] = {"smsubl", "smnegl"},
        [4] = {"", "smulh"},   [10] = {"umaddl", "umull"}, [11] = {"umsubl", "umnegl"}, [12] = {"", "umulh"}};
    const uint32_t op = o->op, which = a64_bits(op, 21, 3) << 1 | a64_bits(op, 15, 1), ra = a64_bits(op, 10, 5);
    const bool is64 = op >> 31, is_long = which > 1 && (which & 7) != 4;
    const char *name = ra == 31 ? known[which].alias : known[which].name;
    if (a64_bits(op, 29, 2) != 0 || name[0] == '\0' || (which > 1 && !is64))
        return false;
    a64_put(o, name);
    a64_put_char(o, ' ');
    a64_put_reg(o, is64, a64_bits(op, 0, 5));
    a64_comma(o);
    a64_put_reg(o, is64 && !is_long, a64_bits(op, 5, 5));
    a64_comma(o);
    a64_put_reg(o, is64 && !is_long, a64_bits(op, 16, 5));
    if (ra != 31) {
        a64_comma(o);
        a64_put_reg(o, is64, ra);
    }
    return true;
}

bool a64_text_register(a64_out *o)
{
    const uint32_t op = o->op;
    if (!(op >> 28 & 1))
        return !(op >> 24 & 1) ? put_logic(o) : op >> 21 & 1 ? put_extended(o) : put_arithmetic(o);
    if (op >> 24 & 1)
        return put_three(o);
    switch (a64_bits(op, 21, 3)) {
    case 0:
        return put_carry(o);
    case 2:
        return put_compare(o);
    case 4:
        return put_select(o);
    case 6:
        return op >> 30 & 1 ? put_one(o) : put_two(o);
    default:
        return false;
    }
}

/* Text of loads and stores of general registers and, where they are written the same way, of SIMD registers; atomics,
 * exclusives, prefetches. Unpredictable instructions (a pair into one register, an overwritten base) count as
 * unknown. */
#include "isa/a64_text_out.h"

/* What a load or store of one register transfers. */
typedef struct moved {
    char bank;   /* of the register: w x b h s d q; p: a prefetch */
    uint8_t log; /* log2 of the size */
    bool load;
    char suffix[3]; /* of the mnemonic: "", "b", "h", "sb", "sh", "sw" */
} moved;

static bool moved_of(uint32_t op, moved *m)
{
    static const char simd[5] = "bhsdq", suffix[3][2] = {"b", "h", ""};
    const uint32_t size = a64_bits(op, 30, 2), opc = a64_bits(op, 22, 2);
    *m = (moved){.load = opc & 1, .log = (uint8_t)size};
    if (op >> 26 & 1) {
        if (opc >= 2 && size != 0)
            return false;
        m->log = (uint8_t)(opc >= 2 ? 4 : size);
        m->bank = simd[m->log];
        return true;
    }
    if (opc < 2) {
        m->bank = size == 3 ? 'x' : 'w';
        if (size < 2)
            memcpy(m->suffix, suffix[size], 2);
        return true;
    }
    m->load = true;
    if (size == 3) {
        m->bank = 'p';
        return opc == 2;
    }
    if (size == 2 && opc == 3)
        return false;
    m->bank = opc == 2 ? 'x' : 'w';
    m->suffix[0] = 's';
    m->suffix[1] = "bhw"[size];
    return true;
}

static void put_moved(a64_out *o, char bank, uint32_t n)
{
    if (bank == 'x' || bank == 'w')
        a64_put_reg(o, bank == 'x', n);
    else
        a64_put_numbered(o, bank, n);
}

/* "pldl1keep" */
static bool put_prefetch(a64_out *o)
{
    static const char type[3][4] = {"pld", "pli", "pst"};
    const uint32_t kind = a64_bits(o->op, 3, 2), level = a64_bits(o->op, 1, 2);
    if (kind == 3 || level == 3)
        return false;
    a64_put(o, type[kind]);
    a64_put_numbered(o, 'l', level + 1);
    a64_put(o, o->op & 1 ? "strm" : "keep");
    return true;
}

/* "[x0", "[sp" */
static void put_base(a64_out *o)
{
    a64_put_char(o, '[');
    a64_put_reg_sp(o, true, a64_bits(o->op, 5, 5));
}

/* "[x0, #8]", "[x0]" */
static void put_offset(a64_out *o, int64_t offset)
{
    put_base(o);
    if (offset) {
        a64_comma(o);
        a64_put_imm(o, offset);
    }
    a64_put_char(o, ']');
}

/* "[x0, #8]!" (before) or "[x0], #8" */
static void put_writeback(a64_out *o, bool before, int64_t offset)
{
    put_base(o);
    a64_put(o, before ? ", " : "], ");
    a64_put_imm(o, offset);
    if (before)
        a64_put(o, "]!");
}

/* "ldrsb w0, " and the like; plain and prefetch are the first letters of the mnemonic ("ldr" is "ld" and 'r'). */
static bool put_single(a64_out *o, const moved *m, const char *form, const char *prefetch)
{
    if (m->bank == 'p') {
        a64_put(o, prefetch);
        a64_put_char(o, ' ');
        if (!put_prefetch(o))
            return false;
    } else {
        a64_put(o, m->load ? "ld" : "st");
        a64_put(o, form);
        a64_put(o, m->suffix);
        a64_put_char(o, ' ');
        put_moved(o, m->bank, a64_bits(o->op, 0, 5));
    }
    a64_comma(o);
    return true;
}

static bool put_unsigned(a64_out *o)
{
    moved m;
    if (!moved_of(o->op, &m) || !put_single(o, &m, "r", "prfm"))
        return false;
    put_offset(o, (int64_t)a64_bits(o->op, 10, 12) << m.log);
    return true;
}

/* "[x0, w1, uxtw #2]" */
static bool put_indexed(a64_out *o)
{
    moved m;
    const uint32_t option = a64_bits(o->op, 13, 3);
    const bool shift = o->op >> 12 & 1;
    if (!(option & 2) || !moved_of(o->op, &m) || !put_single(o, &m, "r", "prfm"))
        return false;
    put_base(o);
    a64_comma(o);
    a64_put_reg(o, option & 1, a64_bits(o->op, 16, 5));
    if (option != 3 || shift) {
        a64_put(o, option == 3 ? ", lsl" : option == 2 ? ", uxtw" : option == 6 ? ", sxtw" : ", sxtx");
        if (shift) {
            a64_put_char(o, ' ');
            a64_put_imm(o, m.log);
        }
    }
    a64_put_char(o, ']');
    return true;
}

/* With a signed 9-bit offset: unscaled, unprivileged, or with base update. */
static bool put_signed(a64_out *o)
{
    static const char form[4][4] = {"ur", "r", "tr", "r"};
    const uint32_t op = o->op, how = a64_bits(op, 10, 2), rn = a64_bits(op, 5, 5);
    const int64_t offset = a64_signed(op, 12, 9);
    const bool simd = op >> 26 & 1;
    moved m;
    if (!moved_of(op, &m) || (how != 0 && m.bank == 'p') || (how == 2 && simd))
        return false;
    if ((how & 1) && !simd && rn != 31 && rn == a64_bits(op, 0, 5))
        return false;
    if (!put_single(o, &m, form[how], "prfum"))
        return false;
    if (how & 1)
        put_writeback(o, how == 3, offset);
    else
        put_offset(o, offset);
    return true;
}

static bool put_literal(a64_out *o)
{
    const uint32_t op = o->op, opc = a64_bits(op, 30, 2);
    const bool simd = op >> 26 & 1;
    if (simd && opc == 3)
        return false;
    if (!simd && opc == 3) {
        a64_put(o, "prfm ");
        if (!put_prefetch(o))
            return false;
    } else {
        a64_put(o, !simd && opc == 2 ? "ldrsw " : "ldr ");
        put_moved(o, simd ? "sdq"[opc] : opc ? 'x' : 'w', a64_bits(op, 0, 5));
    }
    a64_comma(o);
    a64_put_place(o, a64_signed(op, 5, 19) * 4);
    return true;
}

static bool put_pair(a64_out *o)
{
    static const char name[4][3] = {"np", "p", "p", "p"};
    const uint32_t op = o->op, opc = a64_bits(op, 30, 2), how = a64_bits(op, 23, 2), rn = a64_bits(op, 5, 5);
    const uint32_t rt = a64_bits(op, 0, 5), rt2 = a64_bits(op, 10, 5);
    const bool simd = op >> 26 & 1, load = op >> 22 & 1, words = !simd && opc == 1;
    if (opc == 3 || (words && (!load || how == 0)) || (load && rt == rt2))
        return false;
    if ((how & 1) && !simd && rn != 31 && (rn == rt || rn == rt2))
        return false;
    const char bank = simd ? "sdq"[opc] : opc == 0 ? 'w' : 'x';
    const int64_t offset = a64_signed(op, 15, 7) * (simd ? 4 << opc : opc == 2 ? 8 : 4);
    a64_put(o, load ? "ld" : "st");
    a64_put(o, name[how]);
    a64_put(o, words ? "sw " : " ");
    put_moved(o, bank, rt);
    a64_comma(o);
    put_moved(o, bank, rt2);
    a64_comma(o);
    if (how & 1)
        put_writeback(o, how == 3, offset);
    else
        put_offset(o, offset);
    return true;
}

/* Mnemonic, register list, and "[base]" without an offset. */
static bool put_bare(a64_out *o, const char *name, const char *suffix, const uint32_t *reg, unsigned n, bool first_word,
                     bool is64)
{
    a64_put(o, name);
    a64_put(o, suffix);
    a64_put_char(o, ' ');
    for (unsigned i = 0; i < n; i++) {
        a64_put_reg(o, is64 && !(first_word && i == 0), reg[i]);
        a64_comma(o);
    }
    put_offset(o, 0);
    return true;
}

static const char narrow[4][2] = {"b", "h", "", ""};

/* Exclusive and ordered accesses, compare and swap. */
static bool put_exclusive(a64_out *o)
{
    static const char cas[4][6] = {"cas", "casl", "casa", "casal"}, casp[4][7] = {"casp", "caspl", "caspa", "caspal"};
    static const char ordered[4][6] = {"stllr", "stlr", "ldlar", "ldar"};
    static const char single[4][6] = {"stxr", "stlxr", "ldxr", "ldaxr"},
                      pair[4][6] = {"stxp", "stlxp", "ldxp", "ldaxp"};
    const uint32_t op = o->op, size = a64_bits(op, 30, 2), rs = a64_bits(op, 16, 5), rt2 = a64_bits(op, 10, 5),
                   rt = a64_bits(op, 0, 5), rn = a64_bits(op, 5, 5);
    const bool is_ordered = op >> 23 & 1, load = op >> 22 & 1, o1 = op >> 21 & 1, o0 = op >> 15 & 1;
    const uint32_t which = (uint32_t)load << 1 | o0;
    if (is_ordered && o1) {
        const uint32_t reg[2] = {rs, rt};
        return rt2 == 31 && put_bare(o, cas[which], narrow[size], reg, 2, false, size == 3);
    }
    if (is_ordered)
        return rs == 31 && rt2 == 31 && put_bare(o, ordered[which], narrow[size], &rt, 1, false, size == 3);
    if (o1 && size < 2) {
        const uint32_t reg[4] = {rs, rs + 1, rt, rt + 1};
        if (rt2 != 31 || (rs & 1) || (rt & 1) || rs == 30 || rt == 30)
            return false;
        return put_bare(o, casp[which], "", reg, 4, false, size == 1);
    }
    if (load) {
        const uint32_t reg[2] = {rt, rt2};
        if (rs != 31 || (o1 ? rt == rt2 : rt2 != 31))
            return false;
        return put_bare(o, o1 ? pair[which] : single[which], o1 ? "" : narrow[size], reg, o1 ? 2 : 1, false, size == 3);
    }
    const uint32_t reg[3] = {rs, rt, rt2};
    if (!o1 && rt2 != 31)
        return false;
    if (rs == rt || (o1 && rs == rt2) || (rs == rn && rn != 31))
        return false;
    return put_bare(o, o1 ? pair[which] : single[which], o1 ? "" : narrow[size], reg, o1 ? 3 : 2, true, size == 3);
}

/* LDADD and the like, swaps, LDAPR */
static bool put_atomic(a64_out *o)
{
    static const char name[8][6] = {"add", "clr", "eor", "set", "smax", "smin", "umax", "umin"};
    static const char order[4][3] = {"", "l", "a", "al"};
    const uint32_t op = o->op, size = a64_bits(op, 30, 2), opc = a64_bits(op, 12, 3),
                   reg[2] = {a64_bits(op, 16, 5), a64_bits(op, 0, 5)};
    const bool acquire = op >> 23 & 1, release = op >> 22 & 1, o3 = op >> 15 & 1;
    if (op >> 26 & 1)
        return false;
    if (o3 && opc == 4)
        return acquire && !release && reg[0] == 31 && put_bare(o, "ldapr", narrow[size], reg + 1, 1, false, size == 3);
    if (o3 && opc != 0)
        return false;
    const bool store = !o3 && !acquire && reg[1] == 31;
    a64_put(o, o3 ? "swp" : store ? "st" : "ld");
    if (!o3)
        a64_put(o, name[opc]);
    return put_bare(o, order[(unsigned)acquire << 1 | release], narrow[size], reg, store ? 1 : 2, false, size == 3);
}

/* LDAPUR, STLUR */
static bool put_unscaled_ordered(a64_out *o)
{
    moved m;
    if ((o->op >> 26 & 1) || !moved_of(o->op, &m) || m.bank == 'p')
        return false;
    a64_put(o, m.load ? "ldapur" : "stlur");
    a64_put(o, m.suffix);
    a64_put_char(o, ' ');
    put_moved(o, m.bank, a64_bits(o->op, 0, 5));
    a64_comma(o);
    put_offset(o, a64_signed(o->op, 12, 9));
    return true;
}

bool a64_text_memory(a64_out *o)
{
    const uint32_t op = o->op;
    switch (op & 0x3b000000) {
    case 0x18000000:
        return put_literal(o);
    case 0x28000000:
    case 0x29000000:
        return put_pair(o);
    case 0x38000000:
        if (!(op >> 21 & 1))
            return put_signed(o);
        return a64_bits(op, 10, 2) == 2 ? put_indexed(o) : a64_bits(op, 10, 2) == 0 && put_atomic(o);
    case 0x39000000:
        return put_unsigned(o);
    case 0x08000000:
        return !(op >> 26 & 1) && put_exclusive(o);
    case 0x19000000:
        return (op & 0x00200c00) == 0 && put_unscaled_ordered(o);
    default:
        return false;
    }
}

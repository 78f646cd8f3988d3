/* Data processing of A64 with immediates and registers, computed from known registers. */
#include "isa/a64_eval.h"

#define N_BIT ((uint32_t)1 << 31)
#define Z_BIT ((uint32_t)1 << 30)
#define C_BIT ((uint32_t)1 << 29)
#define V_BIT ((uint32_t)1 << 28)

static const a64_result unknown = {0};

static uint32_t bits(uint32_t op, unsigned high, unsigned low)
{
    return op >> low & (((uint32_t)2 << (high - low)) - 1);
}

/* The lowest n bits, 1 <= n <= 64. */
static uint64_t ones(unsigned n)
{
    return UINT64_MAX >> (64 - n);
}

static uint64_t sign_extend(uint64_t v, unsigned width)
{
    const uint64_t sign = UINT64_C(1) << (width - 1);
    return ((v & ones(width)) ^ sign) - sign;
}

static uint64_t rotate(uint64_t v, unsigned by, unsigned width)
{
    v &= ones(width);
    by %= width;
    return by ? (v >> by | v << (width - by)) & ones(width) : v;
}

/* A register; 31 is the zero register or SP. False: unknown. */
static bool get(const a64_state *s, unsigned n, bool sp, uint64_t *v)
{
    *v = n == 31 && !sp ? 0 : s->x[n];
    return (n == 31 && !sp) || s->known >> n & 1;
}

static a64_result plain(uint64_t value, unsigned width)
{
    return (a64_result){.known = true, .value = value & ones(width)};
}

/* The flags of a logical result. */
static a64_result logical(uint64_t value, unsigned width)
{
    a64_result r = plain(value, width);
    r.flags_known = true;
    r.nzcv = (r.value >> (width - 1) & 1 ? N_BIT : 0) | (r.value == 0 ? Z_BIT : 0);
    return r;
}

/* a + b + carry, with flags. */
static a64_result sum(uint64_t a, uint64_t b, unsigned carry, unsigned width)
{
    a &= ones(width);
    b &= ones(width);
    uint64_t total;
    bool out = __builtin_add_overflow(a, b, &total);
    out = __builtin_add_overflow(total, carry, &total) || out;
    if (width == 32)
        out = total >> 32 & 1;
    a64_result r = logical(total, width);
    const bool overflow = (~(a ^ b) & (a ^ r.value)) >> (width - 1) & 1;
    r.nzcv |= (out ? C_BIT : 0) | (overflow ? V_BIT : 0);
    return r;
}

static a64_result add_or_subtract(uint64_t a, uint64_t b, bool subtract, unsigned width)
{
    return subtract ? sum(a, ~b, 1, width) : sum(a, b, 0, width);
}

bool a64_condition_holds(unsigned condition, uint32_t nzcv)
{
    const bool n = nzcv & N_BIT, z = nzcv & Z_BIT, c = nzcv & C_BIT, v = nzcv & V_BIT;
    const bool base[] = {z, c, n, v, c && !z, n == v, n == v && !z, true};
    return base[condition >> 1 & 7] != (condition & 1 && condition != 15);
}

/* Shift by kind: LSL, LSR, ASR, ROR. */
static uint64_t shift(uint64_t v, unsigned kind, unsigned by, unsigned width)
{
    v &= ones(width);
    switch (kind) {
    case 0:
        return v << by & ones(width);
    case 1:
        return v >> by;
    case 2:
        return (uint64_t)((int64_t)sign_extend(v, width) >> by) & ones(width);
    default:
        return rotate(v, by, width);
    }
}

/* The mask that a logical immediate stands for; false: not allocated. */
static bool bitmask(uint32_t op, unsigned width, uint64_t *mask)
{
    const unsigned n = bits(op, 22, 22), immr = bits(op, 21, 16), imms = bits(op, 15, 10);
    const unsigned pattern = n << 6 | (~imms & 0x3f);
    if (pattern < 2 || (width == 32 && n))
        return false;
    const unsigned size = 1u << (31 - (unsigned)__builtin_clz(pattern)), run = (imms & (size - 1)) + 1;
    if (run == size)
        return false;
    uint64_t m = rotate(ones(run), immr & (size - 1), size);
    for (unsigned w = size; w < 64; w *= 2)
        m |= m << w;
    *mask = m & ones(width);
    return true;
}

static a64_result bitfield(const a64_state *s, uint32_t op, unsigned width)
{
    const unsigned opc = bits(op, 30, 29), immr = bits(op, 21, 16), imms = bits(op, 15, 10);
    uint64_t from, into = 0;
    if (opc == 3 || immr >= width || imms >= width || !get(s, bits(op, 9, 5), false, &from) ||
        (opc == 1 && !get(s, bits(op, 4, 0), false, &into)))
        return unknown;
    from &= ones(width);
    const bool insert = imms < immr; /* the low bits go up; otherwise bits from the middle go down */
    const unsigned n = insert ? imms + 1 : imms - immr + 1, at = insert ? width - immr : 0;
    const uint64_t field = insert ? from & ones(n) : from >> immr & ones(n);
    uint64_t v = field << at;
    if (opc == 0)
        v = sign_extend(field, n) << at;
    else if (opc == 1)
        v |= into & ~(ones(n) << at);
    return plain(v, width);
}

static a64_result move_wide(const a64_state *s, uint32_t op, unsigned width)
{
    const unsigned opc = bits(op, 30, 29), at = 16 * bits(op, 22, 21);
    const uint64_t imm = (uint64_t)bits(op, 20, 5) << at;
    uint64_t old;
    if (at >= width || opc == 1 || (opc == 3 && !get(s, bits(op, 4, 0), false, &old)))
        return unknown;
    return plain(opc == 0 ? ~imm : opc == 2 ? imm : (old & ~((uint64_t)0xffff << at)) | imm, width);
}

static a64_result with_immediate(const a64_state *s, uint64_t pc, uint32_t op)
{
    const unsigned width = op >> 31 ? 64 : 32, n = bits(op, 9, 5), form = bits(op, 25, 23);
    uint64_t a, b;
    switch (form) {
    case 0:
    case 1: /* ADR, ADRP */
        b = sign_extend(bits(op, 23, 5) << 2 | bits(op, 30, 29), 21);
        return plain(op >> 31 ? (pc & ~UINT64_C(0xfff)) + (b << 12) : pc + b, 64);
    case 2:
        if (!get(s, n, true, &a))
            return unknown;
        return add_or_subtract(a, (uint64_t)bits(op, 21, 10) << (bits(op, 22, 22) ? 12 : 0), bits(op, 30, 30), width);
    case 4:
        if (!bitmask(op, width, &b) || !get(s, n, false, &a))
            return unknown;
        return logical(bits(op, 30, 29) == 1 ? a | b : bits(op, 30, 29) == 2 ? a ^ b : a & b, width);
    case 5:
        return move_wide(s, op, width);
    case 6:
        return bits(op, 22, 22) == op >> 31 ? bitfield(s, op, width) : unknown;
    case 7: /* EXTR */
        if (bits(op, 30, 29) || bits(op, 21, 21) || bits(op, 22, 22) != op >> 31 || bits(op, 15, 10) >= width ||
            !get(s, n, false, &a) || !get(s, bits(op, 20, 16), false, &b))
            return unknown;
        b = (b & ones(width)) >> bits(op, 15, 10);
        return plain(bits(op, 15, 10) ? b | a << (width - bits(op, 15, 10)) : b, width);
    default:
        return unknown;
    }
}

static a64_result shifted(const a64_state *s, uint32_t op, unsigned width)
{
    const unsigned by = bits(op, 15, 10);
    uint64_t a, b;
    if (by >= width || !get(s, bits(op, 9, 5), false, &a) || !get(s, bits(op, 20, 16), false, &b))
        return unknown;
    b = shift(b, bits(op, 23, 22), by, width);
    if (bits(op, 24, 24))
        return bits(op, 23, 22) == 3 ? unknown : add_or_subtract(a, b, bits(op, 30, 30), width);
    if (bits(op, 21, 21))
        b = ~b;
    const unsigned opc = bits(op, 30, 29);
    return logical(opc == 1 ? a | b : opc == 2 ? a ^ b : a & b, width);
}

static a64_result extended(const a64_state *s, uint32_t op, unsigned width)
{
    const unsigned option = bits(op, 15, 13), by = bits(op, 12, 10), from = 8u << (option & 3);
    uint64_t a, b;
    if (by > 4 || bits(op, 23, 22) || !get(s, bits(op, 9, 5), true, &a) || !get(s, bits(op, 20, 16), false, &b))
        return unknown;
    b = option & 4 ? sign_extend(b, from) : b & ones(from);
    return add_or_subtract(a, b << by, bits(op, 30, 30), width);
}

static a64_result conditional(const a64_state *s, uint32_t op, unsigned width)
{
    const bool compare = bits(op, 24, 21) == 2;
    uint64_t a, b = bits(op, 20, 16);
    if (!s->has_nzcv)
        return unknown;
    const bool holds = a64_condition_holds(bits(op, 15, 12), s->nzcv);
    if (compare && !holds)
        return (a64_result){.flags_known = true, .nzcv = bits(op, 3, 0) << 28};
    const bool has_a = get(s, bits(op, 9, 5), false, &a);
    const bool has_b = (compare && bits(op, 11, 11)) || get(s, bits(op, 20, 16), false, &b);
    if (compare)
        return has_a && has_b ? add_or_subtract(a, b, bits(op, 30, 30), width) : unknown;
    if (holds)
        return has_a ? plain(a, width) : unknown;
    if (!has_b)
        return unknown;
    if (bits(op, 30, 30))
        b = ~b;
    return plain(b + bits(op, 10, 10), width);
}

static a64_result one_source(const a64_state *s, uint32_t op, unsigned width)
{
    uint64_t a, r = 0;
    if (bits(op, 20, 16) || !get(s, bits(op, 9, 5), false, &a))
        return unknown;
    a &= ones(width);
    const unsigned opcode = bits(op, 15, 10);
    if (opcode <= 3) { /* reverses groups of 1 << group bytes, or all bits */
        const unsigned group = opcode == 0 ? width : 8u << opcode, piece = opcode == 0 ? 1 : 8;
        if (group > width)
            return unknown;
        for (unsigned at = 0; at < width; at += piece)
            r |= (a >> at & ones(piece)) << (at / group * group + (group - piece - at % group));
        return plain(r, width);
    }
    if (opcode == 5) /* bits equal to the sign: the leading zeros after inversion */
        a = (a ^ a << 1) >> 1 & ones(width - 1);
    if (opcode > 5)
        return unknown;
    r = a ? (unsigned)__builtin_clzll(a) - (64 - width) : width;
    return plain(opcode == 5 ? r - 1 : r, width);
}

static a64_result two_sources(const a64_state *s, uint32_t op, unsigned width)
{
    const unsigned opcode = bits(op, 15, 10);
    uint64_t a, b;
    if (bits(op, 29, 29) || !get(s, bits(op, 9, 5), false, &a) || !get(s, bits(op, 20, 16), false, &b))
        return unknown;
    a &= ones(width);
    b &= ones(width);
    if (opcode == 2)
        return plain(b ? a / b : 0, width);
    if (opcode == 3) {
        const int64_t x = (int64_t)sign_extend(a, width), y = (int64_t)sign_extend(b, width);
        return plain(y == 0 ? 0 : y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y), width);
    }
    return opcode >= 8 && opcode < 12 ? plain(shift(a, opcode & 3, (unsigned)(b % width), width), width) : unknown;
}

static uint64_t multiply_high(uint64_t a, uint64_t b, bool is_signed)
{
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (uint32_t)middle;
    uint64_t high = ah * bh + (middle >> 32) + (other >> 32);
    if (is_signed)
        high -= ((int64_t)a < 0 ? b : 0) + ((int64_t)b < 0 ? a : 0);
    return high;
}

static a64_result three_sources(const a64_state *s, uint32_t op, unsigned width)
{
    const unsigned kind = bits(op, 23, 21);
    const bool subtract = bits(op, 15, 15), is_signed = kind < 4;
    uint64_t a, b, c;
    if (bits(op, 30, 29) || (kind && width == 32) || !get(s, bits(op, 9, 5), false, &a) ||
        !get(s, bits(op, 20, 16), false, &b))
        return unknown;
    if (kind == 2 || kind == 6)
        return subtract ? unknown : plain(multiply_high(a, b, is_signed), 64);
    if ((kind != 0 && kind != 1 && kind != 5) || !get(s, bits(op, 14, 10), false, &c))
        return unknown;
    if (kind) {
        a = is_signed ? sign_extend(a, 32) : a & ones(32);
        b = is_signed ? sign_extend(b, 32) : b & ones(32);
    }
    return plain(subtract ? c - a * b : c + a * b, width);
}

static a64_result with_carry(const a64_state *s, uint32_t op, unsigned width)
{
    uint64_t a, b;
    if (bits(op, 15, 10) || !s->has_nzcv || !get(s, bits(op, 9, 5), false, &a) || !get(s, bits(op, 20, 16), false, &b))
        return unknown;
    return sum(a, bits(op, 30, 30) ? ~b : b, s->nzcv & C_BIT ? 1 : 0, width);
}

a64_result a64_eval_integer(const a64_state *s, uint64_t pc, uint32_t op)
{
    const unsigned width = op >> 31 ? 64 : 32, group = bits(op, 28, 25), second = bits(op, 24, 21);
    if (group == 8 || group == 9)
        return with_immediate(s, pc, op);
    if (group == 5)
        return (second & 9) == 9 ? extended(s, op, width) : shifted(s, op, width);
    if (group != 13)
        return unknown;
    if (second & 8)
        return three_sources(s, op, width);
    switch (second) {
    case 0:
        return with_carry(s, op, width);
    case 2:
    case 4:
        return bits(op, 29, 29) == (second == 2) ? conditional(s, op, width) : unknown;
    case 6:
        return bits(op, 30, 30) ? one_source(s, op, width) : two_sources(s, op, width);
    default:
        return unknown;
    }
}

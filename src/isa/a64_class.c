/* The class of an instruction, and the target of a direct branch.
 *
 * A table of the eleven highest bits decides nearly all of them; branches would be mispredicted at every other word.
 * Classes are those of the encoding's groups: an unallocated word has the class of its neighbours. */
#include "isa/a64.h"

/* Table values where the highest bits do not decide the class. */
enum {
    LOOK_COPY = A64_CLASSES, /* CPY*, SET*, or a load or store */
    LOOK_TAGS,
    LOOK_REGISTER /* the offset is in a register, or another group with these bits */
};

/* clang-format off */

/* Cells of 16 entries, by the bits 24 to 21, for the table below. */
#define ALL4(a)       a, a, a, a
#define ALL8(a)       ALL4(a), ALL4(a)
#define ALL(a)        ALL8(a), ALL8(a)
#define BY_24(a, b)   ALL8(a), ALL8(b)
#define BY_22(a, b)   a, a, b, b, a, a, b, b
#define LD            A64_LOAD
#define ST            A64_STORE
#define AT            A64_ATOMIC

#define INT           ALL(A64_INT)
#define FPS           ALL(A64_SIMD)
#define SVE           ALL(A64_SVE)
#define SME           ALL(A64_SME)
#define ___           ALL(A64_OTHER)
#define JMP           ALL(A64_JUMP)
#define CAL           ALL(A64_CALL)
#define CND           ALL(A64_COND)
#define BCN           BY_24(A64_COND, A64_RETURN) /* B.cond; RETAASPPC */
#define SYS           BY_24(A64_EXCEPTION, A64_SYSTEM)
/* To a register; from 8 on with a modifier register. ERET and DRPS. */
#define REG           A64_INDIRECT, A64_INDIRECT_CALL, A64_RETURN, A64_OTHER,                                          \
                      A64_EXCEPTION, A64_EXCEPTION, A64_OTHER, A64_OTHER,                                              \
                      A64_INDIRECT, A64_INDIRECT_CALL, A64_RETURN, A64_OTHER, ALL4(A64_OTHER)
/* Loads and stores. M: of general registers, V: of SIMD registers; row 0 (with compare and swap) is other for 8 and
 * 16 bits than for 32 and 64, rows 1 and 3 are other for 64 bits (with prefetches). */
#define MEM           BY_22(ST, LD), BY_22(ST, LD)
#define M0n           ST, AT, LD, AT, ST, AT, LD, AT, BY_22(ST, LD)
#define M0w           ST, ST, LD, LD, ST, AT, LD, AT, BY_22(ST, LD)
#define M1_(l, s)     ALL8(l), LOOK_COPY, s, LOOK_COPY, s, LOOK_COPY, s, LOOK_COPY, s
#define M1n           M1_(LD, AT)
#define M1x           M1_(A64_PREFETCH, LOOK_TAGS)
#define V1            ALL8(LD), LOOK_COPY, ST, LOOK_COPY, LD, LOOK_COPY, ST, LOOK_COPY, LD
#define ROW3(a, b, c, d) a, LOOK_REGISTER, b, LOOK_REGISTER, c, LOOK_REGISTER, d, LOOK_REGISTER, a, a, b, b, c, c, d, d
#define M3n           ROW3(ST, LD, LD, LD)
#define M3x           ROW3(ST, LD, A64_PREFETCH, LD)
#define V3            ROW3(ST, LD, ST, LD)

const uint8_t a64_class_table[2048] = { /* rows: bits 31 to 29, columns: bits 28 to 25 */
    ___, ___, SVE, ___, M0n, INT, MEM, FPS, INT, INT, JMP, JMP, M1n, INT, V1, FPS,
    ___, ___, SVE, ___, MEM, INT, MEM, FPS, INT, INT, CND, CND, M3n, INT, V3, FPS,
    ___, ___, SVE, ___, M0n, INT, MEM, FPS, INT, INT, BCN, ___, M1n, INT, V1, FPS,
    ___, ___, SVE, ___, MEM, INT, MEM, FPS, INT, INT, ___, ___, M3n, INT, V3, FPS,
    SME, ___, SVE, ___, M0w, INT, MEM, FPS, INT, INT, CAL, CAL, M1n, INT, V1, FPS,
    SME, ___, SVE, ___, MEM, INT, MEM, FPS, INT, INT, CND, CND, M3n, INT, V3, FPS,
    SME, ___, SVE, ___, M0w, INT, MEM, FPS, INT, INT, SYS, REG, M1x, INT, V1, FPS,
    SME, ___, SVE, ___, MEM, INT, MEM, FPS, INT, INT, ___, ___, M3x, INT, V3, FPS,
};
/* clang-format on */

static uint32_t bits(uint32_t op, unsigned high, unsigned low)
{
    return op >> low & ((2u << (high - low)) - 1);
}

static a64_class load_if(bool load)
{
    return load ? A64_LOAD : A64_STORE;
}

static a64_class look_register(uint32_t op)
{
    bool vector = bits(op, 26, 26);
    uint32_t low = bits(op, 11, 10), size = bits(op, 31, 30), opcode = bits(op, 23, 22), kind = bits(op, 14, 12);
    if (low & 1)
        return A64_LOAD; /* LDRAA, LDRAB */
    if (vector)
        return load_if(opcode & 1);
    if (low == 2)
        return opcode == 2 && size == 3 ? A64_PREFETCH : load_if(opcode);
    if (!bits(op, 15, 15))
        return A64_ATOMIC;
    if (kind == 4 && opcode == 2)
        return A64_LOAD; /* LDAPR */
    if (size == 3 && !opcode && kind >= 1 && kind <= 3)
        return A64_STORE;                                             /* ST64B, ST64BV, ST64BV0 */
    return size == 3 && !opcode && kind == 5 ? A64_LOAD : A64_ATOMIC; /* LD64B */
}

/* STLR with base update, whose other bits are those of loads. */
#define STLR_PRE 0x99800800u

a64_class a64_class_of(uint32_t op)
{
    unsigned found = a64_class_table[op >> 21], opcode = bits(op, 23, 22);
    if (TL_LIKELY(found < A64_CLASSES))
        return (a64_class)found;
    if (found == LOOK_REGISTER)
        return look_register(op);
    if (found == LOOK_TAGS)
        return load_if(!bits(op, 11, 10) && (opcode & 1));
    if (bits(op, 11, 10) == 1)
        return A64_ATOMIC; /* CPY*, SET* */
    if ((op & 0xbffffc00) == STLR_PRE)
        return A64_STORE;
    return load_if(bits(op, 26, 26) ? opcode & 1 : opcode); /* LDAPUR, STLUR */
}

const char *a64_class_name(a64_class c)
{
    static const char *const names[A64_CLASSES] = {"int",
                                                   "load",
                                                   "store",
                                                   "branch.jump",
                                                   "branch.call",
                                                   "branch.cond",
                                                   "branch.indirect",
                                                   "branch.indirect_call",
                                                   "branch.return",
                                                   "exception",
                                                   "system",
                                                   "simd",
                                                   "atomic",
                                                   "prefetch",
                                                   "sve",
                                                   "sme",
                                                   "other"};
    return (unsigned)c < A64_CLASSES ? names[c] : "other";
}

/* The signed number in the bits high to low, times 4. */
static uint64_t offset(uint32_t op, unsigned high, unsigned low)
{
    uint64_t sign = (uint64_t)1 << (high - low), value = bits(op, high, low);
    return ((value ^ sign) - sign) * 4;
}

a64_cache a64_cache_of(uint32_t op)
{
    switch (op & ~31u) {
    case 0xd50b7420: /* DC ZVA, GZVA */
    case 0xd50b7480:
        return A64_CACHE_CLEARS;
    case 0xd50b7520: /* IC IVAU */
        return A64_CACHE_INSNS;
    case 0xd5087620: /* DC IVAC, CVAC, CVAU, CVAP, CVADP, CIVAC */
    case 0xd50b7a20:
    case 0xd50b7b20:
    case 0xd50b7c20:
    case 0xd50b7d20:
    case 0xd50b7e20:
        return A64_CACHE_DATA;
    default:
        return A64_NO_CACHE;
    }
}

bool a64_direct_target(uint64_t pc, uint32_t op, uint64_t *target)
{
    switch (a64_class_of(op)) {
    case A64_JUMP:
    case A64_CALL:
        *target = pc + offset(op, 25, 0);
        return true;
    case A64_COND: /* TBZ and TBNZ have a shorter field */
        *target = pc + (bits(op, 30, 25) == 0x1b ? offset(op, 18, 5) : offset(op, 23, 5));
        return true;
    default:
        return false;
    }
}

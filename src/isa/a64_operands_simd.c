/* Registers of Advanced SIMD: vectors and scalars, tables, cryptography.
 *
 * In most groups the usual row comes last; the rows before it accumulate into the destination, or keep half of it. */
#include "isa/a64_decode.h"

/* Bit 31 clear, bit 24 clear. */
static const a64_row rows[] = {
    {0xffffec00, 0x4e284800, {U(ZD), R(ZN)}},          /* AESE, AESD */
    {0xffffec00, 0x4e286800, {W(ZD), R(ZN)}},          /* AESMC, AESIMC */
    {0xfffffc00, 0x5e280800, {W(ZD), R(ZN)}},          /* SHA1H */
    {0xffffcc00, 0x5e280800, {U(ZD), R(ZN)}},          /* SHA1SU1, SHA256SU0 */
    {0xffe08c00, 0x5e000000, {U(ZD), R(ZN), R(ZM)}},   /* SHA1C, SHA256H, ... */
    {0xffe09c00, 0x4e801000, {W(ZD), R(ZN), R(ZM)}},   /* LUTI2 */
    {0xffe08c00, 0x4ec00000, {W(ZD), R(ZN), R(ZM)}},   /* LUTI2 */
    {0xffe09c00, 0x4e401000, {W(ZD), R(ZN_2), R(ZM)}}, /* LUTI4 of two */
    {0xffe0bc00, 0x4e402000, {W(ZD), R(ZN), R(ZM)}},   /* LUTI4 of one */
    {0xbfe0fc00, 0x0e000000, {W(ZD), R(ZN), R(ZM)}},   /* TBL of 1 to 4 registers */
    {0xbfe0fc00, 0x0e002000, {W(ZD), R(ZN_2), R(ZM)}},
    {0xbfe0fc00, 0x0e004000, {W(ZD), R(ZN_3), R(ZM)}},
    {0xbfe0fc00, 0x0e006000, {W(ZD), R(ZN_4), R(ZM)}},
    {0xbfe0fc00, 0x0e001000, {U(ZD), R(ZN), R(ZM)}}, /* TBX */
    {0xbfe0fc00, 0x0e003000, {U(ZD), R(ZN_2), R(ZM)}},
    {0xbfe0fc00, 0x0e005000, {U(ZD), R(ZN_3), R(ZM)}},
    {0xbfe0fc00, 0x0e007000, {U(ZD), R(ZN_4), R(ZM)}},
    {0xbf208c00, 0x0e000800, {W(ZD), R(ZN), R(ZM)}}, /* ZIP, UZP, TRN */
    {0xbf208400, 0x2e000000, {W(ZD), R(ZN), R(ZM)}}, /* EXT */
    {0xbfe0fc00, 0x0e000c00, {W(ZD), R(XN)}},        /* DUP of a general register */
    {0xbfe0fc00, 0x0e001c00, {U(ZD), R(XN)}},        /* INS of a general register */
    {0xbfe0ec00, 0x0e002c00, {W(XD), R(ZN)}},        /* SMOV, UMOV */
    {0xffe08400, 0x6e000400, {U(ZD), R(ZN)}},        /* INS of a lane */
    {0x8fe0fc00, 0x0e000400, {W(ZD), R(ZN)}},        /* DUP of a lane */
    {0xbf60fc00, 0x0e400c00, {U(ZD), R(ZN), R(ZM)}}, /* FMLA, FMLS of half precision */
    {0x8f60c400, 0x0e400400, {W(ZD), R(ZN), R(ZM)}}, /* three registers of half precision */
    {0x8f7e0c00, 0x0e780800, {W(ZD), R(ZN)}},        /* two registers of half precision */
    {0xbf20ec00, 0x2e00e400, {W(ZD), R(ZN), R(ZM)}}, /* FCADD */
    {0xffe0fc00, 0x4e00f400, {U(ZD), R(ZN), R(ZM)}}, /* FCVTN2 to 8 bits */
    {0xbfa0fc00, 0x0e00f400, {W(ZD), R(ZN), R(ZM)}}, /* FCVTN to 8 bits */
    {0x8f208400, 0x0e008400, {U(ZD), R(ZN), R(ZM)}}, /* SDOT, SQRDMLAH, FCMLA, SMMLA, ... */
    {0x8f3ffc00, 0x0e203800, {U(ZD), R(ZN)}},        /* SUQADD, USQADD */
    {0x8f3ffc00, 0x0e206800, {U(ZD), R(ZN)}},        /* SADALP, UADALP */
    {0xdf3ffc00, 0x4e212800, {U(ZD), R(ZN)}},        /* narrowing, two registers, upper half */
    {0xdf3fec00, 0x4e214800, {U(ZD), R(ZN)}},
    {0xdf3ffc00, 0x4e216800, {U(ZD), R(ZN)}},
    {0x8f3e0c00, 0x0e200800, {W(ZD), R(ZN)}},        /* two registers */
    {0x8f3e0c00, 0x0e300800, {W(ZD), R(ZN)}},        /* across lanes, scalar pairs */
    {0xdf20dc00, 0x4e204000, {U(ZD), R(ZN), R(ZM)}}, /* ADDHN, SUBHN to the upper half */
    {0x8f20fc00, 0x0e205000, {U(ZD), R(ZN), R(ZM)}}, /* SABAL, UABAL */
    {0x8f20cc00, 0x0e208000, {U(ZD), R(ZN), R(ZM)}}, /* SMLAL, SMLSL, SQDMLAL, SQDMLSL */
    {0x8f200c00, 0x0e200000, {W(ZD), R(ZN), R(ZM)}}, /* results wider or narrower than operands */
    {0x8f20fc00, 0x0e209400, {U(ZD), R(ZN), R(ZM)}}, /* MLA, MLS */
    {0x8f20fc00, 0x0e207c00, {U(ZD), R(ZN), R(ZM)}}, /* SABA, UABA */
    {0xbf60fc00, 0x2e601c00, {U(ZD), R(ZN), R(ZM)}}, /* BSL */
    {0xbfa0fc00, 0x2ea01c00, {U(ZD), R(ZN), R(ZM)}}, /* BIT, BIF */
    {0x8f20fc00, 0x0e20cc00, {U(ZD), R(ZN), R(ZM)}}, /* FMLA, FMLS, FMLAL2 */
    {0xbf20fc00, 0x0e20ec00, {U(ZD), R(ZN), R(ZM)}}, /* FMLAL */
    {0x8f200400, 0x0e200400, {W(ZD), R(ZN), R(ZM)}}, /* three registers */
};

/* The same with bit 24 set: constants, shifts, and operations with one lane of the second operand. */
static const a64_row rows_imm[] = {
    {0x8ff89400, 0x0f001400, {U(ZD)}}, /* ORR, BIC of constants */
    {0x8ff8d400, 0x0f009400, {U(ZD)}},
    {0x8ff80400, 0x0f000400, {W(ZD)}},        /* other constants */
    {0x8f80dc00, 0x0f001400, {U(ZD), R(ZN)}}, /* SSRA, SRSRA */
    {0xaf80ec00, 0x2f004400, {U(ZD), R(ZN)}}, /* SRI, SLI */
    {0xdf80f400, 0x4f008400, {U(ZD), R(ZN)}}, /* narrowing to the upper half */
    {0xdf80f400, 0x4f009400, {U(ZD), R(ZN)}},
    {0x8f800400, 0x0f000400, {W(ZD), R(ZN)}}, /* other shifts, conversions of fixed point */
};

/* With a lane; with 16-bit lanes the second operand is one of the first sixteen. */
static const a64_row rows_lane[] = {
    {0xaf00f400, 0x0f008000, {W(ZD)}}, /* MUL */
    {0x8f00f400, 0x0f009000, {W(ZD)}}, /* FMUL, FMULX */
    {0x8f00e400, 0x0f00a000, {W(ZD)}}, /* SMULL, SQDMULL */
    {0xaf00f400, 0x0f00c000, {W(ZD)}}, /* SQDMULH */
    {0xaf00f400, 0x0f00d000, {W(ZD)}}, /* SQRDMULH */
    {0x8f000400, 0x0f000000, {U(ZD)}}, /* all that accumulate */
};

static const a64_row rows_crypto[] = {
    {0xffc08000, 0xce000000, {W(ZD), R(ZN), R(ZM), R(ZA)}}, /* EOR3, BCAX */
    {0xffe08000, 0xce400000, {W(ZD), R(ZN), R(ZM), R(ZA)}}, /* SM3SS1 */
    {0xffe0c000, 0xce408000, {U(ZD), R(ZN), R(ZM)}},        /* SM3TT* */
    {0xffe00000, 0xce800000, {W(ZD), R(ZN), R(ZM)}},        /* XAR */
    {0xffe0fc00, 0xce608c00, {W(ZD), R(ZN), R(ZM)}},        /* RAX1 */
    {0xffe0fc00, 0xce60c800, {W(ZD), R(ZN), R(ZM)}},        /* SM4EKEY */
    {0xffe08000, 0xce608000, {U(ZD), R(ZN), R(ZM)}},        /* SHA512H, SM3PARTW1, ... */
    {0xfffff800, 0xcec08000, {U(ZD), R(ZN)}},               /* SHA512SU0, SM4E */
};

/* How many bits name the second operand; the others select the lane. */
static unsigned lane_register_bits(uint32_t op)
{
    unsigned size = a64_field(op, 23, 22), opcode = a64_field(op, 15, 12);
    if (a64_bit(op, 29)) {
        if (opcode == 8 && size < 2) /* FMLALLBB and its like */
            return 3;
        if (size == 2 && (opcode == 8 || opcode == 12)) /* FMLAL2, FMLSL2 */
            return 4;
        if (size == 1 && (opcode & 9) == 1) /* FCMLA: a lane is a pair of numbers */
            return 5;
    } else {
        if (opcode == 0 && size == 3) /* FMLALB, FMLALT */
            return 3;
        if (size == 2 && !(opcode & 11)) /* FMLAL, FMLSL */
            return 4;
        if (opcode == 0 && size == 0) /* FDOT: a lane is four numbers, as in the next two */
            return 5;
        if (opcode == 15)
            return size == 3 ? 4 : 5;
    }
    return size < 2 && opcode != 14 ? 4 : 5;
}

static void with_lane(uint32_t op, a64_operands *o)
{
    a64_add_row(rows_lane, TL_COUNT(rows_lane), op, o);
    o->reads.v |= (uint32_t)1 << a64_field(op, 9, 5);
    o->reads.v |= (uint32_t)1 << a64_field(op, 15 + lane_register_bits(op), 16);
}

void a64_decode_simd(uint32_t op, a64_operands *o)
{
    if (a64_bit(op, 31))
        a64_add_row(rows_crypto, TL_COUNT(rows_crypto), op, o);
    else if (!a64_bit(op, 24))
        a64_add_row(rows, TL_COUNT(rows), op, o);
    else if (a64_bit(op, 10) && !a64_bit(op, 23))
        a64_add_row(rows_imm, TL_COUNT(rows_imm), op, o);
    else if (!a64_bit(op, 10))
        with_lane(op, o);
}

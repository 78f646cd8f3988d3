/* Registers of integer arithmetic, logic and moves. */
#include "isa/a64_decode.h"

static const a64_row immediates[] = {
    {0x1f000000, 0x10000000, {W(XD)}},                 /* ADR, ADRP */
    {0x3f800000, 0x31000000, {W(XD), R(SN), W(NZCV)}}, /* ADDS, SUBS */
    {0x1f800000, 0x11000000, {W(SD), R(SN)}},          /* ADD, SUB */
    {0x1fc00000, 0x11800000, {W(SD), R(SN)}},          /* ADDG, SUBG */
    {0x1fc00000, 0x11c00000, {W(XD), R(XN)}},          /* SMAX, SMIN, UMAX, UMIN */
    {0x7f800000, 0x72000000, {W(XD), R(XN), W(NZCV)}}, /* ANDS */
    {0x1f800000, 0x12000000, {W(SD), R(XN)}},          /* AND, ORR, EOR */
    {0x7f800000, 0x72800000, {U(XD)}},                 /* MOVK */
    {0x1f800000, 0x12800000, {W(XD)}},                 /* MOVN, MOVZ */
    {0x7f800000, 0x33000000, {U(XD), R(XN)}},          /* BFM */
    {0x1f800000, 0x13000000, {W(XD), R(XN)}},          /* SBFM, UBFM */
    {0x7f800000, 0x13800000, {W(XD), R(XN), R(XM)}},   /* EXTR */
    {0xff80001f, 0xf380001f, {U(XLR), R(XSP)}},        /* AUTIASPPC, AUTIBSPPC */
};

static const a64_row registers[] = {
    {0x7f000000, 0x6a000000, {W(XD), R(XN), R(XM), W(NZCV)}}, /* ANDS, BICS */
    {0x1f000000, 0x0a000000, {W(XD), R(XN), R(XM)}},          /* other logic */
    {0x3f200000, 0x2b000000, {W(XD), R(XN), R(XM), W(NZCV)}}, /* ADDS, SUBS */
    {0x1f200000, 0x0b000000, {W(XD), R(XN), R(XM)}},          /* ADD, SUB */
    {0x3f200000, 0x2b200000, {W(XD), R(SN), R(XM), W(NZCV)}}, /* with an extended register */
    {0x1f200000, 0x0b200000, {W(SD), R(SN), R(XM)}},
    {0x3fe0fc00, 0x3a000000, {W(XD), R(XN), R(XM), U(NZCV)}}, /* ADCS, SBCS */
    {0x1fe0fc00, 0x1a000000, {W(XD), R(XN), R(XM), R(NZCV)}}, /* ADC, SBC */
    {0x1fe0e000, 0x1a002000, {W(SD), R(SN), R(XM)}},          /* ADDPT, SUBPT */
    {0x3fe00000, 0x3a000000, {R(XN), U(NZCV)}},               /* RMIF, SETF8, SETF16 */
    {0x1fe00800, 0x1a400000, {R(XN), R(XM), U(NZCV)}},        /* CCMN, CCMP */
    {0x1fe00800, 0x1a400800, {R(XN), U(NZCV)}},
    {0x1fe00000, 0x1a800000, {W(XD), R(XN), R(XM), R(NZCV)}}, /* CSEL and its like */
    {0x7fe0fc00, 0x3ac00000, {W(XD), R(SN), R(SM), W(NZCV)}}, /* SUBPS */
    {0x7fe0fc00, 0x1ac00000, {W(XD), R(SN), R(SM)}},          /* SUBP */
    {0x7fe0fc00, 0x1ac01000, {W(SD), R(SN), R(XM)}},          /* IRG */
    {0x7fe0fc00, 0x1ac01400, {W(XD), R(SN), R(XM)}},          /* GMI */
    {0x7fe0fc00, 0x1ac03000, {W(XD), R(XN), R(SM)}},          /* PACGA */
    {0x7fe00000, 0x1ac00000, {W(XD), R(XN), R(XM)}},          /* shifts, divisions, CRC32 */
    {0xfffffbff, 0xdac18bfe, {U(X17), R(X16), R(X15)}},       /* PACIA171615, PACIB171615 */
    {0xfffffbff, 0xdac1bbfe, {U(X17), R(X16), R(X15)}},       /* AUTIA171615, AUTIB171615 */
    {0xffffe000, 0xdac10000, {U(XD), R(SN)}},                 /* PACIA, ... */
    {0xffffe000, 0xdac12000, {U(XD)}},                        /* PACIZA, ... */
    {0xffffc000, 0xdac14000, {U(XD)}},                        /* XPAC */
    {0xfffffc00, 0xdac19000, {U(XLR), R(XSP), R(XN)}},        /* AUTIASPPC, AUTIBSPPC */
    {0xfffffc00, 0xdac19400, {U(XLR), R(XSP), R(XN)}},
    {0xffff8000, 0xdac18000, {U(XLR), R(XSP)}},             /* PACIASPPC, PACNBIASPPC, ... */
    {0x7fff0000, 0x5ac00000, {W(XD), R(XN)}},               /* RBIT, REV, CLZ, CNT, ... */
    {0x1f608000, 0x1b400000, {W(XD), R(XN), R(XM)}},        /* SMULH, UMULH */
    {0x1f000000, 0x1b000000, {W(XD), R(XN), R(XM), R(XA)}}, /* MADD, ... */
};

void a64_decode_integer(uint32_t op, a64_operands *o)
{
    if (a64_field(op, 28, 26) == 4)
        a64_add_row(immediates, TL_COUNT(immediates), op, o);
    else
        a64_add_row(registers, TL_COUNT(registers), op, o);
}

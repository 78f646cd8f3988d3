/* Registers of scalar floating point. */
#include "isa/a64_decode.h"

static const a64_row rows[] = {
    {0x5f000000, 0x1f000000, {W(ZD), R(ZN), R(ZM), R(ZA)}},   /* FMADD and its like */
    {0x5f260000, 0x1e020000, {W(ZD), R(XN)}},                 /* SCVTF, UCVTF of fixed point */
    {0x5f200000, 0x1e000000, {W(XD), R(ZN)}},                 /* FCVTZS, FCVTZU to fixed point */
    {0x7ffffc00, 0x1e7e0000, {W(XD), R(ZN), W(NZCV)}},        /* FJCVTZS */
    {0x7ffffc00, 0x1eaf0000, {U(ZD), R(XN)}},                 /* FMOV to the upper half */
    {0x5f26fc00, 0x1e220000, {W(ZD), R(XN)}},                 /* SCVTF, UCVTF */
    {0x5f27fc00, 0x1e270000, {W(ZD), R(XN)}},                 /* FMOV from a general register */
    {0x5f20fc00, 0x1e200000, {W(XD), R(ZN)}},                 /* FCVT*, FMOV to a general register */
    {0x5f207c00, 0x1e204000, {W(ZD), R(ZN)}},                 /* FMOV, FABS, FSQRT, FCVT, FRINT* */
    {0x5f203c08, 0x1e202008, {R(ZN), W(NZCV)}},               /* FCMP with zero */
    {0x5f203c00, 0x1e202000, {R(ZN), R(ZM), W(NZCV)}},        /* FCMP */
    {0x5f201c00, 0x1e201000, {W(ZD)}},                        /* FMOV of a constant */
    {0x5f200c00, 0x1e200400, {R(ZN), R(ZM), U(NZCV)}},        /* FCCMP */
    {0x5f200c00, 0x1e200800, {W(ZD), R(ZN), R(ZM)}},          /* FADD, FMUL, ... */
    {0x5f200c00, 0x1e200c00, {W(ZD), R(ZN), R(ZM), R(NZCV)}}, /* FCSEL */
};

void a64_decode_float(uint32_t op, a64_operands *o)
{
    a64_add_row(rows, TL_COUNT(rows), op, o);
}

/* Registers of branches and of instructions that raise exceptions. */
#include "isa/a64_decode.h"

static const a64_row rows[] = {
    {0xfc000000, 0x94000000, {W(XLR)}},                /* BL */
    {0x7c000000, 0x34000000, {R(XD)}},                 /* CBZ, CBNZ, TBZ, TBNZ */
    {0xff000000, 0x54000000, {R(NZCV)}},               /* B.cond, BC.cond */
    {0xff000000, 0x55000000, {R(XLR), R(XSP)}},        /* RETAASPPC, RETABSPPC */
    {0xfffff800, 0xd61f0800, {R(XN)}},                 /* BRAAZ, BRABZ */
    {0xfffff800, 0xd63f0800, {R(XN), W(XLR)}},         /* BLRAAZ, BLRABZ */
    {0xfffff81f, 0xd65f081f, {R(XLR), R(XSP)}},        /* RETAA, RETAB */
    {0xfffff800, 0xd65f0800, {R(XLR), R(XSP), R(XD)}}, /* RETAASPPC, RETABSPPC with a register */
    {0xfffff800, 0xd69f0800, {R(XSP)}},                /* ERETAA, ERETAB */
    {0xffe00000, 0xd6000000, {R(XN)}},                 /* BR */
    {0xffe00000, 0xd6200000, {R(XN), W(XLR)}},         /* BLR */
    {0xffe00000, 0xd6400000, {R(XN)}},                 /* RET */
    {0xffe00000, 0xd7000000, {R(XN), R(SD)}},          /* BRAA, BRAB */
    {0xffe00000, 0xd7200000, {R(XN), R(SD), W(XLR)}},  /* BLRAA, BLRAB */
};

void a64_decode_branch(uint32_t op, a64_operands *o)
{
    a64_add_row(rows, TL_COUNT(rows), op, o);
}

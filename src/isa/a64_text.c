/* Text of an instruction: finds the part that knows it, or writes the word. */
#include "isa/a64_text.h"

#include <stdio.h>

#include "isa/a64.h"
#include "isa/a64_text_out.h"

size_t a64_text_unknown(uint32_t op, char text[static A64_TEXT_MAX])
{
    return (size_t)snprintf(text, A64_TEXT_MAX, ".inst 0x%08x // %s", (unsigned)op, a64_class_name(a64_class_of(op)));
}

bool a64_text_place(uint32_t op, uint64_t pc, uint64_t *address)
{
    int64_t distance;
    if ((op & 0x7c000000) == 0x14000000) /* B, BL */
        distance = a64_signed(op, 0, 26) * 4;
    else if ((op & 0xff000000) == 0x54000000 || /* B.cond, BC.cond */
             (op & 0x7e000000) == 0x34000000 || /* CBZ, CBNZ */
             (op & 0x3b000000) == 0x18000000)   /* LDR and PRFM of a literal */
        distance = a64_signed(op, 5, 19) * 4;
    else if ((op & 0x7e000000) == 0x36000000) /* TBZ, TBNZ */
        distance = a64_signed(op, 5, 14) * 4;
    else if ((op & 0xffc0001f) == 0x5500001f || (op & 0xffc0001f) == 0xf380001f) /* RETAASPPC, AUTIASPPC: backwards */
        distance = -(int64_t)a64_bits(op, 5, 16) * 4;
    else if ((op & 0x1f000000) == 0x10000000) { /* ADR, ADRP */
        distance = a64_signed(op, 5, 19) * 4 + (int64_t)a64_bits(op, 29, 2);
        if (op >> 31) {
            distance *= 4096;
            pc &= ~UINT64_C(0xfff);
        }
    } else
        return false;
    *address = pc + (uint64_t)distance;
    return true;
}

static bool known(a64_out *o)
{
    switch (a64_bits(o->op, 25, 4)) {
    case 0:
        if (o->op >> 16 != 0)
            return false;
        a64_put(o, "udf ");
        a64_put_imm(o, o->op);
        return true;
    case 8:
    case 9:
        return a64_text_immediate(o);
    case 10:
    case 11:
        return a64_text_control(o);
    case 4:
    case 6:
    case 12:
    case 14:
        return a64_text_memory(o);
    case 5:
    case 13:
        return a64_text_register(o);
    default:
        return false;
    }
}

size_t a64_text(uint32_t op, bool has_pc, uint64_t pc, char text[static A64_TEXT_MAX])
{
    a64_out o = {.p = text, .op = op, .has_pc = has_pc, .pc = pc};
    if (!known(&o))
        return a64_text_unknown(op, text);
    *o.p = '\0';
    return (size_t)(o.p - text);
}

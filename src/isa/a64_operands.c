/* Which decoder handles an instruction, and the meaning of a row of the decoders' tables. */
#include "isa/a64_decode.h"

enum { FILE_X, FILE_S, FILE_V, FILE_P };

/* Register numbers from a field: (field * scale + add), then `count` registers `step` apart. */
typedef struct slot {
    uint8_t file, low, width, count, step, scale, add;
} slot;

static const slot slots[A64_SLOTS] = {
    [XD] = {FILE_X, 0, 5, 1, 0, 1, 0},     [SD] = {FILE_S, 0, 5, 1, 0, 1, 0},    [XN] = {FILE_X, 5, 5, 1, 0, 1, 0},
    [SN] = {FILE_S, 5, 5, 1, 0, 1, 0},     [XM] = {FILE_X, 16, 5, 1, 0, 1, 0},   [SM] = {FILE_S, 16, 5, 1, 0, 1, 0},
    [XA] = {FILE_X, 10, 5, 1, 0, 1, 0},    [XD_2] = {FILE_X, 0, 5, 2, 1, 1, 0},  [XM_2] = {FILE_X, 16, 5, 2, 1, 1, 0},
    [XD_8] = {FILE_X, 0, 5, 8, 1, 1, 0},   [XV8] = {FILE_X, 13, 2, 1, 0, 1, 8},  [XV12] = {FILE_X, 13, 2, 1, 0, 1, 12},
    [XS12] = {FILE_X, 16, 2, 1, 0, 1, 12}, [XLR] = {FILE_X, 0, 0, 1, 0, 0, 30},  [XSP] = {FILE_S, 0, 0, 1, 0, 0, 31},
    [X15] = {FILE_X, 0, 0, 1, 0, 0, 15},   [X16] = {FILE_X, 0, 0, 1, 0, 0, 16},  [X17] = {FILE_X, 0, 0, 1, 0, 0, 17},
    [ZD] = {FILE_V, 0, 5, 1, 0, 1, 0},     [ZN] = {FILE_V, 5, 5, 1, 0, 1, 0},    [ZM] = {FILE_V, 16, 5, 1, 0, 1, 0},
    [ZA] = {FILE_V, 10, 5, 1, 0, 1, 0},    [ZM16] = {FILE_V, 16, 4, 1, 0, 1, 0}, [ZM8] = {FILE_V, 16, 3, 1, 0, 1, 0},
    [ZD_2] = {FILE_V, 0, 5, 2, 1, 1, 0},   [ZD_3] = {FILE_V, 0, 5, 3, 1, 1, 0},  [ZD_4] = {FILE_V, 0, 5, 4, 1, 1, 0},
    [ZN_2] = {FILE_V, 5, 5, 2, 1, 1, 0},   [ZN_3] = {FILE_V, 5, 5, 3, 1, 1, 0},  [ZN_4] = {FILE_V, 5, 5, 4, 1, 1, 0},
    [ZD2] = {FILE_V, 1, 4, 2, 1, 2, 0},    [ZD4] = {FILE_V, 2, 3, 4, 1, 4, 0},   [ZN2] = {FILE_V, 6, 4, 2, 1, 2, 0},
    [ZN4] = {FILE_V, 7, 3, 4, 1, 4, 0},    [ZM2] = {FILE_V, 17, 4, 2, 1, 2, 0},  [ZM4] = {FILE_V, 18, 3, 4, 1, 4, 0},
    [ZDS2] = {FILE_V, 0, 3, 2, 8, 1, 0},   [ZDS4] = {FILE_V, 0, 2, 4, 4, 1, 0},  [PD] = {FILE_P, 0, 4, 1, 0, 1, 0},
    [PN] = {FILE_P, 5, 4, 1, 0, 1, 0},     [PM] = {FILE_P, 16, 4, 1, 0, 1, 0},   [PG] = {FILE_P, 10, 3, 1, 0, 1, 0},
    [PG4] = {FILE_P, 10, 4, 1, 0, 1, 0},   [PN10] = {FILE_P, 10, 3, 1, 0, 1, 8}, [PN13] = {FILE_P, 13, 3, 1, 0, 1, 0},
    [PD8] = {FILE_P, 0, 3, 1, 0, 1, 8},    [PN8] = {FILE_P, 5, 3, 1, 0, 1, 8},   [PD2] = {FILE_P, 1, 3, 2, 1, 2, 0},
    [PD_2] = {FILE_P, 0, 4, 2, 1, 1, 0},   [NZCV] = {FILE_P, 0, 0, 1, 0, 0, 17}, [FFR] = {FILE_P, 0, 0, 1, 0, 0, 16},
    [ZAR] = {FILE_P, 0, 0, 1, 0, 0, 20},   [ZT0] = {FILE_P, 0, 0, 1, 0, 0, 21},
};

static void add(a64_regs *to, const slot *s, uint32_t number)
{
    for (unsigned i = 0; i < s->count; i++, number += s->step) {
        if (s->file == FILE_V)
            to->v |= (uint32_t)1 << (number & 31);
        else if (s->file == FILE_P)
            to->p |= (uint32_t)1 << (s->width ? number & 15 : number);
        else if (s->file == FILE_S || (number & 31) != 31)
            to->x |= (uint32_t)1 << (number & 31);
    }
}

void a64_add_slots(const uint8_t list[8], uint32_t op, a64_operands *o)
{
    for (unsigned i = 0; i < 8 && list[i] != A64_END; i++) {
        unsigned name = list[i] & 0x3f;
        const slot *s = &slots[name];
        uint32_t number = (op >> s->low & ((1u << s->width) - 1)) * s->scale + s->add;
        if (name == ZDS2 || name == ZDS4)
            number += op & 16;
        if (list[i] & A64_R)
            add(&o->reads, s, number);
        if (list[i] & A64_W)
            add(&o->writes, s, number);
    }
}

void a64_add_row(const a64_row *rows, size_t count, uint32_t op, a64_operands *o)
{
    for (size_t i = 0; i < count; i++) {
        if ((op & rows[i].mask) == rows[i].value) {
            a64_add_slots(rows[i].slots, op, o);
            return;
        }
    }
}

void a64_operands_of(uint32_t op, a64_operands *out)
{
    *out = (a64_operands){.memory = {.base = A64_NO_REG, .index = A64_NO_REG}};
    switch (a64_field(op, 28, 25)) {
    case 0:
        if (a64_bit(op, 31))
            a64_decode_sme(op, out);
        return;
    case 2:
        if (a64_bit(op, 31))
            a64_decode_sve_memory(op, out);
        else
            a64_decode_sve(op, out);
        return;
    case 4:
    case 12:
        a64_decode_memory(op, out);
        return;
    case 6:
    case 14:
        a64_decode_memory_simd(op, out);
        return;
    case 5:
    case 8:
    case 9:
    case 13:
        a64_decode_integer(op, out);
        return;
    case 7:
    case 15:
        if ((op & 0x50000000) == 0x10000000)
            a64_decode_float(op, out);
        else
            a64_decode_simd(op, out);
        return;
    case 10:
    case 11:
        if (a64_field(op, 31, 24) == 0xd5)
            a64_decode_system(op, out);
        else
            a64_decode_branch(op, out);
        return;
    default:
        return;
    }
}

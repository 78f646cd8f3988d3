/* Shared by the decoders of operands: fields of an instruction, and tables of the registers in them. */
#ifndef TL_ISA_A64_DECODE_H
#define TL_ISA_A64_DECODE_H

#include "isa/a64_operands.h"

static inline uint32_t a64_field(uint32_t op, unsigned high, unsigned low)
{
    return op >> low & ((2u << (high - low)) - 1);
}

static inline uint32_t a64_bit(uint32_t op, unsigned n)
{
    return op >> n & 1;
}

static inline int32_t a64_field_signed(uint32_t op, unsigned high, unsigned low)
{
    int32_t sign = (int32_t)1 << (high - low);
    return ((int32_t)a64_field(op, high, low) ^ sign) - sign;
}

/* The zero register is not an operand. */
static inline uint32_t a64_x(uint32_t n)
{
    return n == 31 ? 0 : (uint32_t)1 << n;
}

/* Places of registers: the name has the file and the field. */
enum a64_slot {
    A64_END,
    /* X registers; S: 31 is the stack pointer */
    XD, /* 4:0 */
    SD,
    XN, /* 9:5 */
    SN,
    XM, /* 20:16 */
    SM,
    XA,   /* 14:10 */
    XD_2, /* and the next */
    XM_2,
    XD_8, /* and the next seven */
    XV8,  /* 14:13 + 8: index of a vector of ZA */
    XV12, /* 14:13 + 12: index of a slice of ZA */
    XS12, /* 17:16 + 12 */
    XLR,  /* always X30 */
    XSP,  /* always SP */
    X15,  /* always X15, X16, X17 */
    X16,
    X17,
    /* vectors */
    ZD,   /* 4:0 */
    ZN,   /* 9:5 */
    ZM,   /* 20:16 */
    ZA,   /* 14:10 */
    ZM16, /* 19:16, one of the first sixteen */
    ZM8,  /* 18:16, one of the first eight */
    ZD_2, /* lists that may begin at any register */
    ZD_3,
    ZD_4,
    ZN_2,
    ZN_3,
    ZN_4,
    ZD2, /* lists that begin at a multiple of their length: 4:1, 4:2 */
    ZD4,
    ZN2, /* 9:6, 9:7 */
    ZN4,
    ZM2, /* 20:17, 20:18 */
    ZM4,
    ZDS2, /* every eighth from 4 and 2:0; every fourth from 4 and 1:0 */
    ZDS4,
    /* predicates */
    PD,   /* 3:0 */
    PN,   /* 8:5 */
    PM,   /* 19:16 */
    PG,   /* 12:10 */
    PG4,  /* 13:10 */
    PN10, /* 12:10 + 8 */
    PN13, /* 15:13 */
    PD8,  /* 2:0 + 8 */
    PN8,  /* 7:5 + 8 */
    PD2,  /* 3:1, pairs */
    PD_2, /* 3:0 and the next */
    /* others, always the same */
    NZCV,
    FFR,
    ZAR,
    ZT0,
    A64_SLOTS
};

#define A64_R   0x40
#define A64_W   0x80
/* Reads, writes, updates. */
#define R(slot) (A64_R | (slot))
#define W(slot) (A64_W | (slot))
#define U(slot) (A64_R | A64_W | (slot))

_Static_assert(A64_SLOTS <= A64_R, "a slot, and what is done with it, are one byte");

typedef struct a64_row {
    uint32_t mask, value;
    uint8_t slots[8]; /* ends with A64_END, or is full */
} a64_row;

/* Adds the operands of the first row that matches. */
void a64_add_row(const a64_row *rows, size_t count, uint32_t op, a64_operands *o);
void a64_add_slots(const uint8_t slots[8], uint32_t op, a64_operands *o);

/* The address of LDR and STR, which is the same for general and SIMD registers; size: log2 of the bytes. False: it is
 * none of these. */
bool a64_decode_address(uint32_t op, unsigned size, a64_operands *o);

/* By group. */
void a64_decode_integer(uint32_t op, a64_operands *o);
void a64_decode_branch(uint32_t op, a64_operands *o);
void a64_decode_system(uint32_t op, a64_operands *o);
void a64_decode_memory(uint32_t op, a64_operands *o);
void a64_decode_memory_simd(uint32_t op, a64_operands *o);
void a64_decode_atomic(uint32_t op, a64_operands *o);
void a64_decode_simd(uint32_t op, a64_operands *o);
void a64_decode_float(uint32_t op, a64_operands *o);
void a64_decode_sve(uint32_t op, a64_operands *o);
void a64_decode_sve_memory(uint32_t op, a64_operands *o);
void a64_decode_sme(uint32_t op, a64_operands *o);

#endif

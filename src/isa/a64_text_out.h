/* Shared by the parts of a64_text.c: output of registers, numbers and conditions, and bits of the opcode. */
#ifndef TL_ISA_A64_TEXT_OUT_H
#define TL_ISA_A64_TEXT_OUT_H

#include <string.h>

#include "base/compiler.h"
#include "base/text/number.h"
#include "isa/a64_text.h"

/* A text in the making. A part that does not know the instruction returns false, and its output is dropped. */
typedef struct a64_out {
    char *p;
    uint32_t op;
    bool has_pc;
    uint64_t pc;
} a64_out;

/* Each returns false for an unknown instruction, after any output. */
bool a64_text_immediate(a64_out *o);
bool a64_text_register(a64_out *o);
bool a64_text_memory(a64_out *o);
bool a64_text_control(a64_out *o); /* branches, exceptions, system */

static inline uint32_t a64_bits(uint32_t op, unsigned low, unsigned n)
{
    return op >> low & ((1u << n) - 1);
}

static inline int64_t a64_signed(uint32_t op, unsigned low, unsigned n)
{
    const uint32_t sign = 1u << (n - 1), v = a64_bits(op, low, n);
    return (int64_t)(v ^ sign) - (int64_t)sign;
}

static inline void a64_put(a64_out *o, const char *s)
{
    const size_t n = strlen(s);
    memcpy(o->p, s, n);
    o->p += n;
}

static inline void a64_put_char(a64_out *o, char c)
{
    *o->p++ = c;
}

/* "#-16" */
static inline void a64_put_imm(a64_out *o, int64_t v)
{
    a64_put_char(o, '#');
    o->p = tl_put_i64(o->p, v);
}

static inline void a64_put_hex(a64_out *o, uint64_t v)
{
    a64_put(o, "0x");
    o->p = tl_put_hex(o->p, v);
}

static inline void a64_comma(a64_out *o)
{
    a64_put(o, ", ");
}

/* Register number n of a bank: "x5", "w30", "q31". */
static inline void a64_put_numbered(a64_out *o, char bank, uint32_t n)
{
    a64_put_char(o, bank);
    o->p = tl_put_u64(o->p, n);
}

/* A general register; 31 is zero. */
static inline void a64_put_reg(a64_out *o, bool is64, uint32_t n)
{
    if (n == 31)
        a64_put(o, is64 ? "xzr" : "wzr");
    else
        a64_put_numbered(o, is64 ? 'x' : 'w', n);
}

/* A general register; 31 is the stack pointer. */
static inline void a64_put_reg_sp(a64_out *o, bool is64, uint32_t n)
{
    if (n == 31)
        a64_put(o, is64 ? "sp" : "wsp");
    else
        a64_put_numbered(o, is64 ? 'x' : 'w', n);
}

static inline void a64_put_cond(a64_out *o, uint32_t cond)
{
    static const char name[16][3] = {"eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc",
                                     "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"};
    a64_put(o, name[cond & 15]);
}

/* The last operand of instructions that a64_text_place() knows; distance is shown without a pc. */
static inline void a64_put_place(a64_out *o, int64_t distance)
{
    uint64_t address;
    if (o->has_pc && a64_text_place(o->op, o->pc, &address))
        a64_put_hex(o, address);
    else
        a64_put_imm(o, distance);
}

#endif

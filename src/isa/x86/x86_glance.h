/* The length of an instruction without a branch on its bytes, for loops over megabytes of code: a wrong guess of the
 * processor takes longer than all of this. Most of all code is understood so; what is not, x86_decode() decides. */
#ifndef TL_ISA_X86_GLANCE_H
#define TL_ISA_X86_GLANCE_H

#include <stdint.h>

#define X86_GLANCE_READS 8 /* bytes, which must be readable */

/* What is known of an opcode. The low four bits are the bytes of its immediate. */
enum {
    X86_GLANCE_IMMEDIATE = 15,
    X86_GLANCE_MODRM = 1 << 4,
    X86_GLANCE_SHORT = 1 << 5,     /* the immediate has two bytes with prefix 66 ... */
    X86_GLANCE_LONG = 1 << 6,      /* ... and eight with REX.W */
    X86_GLANCE_TEST = 1 << 7,      /* no immediate but for reg 0 and 1 */
    X86_GLANCE_XBEGIN = 1 << 8,    /* unknown with this ModRM: f8 */
    X86_GLANCE_SPOT = 1 << 9,      /* perhaps not X86_OTHER; may be invalid */
    X86_GLANCE_RELATIVE = 1 << 10, /* the immediate is the displacement of a Jcc, or ... */
    X86_GLANCE_JUMP = 1 << 11,     /* ... of a JMP */
    X86_GLANCE_CALL = 1 << 12,     /* ... of a CALL */
    X86_GLANCE_UNKNOWN = 1 << 13,
    X86_GLANCE_NOT_SIMPLE = X86_GLANCE_UNKNOWN | X86_GLANCE_XBEGIN | X86_GLANCE_TEST | X86_GLANCE_LONG
};

extern const uint16_t x86_glance_of[512];     /* of opcodes, and behind them those of map 0F */
extern const uint8_t x86_glance_prefix[256];  /* 1: one that changes no length, but 66 that of immediates */
extern const uint8_t x86_glance_operand[256]; /* bytes of ModRM, SIB and displacement */

static inline uint64_t x86_glance_load(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
           (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

/* Returns the length, which counts only if X86_GLANCE_UNKNOWN is not in *of. */
unsigned x86_glance_any(const uint8_t *code, unsigned *of);

static inline unsigned x86_glance_absolute(unsigned modrm, unsigned sib)
{
    return 4 * (((modrm & 0xc7) == 4) & ((sib & 7) == 5));
}

/* The same. What follows each other in code is one chain of such lengths, so the usual ones must not take long. */
static inline __attribute__((always_inline)) unsigned x86_glance(const uint8_t *code, unsigned *of)
{
    const uint64_t first = x86_glance_load(code);
    const unsigned rex = (first & 0xf0) == 0x40;
    const uint64_t w = rex ? first >> 8 : first;
    const unsigned what = x86_glance_of[w & 255], modrm = (unsigned)(w >> 8) & 255;
    if (__builtin_expect(what & X86_GLANCE_NOT_SIMPLE, 0))
        return x86_glance_any(code, of);
    const unsigned operand = x86_glance_operand[modrm] + x86_glance_absolute(modrm, (unsigned)(w >> 16));
    *of = what;
    return 1 + rex + (what & X86_GLANCE_IMMEDIATE) + (what & X86_GLANCE_MODRM ? operand : 0);
}

#endif

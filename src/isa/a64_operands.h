/* What an A64 instruction reads and writes: registers, memory, system registers and operations.
 *
 * All functions are pure; any thread. They look at the 32 bits alone. An unallocated word gets the operands of its
 * neighbours, or none: having operands does not make a word an instruction. docs/isa-a64.md says what was verified, and
 * how. */
#ifndef TL_ISA_A64_OPERANDS_H
#define TL_ISA_A64_OPERANDS_H

#include "isa/a64.h"

/* A set of registers. W and X are one register, and so are B, H, S, D, Q, V and Z. The zero register is left out. */
typedef struct a64_regs {
    uint32_t x; /* bit n: Xn; bit 31: SP */
    uint32_t v; /* bit n: Zn */
    uint32_t p; /* bit n: Pn up to 15, and the flags below */
} a64_regs;

#define A64_SP   ((uint32_t)1 << 31) /* of x */
#define A64_FFR  ((uint32_t)1 << 16) /* in p, as are all below */
#define A64_NZCV ((uint32_t)1 << 17)
#define A64_FPCR ((uint32_t)1 << 18) /* only in MRS and MSR, not in each instruction that rounds */
#define A64_FPSR ((uint32_t)1 << 19)
#define A64_ZA   ((uint32_t)1 << 20)
#define A64_ZT0  ((uint32_t)1 << 21)

enum {
    A64_NO_REG = 0xff,
    A64_BASE_SP = 31, /* base registers only */
    A64_BASE_PC = 32
};

typedef enum a64_access {
    A64_NO_ACCESS,
    A64_READS,
    A64_WRITES,
    A64_READS_WRITES, /* atomic read-modify-write, memory copy */
    A64_PREFETCHES
} a64_access;

typedef enum a64_mode {
    A64_MODE_OFFSET,   /* base + imm, imm may be 0 */
    A64_MODE_UNSIGNED, /* the same, LDR and STR with 12 bits of unsigned offset */
    A64_MODE_PRE,      /* base + imm, which becomes the new base */
    A64_MODE_POST,     /* base; afterwards base + imm, or base + index if there is one */
    A64_MODE_REGISTER, /* base + (extended index << shift) */
    A64_MODE_LITERAL,  /* PC + imm */
    A64_MODE_VECTOR    /* an address for each lane: base or index is a vector register */
} a64_mode;

typedef enum a64_extend { A64_LSL, A64_UXTW, A64_SXTW, A64_SXTX } a64_extend;

typedef enum a64_atomic {
    A64_NOT_ATOMIC,
    A64_CAS,
    A64_SWP,
    A64_ADD,
    A64_CLR,
    A64_EOR,
    A64_SET,
    A64_SMAX,
    A64_SMIN,
    A64_UMAX,
    A64_UMIN,
    A64_COPY, /* CPY*: base is the destination, index the source; the size is in a register */
    A64_FILL  /* SET*: the size is in the register index */
} a64_atomic;

typedef struct a64_memory {
    uint8_t access;    /* a64_access */
    uint8_t mode;      /* a64_mode */
    uint8_t base;      /* 0 to 30: Xn; A64_BASE_SP, A64_BASE_PC; a vector register if base_vector */
    uint8_t index;     /* Xn or Zn; A64_NO_REG: none, also for the zero register */
    uint8_t extend;    /* a64_extend, of the index */
    uint8_t shift;     /* of the index */
    uint8_t registers; /* registers loaded or stored */
    uint8_t element;   /* bytes of each in memory; SVE: of a lane */
    uint8_t lane;      /* SVE: bytes of a lane in the register: at most VL / 8 / lane elements per register */
    uint8_t atomic;    /* a64_atomic */
    uint16_t size;     /* bytes of the whole access; 0: depends on the vector length or on a register */
    int32_t imm;       /* bytes; if imm_vectors: a multiple of the access size at this vector length */
    bool base_vector : 1;
    bool index_vector : 1;
    bool imm_vectors : 1;
    bool exclusive : 1;
    bool acquire : 1; /* also for LDAPR, which is weaker */
    bool release : 1;
    bool tags : 1;    /* of the memory tagging extension; also data, if size or STZGM */
    bool guarded : 1; /* by a predicate: lanes may be left out */
} a64_memory;

typedef struct a64_operands {
    a64_regs reads, writes;
    a64_memory memory;
} a64_operands;

/* Fills all of *out. */
void a64_operands_of(uint32_t op, a64_operands *out);

#endif

/* What system instructions and those that raise exceptions refer to: system registers, operations, numbers.
 *
 * All functions are pure; any thread. */
#ifndef TL_ISA_A64_SYSTEM_H
#define TL_ISA_A64_SYSTEM_H

#include <stddef.h>

#include "isa/a64_operands.h"

typedef enum a64_system_kind {
    A64_NOT_SYSTEM,
    A64_MRS,     /* number: of the system register; also MRRS */
    A64_MSR,     /* also MSRR */
    A64_MSR_IMM, /* to a field of the processor state; number: op1 << 3 | op2, value: the immediate */
    A64_DC,      /* number: of the operation, as for a register; also of the four below */
    A64_IC,
    A64_TLBI,
    A64_AT,
    A64_SYS,     /* other operations, with SYSL and SYSP */
    A64_HINT,    /* number: which hint */
    A64_BARRIER, /* DSB, DMB, ISB, SB, CLREX; number: op2, value: CRm */
    A64_WAIT,    /* WFET, WFIT */
    A64_FLAG_OP, /* CFINV, XAFLAG, AXFLAG */
    A64_SVC,     /* number: the immediate; also of those below */
    A64_HVC,
    A64_SMC,
    A64_BRK,
    A64_HLT,
    A64_DCPS,
    A64_ERET,
    A64_UDF
} a64_system_kind;

typedef struct a64_system {
    uint8_t kind;    /* a64_system_kind */
    uint8_t gpr;     /* the X register read or written; A64_NO_REG: none, also for the zero register */
    uint8_t value;   /* see a64_system_kind */
    uint16_t number; /* see a64_system_kind */
} a64_system;

/* False, and kind A64_NOT_SYSTEM, for other instructions. Fills all of *out. */
bool a64_system_of(uint32_t op, a64_system *out);

/* The number of a system register or operation: op0 (2 bits), op1 (3), CRn (4), CRm (4), op2 (3), as in bits 5 to 20 of
 * MRS, MSR and SYS. */
#define A64_SYSTEM_NUMBER(op0, op1, crn, crm, op2)                                                                     \
    ((uint16_t)((op0) << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2)))

#endif

/* How long an instruction of x86-64 is, where it may go, and where its operands lie, from its bytes alone.
 *
 * For code that is about to be moved or patched, so it reads no byte behind the instruction, calls no function of libc,
 * and refuses what it does not know. All functions are pure; any thread, also in a signal handler. Opcodes as in
 * Intel's SDM volume 2, appendix A, and AMD's APM volume 3, appendix A: 64-bit mode, up to AVX-512 and XOP; APX is
 * refused. An opcode of VEX or EVEX that is not allocated may have the length of its neighbours. */
#ifndef TL_ISA_X86_DECODE_H
#define TL_ISA_X86_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_INSN_BYTES 15 /* of the longest one */

typedef enum x86_kind {
    X86_OTHER,
    X86_JUMP,          /* jmp rel */
    X86_COND,          /* jcc, loop, jrcxz, xbegin */
    X86_CALL,          /* call rel */
    X86_INDIRECT,      /* jmp through a register or memory */
    X86_INDIRECT_CALL, /* the same of call */
    X86_RETURN,        /* ret, also far and of interrupts */
    X86_TRAP,          /* ud0, ud1, ud2, hlt, int1, int3: control does not go on behind it in ordinary code */
    X86_SYSCALL,       /* syscall, sysenter, int n: control comes back */
    X86_NOP            /* does nothing but take room: also endbr64 */
} x86_kind;

typedef enum x86_map {
    X86_MAP_ONE,
    X86_MAP_0F,
    X86_MAP_0F38,
    X86_MAP_0F3A,
    X86_MAP_OTHER /* of EVEX and XOP alone */
} x86_map;

/* Offsets are from the first byte; 0: there is none. */
typedef struct x86_insn {
    uint8_t length;
    uint8_t kind;               /* x86_kind */
    uint8_t map;                /* x86_map */
    uint8_t opcode;             /* the byte behind the prefixes and the escapes */
    uint8_t modrm_at;           /* of a ModRM byte */
    uint8_t disp_at, disp_size; /* displacement of a memory operand: 1 or 4 bytes */
    uint8_t rel_at, rel_size;   /* displacement of a branch: 1, 4, of XBEGIN also 2 */
    bool rip;                   /* the operand in memory is relative to the end of the instruction, by disp_at */
    bool vector;                /* with a prefix VEX, EVEX or XOP */
    bool disputed; /* JMP, Jcc, CALL with prefix 66: AMD's processors have 2 bytes at rel_at, Intel's rel_size */
} x86_insn;

/* Decodes the instruction in the first `n` bytes of `code`. False if they do not begin with a whole known one. */
bool x86_decode(const uint8_t *code, size_t n, x86_insn *out);

/* Where a branch with rel_at goes, or the operand with `rip` lies, if the instruction is at `pc`. */
uint64_t x86_branch_target(const x86_insn *insn, const uint8_t *code, uint64_t pc);
uint64_t x86_rip_target(const x86_insn *insn, const uint8_t *code, uint64_t pc);

#endif

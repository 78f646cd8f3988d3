/* The two machines whose code is planned. */
#ifndef TL_PATCH_MACHINE_H
#define TL_PATCH_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum patch_kind {
    PATCH_INSN_OTHER,
    PATCH_INSN_JUMP,
    PATCH_INSN_COND,
    PATCH_INSN_CALL,
    PATCH_INSN_INDIRECT,
    PATCH_INSN_INDIRECT_CALL,
    PATCH_INSN_RETURN,
    PATCH_INSN_STOP, /* control does not go on behind it */
    PATCH_INSN_NOP,
    PATCH_INSN_MARK /* endbr64, bti: stays in place, since indirect branches must meet it */
} patch_kind;

typedef struct patch_insn {
    uint8_t length;
    uint8_t kind;    /* patch_kind */
    bool memory;     /* an indirect jump that reads its target from one place in memory: no table */
    bool odd;        /* a COND that has no long form: loop, jrcxz, xbegin */
    uint64_t target; /* of JUMP, COND, CALL */
} patch_insn;

typedef struct patch_machine {
    const char *name;
    uint16_t elf;                /* e_machine */
    uint8_t stack, stack_offset; /* DWARF's number of the stack pointer, and its distance to the canonical frame address
                                    where a function begins: rsp + 8, sp + 0 */
    uint8_t reach;               /* jumps reach less than 2^reach bytes far */
    /* The length of an instruction that is PATCH_INSN_OTHER, if that is quick to say; else 0. May be NULL. */
    unsigned (*plain)(const uint8_t *code, size_t n);
    /* The instruction at `code`, of which n bytes can be read; false: unknown, or cut off. */
    bool (*decode)(const uint8_t *code, size_t n, uint64_t pc, patch_insn *out);
} patch_machine;

extern const patch_machine patch_x86_64, patch_aarch64;

#endif

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

#define PATCH_SPOTS 64

/* Instructions that a skim has stopped at. */
typedef struct patch_spots {
    uint32_t before; /* where instructions begin: bit k says k + 1 bytes back */
    uint32_t n;
    struct {
        uint32_t at, before;
        patch_insn insn; /* length 0: decode() must say */
    } spot[PATCH_SPOTS];
} patch_spots;

/* `before` behind an instruction of so many bytes, of which only the last 32 count. */
static inline uint32_t patch_earlier(uint32_t before, unsigned length)
{
    return before << length | (uint32_t)1 << (length - 1);
}

typedef struct patch_machine {
    const char *name;
    uint16_t elf;                /* e_machine */
    uint8_t stack, stack_offset; /* DWARF's number of the stack pointer, and its distance to the canonical frame address
                                    where a function begins: rsp + 8, sp + 0 */
    uint8_t reach;               /* jumps reach less than 2^reach bytes far */
    /* Passes quickly over instructions in [at, end) of code of which `n` bytes can be read, which is at pc, and lists
     * those that may not be PATCH_INSN_OTHER. Returns where it has stopped: before one that it does not know, or that
     * goes on behind the end, or at the end, or when the list is full. May be NULL. */
    uint32_t (*skim)(const uint8_t *code, uint32_t at, uint32_t end, size_t n, uint64_t pc, patch_spots *spots);
    /* The instruction at `code`, of which n bytes can be read; false: unknown, or cut off. */
    bool (*decode)(const uint8_t *code, size_t n, uint64_t pc, patch_insn *out);
} patch_machine;

extern const patch_machine patch_x86_64, patch_aarch64;

#endif

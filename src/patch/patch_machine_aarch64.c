/* AArch64 code as the planner sees it. */
#include "isa/a64.h"
#include "patch/patch_machine.h"

#define NOP     0xd503201fu
#define BTI     0xd503241fu /* with its targets in bits 6 and 7 */
#define PACIASP 0xd503233fu /* signs the return address; a landing place for calls, as bti is */
#define PACIBSP 0xd503237fu

static uint8_t kind_of_system(uint32_t op)
{
    if (op == NOP)
        return PATCH_INSN_NOP;
    return (op & ~0xc0u) == BTI || op == PACIASP || op == PACIBSP ? PATCH_INSN_MARK : PATCH_INSN_OTHER;
}

/* SVC, HVC and SMC come back; BRK and HLT do not. */
static uint8_t kind_of_exception(uint32_t op)
{
    return (op & 0xffe0001fu) == 0xd4200000u || (op & 0xffe0001fu) == 0xd4400000u ? PATCH_INSN_STOP : PATCH_INSN_OTHER;
}

static uint8_t kind_of(uint32_t op)
{
    switch (a64_class_of(op)) {
    case A64_JUMP:
        return PATCH_INSN_JUMP;
    case A64_COND:
        return PATCH_INSN_COND;
    case A64_CALL:
        return PATCH_INSN_CALL;
    case A64_INDIRECT:
        return PATCH_INSN_INDIRECT;
    case A64_INDIRECT_CALL:
        return PATCH_INSN_INDIRECT_CALL;
    case A64_RETURN:
        return PATCH_INSN_RETURN;
    case A64_EXCEPTION:
        return kind_of_exception(op);
    case A64_SYSTEM:
        return kind_of_system(op);
    default:
        return op >> 16 == 0 ? PATCH_INSN_STOP : PATCH_INSN_OTHER; /* UDF */
    }
}

static bool decode(const uint8_t *code, size_t n, uint64_t pc, patch_insn *out)
{
    if (n < 4 || pc & 3)
        return false;
    const uint32_t op = code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
    *out = (patch_insn){.length = 4, .kind = kind_of(op)};
    a64_direct_target(pc, op, &out->target);
    /* ERET and DRPS, of kernels. */
    return (op & 0xffdff000u) != 0xd69f0000u;
}

const patch_machine patch_aarch64 = {
    .name = "aarch64", .elf = 183, .stack = 31, .stack_offset = 0, .reach = 27, .decode = decode};

/* x86-64 code as the planner sees it. */
#include "isa/x86/x86_decode.h"
#include "isa/x86/x86_glance.h"
#include "patch/patch_machine.h"

static const uint8_t kind_of[] = {
    [X86_OTHER] = PATCH_INSN_OTHER,       [X86_JUMP] = PATCH_INSN_JUMP,
    [X86_COND] = PATCH_INSN_COND,         [X86_CALL] = PATCH_INSN_CALL,
    [X86_INDIRECT] = PATCH_INSN_INDIRECT, [X86_INDIRECT_CALL] = PATCH_INSN_INDIRECT_CALL,
    [X86_RETURN] = PATCH_INSN_RETURN,     [X86_TRAP] = PATCH_INSN_STOP,
    [X86_SYSCALL] = PATCH_INSN_OTHER,     [X86_NOP] = PATCH_INSN_NOP,
};

static bool is_endbr64(const uint8_t *code, const x86_insn *insn)
{
    return insn->length == 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa;
}

/* ret and ret imm16; not far returns, and returns from the kernel. */
static bool is_near_return(const x86_insn *insn)
{
    return insn->map == X86_MAP_ONE && (insn->opcode == 0xc2 || insn->opcode == 0xc3);
}

static bool is_far_jump(const uint8_t *code, const x86_insn *insn)
{
    return (code[insn->modrm_at] >> 3 & 7) == 5;
}

/* Relative to the instruction, or an absolute address without registers. */
static bool is_one_place(const uint8_t *code, const x86_insn *insn)
{
    const uint8_t *modrm = code + insn->modrm_at;
    return insn->rip || (modrm[0] == 0x24 && modrm[1] == 0x25);
}

static bool is_jcc(const x86_insn *insn)
{
    return insn->map == X86_MAP_ONE ? insn->opcode >> 4 == 7 : insn->map == X86_MAP_0F && insn->opcode >> 4 == 8;
}

/* The direct branch that x86_glance() has seen; length 0 if it was none. Every fifth instruction of all code is one,
 * and no two in a row are alike, so nothing has to be guessed here. */
static inline patch_insn branch_of(const uint8_t *code, unsigned length, unsigned of, uint64_t pc)
{
    static const uint8_t kind[] = {PATCH_INSN_COND, PATCH_INSN_JUMP, PATCH_INSN_CALL};
    const unsigned bytes = of & X86_GLANCE_IMMEDIATE, shift = 64 - 8 * bytes;
    /* Of others, where the immediate would be says nothing, and may be out of what can be read. */
    const unsigned at = of & X86_GLANCE_RELATIVE ? length - bytes : 0;
    const uint64_t displacement = x86_glance_load(code + at) << (shift & 63);
    return (patch_insn){.length = (uint8_t)(of & X86_GLANCE_RELATIVE ? length : 0),
                        .kind = kind[of / X86_GLANCE_JUMP % 4 % sizeof kind],
                        .target = pc + length + (uint64_t)((int64_t)displacement >> (shift & 63))};
}

static bool decode(const uint8_t *code, size_t n, uint64_t pc, patch_insn *out)
{
    x86_insn insn;
    unsigned of = 0;
    const unsigned length = n < X86_INSN_BYTES ? 0 : x86_glance(code, &of);
    if (of & X86_GLANCE_RELATIVE) {
        *out = branch_of(code, length, of, pc);
        return true;
    }
    if (!x86_decode(code, n, &insn))
        return false;
    *out = (patch_insn){.length = insn.length, .kind = kind_of[insn.kind]};
    if (insn.kind == X86_OTHER) /* nearly all of them */
        return true;
    switch (insn.kind) {
    case X86_COND:
        out->odd = !is_jcc(&insn);
        // fall through
    case X86_JUMP:
    case X86_CALL:
        out->target = x86_branch_target(&insn, code, pc);
        return !insn.disputed;
    case X86_INDIRECT:
        out->memory = is_one_place(code, &insn);
        return !is_far_jump(code, &insn);
    case X86_RETURN:
        return is_near_return(&insn);
    case X86_NOP:
        if (is_endbr64(code, &insn))
            out->kind = PATCH_INSN_MARK;
        return true;
    default:
        return true;
    }
}

static uint32_t skim(const uint8_t *code, uint32_t at, uint32_t end, size_t n, uint64_t pc, patch_spots *spots)
{
    uint32_t before = spots->before, found = spots->n;
    const size_t readable = n < X86_INSN_BYTES ? 0 : n - X86_INSN_BYTES + 1; /* an instruction may begin before that */
    const uint32_t stop = readable < end ? (uint32_t)readable : end;
    while (at < stop && found < PATCH_SPOTS) {
        unsigned of;
        const unsigned length = x86_glance(code + at, &of);
        if (of & X86_GLANCE_UNKNOWN || length > end - at)
            break;
        spots->spot[found].at = at;
        spots->spot[found].before = before;
        spots->spot[found].insn = branch_of(code + at, length, of, pc + at);
        found += of / X86_GLANCE_SPOT & 1;
        before = patch_earlier(before, length);
        at += length;
    }
    spots->before = before;
    spots->n = found;
    return at;
}

const patch_machine patch_x86_64 = {
    .name = "x86-64", .elf = 62, .stack = 7, .stack_offset = 8, .reach = 31, .skim = skim, .decode = decode};

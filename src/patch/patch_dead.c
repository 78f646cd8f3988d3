/* Bytes that are never executed, which a jump may take: nops, and traps that fill the room between functions. */
#include "patch/patch_planner.h"

#define JUMP_BYTES 5 /* of a jump over 2 GiB, which a site needs */
#define ROOM_MOST  255

bool patch_has_target(const patch_plan *plan, uint64_t begin, uint64_t end)
{
    for (; begin < end; begin++)
        if (patch_plan_is_target(plan, begin))
            return true;
    return false;
}

/* A dead instruction, if control does not arrive at it. */
static bool is_filler(const patch_insn *insn)
{
    return insn->kind == PATCH_INSN_NOP || (insn->kind == PATCH_INSN_STOP && insn->length == 1);
}

/* Nops where a function begins are one instruction as far as they are needed. */
void patch_extend_nops(const patch_plan *plan, const patch_function *f, patch_site *s)
{
    const uint64_t end = f->begin + f->size;
    while (s->length < JUMP_BYTES && s->address + s->length < end) {
        const uint64_t at = s->address + s->length;
        patch_insn insn;
        size_t n;
        const uint8_t *code = patch_code_at(plan, at, &n);
        if (!code || !plan->machine->decode(code, n < end - at ? n : (size_t)(end - at), at, &insn) ||
            insn.kind != PATCH_INSN_NOP || patch_has_target(plan, at, at + insn.length))
            return;
        s->length += insn.length;
    }
}

/* Where dead bytes end that begin at `at`, behind an instruction that control does not pass; `end`: of its range, or of
 * what lies between it and the next one. */
uint64_t patch_dead_until(const patch_plan *plan, uint64_t at, uint64_t end)
{
    const uint64_t most = at + ROOM_MOST;
    patch_insn insn;
    size_t n;
    while (at < end && at < most) {
        const uint8_t *code = patch_code_at(plan, at, &n);
        if (!code || !plan->machine->decode(code, n < end - at ? n : (size_t)(end - at), at, &insn) ||
            !is_filler(&insn) || patch_has_target(plan, at, at + insn.length))
            return at;
        at += insn.length;
    }
    return at;
}

uint8_t patch_room_behind(const patch_plan *plan, uint32_t range, const patch_site *s)
{
    const patch_function *f = &plan->function[range];
    const patch_part *part = patch_code_part(plan, f->begin, f->size);
    const uint64_t behind = s->address + s->length, end = f->begin + f->size;
    uint64_t next = part->address + part->size;
    if (range + 1 < plan->functions && f[1].begin < next)
        next = f[1].begin;
    uint64_t dead = patch_dead_until(plan, behind, end);
    if (dead == end) {
        dead = patch_dead_until(plan, end, next);
        /* Code without an entry lies there, which may begin with a nop, but not anywhere. */
        if (dead < next && dead > end) {
            const uint64_t aligned = (end + 15) & ~(uint64_t)15;
            dead = dead < aligned ? dead : aligned;
        }
    }
    const uint64_t room = dead - s->address;
    return room < ROOM_MOST ? (uint8_t)room : ROOM_MOST;
}

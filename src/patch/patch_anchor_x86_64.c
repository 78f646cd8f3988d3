/* Anchors on x86-64. */
#include "patch/patch_anchor.h"

#include "isa/x86/x86_decode.h"

enum { PUSHES = PATCH_STUB_ENTERS - 1, BACK = 6 /* instructions before an end */ };

/* The instruction at `at` and its bytes; false: not in [at, end), or unknown. */
static bool decode(patch_placer *p, uint64_t at, uint64_t end, x86_insn *insn, const uint8_t **code)
{
    const patch_draft *d = patch_draft_of(p, at, 1);
    if (!d || at >= end)
        return false;
    *code = d->part->bytes + (at - d->part->address);
    return x86_decode(*code, (size_t)(end - at), insn) && !insn->disputed;
}

static bool is_push(const x86_insn *insn, const uint8_t *code)
{
    return insn->map == X86_MAP_ONE && (insn->opcode & 0xf8) == 0x50 &&
           (insn->length == 1 || (insn->length == 2 && (code[0] & 0xf0) == 0x40));
}

/* Known to stay on its way, and to be no call. */
static bool is_plain(const x86_insn *insn)
{
    return insn->kind == X86_OTHER || insn->kind == X86_NOP;
}

bool patch_has_self(const patch_plan *plan, const patch_function *f)
{
    for (;; f = &plan->function[f->next_part]) {
        for (uint32_t i = f->site; i < f->site + f->sites; i++)
            if (plan->site[i].kind == PATCH_SELF)
                return true;
        if (!f->next_part)
            return false;
    }
}

/* Behind the pushes at a begin: rsp then is known, and nothing lies below it. */
static unsigned behind_pushes(patch_placer *p, uint32_t site, patch_anchor *out, unsigned n)
{
    const patch_site *s = &p->plan->site[site];
    const patch_function *f = &p->plan->function[s->function];
    const uint64_t end = f->begin + f->size;
    uint64_t next = site + 1 < p->plan->sites ? s[1].address : end;
    x86_insn insn;
    const uint8_t *code;
    if (patch_has_self(p->plan, f))
        return n;
    uint64_t at = s->address;
    for (unsigned pushes = 1; pushes <= PUSHES && n < PATCH_ANCHORS; pushes++) {
        if (!decode(p, at, end, &insn, &code) || !is_push(&insn, code))
            break;
        at += insn.length;
        if (at >= next || at - s->address > PATCH_ASIDE - X86_INSN_BYTES || !decode(p, at, end, &insn, &code) ||
            !is_plain(&insn) || patch_has_target(p->plan, s->address + 1, at + insn.length))
            break;
        out[n++] =
            (patch_anchor){at, insn.length, insn.length, {p->plan, s, at, insn.length, p->table, (uint8_t)pushes}};
    }
    return n;
}

/* Before an end, as far as nothing else leads there. */
static unsigned before_end(patch_placer *p, uint32_t site, patch_anchor *out, unsigned n)
{
    const patch_site *s = &p->plan->site[site];
    if (p->order->exact && p->plan->function[s->function].tables)
        return n; /* a table may lead to what is in between */
    const uint64_t behind_last = site > 0 ? s[-1].address + s[-1].length : 0;
    for (uint32_t left = s->before, back = 0; left && back < BACK && n < PATCH_ANCHORS; left &= left - 1, back++) {
        const uint64_t at = s->address - 1 - (unsigned)__builtin_ctz(left);
        const uint64_t next = back ? out[n - 1].at : s->address;
        x86_insn insn;
        const uint8_t *code;
        if (at < behind_last || patch_has_target(p->plan, at + 1, s->address + s->length) ||
            !decode(p, at, s->address, &insn, &code) || !is_plain(&insn) || at + insn.length != next)
            break;
        out[n++] = (patch_anchor){
            at, insn.length, insn.length, {p->plan, s, at, (uint32_t)(s->address - at) + s->length, p->table, 0}};
    }
    return n;
}

unsigned patch_anchors_of(patch_placer *p, uint32_t site, patch_anchor out[PATCH_ANCHORS])
{
    const patch_site *s = &p->plan->site[site];
    x86_insn insn;
    const uint8_t *code;
    out[0] = patch_anchor_own(p, site);
    if (s->kind == PATCH_ENTRY)
        return behind_pushes(p, site, out, 1);
    if (s->entry || s->kind == PATCH_SELF || !decode(p, s->address, s->address + s->length, &insn, &code) ||
        insn.kind == X86_COND)
        return 1;
    return before_end(p, site, out, 1);
}

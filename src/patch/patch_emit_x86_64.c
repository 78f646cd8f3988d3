/* Blocks for x86-64. */
#include "patch/patch_emit.h"

#include "isa/x86/x86_decode.h"

static void put(patch_emit *e, uint8_t byte)
{
    if (e->n < PATCH_BLOCK_MAX)
        e->bytes[e->n++] = byte;
    else
        e->good = false;
}

static void put_bytes(patch_emit *e, const uint8_t *bytes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        put(e, bytes[i]);
}

static void put32(patch_emit *e, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        put(e, (uint8_t)(v >> 8 * i));
}

/* A displacement of 32 bits, `behind` bytes before the end of its instruction. */
static void put_relative(patch_emit *e, uint64_t target, uint32_t behind)
{
    const int64_t d = (int64_t)(target - (e->at + e->n + 4 + behind));
    if (d != (int32_t)d)
        e->good = false;
    put32(e, (uint32_t)d);
}

static void put_jump(patch_emit *e, uint64_t target)
{
    put(e, 0xe9);
    put_relative(e, target, 0);
}

static uint64_t stub(const patch_block *b, unsigned which)
{
    return b->table + 8 * which;
}

/* movl $number, below(%rsp) */
static void put_number(patch_emit *e, const patch_block *b, int8_t below)
{
    const uint8_t move[] = {0xc7, 0x44, 0x24, (uint8_t)below};
    put_bytes(e, move, sizeof move);
    put32(e, b->plan->function[b->site->function].number);
}

/* call *table */
static void put_call(patch_emit *e, const patch_block *b, unsigned which)
{
    put_number(e, b, -16);
    put(e, 0xff);
    put(e, 0x15);
    put_relative(e, stub(b, which), 0);
}

/* ---- instructions that are moved ---- */

/* A conditional jump with a displacement of 32 bits. `inverse`: for the opposite condition. Loops and jrcxz reach only
 * a byte far: over a jump, to a jump. */
static void put_condition(patch_emit *e, const x86_insn *insn, const uint8_t *code, uint64_t target)
{
    const bool one = insn->map == X86_MAP_ONE;
    if (one && (insn->opcode & 0xf0) == 0x70) {
        put(e, 0x0f);
        put(e, 0x80 | (insn->opcode & 0x0f));
        put_relative(e, target, 0);
    } else if (insn->map == X86_MAP_0F && (insn->opcode & 0xf0) == 0x80) {
        put(e, 0x0f);
        put(e, insn->opcode);
        put_relative(e, target, 0);
    } else if (one && insn->opcode >= 0xe0 && insn->opcode <= 0xe3) {
        for (uint32_t i = 0; i < insn->rel_at; i++) /* with its prefixes: 67 counts in ecx */
            put(e, code[i]);
        put(e, 2);
        put(e, 0xeb);
        put(e, 5);
        put_jump(e, target);
    } else {
        e->good = false;
    }
}

/* The instruction itself; what it finds relative to its place is where it was. */
static void put_copy(patch_emit *e, const x86_insn *insn, const uint8_t *code, uint64_t pc)
{
    if (insn->rip) {
        const uint32_t behind = (uint32_t)insn->length - insn->disp_at - 4;
        put_bytes(e, code, insn->disp_at);
        put_relative(e, x86_rip_target(insn, code, pc), behind);
        put_bytes(e, code + insn->disp_at + 4, behind);
    } else {
        put_bytes(e, code, insn->length);
    }
}

/* push $address: as the call at its old place did, so that whoever looks at the stack finds what was always there. */
static void put_return_address(patch_emit *e, uint64_t address)
{
    static const uint8_t high[] = {0xc7, 0x44, 0x24, 0x04}; /* movl $..., 4(%rsp) */
    put(e, 0x68);
    put32(e, (uint32_t)address);
    put_bytes(e, high, sizeof high);
    put32(e, (uint32_t)(address >> 32));
}

/* Relative to rsp, which is elsewhere in a block? */
static bool is_of_stack(const x86_insn *insn, const uint8_t *code)
{
    const uint8_t modrm = code[insn->modrm_at];
    const bool has_rex = insn->modrm_at > 1 && (code[insn->modrm_at - 2] & 0xf0) == 0x40;
    const bool extended = has_rex && (code[insn->modrm_at - 2] & 1); /* r12 has the same number */
    return (modrm & 7) == 4 && !extended && (modrm >> 6 == 3 || (code[insn->modrm_at + 1] & 7) == 4);
}

/* jmp to where a call goes. */
static void put_indirect_jump(patch_emit *e, const x86_insn *insn, const uint8_t *code, uint64_t pc)
{
    enum { NEAR_CALL = 2, NEAR_JUMP = 4 };
    uint8_t copy[X86_INSN_BYTES];
    const uint8_t modrm = code[insn->modrm_at];
    if ((modrm >> 3 & 7) != NEAR_CALL || is_of_stack(insn, code))
        e->good = false;
    for (unsigned i = 0; i < insn->length; i++)
        copy[i] = code[i];
    copy[insn->modrm_at] = (uint8_t)((modrm & 0xc7) | NEAR_JUMP << 3);
    put_copy(e, insn, copy, pc);
}

/* Where a branch goes. Only to code of the object is known to be right. */
static uint64_t target_in(patch_emit *e, const patch_plan *plan, const x86_insn *insn, const uint8_t *code, uint64_t pc)
{
    const uint64_t target = x86_branch_target(insn, code, pc);
    const patch_part *part = patch_part_of(plan->image, target, 1);
    if (!part || !part->code)
        e->good = false;
    return target;
}

static void put_moved(patch_emit *e, const patch_plan *plan, const x86_insn *insn, const uint8_t *code, uint64_t pc)
{
    switch (insn->kind) {
    case X86_COND:
        put_condition(e, insn, code, target_in(e, plan, insn, code, pc));
        return;
    case X86_JUMP:
        put_jump(e, target_in(e, plan, insn, code, pc));
        return;
    case X86_CALL:
        put_return_address(e, pc + insn->length);
        put_jump(e, target_in(e, plan, insn, code, pc));
        return;
    case X86_INDIRECT_CALL:
        put_return_address(e, pc + insn->length);
        put_indirect_jump(e, insn, code, pc);
        return;
    case X86_RETURN:
    case X86_INDIRECT:
        e->good = false;
        return;
    default:
        break;
    }
    put_copy(e, insn, code, pc);
}

static bool is_call(const x86_insn *insn)
{
    return insn->kind == X86_CALL || insn->kind == X86_INDIRECT_CALL;
}

/* All of [begin, begin + n). With `calls` the last one may be a call: it returns to what stays in place. */
static void put_all_moved(patch_emit *e, const patch_plan *plan, uint64_t begin, uint32_t n, bool calls)
{
    for (uint32_t i = 0; i < n && e->good;) {
        x86_insn insn;
        size_t left;
        const uint8_t *code = patch_code_at(plan, begin + i, &left);
        if (!code || !x86_decode(code, left, &insn) || insn.disputed || insn.length > n - i ||
            (is_call(&insn) && (insn.length < n - i || plan->shadow || !calls))) {
            e->good = false;
            return;
        }
        put_moved(e, plan, &insn, code, begin + i);
        i += insn.length;
    }
}

/* ---- ends ---- */

static void put_return(patch_emit *e, const patch_block *b, const uint8_t *code)
{
    const bool plain = code[0] == 0xc3 || (code[0] == 0xf3 && code[1] == 0xc3);
    if (plain) {
        put_number(e, b, -8);
        put(e, 0xff);
        put(e, 0x25);
        put_relative(e, stub(b, PATCH_STUB_EXIT), 0);
    } else {
        put_call(e, b, PATCH_STUB_LEAVE);
        put_bytes(e, code, b->site->length);
    }
}

/* Goes back to the code behind a conditional jump, if that is not taken; what follows here is where it leads to then.
 * Flags stay as they are on both ways. */
static void put_unless_taken(patch_emit *e, const patch_block *b, const x86_insn *insn, const uint8_t *code)
{
    enum { JUMP = 5 };
    const uint32_t from = e->n;
    put_condition(e, insn, code, e->at); /* how long is it? */
    const uint32_t behind = e->n;
    e->n = from;
    put_condition(e, insn, code, e->at + behind + JUMP);
    put_jump(e, b->site->address + b->site->length);
}

static void put_tail(patch_emit *e, const patch_block *b, const x86_insn *insn, const uint8_t *code)
{
    const uint64_t target = target_in(e, b->plan, insn, code, b->site->address);
    if (insn->kind == X86_JUMP) {
        put_call(e, b, PATCH_STUB_TAIL);
        put_jump(e, target);
        return;
    }
    put_unless_taken(e, b, insn, code);
    put_call(e, b, PATCH_STUB_TAIL);
    put_jump(e, target);
}

/* mov operand of `jmp r/m`, %rax. Operands relative to rsp would be elsewhere here. */
static void put_load_target(patch_emit *e, const x86_insn *insn, const uint8_t *code, uint64_t pc)
{
    const uint32_t opcode_at = (uint32_t)insn->modrm_at - 1;
    const uint8_t modrm = code[insn->modrm_at];
    const bool has_rex = opcode_at > 0 && (code[opcode_at - 1] & 0xf0) == 0x40;
    const uint8_t rex = has_rex ? code[opcode_at - 1] : 0x40;
    if (is_of_stack(insn, code))
        e->good = false;
    for (uint32_t i = 0; i + has_rex < opcode_at; i++) {
        if (code[i] == 0x64 || code[i] == 0x65 || code[i] == 0x67)
            put(e, code[i]);
        else if (code[i] != 0x3e && code[i] != 0x2e && code[i] != 0xf2 && code[i] != 0xf3 && code[i] != 0x26 &&
                 code[i] != 0x36)
            e->good = false;
    }
    put(e, (uint8_t)((rex | 0x48) & ~0x04));
    put(e, 0x8b);
    put(e, modrm & 0xc7);
    if (insn->rip)
        put_relative(e, x86_rip_target(insn, code, pc), 0);
    else
        put_bytes(e, code + insn->modrm_at + 1, (uint32_t)insn->length - insn->modrm_at - 1);
}

/* The jump of two bytes whose displacement is at rel_at leads to here. */
static void land(patch_emit *e, uint32_t rel_at)
{
    const uint32_t d = e->n - rel_at - 1;
    if (d > 127)
        e->good = false;
    else if (rel_at < PATCH_BLOCK_MAX)
        e->bytes[rel_at] = (uint8_t)d;
}

/* Is %rax in [begin, begin + size)? Then jumps to where *rel_at will say; changes rcx and flags. */
static void put_inside(patch_emit *e, const patch_function *f, uint32_t *rel_at)
{
    static const uint8_t lea[] = {0x48, 0x8d, 0x0d}, sub[] = {0x48, 0xf7, 0xd9, 0x48, 0x01, 0xc1, 0x48, 0x81, 0xf9};
    put_bytes(e, lea, sizeof lea); /* lea begin(%rip), %rcx */
    put_relative(e, f->begin, 0);
    put_bytes(e, sub, sizeof sub); /* neg %rcx; add %rax, %rcx; cmp $size, %rcx */
    put32(e, f->size);
    put(e, 0x72); /* jb */
    *rel_at = e->n;
    put(e, 0);
}

enum { PARTS_MOST = 4 }; /* fragments that are compared with */

static void put_indirect(patch_emit *e, const patch_block *b, const x86_insn *insn, const uint8_t *code)
{
    static const uint8_t save[] = {0x48, 0x8d, 0x64, 0x24, 0x80, /* lea -128(%rsp), %rsp */
                                   0x50, 0x9f, 0x0f, 0x90, 0xc0, /* push %rax; lahf; seto %al */
                                   0x50, 0x51,                   /* push %rax; push %rcx */
                                   0x48, 0x8b, 0x44, 0x24, 0x10 /* mov 16(%rsp), %rax */};
    static const uint8_t back[] = {
        0x59, 0x58, 0x04, 0x7f, 0x9e, 0x58, /* pop %rcx; pop %rax; add $127, %al; sahf; pop %rax */
        0x48, 0x8d, 0xa4, 0x24, 0x80, 0,    0, 0 /* lea 128(%rsp), %rsp */};
    const patch_function *f = &b->plan->function[b->site->function];
    uint32_t inside[PARTS_MOST + 1], n = 0;
    put_bytes(e, save, sizeof save);
    put_load_target(e, insn, code, b->site->address);
    put_inside(e, f, &inside[n++]);
    for (uint32_t part = f->next_part; part; part = b->plan->function[part].next_part) {
        if (n > PARTS_MOST) {
            e->good = false;
            break;
        }
        put_inside(e, &b->plan->function[part], &inside[n++]);
    }
    put_bytes(e, back, sizeof back);
    put_call(e, b, PATCH_STUB_TAIL);
    put(e, 0xeb);
    const uint32_t over = e->n;
    put(e, 0);
    while (n > 0)
        land(e, inside[--n]);
    put_bytes(e, back, sizeof back);
    land(e, over);
    put_copy(e, insn, code, b->site->address);
}

/* A jump to the own begin: what stands there, without telling the recorder. */
static void put_self(patch_emit *e, const patch_block *b, const x86_insn *insn, const uint8_t *code)
{
    const patch_function *f = &b->plan->function[b->site->function];
    const patch_site *first = &b->plan->site[f->site];
    if (f->sites == 0 || first->address != f->begin + f->entry || first->kind != PATCH_ENTRY) {
        e->good = false;
        return;
    }
    if (insn->kind == X86_COND)
        put_unless_taken(e, b, insn, code);
    put_all_moved(e, b->plan, first->address, first->length, true);
    put_jump(e, first->address + first->length);
}

/* ---- blocks ---- */

static void put_end(patch_emit *e, const patch_block *b)
{
    x86_insn insn;
    size_t left;
    const uint8_t *code = patch_code_at(b->plan, b->site->address, &left);
    if (!code || !x86_decode(code, left, &insn) || insn.disputed) {
        e->good = false;
        return;
    }
    switch (b->site->kind) {
    case PATCH_RETURN:
        put_return(e, b, code);
        break;
    case PATCH_TAIL:
        put_tail(e, b, &insn, code);
        break;
    case PATCH_INDIRECT:
        put_indirect(e, b, &insn, code);
        break;
    case PATCH_SELF:
        put_self(e, b, &insn, code);
        break;
    default:
        e->good = false;
    }
}

bool patch_emit_block(patch_emit *out, const patch_block *b, uint64_t at)
{
    *out = (patch_emit){.at = at, .good = true};
    if (b->site && b->site->entry)
        put_call(out, b, PATCH_STUB_ENTER + b->pushes);
    if (!b->site || b->site->kind == PATCH_ENTRY) {
        put_all_moved(out, b->plan, b->begin, b->length, true);
        put_jump(out, b->begin + b->length);
        return out->good;
    }
    if (b->begin < b->site->address)
        put_all_moved(out, b->plan, b->begin, (uint32_t)(b->site->address - b->begin), false);
    put_end(out, b);
    return out->good;
}

void patch_emit_jump(patch_emit *out, uint64_t at, uint64_t target)
{
    static const uint8_t far[] = {0xff, 0x25, 0, 0, 0, 0};
    *out = (patch_emit){.at = at, .good = true};
    put_jump(out, target);
    if (out->good)
        return;
    *out = (patch_emit){.at = at, .good = true};
    put_bytes(out, far, sizeof far);
    put32(out, (uint32_t)target);
    put32(out, (uint32_t)(target >> 32));
}

/* Blocks for AArch64. All instructions have four bytes, so each site becomes `b block`, and nothing has to be chosen.
 *
 * A block tells the recorder as a sled does (rt_sled_aarch64.c): it pushes x17 and x30, puts the number into w17, and
 * calls the stub, which keeps all other registers. No register of the function changes, not even x16 and x17. */
#include "isa/a64.h"
#include "patch/patch_anchor.h"

enum { WORD = 4, ZERO = 31, X16 = 16, X17 = 17, X30 = 30 };

#define NOP       0xd503201fu
#define PUSH      0xa9bf7bf1u /* stp x17, x30, [sp, -16]! */
#define POP       0xa8c17bf1u /* ldp x17, x30, [sp], 16 */
#define BLR_X30   0xd63f03c0u
#define BR        0xd61f0000u
#define IS_BR(op) (((op)&0xfffffc1fu) == BR)

static void put(patch_emit *e, uint32_t op)
{
    if (e->n + WORD > PATCH_BLOCK_MAX) {
        e->good = false;
        return;
    }
    for (unsigned i = 0; i < WORD; i++)
        e->bytes[e->n++] = (uint8_t)(op >> 8 * i);
}

/* The distance to a target in words, if it fits into that many bits. */
static uint32_t words_to(patch_emit *e, uint64_t target, unsigned bits)
{
    const int64_t d = (int64_t)(target - (e->at + e->n));
    const int64_t most = (int64_t)1 << (bits + 1);
    if (d & 3 || d < -most || d >= most)
        e->good = false;
    return (uint32_t)((uint64_t)d >> 2) & (((uint32_t)1 << bits) - 1);
}

static void put_branch(patch_emit *e, uint64_t target)
{
    put(e, 0x14000000 | words_to(e, target, 26));
}

static uint64_t page_of(uint64_t address)
{
    return address >> 12;
}

/* To code of the object; elsewhere a branch is not known to be right. */
static void put_program_branch(patch_emit *e, const patch_plan *plan, uint64_t target)
{
    const patch_part *part = patch_part_of(plan->image, target, WORD);
    if (!part || !part->code)
        e->good = false;
    put_branch(e, target);
}

/* adrp: the address of a page of 4 KiB. */
static void put_page(patch_emit *e, unsigned reg, uint64_t address)
{
    const int64_t d = (int64_t)(page_of(address) - page_of(e->at + e->n));
    if (d < -(1 << 20) || d >= 1 << 20)
        e->good = false;
    put(e, 0x90000000 | ((uint32_t)d & 3) << 29 | ((uint32_t)((uint64_t)d >> 2) & 0x7ffff) << 5 | reg);
}

/* adrp, add */
static void put_address(patch_emit *e, unsigned reg, uint64_t address)
{
    put_page(e, reg, address);
    put(e, 0x91000000 | (uint32_t)(address & 0xfff) << 10 | reg << 5 | reg);
}

/* movz, movk: 32 bits */
static void put_constant(patch_emit *e, unsigned reg, uint32_t value)
{
    put(e, 0x52800000 | (value & 0xffff) << 5 | reg);
    put(e, 0x72a00000 | (value >> 16) << 5 | reg);
}

static void put_call(patch_emit *e, const patch_block *b, unsigned which)
{
    const uint64_t stub = b->table + 8 * which;
    put(e, PUSH);
    put_constant(e, X17, b->plan->function[b->site->function].number);
    put_page(e, X30, stub);
    put(e, 0xf9400000 | (uint32_t)(stub & 0xff8) << 7 | X30 << 5 | X30); /* ldr x30, [x30, offset] */
    put(e, BLR_X30);
    put(e, POP);
}

/* ---- instructions that are moved ---- */

static bool word_at(const patch_plan *plan, uint64_t at, uint32_t *op)
{
    const patch_part *part = patch_part_of(plan->image, at, WORD);
    if (!part)
        return false;
    const uint8_t *p = part->bytes + (at - part->address);
    *op = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return true;
}

/* A conditional branch to the label `words` further on; its other bits stay. */
static void put_condition(patch_emit *e, uint32_t op, uint32_t words)
{
    const bool tests_bit = (op & 0x7e000000) == 0x36000000; /* tbz, tbnz: 14 bits; the others have 19 */
    const uint32_t mask = tests_bit ? 0x3fff : 0x7ffff;
    put(e, (op & ~(mask << 5)) | (words & mask) << 5);
}

/* ldr of a literal: into its own register, or by way of x16, which is free at a begin. */
static void put_literal(patch_emit *e, uint32_t op, uint64_t pc)
{
    static const uint32_t general[] = {0xb9400000, 0xf9400000, 0xb9800000}; /* ldr w, ldr x, ldrsw */
    static const uint32_t vector[] = {0xbd400000, 0xfd400000, 0x3dc00000};  /* ldr s, d, q */
    const unsigned reg = op & 31, size = op >> 30;
    const uint64_t address = pc + (uint64_t)((int64_t)((uint64_t)op << 40) >> 45) * WORD;
    if (size == 3) /* a prefetch, or nothing that is known */
        e->good = e->good && !(op & 0x04000000);
    else if (op & 0x04000000) {
        put_address(e, X16, address);
        put(e, vector[size] | X16 << 5 | reg);
    } else if (reg == ZERO) {
        e->good = false;
    } else {
        put_address(e, reg, address);
        put(e, general[size] | reg << 5 | reg);
    }
}

/* adr, adrp */
static void put_relative(patch_emit *e, uint32_t op, uint64_t pc)
{
    const unsigned reg = op & 31;
    const int64_t d = (int64_t)((uint64_t)(op >> 5 & 0x7ffff) << 45) >> 43 | (op >> 29 & 3);
    const bool page = op >> 31;
    if (reg == ZERO)
        e->good = false;
    else if (page)
        put_page(e, reg, (page_of(pc) + (uint64_t)d) << 12);
    else
        put_address(e, reg, pc + (uint64_t)d);
}

/* One instruction. The last one may be a call: it returns to what stays in place, as the register says. */
static void put_moved(patch_emit *e, const patch_plan *plan, uint32_t op, uint64_t pc, bool last)
{
    uint64_t target = 0;
    a64_direct_target(pc, op, &target);
    switch (a64_class_of(op)) {
    case A64_JUMP:
        put_program_branch(e, plan, target);
        return;
    case A64_COND: /* over a branch, to a branch */
        put_condition(e, op, 2);
        put(e, 0x14000002);
        put_program_branch(e, plan, target);
        return;
    case A64_CALL:
        e->good = e->good && last;
        put_address(e, X30, pc + WORD);
        put_program_branch(e, plan, target);
        return;
    case A64_INDIRECT_CALL:
    case A64_INDIRECT:
    case A64_RETURN:
        e->good = false;
        return;
    default:
        break;
    }
    if ((op & 0x1f000000) == 0x10000000)
        put_relative(e, op, pc);
    else if ((op & 0x3b000000) == 0x18000000)
        put_literal(e, op, pc);
    else if (op != NOP)
        put(e, op);
}

static void put_all_moved(patch_emit *e, const patch_plan *plan, uint64_t begin, uint64_t end)
{
    for (uint64_t at = begin; at < end && e->good; at += WORD) {
        uint32_t op;
        if (!word_at(plan, at, &op))
            e->good = false;
        else
            put_moved(e, plan, op, at, at + WORD == end);
    }
}

/* ---- ends ---- */

/* If the branch is conditional: skips what follows, and goes on behind the site. */
static void put_unless_taken(patch_emit *e, const patch_block *b, uint32_t op)
{
    if (a64_class_of(op) != A64_COND)
        return;
    put_condition(e, op, 2);
    put_branch(e, b->site->address + WORD);
}

/* What stands at the own begin, with marks that sign a return address, without telling the recorder. */
static void put_self(patch_emit *e, const patch_block *b, uint32_t op)
{
    const patch_function *f = &b->plan->function[b->site->function];
    const patch_site *first = &b->plan->site[f->site];
    if (f->sites == 0 || first->address != f->begin + f->entry || first->kind != PATCH_ENTRY) {
        e->good = false;
        return;
    }
    put_unless_taken(e, b, op);
    put_all_moved(e, b->plan, b->site->target, first->address + first->length);
    put_branch(e, first->address + first->length);
}

/* Is x0 in the range? Then branches to where *at will say; changes x1, x2 and flags. */
static void put_inside(patch_emit *e, const patch_function *f, uint32_t *at)
{
    put_address(e, 1, f->begin);
    put(e, 0xcb010001); /* sub x1, x0, x1 */
    put_constant(e, 2, f->size);
    put(e, 0xeb02003f); /* cmp x1, x2 */
    *at = e->n;
    put(e, 0x54000003); /* b.lo */
}

enum { PARTS_MOST = 3 }; /* fragments that are compared with */

static void put_back(patch_emit *e)
{
    put(e, 0xa94107e2); /* ldp x2, x1, [sp, 16] */
    put(e, 0xd51b4201); /* msr nzcv, x1 */
    put(e, 0xa8c207e0); /* ldp x0, x1, [sp], 32 */
}

static void put_indirect(patch_emit *e, const patch_block *b, uint32_t op)
{
    const patch_function *f = &b->plan->function[b->site->function];
    const unsigned reg = op >> 5 & 31;
    uint32_t inside[PARTS_MOST + 1], n = 0;
    if (!IS_BR(op) || reg == X30 || reg == ZERO) { /* others check a signature */
        e->good = false;
        return;
    }
    put(e, 0xa9be07e0);             /* stp x0, x1, [sp, -32]! */
    put(e, 0xaa0003e0 | reg << 16); /* mov x0, target */
    put(e, 0xd53b4201);             /* mrs x1, nzcv */
    put(e, 0xa90107e2);             /* stp x2, x1, [sp, 16] */
    put_inside(e, f, &inside[n++]);
    for (uint32_t part = f->next_part; part; part = b->plan->function[part].next_part) {
        if (n > PARTS_MOST) {
            e->good = false;
            return;
        }
        put_inside(e, &b->plan->function[part], &inside[n++]);
    }
    put_back(e);
    put_call(e, b, PATCH_STUB_TAIL);
    put(e, op);
    const uint32_t end = e->n;
    while (n > 0 && e->good) {
        e->n = inside[--n];
        put_condition(e, 0x54000003, (end - e->n) / WORD);
    }
    e->n = end;
    put_back(e);
    put(e, op);
}

static void put_end(patch_emit *e, const patch_block *b)
{
    uint32_t op;
    if (!word_at(b->plan, b->site->address, &op)) {
        e->good = false;
        return;
    }
    switch (b->site->kind) {
    case PATCH_RETURN:
        put_call(e, b, PATCH_STUB_LEAVE);
        put(e, op);
        break;
    case PATCH_TAIL:
        put_unless_taken(e, b, op);
        put_call(e, b, PATCH_STUB_TAIL);
        put_program_branch(e, b->plan, b->site->target);
        break;
    case PATCH_INDIRECT:
        put_indirect(e, b, op);
        break;
    case PATCH_SELF:
        put_self(e, b, op);
        break;
    default:
        e->good = false;
    }
}

bool patch_emit_block_aarch64(patch_emit *out, const patch_block *b, uint64_t at)
{
    *out = (patch_emit){.at = at, .good = true};
    if (b->site->entry)
        put_call(out, b, PATCH_STUB_ENTER);
    if (b->site->kind == PATCH_ENTRY) {
        put_all_moved(out, b->plan, b->begin, b->begin + b->length);
        put_branch(out, b->begin + b->length);
    } else {
        put_end(out, b);
    }
    return out->good;
}

/* ---- the way ---- */

bool patch_way_find_aarch64(patch_placer *p, uint32_t site)
{
    const patch_site *s = &p->plan->site[site];
    patch_placed *placed = &p->placed[site];
    const patch_block b = {p->plan, s, s->address, s->length, p->table, 0};
    if (!patch_untouched(p, s->address, WORD))
        return false;
    const uint64_t block = patch_block_near(p, placed, &b);
    if (!block)
        return false;
    patch_emit jump = {.at = s->address, .good = true};
    put_branch(&jump, block);
    if (!jump.good) {
        patch_unclaim(p, placed, 0);
        return false;
    }
    patch_change_add(p, placed, s->address, jump.bytes, WORD, WORD);
    placed->way = PATCH_WAY_DIRECT;
    return true;
}

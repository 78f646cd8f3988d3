/* Makes sites of candidates: what each of them does to a call, and how much room it has. */
#include "patch/patch_planner.h"

#define DROPPED    0xff
#define JUMP_BYTES 5 /* of a jump over 2 GiB, which a site needs */
#define ROOM_MAX   255

/* The rules of the range whose indirect jumps are looked at. */
typedef struct rows {
    uint32_t range;
    patch_cfa_walk walk;
} rows;

/* Is there nothing of the function on the stack, as where it began? */
static bool is_frame_gone(const patch_planner *p, rows *r, const patch_site *c)
{
    const patch_plan *const plan = p->plan;
    if (r->range != c->function) {
        patch_frames one = {.image = plan->image, .at = p->known[c->function].frame};
        patch_frame frame;
        one.end = UINT64_MAX;
        if (!patch_frames_next(&one, &frame))
            return false;
        patch_cfa_begin(&r->walk, plan->image, &frame);
        r->range = c->function;
    }
    const patch_cfa cfa = patch_cfa_next(&r->walk, c->address);
    return cfa.known && cfa.reg == plan->machine->stack && cfa.offset == plan->machine->stack_offset;
}

static uint8_t kind_of_jump(const patch_planner *p, const patch_site *c, uint32_t owner)
{
    const patch_function *const function = p->plan->function;
    const uint32_t to = patch_index_find(p, c->target);
    if (to == PATCH_NONE || function[to].parent != owner)
        return PATCH_TAIL;
    if (to == owner && patch_is_begin(&function[owner], c->target))
        return PATCH_SELF;
    return DROPPED;
}

static uint8_t kind_of(const patch_planner *p, rows *r, const patch_site *c, uint32_t owner)
{
    switch (c->kind) {
    case PATCH_INSN_RETURN:
        return PATCH_RETURN;
    case PATCH_INSN_INDIRECT:
        return is_frame_gone(p, r, c) ? PATCH_INDIRECT : DROPPED;
    case PATCH_INSN_JUMP:
    case PATCH_INSN_COND:
        return kind_of_jump(p, c, owner);
    default:
        return DROPPED;
    }
}

static bool has_target(const patch_plan *plan, uint64_t begin, uint64_t end)
{
    for (; begin < end; begin++)
        if (patch_plan_is_target(plan, begin))
            return true;
    return false;
}

/* The site of a candidate; its `room` is the instruction's kind for now. */
static void classify(patch_planner *p, rows *r, patch_site *c)
{
    const uint32_t owner = p->plan->function[c->function].parent;
    const bool entry = c->entry && c->function == owner;
    const uint8_t insn = c->kind;
    c->kind = kind_of(p, r, c, owner);
    if (entry && (c->kind == DROPPED || p->known[owner].once))
        c->kind = PATCH_ENTRY;
    else if (p->known[owner].once)
        c->kind = DROPPED;
    if (c->kind == DROPPED)
        return;
    if (entry && c->kind == PATCH_SELF)
        patch_trouble(p, owner, PATCH_NO_ROOM);
    if (has_target(p->plan, c->address + 1, c->address + c->length))
        patch_trouble(p, owner, PATCH_ENTERED);
    c->entry = entry;
    c->room = insn;
}

/* A dead instruction, if control does not arrive at it. */
static bool is_filler(const patch_insn *insn)
{
    return insn->kind == PATCH_INSN_NOP || (insn->kind == PATCH_INSN_STOP && insn->length == 1);
}

/* Nops where a function begins are one instruction as far as they are needed. */
static void extend_nops(const patch_plan *plan, const patch_function *f, patch_site *s)
{
    const uint64_t end = f->begin + f->size;
    while (s->length < JUMP_BYTES && s->address + s->length < end) {
        const uint64_t at = s->address + s->length;
        patch_insn insn;
        size_t n;
        const uint8_t *code = patch_code_at(plan, at, &n);
        if (!code || !plan->machine->decode(code, n < end - at ? n : (size_t)(end - at), at, &insn) ||
            insn.kind != PATCH_INSN_NOP || has_target(plan, at, at + insn.length))
            return;
        s->length += insn.length;
    }
}

/* Where dead bytes end that begin at `at`, behind an instruction that control does not pass; `end`: of its range, or of
 * what lies between it and the next one. */
static uint64_t dead_until(const patch_plan *plan, uint64_t at, uint64_t end)
{
    const uint64_t most = at + ROOM_MAX;
    patch_insn insn;
    size_t n;
    while (at < end && at < most) {
        const uint8_t *code = patch_code_at(plan, at, &n);
        if (!code || !plan->machine->decode(code, n < end - at ? n : (size_t)(end - at), at, &insn) ||
            !is_filler(&insn) || has_target(plan, at, at + insn.length))
            return at;
        at += insn.length;
    }
    return at;
}

static void find_room(const patch_plan *plan, uint32_t range, patch_site *s)
{
    const patch_function *f = &plan->function[range];
    const patch_part *part = patch_code_part(plan, f->begin, f->size);
    const uint64_t behind = s->address + s->length, end = f->begin + f->size;
    uint64_t next = part->address + part->size;
    if (range + 1 < plan->functions && f[1].begin < next)
        next = f[1].begin;
    uint64_t dead = dead_until(plan, behind, end);
    if (dead == end) {
        dead = dead_until(plan, end, next);
        /* Code without an entry lies there, which may begin with a nop, but not anywhere. */
        if (dead < next && dead > end) {
            const uint64_t aligned = (end + 15) & ~(uint64_t)15;
            dead = dead < aligned ? dead : aligned;
        }
    }
    const uint64_t room = dead - s->address;
    s->room = room < ROOM_MAX ? (uint8_t)room : ROOM_MAX;
}

static void finish(const patch_plan *plan, uint32_t range, patch_site *s)
{
    const uint8_t insn = s->room;
    if (s->entry && insn == PATCH_INSN_NOP)
        extend_nops(plan, &plan->function[range], s);
    s->room = s->length;
    if (insn == PATCH_INSN_JUMP || insn == PATCH_INSN_INDIRECT || insn == PATCH_INSN_RETURN)
        find_room(plan, range, s);
}

/* Sites of functions that are patched stay. */
static void compact(patch_plan *plan)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < plan->sites; i++) {
        patch_site s = plan->site[i];
        const uint32_t range = s.function;
        patch_function *f = &plan->function[range];
        if (s.kind == DROPPED || plan->function[f->parent].why != PATCH_OK)
            continue;
        finish(plan, range, &s);
        s.function = f->parent;
        if (f->sites++ == 0)
            f->site = n;
        plan->site[n++] = s;
    }
    plan->sites = n;
}

/* The function that the address is in, also if in a fragment; PATCH_NONE: none. */
static uint32_t named_function(const patch_planner *p, uint64_t address)
{
    const uint32_t f = patch_index_find(p, address);
    return f == PATCH_NONE ? f : p->plan->function[f].parent;
}

void patch_sites_make(patch_planner *p, const patch_named *named)
{
    patch_plan *const plan = p->plan;
    rows r = {.range = PATCH_NONE};
    for (unsigned i = 0; named && i < named->enters; i++) {
        const uint32_t f = named_function(p, named->enter[i]);
        if (f != PATCH_NONE)
            p->known[f].once = true;
    }
    for (uint32_t i = 0; i < plan->sites; i++)
        classify(p, &r, &plan->site[i]);
    for (uint32_t f = 0; f < plan->functions; f++)
        if (plan->function[f].why == PATCH_OK)
            plan->function[f].why = p->known[f].trouble;
    for (unsigned i = 0; named && i < named->nevers; i++) {
        const uint32_t f = named_function(p, named->never[i]);
        if (f != PATCH_NONE && plan->function[f].why != PATCH_IS_PART)
            plan->function[f].why = PATCH_BY_NAME;
    }
    compact(plan);
}

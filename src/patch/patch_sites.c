/* Makes sites of candidates: what each of them does to a call, and how much room it has. */
#include "patch/patch_planner.h"

#define DROPPED 0xff

static uint8_t kind_of_jump(const patch_planner *p, const patch_site *c, uint32_t owner)
{
    const patch_function *const function = p->plan->function;
    const uint32_t to = patch_index_find(p, c->target);
    if (to == PATCH_NONE || (function[to].parent != owner && function[to].why != PATCH_IS_PART))
        return PATCH_TAIL;
    if (to == owner && patch_is_begin(&function[owner], c->target))
        return PATCH_SELF;
    return DROPPED;
}

static uint8_t kind_of(const patch_planner *p, patch_rows *r, const patch_site *c, uint32_t owner)
{
    switch (c->kind) {
    case PATCH_INSN_RETURN:
        return PATCH_RETURN;
    case PATCH_INSN_INDIRECT:
        return patch_is_frame_gone(p, r, c->function, c->address) ? PATCH_INDIRECT : DROPPED;
    case PATCH_INSN_JUMP:
    case PATCH_INSN_COND:
        return kind_of_jump(p, c, owner);
    default:
        return DROPPED;
    }
}

/* The site of a candidate; its `room` is the instruction's kind for now. */
static void classify(patch_planner *p, patch_rows *r, patch_site *c)
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
    if (patch_has_target(p->plan, c->address + 1, c->address + c->length))
        patch_trouble(p, owner, PATCH_ENTERED);
    c->entry = entry;
    c->room = insn;
}

static void finish(const patch_plan *plan, uint32_t range, patch_site *s)
{
    const uint8_t insn = s->room;
    if (s->entry && insn == PATCH_INSN_NOP)
        patch_extend_nops(plan, &plan->function[range], s);
    s->room = s->length;
    if (insn == PATCH_INSN_JUMP || insn == PATCH_INSN_INDIRECT || insn == PATCH_INSN_RETURN)
        s->room = patch_room_behind(plan, range, s);
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
    patch_rows r = {.range = PATCH_NONE};
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

/* Decodes ranges of code from end to end. */
#include "patch/patch_planner.h"

static void unknown(patch_planner *p, uint32_t f, uint32_t at)
{
    if (p->known[f].trouble == PATCH_OK)
        p->plan->function[f].detail = at;
    patch_trouble(p, f, PATCH_UNKNOWN_CODE);
}

static bool candidate(patch_planner *p, uint32_t f, uint32_t at, uint32_t before, const patch_insn *insn)
{
    patch_plan *const plan = p->plan;
    if (plan->sites == PATCH_SITES_MAX) {
        plan->cut = true;
        return true;
    }
    if (!patch_room(&plan->memory, (void **)&plan->site, &plan->site_room, plan->sites + 1, sizeof *plan->site))
        return false;
    plan->site[plan->sites++] = (patch_site){.address = plan->function[f].begin + at,
                                             .target = insn->target,
                                             .before = before,
                                             .function = f,
                                             .kind = insn->kind,
                                             .entry = at == plan->function[f].entry,
                                             .length = insn->length};
    return true;
}

static void call(patch_planner *p, uint64_t target)
{
    const uint32_t to = patch_index_find(p, target);
    patch_index_mark(p, target);
    if (to == PATCH_NONE || !patch_is_body(&p->plan->function[to]))
        return;
    if (patch_is_begin(&p->plan->function[to], target))
        p->known[to].called = true;
    else
        p->known[to].entered = true;
}

/* Does it leave the range, or go back to its begin? */
static bool leaves(const patch_function *f, uint64_t target)
{
    return target - f->begin >= f->size || patch_is_begin(f, target);
}

/* What an instruction means for others; *candidate: it may become a site. */
static void look(patch_planner *p, uint32_t f, uint32_t at, const patch_insn *insn, bool *may)
{
    patch_function *const function = &p->plan->function[f];
    switch (insn->kind) {
    case PATCH_INSN_CALL:
        call(p, insn->target);
        break;
    case PATCH_INSN_COND:
    case PATCH_INSN_JUMP:
        patch_index_mark(p, insn->target);
        if (!leaves(function, insn->target))
            break;
        *may = true;
        p->known[f].ends |= insn->target - function->begin >= function->size;
        if (insn->odd)
            unknown(p, f, at);
        break;
    case PATCH_INSN_INDIRECT:
        function->tables = true;
        if (!p->plan->framed) /* a jump table cannot be told from a tail call */
            unknown(p, f, at);
        // fall through
    case PATCH_INSN_RETURN:
        p->known[f].ends = p->known[f].returns = *may = true;
        break;
    default:
        break;
    }
}

/* Does control go on behind the last instruction? Behind a call not: it does not return. */
static bool is_open(uint8_t last)
{
    return last == PATCH_INSN_OTHER || last == PATCH_INSN_COND || last == PATCH_INSN_NOP || last == PATCH_INSN_MARK;
}

/* `before` of a site that lies `length` bytes further on, with an instruction in between. */
static uint32_t earlier(uint32_t before, unsigned length)
{
    return before << length | (uint32_t)1 << (length - 1);
}

/* False: no memory. */
static bool scan(patch_planner *p, uint32_t f)
{
    const patch_machine *const machine = p->plan->machine;
    const patch_function function = p->plan->function[f];
    const patch_part *part = patch_code_part(p->plan, function.begin, function.size);
    const uint8_t *const code = part->bytes + (function.begin - part->address);
    patch_insn insn;
    uint8_t last = PATCH_INSN_NOP;
    uint32_t before = 0;
    for (uint32_t at = 0; at < function.size && !p->plan->cut;
         at += insn.length, before = earlier(before, insn.length)) {
        bool may = at == function.entry;
        insn.length = may || !machine->plain ? 0 : (uint8_t)machine->plain(code + at, function.size - at);
        if (insn.length) {
            last = PATCH_INSN_OTHER;
            continue;
        }
        if (!machine->decode(code + at, function.size - at, function.begin + at, &insn)) {
            unknown(p, f, at);
            return true;
        }
        if (insn.kind != PATCH_INSN_OTHER)
            look(p, f, at, &insn, &may);
        if (may && !candidate(p, f, at, before, &insn))
            return false;
        if (insn.kind != PATCH_INSN_NOP)
            last = insn.kind;
    }
    p->known[f].falls = is_open(last);
    return true;
}

bool patch_scan_all(patch_planner *p)
{
    for (uint32_t f = 0; f < p->plan->functions; f++) {
        if (!patch_is_body(&p->plan->function[f]))
            continue;
        if (!p->plan->cut && !scan(p, f))
            return false;
        if (p->plan->cut)
            patch_trouble(p, f, PATCH_NO_ROOM);
    }
    return true;
}

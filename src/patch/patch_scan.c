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
        p->full = true;
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

/* A range that is decoded. */
typedef struct scanner {
    patch_planner *p;
    uint32_t f, behind; /* behind: all before it was looked at, or is PATCH_INSN_OTHER */
    const uint8_t *code;
    uint8_t last; /* kind of the last instruction before that, but for nops */
    bool unknown;
} scanner;

/* An instruction, which is decoded if *known has no length; *length is that of it. False: no memory. */
static bool visit(scanner *s, uint32_t at, uint32_t before, const patch_insn *known, unsigned *length)
{
    const patch_function *const f = &s->p->plan->function[s->f];
    patch_insn insn = *known;
    bool may = at == f->entry;
    if (!insn.length && !s->p->plan->machine->decode(s->code + at, f->size - at, f->begin + at, &insn)) {
        unknown(s->p, s->f, at);
        s->unknown = true;
        return true;
    }
    if (insn.kind != PATCH_INSN_OTHER)
        look(s->p, s->f, at, &insn, &may);
    if (at > s->behind)
        s->last = PATCH_INSN_OTHER;
    if (insn.kind != PATCH_INSN_NOP)
        s->last = insn.kind;
    s->behind = at + insn.length;
    *length = insn.length;
    return !may || candidate(s->p, s->f, at, before, &insn);
}

/* False: no memory. */
static bool scan(patch_planner *p, uint32_t f)
{
    const patch_machine *const machine = p->plan->machine;
    const uint64_t begin = p->plan->function[f].begin;
    const uint32_t size = p->plan->function[f].size, entry = p->plan->function[f].entry;
    const patch_part *part = patch_code_part(p->plan, begin, size);
    const size_t readable = (size_t)(part->size - (begin - part->address));
    scanner s = {.p = p, .f = f, .code = part->bytes + (begin - part->address), .last = PATCH_INSN_NOP};
    patch_spots spots = {.before = 0};
    unsigned length = 0;
    for (uint32_t at = 0; at < size && !p->full;) {
        spots.n = 0;
        if (machine->skim && at > entry)
            at = machine->skim(s.code, at, size, readable, begin, &spots);
        for (uint32_t i = 0; i < spots.n && !s.unknown; i++)
            if (!visit(&s, spots.spot[i].at, spots.spot[i].before, &spots.spot[i].insn, &length))
                return false;
        if (at == size || spots.n == PATCH_SPOTS)
            continue;
        if (!s.unknown && !visit(&s, at, spots.before, &(patch_insn){.length = 0}, &length))
            return false;
        if (s.unknown)
            return true;
        at += length;
        spots.before = patch_earlier(spots.before, length);
    }
    p->known[f].falls = is_open(size > s.behind ? PATCH_INSN_OTHER : s.last);
    return true;
}

bool patch_scan_all(patch_planner *p)
{
    for (uint32_t f = 0; f < p->plan->functions; f++) {
        if (!patch_is_body(&p->plan->function[f]))
            continue;
        if (!p->full && !scan(p, f))
            return false;
        if (p->full)
            patch_trouble(p, f, PATCH_BEYOND);
    }
    return true;
}

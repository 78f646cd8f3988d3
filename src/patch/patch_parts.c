/* Fragments: compilers move what is rarely executed out of a function, into a range with an entry of its own. Which
 * function one belongs to is told by who jumps where. */
#include "patch/patch_planner.h"

typedef struct edge {
    uint32_t from, to;
    bool middle; /* not to the begin of `to` */
} edge;

/* A candidate that is a direct jump between two ranges that are functions or fragments. */
static bool edge_of(const patch_planner *p, const patch_site *c, edge *e)
{
    if (c->kind != PATCH_INSN_JUMP && c->kind != PATCH_INSN_COND)
        return false;
    e->from = c->function;
    e->to = patch_index_find(p, c->target);
    if (e->to == PATCH_NONE || e->to == e->from || !patch_is_body(&p->plan->function[e->to]))
        return false;
    e->middle = !patch_is_begin(&p->plan->function[e->to], c->target);
    return true;
}

/* May it go on into the next function, which is then a call of that one without an instruction that could be patched?
 * (memmove_chk of glibc ends so.) */
static bool goes_on(const patch_planner *p, uint32_t f)
{
    const patch_function *this = &p->plan->function[f], *next = this + 1;
    const uint64_t end = this->begin + this->size;
    patch_rows rows = {.range = PATCH_NONE};
    return f + 1 < p->plan->functions && this->why == PATCH_OK && next->why == PATCH_OK &&
           patch_dead_until(p->plan, end, next->begin) == next->begin && patch_is_frame_gone(p, &rows, f, end - 1);
}

static void find_open_ends(patch_planner *p)
{
    for (uint32_t i = 0; i < p->plan->functions; i++) {
        if (!p->known[i].falls)
            continue;
        if (goes_on(p, i))
            p->known[i + 1].called = p->plan->function[i].late = true;
        else
            patch_trouble(p, i, PATCH_OPEN_END);
    }
}

static void find_sources(patch_planner *p)
{
    edge e;
    for (uint32_t i = 0; i < p->plan->sites; i++) {
        if (!edge_of(p, &p->plan->site[i], &e))
            continue;
        uint32_t *source = &p->known[e.to].source;
        if (*source != e.from)
            *source = *source == PATCH_NONE ? e.from : PATCH_MANY;
    }
    for (uint32_t i = 0; i < p->plan->sites; i++) {
        if (!edge_of(p, &p->plan->site[i], &e))
            continue;
        const bool only = p->known[e.to].source == e.from;
        p->known[e.from].back |= e.middle && p->known[e.from].source == e.to;
        p->known[e.to].poked |= e.middle && only;
        p->known[e.to].begun |= !e.middle && only;
    }
}

static bool is_aligned(const patch_planner *p, uint32_t f)
{
    return p->plan->function[f].begin % 16 == 0;
}

/* Looks like a function, but nobody calls it, and only one function jumps to it: it jumps back into the middle of that
 * one, or that one jumps to its middle. The second alone says less: where functions begin, at a multiple of 16, it must
 * also have no return. Then it makes no difference whether it is a function that others call by its address. */
static bool may_be_part(const patch_planner *p, uint32_t f)
{
    const patch_known *k = &p->known[f];
    return p->plan->function[f].why == PATCH_OK && !k->called && !k->marked && k->source < PATCH_MANY &&
           p->plan->function[k->source].why == PATCH_OK &&
           (k->back || (k->poked && (!k->returns || !is_aligned(p, f))));
}

/* Of two ranges that each may be a fragment of the other one: is it `f`? Functions jump to where a fragment begins, and
 * fragments into the middle of their function. */
static bool is_rather_part(const patch_planner *p, uint32_t f, uint32_t other)
{
    const patch_known *this = &p->known[f], *that = &p->known[other];
    if (this->begun != that->begun)
        return this->begun;
    if (this->back != that->back)
        return this->back;
    if (is_aligned(p, f) != is_aligned(p, other))
        return is_aligned(p, other);
    return !p->known[f].returns && p->known[other].returns;
}

static bool is_part(const patch_planner *p, uint32_t f)
{
    if (!may_be_part(p, f))
        return false;
    const uint32_t source = p->known[f].source;
    return p->known[source].source != f || !may_be_part(p, source) || is_rather_part(p, f, source);
}

static uint32_t set_of(patch_planner *p, uint32_t f)
{
    while (p->known[f].set != f)
        f = p->known[f].set = p->known[p->known[f].set].set;
    return f;
}

/* Who jumps to it never comes back: whose it is makes no difference. Where compilers know that code is not reached,
 * they jump to what happens to be there, which may be the begin of another function's fragment. */
static bool is_dead_end(const patch_planner *p, uint32_t f)
{
    return p->known[f].source == PATCH_MANY && !p->known[f].ends && p->known[f].trouble == PATCH_OK;
}

/* Jumps between a function and a fragment, but for those to a function's begin, which are calls. A function that jumps
 * into another one's middle ends there, if its frame is gone. */
static void join(patch_planner *p)
{
    const patch_function *const function = p->plan->function;
    patch_rows rows = {.range = PATCH_NONE};
    edge e;
    for (uint32_t i = 0; i < p->plan->sites; i++) {
        if (!edge_of(p, &p->plan->site[i], &e))
            continue;
        const bool to_part = function[e.to].why == PATCH_IS_PART;
        if (to_part ? is_dead_end(p, e.to) : !e.middle)
            continue;
        if (to_part || function[e.from].why == PATCH_IS_PART) {
            p->known[set_of(p, e.from)].set = set_of(p, e.to);
            continue;
        }
        patch_trouble(p, e.to, PATCH_ENTERED);
        if (!patch_is_frame_gone(p, &rows, e.from, p->plan->site[i].address))
            patch_trouble(p, e.from, PATCH_ENTERED);
    }
}

static void find_functions(patch_planner *p)
{
    for (uint32_t i = 0; i < p->plan->functions; i++) {
        if (p->plan->function[i].why != PATCH_OK)
            continue;
        uint32_t *function = &p->known[set_of(p, i)].function;
        *function = *function == PATCH_NONE ? i : PATCH_MANY;
    }
}

/* What is wrong with a fragment is wrong with its function. From the last one on, so that lists are by address. */
static void adopt(patch_planner *p)
{
    patch_function *const function = p->plan->function;
    for (uint32_t i = p->plan->functions; i-- > 0;) {
        if (!patch_is_body(&function[i]))
            continue;
        const uint32_t parent = p->known[set_of(p, i)].function;
        if (p->known[i].entered || (p->known[i].called && function[i].why == PATCH_IS_PART))
            patch_trouble(p, i, PATCH_ENTERED);
        if (function[i].why == PATCH_OK) {
            if (parent == PATCH_MANY)
                patch_trouble(p, i, PATCH_SHARED_PART);
        } else if (parent < PATCH_MANY) {
            function[i].parent = parent;
            function[i].next_part = function[parent].next_part;
            function[parent].next_part = i;
            function[parent].tables |= function[i].tables;
            function[parent].late |= function[i].late;
            patch_trouble(p, parent, p->known[i].trouble);
        }
    }
    for (uint32_t i = 0; i < p->plan->functions; i++)
        function[i].tables = function[function[i].parent].tables;
}

void patch_parts_find(patch_planner *p)
{
    find_open_ends(p);
    find_sources(p);
    for (uint32_t i = 0; i < p->plan->functions; i++)
        p->known[i].part = is_part(p, i);
    for (uint32_t i = 0; i < p->plan->functions; i++)
        if (p->known[i].part)
            p->plan->function[i].why = PATCH_IS_PART;
    join(p);
    find_functions(p);
    adopt(p);
}

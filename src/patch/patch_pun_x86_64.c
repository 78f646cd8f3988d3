/* Jumps that borrow bytes of what lies behind them, which so says where they go. */
#include "isa/x86/x86_decode.h"
#include "patch/patch_anchor.h"
#include "patch/patch_window.h"

enum { BLOCK_USUAL = 32, FRESH_TRIES = 8, NEAR_TRIES = 24, ANY_TRIES = 64, STUCK = 2 };

/* The window of a jump at `at` whose first `own` bytes can be chosen. False: it would borrow from outside of the code.
 */
static bool window_of(patch_placer *p, uint64_t at, uint32_t own, patch_window *w)
{
    const patch_draft *d = patch_draft_of(p, at, PATCH_JUMP);
    if (!d)
        return false;
    *w = (patch_window){.from = at + PATCH_JUMP};
    for (uint32_t i = own; i < PATCH_JUMP; i++) {
        w->fixed |= (uint32_t)d->code[at - d->part->address + i] << 8 * (i - 1);
        w->mask |= (uint32_t)0xff << 8 * (i - 1);
    }
    return true;
}

/* The first `own` bytes at `at` become those of a jump; those behind stay as they are from now on. */
static void jump(patch_placer *p, patch_placed *placed, uint64_t at, uint32_t own, uint8_t live, uint64_t target)
{
    uint8_t bytes[PATCH_JUMP];
    const patch_draft *d = patch_draft_of(p, at, PATCH_JUMP);
    patch_jump_bytes(bytes, at, target);
    patch_change_add(p, placed, at, bytes, (uint8_t)own, live);
    if (own < PATCH_JUMP)
        patch_bits_set(d->fixed, at - d->part->address + own, PATCH_JUMP - own, true);
}

static uint32_t own_of(const patch_anchor *a)
{
    return patch_smaller(a->room, PATCH_JUMP - 1);
}

static void jump_from(patch_placer *p, patch_placed *placed, const patch_anchor *a, uint64_t target)
{
    jump(p, placed, a->at, own_of(a), patch_smaller(a->length, own_of(a)), target);
}

/* In [low, high] of new pages. */
static bool land_fresh(patch_placer *p, patch_placed *placed, const patch_block *b, uint64_t low, uint64_t high,
                       uint64_t *target)
{
    const bool narrow = high - low < PATCH_PAGE;
    const uint64_t step = !narrow ? PATCH_PAGE : high > low ? high - low : 1;
    *target = narrow ? low : (low + PATCH_PAGE - 1) & ~(uint64_t)(PATCH_PAGE - 1);
    for (unsigned i = 0; i < FRESH_TRIES && *target <= high; i++, *target += step)
        if (patch_land(p, placed, b, *target, true))
            return true;
    return false;
}

bool patch_pun(patch_placer *p, const patch_anchor *a, patch_placed *placed, bool fresh)
{
    patch_window w;
    if (!patch_untouched(p, a->at, own_of(a)) || !window_of(p, a->at, own_of(a), &w))
        return false;
    const uint64_t low = patch_window_target(&w, w.fixed), high = low + ~w.mask;
    uint64_t target;
    if (!fresh) {
        target = patch_pages_search(&p->pages, low, high, BLOCK_USUAL);
        if (!target)
            target = patch_pages_search(&p->pages, low, high, PATCH_JUMP);
        if (!target || !patch_land(p, placed, &a->block, target, false))
            return false;
    } else if (!land_fresh(p, placed, &a->block, low, high, &target)) {
        return false;
    }
    jump_from(p, placed, a, target);
    placed->way = PATCH_WAY_PUNNED;
    return true;
}

/* ---- evictions ---- */

/* An instruction, and the one behind it that gives way. */
typedef struct pair {
    patch_placer *p;
    const patch_anchor *a;
    patch_placed *placed;
    uint64_t next;
    uint32_t length; /* of the next one */
    bool fresh;
} pair;

/* Can it be carried out elsewhere, with a jump in its place? endbr64 must stay. */
static bool may_give_way(const patch_placer *p, const x86_insn *insn, const uint8_t *code)
{
    return insn->kind == X86_OTHER || insn->kind == X86_COND || insn->kind == X86_JUMP ||
           (insn->kind == X86_NOP && !(code[0] == 0xf3 && code[1] == 0x0f)) ||
           (insn->kind == X86_CALL && !p->order->shadow);
}

static bool find_next(pair *e)
{
    const patch_plan *plan = e->p->plan;
    const uint32_t range = patch_plan_find(plan, e->a->at);
    x86_insn insn;
    e->next = e->a->at + e->a->length;
    const patch_draft *d = patch_draft_of(e->p, e->next, 1);
    if (!d || range == UINT32_MAX || e->a->room > e->a->length || e->a->length >= PATCH_JUMP)
        return false;
    const patch_function *f = &plan->function[range];
    const uint32_t site = (uint32_t)(e->a->block.site - plan->site);
    const bool is_own = e->next == plan->site[site].address; /* an end whose anchor is before it */
    if (e->next - f->begin >= f->size || is_own || (site + 1 < plan->sites && plan->site[site + 1].address == e->next))
        return false;
    const uint8_t *code = d->part->bytes + (e->next - d->part->address);
    if (!x86_decode(code, (size_t)(f->begin + f->size - e->next), &insn) || insn.disputed ||
        !may_give_way(e->p, &insn, code))
        return false;
    e->length = insn.length;
    return patch_untouched(e->p, e->a->at, e->a->length) && patch_untouched(e->p, e->next, e->length);
}

/* The window of the first jump: its own bytes, the e9 of the next one's, and that one's own. */
static bool first_window(const pair *e, patch_window *w)
{
    if (!window_of(e->p, e->a->at, own_of(e->a), w))
        return false;
    for (uint32_t i = own_of(e->a); i < PATCH_JUMP; i++) {
        const uint32_t byte = (uint32_t)0xff << 8 * (i - 1);
        const uint64_t at = e->a->at + i;
        if (at == e->next) {
            w->fixed = (w->fixed & ~byte) | (0xe9e9e9e9 & byte);
        } else if (at > e->next && at < e->next + e->length) {
            w->mask &= ~byte;
            w->fixed &= ~byte;
        }
    }
    return true;
}

/* The window of the next one's jump, when the first one has displacement d. */
static bool second_window(const pair *e, uint32_t d, patch_window *w)
{
    if (!window_of(e->p, e->next, patch_smaller(e->length, PATCH_JUMP), w))
        return false;
    for (uint32_t i = e->a->length; i < PATCH_JUMP; i++) {
        const uint64_t at = e->a->at + i;
        if (at <= e->next || at >= e->next + e->length)
            continue;
        const uint32_t shift = 8 * (uint32_t)(at - e->next - 1);
        w->fixed |= (d >> 8 * (i - 1) & 0xff) << shift;
        w->mask |= (uint32_t)0xff << shift;
    }
    return true;
}

/* Displacements that are tried. */
typedef struct candidates {
    const patch_window *w;
    uint32_t next, end, step;
    unsigned left;
} candidates;

static candidates near_ones(const pair *e, const patch_window *w)
{
    const patch_region *r = &e->p->pages.near;
    /* Not always from the begin, which fills up. */
    const uint64_t skip = (w->from * 0x9e3779b97f4a7c15u >> 20) % r->size / 2;
    return (candidates){w, (uint32_t)(r->address + skip - w->from),
                        (uint32_t)(r->address + r->size - PATCH_JUMP - w->from), 1, NEAR_TRIES};
}

static candidates all_of(const patch_window *w, unsigned tries)
{
    return (candidates){w, 0, UINT32_MAX, ~w->mask > 0xffffff ? 0x1357100 : PATCH_PAGE, tries};
}

static bool next_candidate(candidates *c, uint32_t *d)
{
    if (c->left == 0 || !patch_window_next(c->w, c->next, d) || *d > c->end)
        return false;
    c->left--;
    if (__builtin_add_overflow(*d, c->step, &c->next))
        c->left = 0;
    return true;
}

/* Both jumps land, or none: the second one first, which has the smaller choice. *stuck counts how often the first one
 * had no room: then other places of the second one hardly help. */
static bool land_both(const pair *e, uint64_t first, uint64_t second, unsigned *stuck)
{
    patch_placed *placed = e->placed;
    const patch_block moved = {e->p->plan, NULL, e->next, e->length, e->p->table, 0};
    if (!patch_land(e->p, placed, &moved, second, e->fresh))
        return false;
    if (!patch_land(e->p, placed, &e->a->block, first, e->fresh)) {
        patch_unclaim(e->p, placed, 0);
        ++*stuck;
        return false;
    }
    const uint8_t length = patch_smaller(e->length, PATCH_JUMP);
    jump(e->p, placed, e->next, length, length, second);
    jump_from(e->p, placed, e->a, first);
    placed->way = PATCH_WAY_EVICTED;
    return true;
}

static bool try_second(const pair *e, const patch_window *first, uint32_t d)
{
    patch_window w;
    uint32_t s;
    unsigned stuck = 0;
    if (!second_window(e, d, &w))
        return false;
    for (candidates c = near_ones(e, &w); stuck < STUCK && next_candidate(&c, &s);)
        if (patch_pages_free(&e->p->pages, patch_window_target(&w, s), PATCH_JUMP, false) &&
            land_both(e, patch_window_target(first, d), patch_window_target(&w, s), &stuck))
            return true;
    if (e->fresh)
        for (candidates c = all_of(&w, FRESH_TRIES); stuck < STUCK && next_candidate(&c, &s);)
            if (land_both(e, patch_window_target(first, d), patch_window_target(&w, s), &stuck))
                return true;
    return false;
}

bool patch_evict(patch_placer *p, const patch_anchor *a, patch_placed *placed, bool fresh)
{
    pair e = {.p = p, .a = a, .placed = placed, .fresh = fresh};
    patch_window w;
    uint32_t d;
    if (!find_next(&e) || !first_window(&e, &w))
        return false;
    candidates c = near_ones(&e, &w);
    c.step = 0x61;
    while (next_candidate(&c, &d))
        if (patch_pages_free(&p->pages, patch_window_target(&w, d), PATCH_JUMP, false) && try_second(&e, &w, d))
            return true;
    if (fresh)
        for (c = all_of(&w, ANY_TRIES); next_candidate(&c, &d);)
            if (try_second(&e, &w, d))
                return true;
    return false;
}

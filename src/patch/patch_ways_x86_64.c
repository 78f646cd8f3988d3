/* The ways to turn an instruction of x86-64 into a jump, the best first:
 *
 *   direct    five bytes are there, with dead ones behind
 *   hop       a jump of two bytes to dead bytes nearby, which are five
 *   pun       fewer bytes: those behind stay, and say where the jump goes
 *   eviction  the next instruction becomes a jump, too, so that its bytes can be chosen
 *   several   more than one instruction is replaced: only while no thread can be between them */
#include "isa/x86/x86_decode.h"
#include "patch/patch_anchor.h"

enum { HOP = 127, ROOM_FOR_HOP = 10 };

/* ---- what a site has so far ---- */

bool patch_untouched(patch_placer *p, uint64_t at, uint32_t n)
{
    const patch_draft *d = patch_draft_of(p, at, n);
    if (!d)
        return false;
    for (uint64_t i = at - d->part->address; i < at - d->part->address + n; i++)
        if (patch_bit(d->owned, i) || patch_bit(d->fixed, i))
            return false;
    return !patch_has_target(p->plan, at + 1, at + n); /* even into an instruction: behind its prefix */
}

void patch_change_add(patch_placer *p, patch_placed *placed, uint64_t at, const uint8_t *bytes, uint8_t n, uint8_t live)
{
    patch_draft *d = patch_draft_of(p, at, n);
    const uint64_t from = at - d->part->address;
    for (uint32_t i = 0; i < n; i++)
        d->code[from + i] = bytes[i];
    patch_bits_set(d->owned, from, n, true);
    placed->change[placed->changes] = at;
    placed->change_size[placed->changes] = n;
    placed->change_live[placed->changes++] = live;
}

static void claim(patch_placer *p, patch_placed *placed, const patch_emit *e)
{
    patch_pages_claim(&p->pages, e->at, e->bytes, e->n);
    placed->piece[placed->pieces] = e->at;
    placed->piece_size[placed->pieces++] = (uint8_t)e->n;
}

void patch_unclaim(patch_placer *p, patch_placed *placed, unsigned pieces)
{
    while (placed->pieces > pieces) {
        placed->pieces--;
        patch_pages_release(&p->pages, placed->piece[placed->pieces], placed->piece_size[placed->pieces]);
    }
}

void patch_way_undo(patch_placer *p, uint32_t site)
{
    patch_placed *placed = &p->placed[site];
    patch_unclaim(p, placed, 0);
    for (unsigned k = 0; k < placed->changes; k++) {
        patch_draft *d = patch_draft_of(p, placed->change[k], placed->change_size[k]);
        const uint64_t from = placed->change[k] - d->part->address;
        for (uint32_t i = 0; i < placed->change_size[k]; i++)
            d->code[from + i] = d->part->bytes[from + i];
        patch_bits_set(d->owned, from, placed->change_size[k], false);
    }
    *placed = (patch_placed){.way = PATCH_WAY_NONE};
}

/* ---- where jumps land ---- */

static bool emit(const patch_placer *p, patch_emit *e, const patch_block *b, uint64_t at)
{
    return p->plan->machine == &patch_aarch64 ? patch_emit_block_aarch64(e, b, at) : patch_emit_block(e, b, at);
}

uint64_t patch_block_near(patch_placer *p, patch_placed *placed, const patch_block *b)
{
    patch_emit e;
    const uint64_t before = p->pages.cursor;
    if (emit(p, &e, b, p->pages.near.address)) {
        const uint64_t at = patch_pages_next(&p->pages, e.n);
        if (at && emit(p, &e, b, at)) {
            claim(p, placed, &e);
            return at;
        }
    }
    p->pages.cursor = before;
    return 0;
}

bool patch_land(patch_placer *p, patch_placed *placed, const patch_block *b, uint64_t target, bool fresh)
{
    patch_emit e;
    const unsigned pieces = placed->pieces;
    if (!patch_pages_free(&p->pages, target, PATCH_JUMP, fresh))
        return false;
    if (patch_emit_block(&e, b, target) && patch_pages_free(&p->pages, target, e.n, false)) {
        claim(p, placed, &e);
        return true;
    }
    const uint64_t block = patch_block_near(p, placed, b);
    if (block) {
        patch_emit_jump(&e, target, block);
        if (patch_pages_free(&p->pages, target, e.n, fresh)) {
            claim(p, placed, &e);
            return true;
        }
    }
    patch_unclaim(p, placed, pieces);
    return false;
}

/* ---- direct, and hops ---- */

/* Prefixes that a jump needs so that a short site right before it, which borrows its first bytes, reaches far up and
 * not down, where there may be nothing. */
static uint32_t prefixes_of(const patch_placer *p, const patch_anchor *a)
{
    const patch_site *s = a->block.site;
    const bool follows = s > p->plan->site && a->at == s->address && s[-1].address + s[-1].length == a->at;
    const uint32_t n = follows && s[-1].room < PATCH_JUMP ? PATCH_JUMP - (uint32_t)s[-1].room : 0;
    return n + PATCH_JUMP <= a->room ? n : 0;
}

static bool direct(patch_placer *p, const patch_anchor *a, patch_placed *placed)
{
    enum { PREFIX = 0x2e }; /* of a segment, which a jump does not use */
    uint8_t bytes[2 * PATCH_JUMP] = {PREFIX, PREFIX, PREFIX, PREFIX};
    const uint32_t prefixes = prefixes_of(p, a), n = prefixes + PATCH_JUMP;
    if (a->room < PATCH_JUMP || !patch_untouched(p, a->at, n))
        return false;
    const uint64_t block = patch_block_near(p, placed, &a->block);
    if (!block)
        return false;
    patch_jump_bytes(bytes + prefixes, a->at + prefixes, block);
    patch_change_add(p, placed, a->at, bytes, (uint8_t)n, patch_smaller(a->length, n));
    placed->way = PATCH_WAY_DIRECT;
    return true;
}

/* Five dead bytes behind a site, which leaves that one enough for its own jump; 0: none. */
static uint64_t dead_bytes(patch_placer *p, const patch_site *s)
{
    const uint64_t at = s->address + s->room - PATCH_JUMP;
    return s->room >= ROOM_FOR_HOP && at >= s->address + s->length && patch_untouched(p, at, PATCH_JUMP) ? at : 0;
}

static bool hop_to(patch_placer *p, const patch_anchor *a, patch_placed *placed, uint64_t dead)
{
    uint8_t bytes[PATCH_JUMP];
    const int64_t d = (int64_t)(dead - (a->at + 2));
    const bool apart = dead >= a->at + 2 || dead + PATCH_JUMP <= a->at;
    if (!dead || !apart || d != (int8_t)d)
        return false;
    const uint64_t block = patch_block_near(p, placed, &a->block);
    if (!block)
        return false;
    const uint8_t hop[2] = {0xeb, (uint8_t)d};
    patch_jump_bytes(bytes, dead, block);
    patch_change_add(p, placed, dead, bytes, PATCH_JUMP, 0);
    patch_change_add(p, placed, a->at, hop, sizeof hop, patch_smaller(a->length, sizeof hop));
    placed->way = PATCH_WAY_DIRECT;
    return true;
}

static bool hop(patch_placer *p, uint32_t site, const patch_anchor *a, patch_placed *placed)
{
    const patch_site *all = p->plan->site;
    if (a->room < 2 || !patch_untouched(p, a->at, 2))
        return false;
    for (uint32_t i = site + 1; i-- > 0 && all[i].address + all[i].room + HOP > a->at;)
        if (hop_to(p, a, placed, dead_bytes(p, &all[i])))
            return true;
    for (uint32_t i = site + 1; i < p->plan->sites && all[i].address < a->at + HOP; i++)
        if (hop_to(p, a, placed, dead_bytes(p, &all[i])))
            return true;
    return false;
}

/* ---- several instructions ---- */

/* Nobody can come to the middle of [from, to): no jump that is known, and there are no tables of jumps. */
static bool is_one(patch_placer *p, const patch_site *s, uint64_t from, uint64_t to)
{
    const patch_function *f = &p->plan->function[s->function];
    return p->order->alone && !f->tables && patch_untouched(p, from, (uint32_t)(to - from));
}

/* [from, to) becomes a jump; bytes behind `to` up to five are dead. */
static bool replace(patch_placer *p, const patch_site *s, patch_placed *placed, uint64_t from, uint64_t to)
{
    uint8_t bytes[PATCH_JUMP];
    const patch_block b = {p->plan, s, from, (uint32_t)(to - from), p->table, 0};
    const uint64_t block = patch_block_near(p, placed, &b);
    if (!block)
        return false;
    patch_jump_bytes(bytes, from, block);
    patch_change_add(p, placed, from, bytes, PATCH_JUMP, PATCH_JUMP);
    placed->way = PATCH_WAY_SEVERAL;
    return true;
}

static bool insn_at(patch_placer *p, uint64_t at, x86_insn *insn)
{
    const patch_draft *d = patch_draft_of(p, at, 1);
    const uint64_t from = d ? at - d->part->address : 0;
    return d && x86_decode(d->part->bytes + from, (size_t)(d->part->size - from), insn);
}

/* An entry with what is behind it. */
static bool several_from(patch_placer *p, uint32_t site, patch_placed *placed)
{
    const patch_site *s = &p->plan->site[site];
    const patch_function *f = &p->plan->function[s->function];
    uint64_t to = s->address;
    while (to < s->address + PATCH_JUMP) {
        x86_insn insn;
        if (!insn_at(p, to, &insn) || (insn.kind == X86_CALL && p->order->shadow))
            return false;
        to += insn.length;
    }
    if (to > f->begin + f->size)
        return false;
    for (uint32_t i = f->site; i < f->site + f->sites; i++)
        if (p->plan->site[i].address > s->address && p->plan->site[i].address < to)
            return false;
    if (patch_has_self(p->plan, f))
        return false;
    return is_one(p, s, s->address, to) && replace(p, s, placed, s->address, to);
}

/* An end with what is before it. */
static bool several_to(patch_placer *p, uint32_t site, patch_placed *placed)
{
    const patch_site *s = &p->plan->site[site];
    const uint64_t behind = s->address + s->length, most = s->address + patch_smaller(s->room, PATCH_JUMP);
    for (uint32_t left = s->before; left; left &= left - 1) {
        const uint64_t from = s->address - 1 - (unsigned)__builtin_ctz(left);
        const uint64_t to = from + PATCH_JUMP > behind ? from + PATCH_JUMP : behind;
        if (from + PATCH_JUMP > most)
            continue;
        if (site > 0 && s[-1].address + s[-1].length > from)
            return false;
        return is_one(p, s, from, to) && replace(p, s, placed, from, behind);
    }
    return false;
}

static bool several(patch_placer *p, uint32_t site, patch_placed *placed)
{
    const patch_site *s = &p->plan->site[site];
    if (s->kind == PATCH_ENTRY)
        return several_from(p, site, placed);
    return !s->entry && (s->kind == PATCH_RETURN || s->kind == PATCH_TAIL) && several_to(p, site, placed);
}

/* ---- all of them ---- */

/* A way is tried at one anchor after the other. */
typedef struct trial {
    patch_placer *p;
    uint32_t site;
    patch_placed *placed;
    patch_anchor anchor[PATCH_ANCHORS];
    unsigned anchors;
} trial;

static bool any(trial *t, bool (*way)(patch_placer *, const patch_anchor *, patch_placed *, bool), bool fresh)
{
    for (unsigned i = 0; i < t->anchors; i++)
        if (way(t->p, &t->anchor[i], t->placed, fresh))
            return true;
    return false;
}

static bool any_direct(trial *t)
{
    for (unsigned i = 0; i < t->anchors; i++)
        if (direct(t->p, &t->anchor[i], t->placed))
            return true;
    for (unsigned i = 0; i < t->anchors; i++)
        if (hop(t->p, t->site, &t->anchor[i], t->placed))
            return true;
    return false;
}

/* Anchors of four bytes first, whose jumps have the widest choice, so that new pages are good for others, too. */
static bool any_fresh(trial *t)
{
    for (unsigned own = PATCH_JUMP - 1; own > 0; own--)
        for (unsigned i = 0; i < t->anchors; i++)
            if (patch_smaller(t->anchor[i].room, PATCH_JUMP - 1) == own &&
                patch_pun(t->p, &t->anchor[i], t->placed, true))
                return true;
    return false;
}

/* Nobody comes to what lies between an anchor and its end now, so nothing can be told from there. */
static void fix_passed(patch_placer *p, const patch_placed *placed, const patch_site *s)
{
    const uint64_t end = s->address + s->length;
    for (unsigned k = 0; k < placed->changes; k++) {
        const uint64_t from = placed->change[k] + placed->change_size[k];
        if (placed->change_live[k] == 0 || placed->change[k] >= s->address || from >= end)
            continue;
        patch_draft *d = patch_draft_of(p, from, end - from);
        patch_bits_set(d->fixed, from - d->part->address, end - from, true);
    }
}

bool patch_way_find(patch_placer *p, uint32_t site)
{
    if (p->plan->machine == &patch_aarch64)
        return patch_way_find_aarch64(p, site);
    trial t = {.p = p, .site = site, .placed = &p->placed[site], .anchors = 1};
    t.anchor[0] = patch_anchor_own(p, site);
    if (direct(p, &t.anchor[0], t.placed))
        return true;
    t.anchors = patch_anchors_of(p, site, t.anchor);
    if (!any_direct(&t) && !any(&t, patch_pun, false) && !any_fresh(&t) && !any(&t, patch_evict, false) &&
        !any(&t, patch_evict, true) && !several(p, site, t.placed))
        return false;
    fix_passed(p, t.placed, &p->plan->site[site]);
    return true;
}

/* Places the sites of an object from high addresses to low ones, since a jump borrows bytes of what lies behind it,
 * which so are final. A function that fails is thrown out, and what lies near its sites is placed anew, until nothing
 * changes. */
#include "patch/patch_place.h"

#include "patch/patch_placer.h"

enum { FRUGAL = 4096, BLOCK_USUAL = 64, REGION_OF_FRUGAL = 16 << 20 };

/* ---- begin and end ---- */

static void copy(uint8_t *to, const uint8_t *from, uint64_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
#else
    for (uint64_t i = 0; i < n; i++)
        ((volatile uint8_t *)to)[i] = from[i];
#endif
}

static size_t bitmap_size(const patch_part *part)
{
    return (size_t)(part->size / 8 + 8);
}

static void end(patch_placer *p, bool keep)
{
    const patch_memory *m = &p->brief;
    for (unsigned i = 0; i < p->drafts; i++) {
        patch_give(m, p->draft[i].code, (size_t)p->draft[i].part->size);
        patch_give(m, p->draft[i].owned, bitmap_size(p->draft[i].part));
        patch_give(m, p->draft[i].fixed, bitmap_size(p->draft[i].part));
    }
    patch_give(m, p->placed, p->plan->sites * sizeof *p->placed);
    patch_pages_end(&p->pages, keep);
}

/* The region for blocks: within reach of all code, and the table of stubs in it. */
static bool begin_near(patch_placer *p)
{
    uint64_t low = UINT64_MAX, high = 0, size = ((uint64_t)p->plan->sites + 64) * BLOCK_USUAL;
    uint8_t table[8 * PATCH_STUB_COUNT];
    const patch_stubs *stubs = p->order->stubs;
    uint64_t stub[PATCH_STUB_COUNT] = {
        [PATCH_STUB_EXIT] = stubs->exit, [PATCH_STUB_TAIL] = stubs->tail, [PATCH_STUB_LEAVE] = stubs->leave};
    for (unsigned i = 0; i < PATCH_STUB_ENTERS; i++)
        stub[PATCH_STUB_ENTER + i] = stubs->enter[i];
    for (unsigned i = 0; i < p->drafts; i++) {
        const patch_part *part = p->draft[i].part;
        low = part->address < low ? part->address : low;
        high = part->address + part->size > high ? part->address + part->size : high;
    }
    if (p->plan->functions > FRUGAL && size < REGION_OF_FRUGAL)
        size = REGION_OF_FRUGAL;
    size = (size + PATCH_PAGE - 1) & ~(uint64_t)(PATCH_PAGE - 1);
    const uint64_t reach = (uint64_t)1 << p->plan->machine->reach, margin = 1 << 16;
    if (size > reach - margin) /* of AArch64: 128 MiB */
        return false;
    const uint64_t least = high > reach ? high - reach + margin : margin, most = low + reach - margin - size;
    if (least > most || !patch_pages_near(&p->pages, least, most, high, size))
        return false;
    for (unsigned i = 0; i < sizeof table; i++)
        table[i] = (uint8_t)(stub[i / 8] >> i % 8 * 8);
    p->table = patch_pages_next(&p->pages, sizeof table);
    if (p->table)
        patch_pages_claim(&p->pages, p->table, table, sizeof table);
    return p->table != 0;
}

/* Of a part's code the range that functions lie in, and what their jumps may borrow; large objects have much else. */
static void copy_code(const patch_plan *plan, patch_draft *d)
{
    const patch_part *part = d->part;
    uint64_t from = part->size, to = 0;
    for (uint32_t i = 0; i < plan->functions; i++) {
        const uint64_t at = plan->function[i].begin - part->address;
        if (at >= part->size || plan->function[i].size == 0)
            continue;
        from = at < from ? at : from;
        to = at + plan->function[i].size > to ? at + plan->function[i].size : to;
    }
    from = from > PATCH_PAGE ? from - PATCH_PAGE : 0;
    to = to + PATCH_PAGE < part->size ? to + PATCH_PAGE : part->size;
    if (from < to)
        copy(d->code + from, part->bytes + from, to - from);
}

static bool begin(patch_placer *p, patch_plan *plan, patch_space *space, const patch_order *order)
{
    const patch_memory *m = &p->brief;
    plan->shadow = order->shadow;
    *p = (patch_placer){
        .plan = plan,
        .order = order,
        .brief = patch_memory_brief(&plan->memory),
    };
    if (!patch_pages_begin(&p->pages, space, m))
        return false;
    p->placed = plan->sites ? m->take(plan->sites * sizeof *p->placed) : NULL;
    bool good = p->placed || !plan->sites;
    for (unsigned i = 0; i < plan->codes && good; i++) {
        patch_draft *d = &p->draft[p->drafts++];
        d->part = plan->code[i];
        d->code = m->take((size_t)d->part->size);
        d->owned = m->take(bitmap_size(d->part));
        d->fixed = m->take(bitmap_size(d->part));
        good = d->code && d->owned && d->fixed;
        if (d->code)
            copy_code(plan, d);
    }
    if (!good)
        end(p, false);
    return good;
}

/* ---- clusters ---- */

static patch_function *owner(patch_placer *p, uint32_t site)
{
    return &p->plan->function[p->plan->site[site].function];
}

/* The first site of the cluster whose last one is before `behind`. */
static uint32_t cluster_before(const patch_plan *plan, uint32_t behind)
{
    const patch_site *s = plan->site;
    uint32_t first = behind - 1;
    while (first > 0 && s[first].address - s[first - 1].address <= PATCH_REACH)
        first--;
    return first;
}

/* Does the function need this site? It can do without ends, which then come late. */
static bool is_needed(const patch_placer *p, const patch_site *s)
{
    return s->entry || s->kind == PATCH_SELF || p->order->exact;
}

/* Sites of a cluster; what fails is noted in the functions. */
static bool place_cluster(patch_placer *p, uint32_t first, uint32_t last)
{
    bool good = true;
    for (uint32_t i = last; i-- > first;) {
        if (owner(p, i)->why != PATCH_OK || patch_way_find(p, i))
            continue;
        if (is_needed(p, &p->plan->site[i])) {
            owner(p, i)->why = PATCH_NO_ROOM;
            good = false;
        }
    }
    return good;
}

static void undo_cluster(patch_placer *p, uint32_t first, uint32_t last)
{
    const patch_site *site = p->plan->site;
    const uint64_t begin = site[first].address - PATCH_ASIDE;
    const uint64_t end = site[last - 1].address + PATCH_ASIDE + PATCH_BORROWED;
    for (uint32_t i = first; i < last; i++)
        patch_way_undo(p, i);
    for (uint64_t at = begin; at < end; at++) {
        patch_draft *d = patch_draft_of(p, at, 1);
        if (d)
            patch_bits_set(d->fixed, at - d->part->address, 1, false);
    }
}

static bool has_lost(patch_placer *p, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i++)
        if (p->placed[i].way != PATCH_WAY_NONE && owner(p, i)->why != PATCH_OK)
            return true;
    return false;
}

/* Places what can be; each turn throws out at least one function, or is the last. */
static void place_all(patch_placer *p)
{
    bool again = false;
    for (uint32_t last = p->plan->sites, first; last > 0; last = first) {
        first = cluster_before(p->plan, last);
        again |= !place_cluster(p, first, last);
    }
    while (again) {
        again = false;
        for (uint32_t last = p->plan->sites, first; last > 0; last = first) {
            first = cluster_before(p->plan, last);
            if (!has_lost(p, first, last))
                continue;
            undo_cluster(p, first, last);
            again |= !place_cluster(p, first, last);
        }
    }
}

/* ---- the result ---- */

static void add_change(patch_placer *p, patch_code *out, uint32_t site, unsigned k)
{
    const patch_placed *placed = &p->placed[site];
    const uint64_t at = placed->change[k];
    patch_draft *d = patch_draft_of(p, at, placed->change_size[k]);
    const uint64_t from = at - d->part->address;
    patch_change c = {.address = at,
                      .function = p->plan->site[site].function,
                      .size = placed->change_size[k],
                      .live = placed->change_live[k],
                      .several = placed->way == PATCH_WAY_SEVERAL};
    for (unsigned i = 0; i < c.size; i++) {
        c.was[i] = d->part->bytes[from + i];
        c.now[i] = d->code[from + i];
        c.tied |= patch_bit(d->fixed, from + i);
    }
    /* Sites are in order, and their changes lie near them. */
    uint32_t i = out->changes++;
    for (; i > 0 && out->change[i - 1].address > at; i--)
        out->change[i] = out->change[i - 1];
    out->change[i] = c;
}

/* Is the end told before its own instruction? Then a jump table may lead around that. */
static bool is_told_before(const patch_placed *placed, const patch_site *s)
{
    for (unsigned k = 0; k < placed->changes; k++)
        if (placed->change[k] < s->address && placed->change_live[k] > 0)
            return true;
    return false;
}

static void count_site(patch_placer *p, patch_counts *c, uint32_t i)
{
    const patch_site *s = &p->plan->site[i];
    if (owner(p, i)->why != PATCH_OK)
        return;
    const uint8_t way = p->placed[i].way;
    c->direct += way == PATCH_WAY_DIRECT;
    c->punned += way == PATCH_WAY_PUNNED;
    c->evicted += way == PATCH_WAY_EVICTED;
    c->several += way == PATCH_WAY_SEVERAL;
    if (s->kind != PATCH_ENTRY && s->kind != PATCH_SELF) {
        c->ends++;
        c->ends_patched += way != PATCH_WAY_NONE;
        if (way == PATCH_WAY_NONE || (owner(p, i)->tables && is_told_before(&p->placed[i], s)))
            owner(p, i)->late = true;
    }
}

static void count_all(patch_placer *p, patch_counts *c)
{
    for (uint32_t i = 0; i < p->plan->sites; i++)
        count_site(p, c, i);
    for (uint32_t i = 0; i < p->plan->functions; i++) {
        const patch_function *f = &p->plan->function[i];
        c->why[f->why]++;
        c->functions += f->why == PATCH_OK || f->why > PATCH_IS_START;
        c->patched += f->why == PATCH_OK;
        c->late += f->why == PATCH_OK && f->late;
    }
    c->why[PATCH_BEYOND] += p->plan->beyond;
    c->functions += p->plan->beyond;
}

static bool finish(patch_placer *p, patch_code *out)
{
    size_t changes = 0;
    *out = (patch_code){.memory = p->plan->memory};
    for (uint32_t i = 0; i < p->plan->sites; i++)
        changes += p->placed[i].changes;
    out->change_room = changes * sizeof *out->change;
    out->change = changes ? out->memory.take(out->change_room) : NULL;
    if ((changes && !out->change) || !patch_pages_regions(&p->pages, out)) {
        patch_code_free(out);
        return false;
    }
    for (uint32_t i = 0; i < p->plan->sites; i++)
        for (unsigned k = 0; k < p->placed[i].changes; k++)
            add_change(p, out, i, k);
    count_all(p, &out->counts);
    return true;
}

bool patch_place(patch_code *out, patch_plan *plan, patch_space *space, const patch_order *order)
{
    patch_placer p;
    if (!begin(&p, plan, space, order))
        return false;
    for (uint32_t i = 0; order->exact && i < plan->functions; i++)
        if (plan->function[i].why == PATCH_OK && plan->function[i].late)
            plan->function[i].why = PATCH_OPEN_END;
    if (plan->sites && !begin_near(&p)) {
        for (uint32_t i = 0; i < plan->functions; i++)
            if (plan->function[i].why == PATCH_OK)
                plan->function[i].why = PATCH_NO_ROOM;
    } else {
        place_all(&p);
    }
    const bool good = finish(&p, out);
    end(&p, good);
    return good;
}

void patch_code_free(patch_code *code)
{
    patch_give(&code->memory, code->change, code->change_room);
    patch_give(&code->memory, code->region, code->region_room);
    code->change = NULL;
    code->region = NULL;
}

void patch_code_drop(patch_code *code, patch_space *space)
{
    for (uint32_t i = 0; i < code->regions; i++)
        space->give(space, code->region[i].address, code->region[i].size);
    patch_code_free(code);
}

/* Everything after the first level. */
#include "analysis/instruction/cache_sim.h"

#include <stdlib.h>
#include <string.h>

#define NO_PAGE UINT64_MAX

bool tl_cache_level_init(tl_cache_level *c, uint32_t sets, uint32_t ways, unsigned shift)
{
    size_t entries;
    if (__builtin_mul_overflow((size_t)sets, (size_t)ways, &entries))
        return false;
    *c = (tl_cache_level){.mask = sets - 1, .ways = ways, .shift = shift};
    c->entry = calloc(entries, sizeof *c->entry);
    return c->entry != NULL;
}

void tl_cache_level_reset(tl_cache_level *c)
{
    if (c->entry)
        memset(c->entry, 0, (size_t)(c->mask + 1) * c->ways * sizeof *c->entry);
}

void tl_cache_level_fini(tl_cache_level *c)
{
    free(c->entry);
    *c = (tl_cache_level){0};
}

bool tl_cache_sim_init(tl_cache_sim *s, const tl_cache_setup *setup)
{
    s->code_page = s->data_page = NO_PAGE;
    for (unsigned i = 0; i < TL_CACHES; i++) {
        const tl_cache_shape *shape = &setup->cache[i];
        if (shape->sets &&
            !tl_cache_level_init(&s->level[i], shape->sets, shape->ways, (unsigned)__builtin_ctz(shape->line)))
            return false;
    }
    return true;
}

void tl_cache_sim_reset(tl_cache_sim *s)
{
    s->code_page = s->data_page = NO_PAGE;
    for (unsigned i = 0; i < TL_CACHES; i++)
        tl_cache_level_reset(&s->level[i]);
}

void tl_cache_sim_add(tl_cache_sim *s, const tl_cache_sim *from)
{
    for (unsigned k = 0; k < TL_CACHE_CLASSES; k++)
        s->accesses[k] += from->accesses[k];
    for (unsigned i = 0; i < TL_CACHES; i++) {
        for (unsigned k = 0; k < TL_CACHE_CLASSES; k++) {
            s->count[i].lookups[k] += from->count[i].lookups[k];
            s->count[i].misses[k] += from->count[i].misses[k];
        }
        s->count[i].writebacks += from->count[i].writebacks;
    }
}

void tl_cache_sim_fini(tl_cache_sim *s)
{
    for (unsigned i = 0; i < TL_CACHES; i++)
        tl_cache_level_fini(&s->level[i]);
}

tl_cache_count tl_cache_sim_count(const tl_cache_sim *s, tl_cache_id id)
{
    const bool code = id == TL_CACHE_L1I || id == TL_CACHE_ITLB, data = id == TL_CACHE_L1D || id == TL_CACHE_DTLB;
    tl_cache_count c = {.writebacks = s->count[id].writebacks};
    for (unsigned k = 0; k < TL_CACHE_CLASSES; k++) {
        const bool first = k == TL_CACHE_CODE ? code : data;
        c.misses[k] = s->count[id].misses[k];
        c.lookups[k] = s->count[id].lookups[k] + (first ? s->accesses[k] : 0);
        c.accesses[k] = first ? s->accesses[k] : c.lookups[k];
    }
    return c;
}

void tl_cache_miss_page(tl_cache_sim *s, uint64_t page, tl_cache_class by)
{
    uint64_t victim;
    s->count[by == TL_CACHE_CODE ? TL_CACHE_ITLB : TL_CACHE_DTLB].misses[by]++;
    if (!s->level[TL_CACHE_L2TLB].entry)
        return;
    s->count[TL_CACHE_L2TLB].lookups[by]++;
    if (!tl_cache_touch(&s->level[TL_CACHE_L2TLB], page, 0, &victim))
        s->count[TL_CACHE_L2TLB].misses[by]++;
}

/* Uses a line of L2; returns whether it was there. */
static bool use_l2(tl_cache_sim *s, uint64_t line, uint64_t written)
{
    uint64_t victim;
    if (tl_cache_touch(&s->level[TL_CACHE_L2], line, written, &victim))
        return true;
    if (victim & TL_CACHE_WRITTEN)
        s->count[TL_CACHE_L2].writebacks++;
    return false;
}

/* Number of L2 lines that a line of L1 covers, at least one. */
static uint64_t lines_of_l2(const tl_cache_sim *s, unsigned shift, uint64_t line, uint64_t *first)
{
    const unsigned l2 = s->level[TL_CACHE_L2].shift;
    *first = l2 > shift ? line >> (l2 - shift) : line << (shift - l2);
    return l2 > shift ? 1 : UINT64_C(1) << (shift - l2);
}

static uint32_t fetch(tl_cache_sim *s, unsigned shift, uint64_t line, tl_cache_class by)
{
    uint64_t first, n;
    uint32_t missed = 0;
    if (!s->level[TL_CACHE_L2].entry)
        return 0;
    n = lines_of_l2(s, shift, line, &first);
    for (uint64_t i = 0; i < n; i++) {
        s->count[TL_CACHE_L2].lookups[by]++;
        if (!use_l2(s, first + i, 0)) {
            s->count[TL_CACHE_L2].misses[by]++;
            missed++;
        }
    }
    return missed;
}

void tl_cache_miss_code(tl_cache_sim *s, uint64_t line, uint64_t victim)
{
    (void)victim; /* is never written */
    s->count[TL_CACHE_L1I].misses[TL_CACHE_CODE]++;
    fetch(s, s->level[TL_CACHE_L1I].shift, line, TL_CACHE_CODE);
}

tl_cache_missed tl_cache_miss_data(tl_cache_sim *s, uint64_t line, uint64_t victim, tl_cache_class by)
{
    const unsigned shift = s->level[TL_CACHE_L1D].shift;
    tl_cache_missed missed = {.l1 = 1};
    s->count[TL_CACHE_L1D].misses[by]++;
    missed.l2 = fetch(s, shift, line, by);
    if (victim & TL_CACHE_WRITTEN) { /* after the fetch, since it waits in a buffer for that */
        uint64_t first, n = 0;
        s->count[TL_CACHE_L1D].writebacks++;
        if (s->level[TL_CACHE_L2].entry)
            n = lines_of_l2(s, shift, victim >> 2, &first);
        for (uint64_t i = 0; i < n; i++)
            use_l2(s, first + i, TL_CACHE_WRITTEN);
    }
    return missed;
}

static void look_pages(tl_cache_sim *s, uint64_t address, uint64_t size, tl_cache_class by)
{
    const uint64_t n = tl_access_units(address, size, TL_CACHE_PAGE_SHIFT);
    for (uint64_t i = 0; i < n; i++)
        tl_cache_look_page(s, tl_access_unit(address, i, TL_CACHE_PAGE_SHIFT), by);
    s->count[by == TL_CACHE_CODE ? TL_CACHE_ITLB : TL_CACHE_DTLB].lookups[by] += n - 1;
}

void tl_cache_wide_code(tl_cache_sim *s, uint64_t address, uint64_t size)
{
    const unsigned shift = s->level[TL_CACHE_L1I].shift;
    const uint64_t n = tl_access_units(address, size, shift);
    look_pages(s, address, size, TL_CACHE_CODE);
    for (uint64_t i = 0; i < n; i++)
        tl_cache_look_code(s, tl_access_unit(address, i, shift));
    s->count[TL_CACHE_L1I].lookups[TL_CACHE_CODE] += n - 1;
}

tl_cache_missed tl_cache_wide_data(tl_cache_sim *s, uint64_t address, uint64_t size, tl_cache_class by)
{
    const unsigned shift = s->level[TL_CACHE_L1D].shift;
    const uint64_t n = tl_access_units(address, size, shift);
    tl_cache_missed sum = {0, 0};
    look_pages(s, address, size, by);
    for (uint64_t i = 0; i < n; i++) {
        const tl_cache_missed one = tl_cache_look_data(s, tl_access_unit(address, i, shift), by);
        sum.l1 += one.l1;
        sum.l2 += one.l2;
    }
    s->count[TL_CACHE_L1D].lookups[by] += n - 1;
    return sum;
}

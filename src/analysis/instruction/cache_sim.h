/* A processor's caches: instructions and data of the first level, a second for both, and those of addresses (TLBs).
 *
 * What is simulated: every level replaces the least recently used line of a set. Stores fetch the line they write to,
 * and written lines go to the next level when replaced; there this counts as a use, not as an access. Levels are
 * neither inclusive nor exclusive. There is no prefetching, and page tables are not read. Addresses are those of the
 * trace.
 *
 * An access is a load, a store or an instruction; it looks up as many lines as it touches, mostly one. */
#ifndef TL_ANALYSIS_CACHE_SIM_H
#define TL_ANALYSIS_CACHE_SIM_H

#include "analysis/instruction/cache_level.h"
#include "analysis/instruction/cache_setup.h"
#include "analysis/instruction/insn_access.h"

typedef enum tl_cache_class { TL_CACHE_CODE, TL_CACHE_LOAD, TL_CACHE_STORE } tl_cache_class;
#define TL_CACHE_CLASSES 3u

/* Numbers of one cache, by tl_cache_class. L2's and the L2 TLB's accesses are their lookups: the misses of the first
 * level. */
typedef struct tl_cache_count {
    uint64_t accesses[TL_CACHE_CLASSES];
    uint64_t lookups[TL_CACHE_CLASSES];
    uint64_t misses[TL_CACHE_CLASSES]; /* of lookups */
    uint64_t writebacks;               /* written lines that were replaced */
} tl_cache_count;

/* Zeroed, it has no caches. */
typedef struct tl_cache_sim {
    tl_cache_level level[TL_CACHES];
    uint64_t code_page, data_page;       /* used last, thus first in its TLB; or none */
    uint64_t accesses[TL_CACHE_CLASSES]; /* of the first levels; each needs at least one lookup */
    struct {
        uint64_t lookups[TL_CACHE_CLASSES]; /* of the first levels: lookups beyond one per access */
        uint64_t misses[TL_CACHE_CLASSES];
        uint64_t writebacks;
    } count[TL_CACHES];
} tl_cache_sim;

/* False when memory runs out; fini is needed in either case. */
bool tl_cache_sim_init(tl_cache_sim *s, const tl_cache_setup *setup);
/* Empties the caches; counts stay. */
void tl_cache_sim_reset(tl_cache_sim *s);
/* Adds the counts of another one. */
void tl_cache_sim_add(tl_cache_sim *s, const tl_cache_sim *from);
void tl_cache_sim_fini(tl_cache_sim *s);
tl_cache_count tl_cache_sim_count(const tl_cache_sim *s, tl_cache_id id);

/* Lookups of a data access that missed. */
typedef struct tl_cache_missed {
    uint32_t l1, l2;
} tl_cache_missed;

/* The parts that only some accesses need. */
void tl_cache_miss_page(tl_cache_sim *s, uint64_t page, tl_cache_class by);
void tl_cache_miss_code(tl_cache_sim *s, uint64_t line, uint64_t victim);
tl_cache_missed tl_cache_miss_data(tl_cache_sim *s, uint64_t line, uint64_t victim, tl_cache_class by);
void tl_cache_wide_code(tl_cache_sim *s, uint64_t address, uint64_t size);
tl_cache_missed tl_cache_wide_data(tl_cache_sim *s, uint64_t address, uint64_t size, tl_cache_class by);

TL_ALWAYS_INLINE void tl_cache_look_page(tl_cache_sim *s, uint64_t page, tl_cache_class by)
{
    uint64_t *last = by == TL_CACHE_CODE ? &s->code_page : &s->data_page, victim;
    if (TL_LIKELY(*last == page))
        return;
    *last = page;
    if (TL_UNLIKELY(!tl_cache_touch(&s->level[by == TL_CACHE_CODE ? TL_CACHE_ITLB : TL_CACHE_DTLB], page, 0, &victim)))
        tl_cache_miss_page(s, page, by);
}

TL_ALWAYS_INLINE void tl_cache_look_code(tl_cache_sim *s, uint64_t line)
{
    uint64_t victim;
    if (TL_UNLIKELY(!tl_cache_touch(&s->level[TL_CACHE_L1I], line, 0, &victim)))
        tl_cache_miss_code(s, line, victim);
}

TL_ALWAYS_INLINE tl_cache_missed tl_cache_look_data(tl_cache_sim *s, uint64_t line, tl_cache_class by)
{
    uint64_t victim;
    const uint64_t written = by == TL_CACHE_STORE ? TL_CACHE_WRITTEN : 0;
    if (TL_LIKELY(tl_cache_touch(&s->level[TL_CACHE_L1D], line, written, &victim)))
        return (tl_cache_missed){0, 0};
    return tl_cache_miss_data(s, line, victim, by);
}

/* Is it within one line, and so within one page? */
TL_ALWAYS_INLINE bool tl_cache_is_narrow(const tl_cache_level *c, uint64_t address, uint64_t size)
{
    const uint64_t line = UINT64_C(1) << c->shift;
    return size <= line - (address & (line - 1));
}

/* An instruction; a load or store. */
TL_ALWAYS_INLINE void tl_cache_code(tl_cache_sim *s, uint64_t address, uint64_t size)
{
    const tl_cache_level *l1 = &s->level[TL_CACHE_L1I];
    s->accesses[TL_CACHE_CODE]++;
    if (TL_UNLIKELY(!tl_cache_is_narrow(l1, address, size))) {
        tl_cache_wide_code(s, address, size);
        return;
    }
    tl_cache_look_page(s, address >> TL_CACHE_PAGE_SHIFT, TL_CACHE_CODE);
    tl_cache_look_code(s, address >> l1->shift);
}

TL_ALWAYS_INLINE tl_cache_missed tl_cache_data(tl_cache_sim *s, uint64_t address, uint64_t size, tl_cache_class by)
{
    const tl_cache_level *l1 = &s->level[TL_CACHE_L1D];
    s->accesses[by]++;
    if (TL_UNLIKELY(!tl_cache_is_narrow(l1, address, size)))
        return tl_cache_wide_data(s, address, size, by);
    tl_cache_look_page(s, address >> TL_CACHE_PAGE_SHIFT, by);
    return tl_cache_look_data(s, address >> l1->shift, by);
}

#endif

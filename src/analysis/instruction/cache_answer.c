/* The relation `cache`: hits and misses of simulated caches, and the instructions with most misses. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/instruction/cache_table.h"
#include "analysis/instruction/insn_answer.h"
#include "base/text/number.h"

#define PC_ROWS 10u /* on a terminal */

static bool set(void *to, const tl_table_options *o, char message[static TL_TABLE_MESSAGE])
{
    tl_error e = {0};
    *(tl_cache_setup *)to = tl_cache_default;
    if (!o->cache || tl_cache_setup_parse(to, o->cache, &e) == 0)
        return true;
    snprintf(message, TL_TABLE_MESSAGE, "%s", e.message);
    return false;
}

static bool is_empty(const void *table)
{
    const tl_caches *c = table;
    return c->instructions == 0 && c->sim.accesses[TL_CACHE_LOAD] == 0 && c->sim.accesses[TL_CACHE_STORE] == 0;
}

static uint64_t sum(const uint64_t of[TL_CACHE_CLASSES])
{
    return of[TL_CACHE_CODE] + of[TL_CACHE_LOAD] + of[TL_CACHE_STORE];
}

/* ---- levels ---- */

/* A cache; for people also one class of its accesses. */
typedef struct level {
    const char *name;
    bool is_tlb, is_cache;     /* neither: a class */
    uint64_t size, ways, line; /* size in bytes, or entries */
    uint64_t accesses, lookups, misses;
    tl_cache_count count;
} level;

static const tl_column instructions[] = {
    {TL_COL("instructions", NULL, INTEGER, COUNT, "instructions executed"), TL_AT(U64, tl_caches, instructions)},
};

#define BY_CLASS(name, id, by)                                                                                         \
    {TL_COL(name "_accesses", NULL, INTEGER, COUNT, "accesses by " by), name ".accesses",                              \
     TL_AT(U64, level, count.accesses[id])},                                                                           \
        {TL_COL(name "_lookups", NULL, INTEGER, COUNT, "lookups by " by), name ".lookups",                             \
         TL_AT(U64, level, count.lookups[id])},                                                                        \
    {                                                                                                                  \
        TL_COL(name "_misses", NULL, INTEGER, COUNT, "misses by " by), name ".misses",                                 \
            TL_AT(U64, level, count.misses[id])                                                                        \
    }

static const tl_column levels[] = {
    {TL_COL("name", NULL, TEXT, NONE, "L1I, L1D, L2, ITLB, DTLB or L2 TLB"), TL_AT(TEXT, level, name)},
    {TL_COL("entries", NULL, INTEGER, COUNT, "entries of a TLB"), TL_AT(U64, level, size), TL_ONLY_IF(level, is_tlb),
     .flags = TL_LEFT_OUT},
    {TL_COL("size", NULL, INTEGER, BYTES, "size of a cache"), TL_AT(U64, level, size), TL_ONLY_IF(level, is_cache),
     .flags = TL_LEFT_OUT},
    {TL_COL("ways", NULL, INTEGER, COUNT, "associativity"), TL_AT(U64, level, ways)},
    {TL_COL("page_size", NULL, INTEGER, BYTES, "size of a page, for a TLB"), TL_AT(U64, level, line),
     TL_ONLY_IF(level, is_tlb), .flags = TL_LEFT_OUT},
    {TL_COL("line_size", NULL, INTEGER, BYTES, "size of a line, for a cache"), TL_AT(U64, level, line),
     TL_ONLY_IF(level, is_cache), .flags = TL_LEFT_OUT},
    {TL_COL("accesses", NULL, INTEGER, COUNT, "loads, stores and instructions"), TL_AT(U64, level, accesses)},
    {TL_COL("lookups", NULL, INTEGER, COUNT, "lookups: an access to two lines has two"), TL_AT(U64, level, lookups)},
    {TL_COL("misses", NULL, INTEGER, COUNT, "lookups that missed"), TL_AT(U64, level, misses)},
    {TL_COL("writebacks", NULL, INTEGER, COUNT, "lines written back"), TL_AT(U64, level, count.writebacks)},
    BY_CLASS("code", TL_CACHE_CODE, "instructions"),
    BY_CLASS("load", TL_CACHE_LOAD, "loads"),
    BY_CLASS("store", TL_CACHE_STORE, "stores"),
};

static void get_ratio(const tl_at *at, tl_cell *out)
{
    const level *l = at->row;
    if (l->lookups)
        tl_cell_share(out, (double)l->misses, (double)l->lookups);
}

static void get_per_1000(const tl_at *at, tl_cell *out)
{
    const uint64_t insns = ((const tl_caches *)at->table)->instructions;
    if (insns)
        tl_cell_real(out, 1000 * (double)((const level *)at->row)->misses / (double)insns);
}

static const tl_column levels_shown[] = {
    {TL_COL(NULL, "lookups", INTEGER, COUNT, NULL), TL_AT(U64, level, lookups)},
    {TL_COL(NULL, "misses", INTEGER, COUNT, NULL), TL_AT(U64, level, misses)},
    {TL_COL(NULL, "ratio", REAL, SHARE, NULL), .get = get_ratio, .flags = TL_WITH_BAR},
    {TL_COL(NULL, "per 1000", REAL, NONE, NULL), .get = get_per_1000, .decimals = 2, .drop = 1},
    {TL_COL(NULL, "written", INTEGER, COUNT, NULL), TL_AT(U64, level, count.writebacks), TL_ONLY_IF(level, is_cache),
     .flags = TL_BLANK, .drop = 2},
    {TL_COL(NULL, "cache", TEXT, NONE, NULL), TL_AT(TEXT, level, name), .role = TL_ROLE_NAME},
};

static void after_levels(const tl_part *part, const tl_prose *p)
{
    (void)part;
    tl_output_printf(p->out,
                     "%sper 1000: misses in 1000 instructions; written: lines that were written back.\n"
                     "What touches two lines looks up both. Each track has caches of its own, LRU.%s\n",
                     tl_style_on(p->terminal, TL_FAINT), tl_style_on(p->terminal, TL_PLAIN_TEXT));
}

static level level_of(const tl_caches *c, tl_cache_id id)
{
    const tl_cache_shape *shape = &c->setup.cache[id];
    const tl_cache_count count = tl_cache_sim_count(&c->sim, id);
    const bool is_tlb = tl_cache_is_tlb(id);
    return (level){.name = tl_cache_name(id),
                   .is_tlb = is_tlb,
                   .is_cache = !is_tlb,
                   .size = (uint64_t)shape->sets * shape->ways * (is_tlb ? 1 : shape->line),
                   .ways = shape->ways,
                   .line = shape->line,
                   .accesses = sum(count.accesses),
                   .lookups = sum(count.lookups),
                   .misses = sum(count.misses),
                   .count = count};
}

/* Rows of a cache's classes, if there are several; returns how many. */
static uint32_t add_classes(level *to, const tl_cache_count *count)
{
    static const char *const name[] = {"  instructions", "  loads", "  stores"};
    uint32_t n = 0;
    for (unsigned k = 0; k < TL_CACHE_CLASSES; k++)
        if (count->lookups[k])
            to[n++] = (level){.name = name[k], .lookups = count->lookups[k], .misses = count->misses[k]};
    return n > 1 ? n : 0;
}

static void add_levels(const tl_caches *c, const tl_ask *ask, tl_answer *a)
{
    level *row = tl_answer_alloc(a, (size_t)TL_CACHES * (1 + TL_CACHE_CLASSES), sizeof *row);
    uint32_t n = 0;
    for (unsigned i = 0; row && i < TL_CACHES; i++)
        if (c->setup.cache[i].sets) {
            row[n++] = level_of(c, (tl_cache_id)i);
            if (!ask->for_programs)
                n += add_classes(&row[n], &row[n - 1].count);
        }
    if (ask->for_programs) {
        TL_ADD_ROWS(a, ask, "levels", levels, row, NULL, n);
        return;
    }
    tl_part *part = TL_ADD_ROWS(a, ask, NULL, levels_shown, row, NULL, n);
    part->name_wish = 14;
    part->after = after_levels;
}

/* ---- instructions with misses ---- */

static void get_misses(const tl_at *at, tl_cell *out)
{
    const tl_cache_pc *pc = at->row;
    tl_cell_u64(out, pc->loads + pc->stores);
}

static void get_share(const tl_at *at, tl_cell *out)
{
    const tl_cache_pc *pc = at->row;
    const tl_cache_count l1d = tl_cache_sim_count(&((const tl_caches *)at->table)->sim, TL_CACHE_L1D);
    tl_cell_share(out, (double)(pc->loads + pc->stores), (double)sum(l1d.misses));
}

static const tl_column pcs[] = {
    {TL_COL("pc", "instructions that miss L1D", INTEGER, HEX, "address of the instruction that missed"),
     TL_AT(U64, tl_cache_pc, pc), .role = TL_ROLE_NAME},
    TL_PLACE(tl_cache_pc, pc),
    TL_SYMBOL(tl_cache_pc, pc),
    {TL_COL(NULL, "misses", INTEGER, COUNT, NULL), .get = get_misses},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), .get = get_share, .flags = TL_WITH_BAR, .drop = 1},
    {TL_COL("loads", "loads", INTEGER, COUNT, "loads that missed L1D"), TL_AT(U64, tl_cache_pc, loads), .drop = 2},
    {TL_COL("stores", "stores", INTEGER, COUNT, "stores that missed L1D"), TL_AT(U64, tl_cache_pc, stores), .drop = 2},
    {TL_COL("l2", "of L2", INTEGER, COUNT, "loads and stores that missed L2, too"), TL_AT(U64, tl_cache_pc, l2),
     .drop = 3}, /* the last: left out without an L2 */
};

static const tl_column without_pc[] = {
    {TL_COL("misses_without_pc.loads", NULL, INTEGER, COUNT, "misses by instructions whose pc is unknown"),
     TL_AT(U64, tl_caches, without_pc.loads)},
    {TL_COL("misses_without_pc.stores", NULL, INTEGER, COUNT, "misses by instructions whose pc is unknown"),
     TL_AT(U64, tl_caches, without_pc.stores)},
    {TL_COL("misses_without_pc.l2", NULL, INTEGER, COUNT, "misses by instructions whose pc is unknown"),
     TL_AT(U64, tl_caches, without_pc.l2)},
};

static void add_pcs(const tl_caches *c, const tl_ask *ask, tl_answer *a)
{
    uint32_t *order = tl_caches_sort(c);
    tl_answer_own(a, order);
    tl_part *part = TL_ADD_TOP(a, ask, "misses_by_pc", pcs, c->pc, order, c->npc, PC_ROWS, "instructions", 26);
    if (!ask->for_programs && !c->setup.cache[TL_CACHE_L2].sets)
        part->ncolumn--;
}

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_caches *c = a->table;
    const uint64_t *accesses = c->sim.accesses;
    char x[32], y[32], z[32], setup[TL_CACHE_SETUP_TEXT];
    tl_say_subject(a, p);
    tl_output_printf(p->out, "%s instructions, %s loads, %s stores\n", tl_human_grouped(x, sizeof x, c->instructions),
                     tl_human_grouped(y, sizeof y, accesses[TL_CACHE_LOAD]),
                     tl_human_grouped(z, sizeof z, accesses[TL_CACHE_STORE]));
    tl_say_styled(p, TL_FAINT, tl_cache_setup_text(setup, &c->setup));
    tl_output_puts(p->out, "\n");
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_caches *c = table;
    (void)e;
    a->unit = "accesses";
    a->head = head;
    if (ask->for_programs)
        TL_ADD_FACTS(a, ask, instructions, c);
    add_levels(c, ask, a);
    if (c->npc || ask->for_programs)
        add_pcs(c, ask, a);
    if (ask->for_programs)
        TL_ADD_FACTS(a, ask, without_pc, c);
    return 0;
}

const tl_table_kind tl_table_cache = {.info = {"cache", "hits and misses of simulated caches", TL_NEEDS_INSNS},
                                      .sql = "cache_levels",
                                      .what = "instructions",
                                      .tab = "code",
                                      .takes = "cache",
                                      .options_size = sizeof(tl_cache_setup),
                                      .set = set,
                                      .pass = &tl_cache_table,
                                      .empty = is_empty,
                                      .answer = answer,
                                      TL_TABLE_COLUMNS(levels)};

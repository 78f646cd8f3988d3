/* Simulates the caches for instructions and their accesses. */
#include "analysis/instruction/cache_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static int init(void *table, const void *options, tl_error *e)
{
    tl_caches *c = table;
    c->setup = options ? *(const tl_cache_setup *)options : tl_cache_default;
    return tl_cache_sim_init(&c->sim, &c->setup)
               ? 0
               : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to simulate these caches");
}

static int begin(void *table, const tl_trace *t, tl_error *e)
{
    tl_caches *c = table;
    (void)e;
    tl_insn_classes_find(&c->classes, t);
    tl_cache_sim_reset(&c->sim);
    c->has_pc = false;
    return 0;
}

/* The row of a pc; NULL when memory runs out, or there are too many. */
static tl_cache_pc *find(tl_caches *c, uint64_t pc)
{
    const uint32_t at = tl_hash_get(&c->index, pc);
    if (at != TL_HASH_NONE)
        return &c->pc[at];
    if (c->npc >= TL_CACHE_PCS_MAX || !TL_GROW(c->pc, c->npc, 1, c->capacity) || !tl_hash_put(&c->index, pc, c->npc))
        return NULL;
    c->pc[c->npc] = (tl_cache_pc){.pc = pc};
    return &c->pc[c->npc++];
}

static TL_COLD int fail_pcs(const tl_caches *c, tl_error *e)
{
    if (c->npc < TL_CACHE_PCS_MAX)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of misses");
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "more than %u instructions miss: choose a part of the trace",
                   TL_CACHE_PCS_MAX);
}

static TL_NOINLINE bool note(tl_caches *c, tl_cache_missed missed, tl_cache_class by)
{
    tl_cache_pc *row = c->has_pc ? find(c, c->now) : &c->without_pc;
    if (!row)
        return false;
    (by == TL_CACHE_LOAD ? &row->loads : &row->stores)[0] += missed.l1;
    row->l2 += missed.l2;
    return true;
}

static int events(void *table, const tl_batch *b, uint32_t from, uint32_t to, bool gap, tl_error *e)
{
    tl_caches *c = table;
    uint64_t instructions = 0;
    bool ok = true;
    if (gap)
        c->has_pc = false;
    for (uint32_t i = from; i < to; i++) {
        const tl_insn_what what = tl_insn_what_is(&c->classes, b->cls[i]);
        if (what == TL_IS_INSN) {
            instructions++;
            c->now = b->key[i];
            c->has_pc = tl_insn_has_pc(b->aux[i]);
            if (TL_LIKELY(c->has_pc))
                tl_cache_code(&c->sim, b->key[i], TL_INSN_BYTES);
        } else if (what == TL_IS_LOAD) {
            const tl_cache_missed missed = tl_cache_data(&c->sim, b->key[i], b->aux[i], TL_CACHE_LOAD);
            if (TL_UNLIKELY(missed.l1))
                ok = note(c, missed, TL_CACHE_LOAD) && ok;
        } else if (what == TL_IS_STORE) {
            const tl_cache_missed missed = tl_cache_data(&c->sim, b->key[i], b->aux[i], TL_CACHE_STORE);
            if (TL_UNLIKELY(missed.l1))
                ok = note(c, missed, TL_CACHE_STORE) && ok;
        }
    }
    c->instructions += instructions;
    return ok ? 0 : fail_pcs(c, e);
}

static void add(tl_cache_pc *to, const tl_cache_pc *from)
{
    to->loads += from->loads;
    to->stores += from->stores;
    to->l2 += from->l2;
}

static int merge(void *into, void *from, tl_error *e)
{
    tl_caches *c = into;
    const tl_caches *o = from;
    c->instructions += o->instructions;
    tl_cache_sim_add(&c->sim, &o->sim);
    add(&c->without_pc, &o->without_pc);
    for (uint32_t i = 0; i < o->npc; i++) {
        tl_cache_pc *row = find(c, o->pc[i].pc);
        if (!row)
            return fail_pcs(c, e);
        add(row, &o->pc[i]);
    }
    return 0;
}

static void fini(void *table)
{
    tl_caches *c = table;
    tl_cache_sim_fini(&c->sim);
    free(c->pc);
    tl_hash_fini(&c->index);
    memset(c, 0, sizeof *c);
}

/* Sort keys: qsort() passes no argument for the table. */
typedef struct sort_key {
    uint64_t misses, pc;
    uint32_t at;
} sort_key;

static int compare(const void *left, const void *right)
{
    const sort_key *a = left, *b = right;
    if (a->misses != b->misses)
        return a->misses > b->misses ? -1 : 1;
    return TL_COMPARE(a->pc, b->pc);
}

uint32_t *tl_caches_sort(const tl_caches *c)
{
    sort_key *key = tl_alloc(c->npc + (size_t)1, sizeof *key);
    uint32_t *index = tl_alloc(c->npc + (size_t)1, sizeof *index);
    for (uint32_t i = 0; key && index && i < c->npc; i++)
        key[i] = (sort_key){.misses = c->pc[i].loads + c->pc[i].stores, .pc = c->pc[i].pc, .at = i};
    if (key && index)
        qsort(key, c->npc, sizeof *key, compare);
    for (uint32_t i = 0; key && index && i < c->npc; i++)
        index[i] = key[i].at;
    if (!key) {
        free(index);
        index = NULL;
    }
    free(key);
    return index;
}

const tl_insn_table tl_cache_table = {
    .size = sizeof(tl_caches), .init = init, .begin = begin, .events = events, .merge = merge, .fini = fini};

/* Reuse distances, in buckets. */
#include "analysis/instruction/reuse_table.h"

#include <string.h>

#include "analysis/instruction/insn_access.h"

static unsigned log2_of(uint64_t x)
{
    return x > 1 ? 63u - (unsigned)__builtin_clzll(x) : 0;
}

static int init(void *table, const void *options, tl_error *e)
{
    const tl_reuse_options *o = options;
    tl_reuse *r = table;
    (void)e;
    r->shift = log2_of(o && o->line_size ? o->line_size : TL_REUSE_LINE_DEFAULT);
    r->sample = UINT64_C(1) << log2_of(o ? o->sample : 0);
    return 0;
}

static int begin(void *table, const tl_trace *t, tl_error *e)
{
    tl_reuse *r = table;
    (void)e;
    tl_insn_classes_find(&r->classes, t);
    tl_reuse_reset(&r->stack);
    return 0;
}

static TL_COLD int fail(const tl_reuse *r, tl_error *e)
{
    if (r->stack.n < TL_REUSE_LINES_MAX)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for reuse distances");
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "more than %u lines are touched: look at a sample of them",
                   TL_REUSE_LINES_MAX);
}

static TL_NOINLINE bool look(tl_reuse *r, uint64_t line)
{
    if (tl_hash_mix(line) & (r->sample - 1))
        return true;
    const uint64_t distance = tl_reuse_touch(&r->stack, line);
    if (distance == TL_REUSE_FULL)
        return false;
    r->looked++;
    if (distance == TL_REUSE_COLD)
        r->cold++;
    else
        r->bucket[distance ? log2_of(distance * r->sample) + 1 : 0]++;
    return true;
}

static int events(void *table, const tl_batch *b, uint32_t from, uint32_t to, bool gap, tl_error *e)
{
    tl_reuse *r = table;
    const unsigned shift = r->shift;
    uint64_t accesses = 0;
    (void)gap;
    for (uint32_t i = from; i < to; i++) {
        const tl_insn_what what = tl_insn_what_is(&r->classes, b->cls[i]);
        if (what != TL_IS_LOAD && what != TL_IS_STORE)
            continue;
        const uint64_t n = tl_access_units(b->key[i], b->aux[i], shift);
        accesses += n;
        for (uint64_t k = 0; k < n; k++)
            if (TL_UNLIKELY(!look(r, tl_access_unit(b->key[i], k, shift))))
                return fail(r, e);
    }
    r->accesses += accesses;
    return 0;
}

static int merge(void *into, void *from, tl_error *e)
{
    tl_reuse *r = into;
    const tl_reuse *o = from;
    r->accesses += o->accesses;
    r->looked += o->looked;
    r->cold += o->cold;
    for (unsigned i = 0; i < TL_REUSE_BUCKETS; i++)
        r->bucket[i] += o->bucket[i];
    tl_reuse_reset(&r->stack);
    return tl_reuse_add_lines(&r->stack, &o->stack) ? 0 : fail(r, e);
}

static void fini(void *table)
{
    tl_reuse *r = table;
    tl_reuse_fini(&r->stack);
    memset(r, 0, sizeof *r);
}

uint64_t tl_reuse_misses(const tl_reuse *r, unsigned log2_lines)
{
    uint64_t misses = r->cold;
    for (unsigned i = log2_lines + 1; i < TL_REUSE_BUCKETS; i++)
        misses += r->bucket[i];
    return misses;
}

const tl_insn_table tl_reuse_table = {
    .size = sizeof(tl_reuse), .init = init, .begin = begin, .events = events, .merge = merge, .fini = fini};

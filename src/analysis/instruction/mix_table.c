/* Counts instructions by level and class, and accesses by width. */
#include "analysis/instruction/mix_table.h"

#include <string.h>

static int mix_init(void *table, const void *options, tl_error *e)
{
    tl_mix *m = table;
    (void)options;
    (void)e;
    const a64_class zero = a64_class_of(0); /* what is in `recent` now */
    for (unsigned i = 0; i < TL_MIX_RECENT; i++)
        m->recent[i].cls = zero;
    return 0;
}

static int mix_begin(void *table, const tl_trace *t, tl_error *e)
{
    tl_mix *m = table;
    (void)e;
    tl_insn_classes_find(&m->classes, t);
    return 0;
}

TL_ALWAYS_INLINE uint32_t class_of(tl_mix *m, uint32_t opcode)
{
    const uint32_t at = opcode * 0x9e3779b1u / (UINT32_MAX / TL_MIX_RECENT + 1);
    if (TL_UNLIKELY(m->recent[at].opcode != opcode)) {
        m->recent[at].opcode = opcode;
        m->recent[at].cls = a64_class_of(opcode);
    }
    return m->recent[at].cls;
}

static void add_access(tl_mix_accesses *a, uint64_t bytes)
{
    const unsigned bits = bytes > 1 ? 64 - (unsigned)__builtin_clzll(bytes - 1) : 0;
    a->tokens++;
    a->bytes += bytes;
    a->width[bits < TL_MIX_WIDTHS ? bits : TL_MIX_WIDTHS - 1]++;
}

static int mix_events(void *table, const tl_batch *b, uint32_t from, uint32_t to, bool gap, tl_error *e)
{
    tl_mix *m = table;
    const uint64_t *const aux = b->aux;
    tl_insn_picked insns, others;
    (void)gap;
    (void)e;
    const uint32_t n = tl_insn_pick(&m->classes, b, from, to, &insns, &others), rest = to - from - n;
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t insn = aux[insns.at[k]];
        m->insns[tl_insn_level(insn)][class_of(m, tl_insn_opcode(insn))]++;
        m->without_pc += !tl_insn_has_pc(insn);
    }
    for (uint32_t k = 0; k < rest; k++) {
        const uint32_t i = others.at[k];
        const tl_insn_what what = tl_insn_what_is(&m->classes, b->cls[i]);
        if (what == TL_IS_LOAD)
            add_access(&m->load, aux[i]);
        else if (what == TL_IS_STORE)
            add_access(&m->store, aux[i]);
    }
    return 0;
}

static void merge_accesses(tl_mix_accesses *into, const tl_mix_accesses *from)
{
    into->tokens += from->tokens;
    into->bytes += from->bytes;
    for (unsigned i = 0; i < TL_MIX_WIDTHS; i++)
        into->width[i] += from->width[i];
}

static int mix_merge(void *into, void *from, tl_error *e)
{
    tl_mix *m = into;
    const tl_mix *other = from;
    (void)e;
    for (unsigned level = 0; level < TL_INSN_LEVELS; level++)
        for (unsigned i = 0; i < A64_CLASSES; i++)
            m->insns[level][i] += other->insns[level][i];
    m->without_pc += other->without_pc;
    merge_accesses(&m->load, &other->load);
    merge_accesses(&m->store, &other->store);
    return 0;
}

static void mix_fini(void *table)
{
    (void)table; /* holds no memory */
}

const tl_insn_table tl_mix_table = {.size = sizeof(tl_mix),
                                    .init = mix_init,
                                    .begin = mix_begin,
                                    .events = mix_events,
                                    .merge = mix_merge,
                                    .fini = mix_fini};

static bool is_before(const tl_mix_row *a, const tl_mix_row *b)
{
    if (a->insns != b->insns)
        return a->insns > b->insns;
    return strcmp(a64_class_name(a->cls), a64_class_name(b->cls)) < 0;
}

unsigned tl_mix_rows(const tl_mix *m, tl_mix_row row[static A64_CLASSES])
{
    unsigned n = 0;
    for (unsigned c = 0; c < A64_CLASSES; c++) {
        tl_mix_row new = {.cls = (a64_class)c};
        for (unsigned level = 0; level < TL_INSN_LEVELS; level++)
            new.insns += m->insns[level][c];
        if (!new.insns)
            continue;
        unsigned at = n++;
        for (; at > 0 && is_before(&new, &row[at - 1]); at--)
            row[at] = row[at - 1];
        row[at] = new;
    }
    return n;
}

uint64_t tl_mix_level(const tl_mix *m, unsigned level)
{
    uint64_t n = 0;
    for (unsigned c = 0; c < A64_CLASSES; c++)
        n += m->insns[level][c];
    return n;
}

uint64_t tl_mix_insns(const tl_mix *m)
{
    uint64_t n = 0;
    for (unsigned level = 0; level < TL_INSN_LEVELS; level++)
        n += tl_mix_level(m, level);
    return n;
}

/* Counts instructions by level and class, and accesses by width. */
#include "analysis/instruction/mix_table.h"

#include <string.h>

static int mix_begin(void *table, const tl_trace *t, tl_error *e)
{
    tl_mix *m = table;
    (void)e;
    tl_insn_classes_find(&m->classes, t);
    return 0;
}

/* Where an event is counted: instructions by level, then loads, stores, and everything else. */
enum { BANK_LOAD = TL_INSN_LEVELS, BANK_STORE, BANK_OTHER, BANKS };
/* By class of instruction, or by width of access. */
#define CELLS 32u

static void add_widths(tl_mix_accesses *a, uint32_t count[2][BANKS][CELLS], unsigned bank)
{
    for (unsigned i = 0; i < CELLS; i++) {
        const uint64_t n = (uint64_t)count[0][bank][i] + count[1][bank][i];
        a->tokens += n;
        a->width[i < TL_MIX_WIDTHS ? i : TL_MIX_WIDTHS - 1] += n;
    }
}

/* The kind of an event is hardly predictable, so as little as possible depends on it: every event adds 1 to some cell.
 * Two sets of cells alternate, because adding to what was just stored has to wait for it. */
static int mix_events(void *table, const tl_batch *b, uint32_t from, uint32_t to, bool gap, tl_error *e)
{
    static const uint8_t bank_of[TL_IS_SNAPSHOT + 1] = {BANK_OTHER, 0,          BANK_LOAD,  BANK_STORE, BANK_OTHER,
                                                        BANK_OTHER, BANK_OTHER, BANK_OTHER, BANK_OTHER, BANK_OTHER,
                                                        BANK_OTHER, BANK_OTHER, BANK_OTHER, BANK_OTHER, BANK_OTHER};
    tl_mix *m = table;
    uint32_t count[2][BANKS][CELLS] = {0};
    uint64_t loaded = 0, stored = 0, without_pc = 0;
    (void)gap;
    (void)e;
    for (uint32_t i = from; i < to; i++) {
        const uint64_t v = b->aux[i];
        const tl_insn_what what = tl_insn_what_is(&m->classes, b->cls[i]);
        const bool insn = what == TL_IS_INSN, load = what == TL_IS_LOAD, store = what == TL_IS_STORE;
        /* 0 for 0 and 1, otherwise the number of bits of v - 1 */
        const unsigned bits = 63u - (unsigned)__builtin_clzll(2 * (v - (v > 0)) + 1);
        const unsigned width = bits < CELLS ? bits : CELLS - 1;
        const unsigned cls = a64_class_quick(tl_insn_opcode(v)); /* for an access: of an arbitrary word, not used */
        const unsigned cell = insn ? cls : width;
        const unsigned bank = insn ? tl_insn_level(v) : bank_of[what];
        count[i & 1][bank][cell]++;
        loaded += load ? v : 0;
        stored += store ? v : 0;
        without_pc += insn && !tl_insn_has_pc(v);
    }
    for (unsigned level = 0; level < TL_INSN_LEVELS; level++)
        for (unsigned i = 0; i < A64_CLASSES; i++)
            m->insns[level][i] += (uint64_t)count[0][level][i] + count[1][level][i];
    m->without_pc += without_pc;
    m->load.bytes += loaded;
    m->store.bytes += stored;
    add_widths(&m->load, count, BANK_LOAD);
    add_widths(&m->store, count, BANK_STORE);
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

const tl_insn_table tl_mix_table = {
    .size = sizeof(tl_mix), .begin = mix_begin, .events = mix_events, .merge = mix_merge, .fini = mix_fini};

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

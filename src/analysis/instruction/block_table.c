/* Counts basic blocks: looks at instructions only to find the ends of blocks, and counts blocks as they end. */
#include "analysis/instruction/block_table.h"

#include <stdlib.h>

#include "base/grow.h"

static int add_executions(tl_blocks *b, uint64_t start, uint64_t length, uint64_t n, tl_error *e)
{
    uint32_t index = tl_pair_map_get(&b->map, start, length);
    if (TL_UNLIKELY(index == TL_HASH_NONE)) {
        if (TL_GROW(b->executions, b->map.n, 1, b->capacity))
            index = tl_pair_map_add(&b->map, start, length, TL_BLOCKS_MAX);
        if (index == TL_HASH_NONE)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for more than %u different blocks", b->map.n);
        b->executions[index] = 0;
    }
    b->executions[index] += n;
    return 0;
}

/* Ends the open block. */
TL_ALWAYS_INLINE int close_block(tl_blocks *b, tl_error *e)
{
    const uint64_t start = b->start, length = b->length;
    b->length = 0;
    b->insns += length;
    if (length == 0)
        return 0;
    if (!b->has_pc) {
        b->without_pc += length;
        return 0;
    }
    uint32_t *const recent = &b->recent[(start >> 2 ^ length << 4) % TL_BLOCKS_RECENT];
    if (TL_LIKELY(*recent < b->map.n && b->map.pair[*recent].a == start && b->map.pair[*recent].b == length)) {
        b->executions[*recent]++;
        return 0;
    }
    const int status = add_executions(b, start, length, 1, e);
    if (status == 0)
        *recent = tl_pair_map_get(&b->map, start, length);
    return status;
}

static int blocks_end(void *table, tl_error *e)
{
    tl_blocks *b = table;
    b->cutter = (a64_cutter){0};
    return close_block(b, e);
}

static int blocks_begin(void *table, const tl_trace *t, tl_error *e)
{
    tl_blocks *b = table;
    tl_insn_classes_find(&b->classes, t);
    return blocks_end(b, e);
}

static int blocks_events(void *table, const tl_batch *batch, uint32_t from, uint32_t to, bool gap, tl_error *e)
{
    tl_blocks *b = table;
    const uint64_t *const aux = batch->aux, *const pc = batch->key;
    int status = gap ? blocks_end(b, e) : 0;
    tl_insn_picked picked;
    const uint32_t n = tl_insn_pick(&b->classes, batch, from, to, &picked, NULL);
    a64_cutter cutter = b->cutter;
    uint64_t length = b->length;
    for (uint32_t k = 0; status == 0 && k < n; k++) {
        const uint32_t i = picked.at[k];
        const bool has_pc = tl_insn_has_pc(aux[i]);
        if (a64_cutter_step(&cutter, has_pc, pc[i], tl_insn_level(aux[i]), a64_block_class(tl_insn_opcode(aux[i])))) {
            b->length = length;
            status = close_block(b, e);
            b->start = pc[i];
            b->has_pc = has_pc;
            length = 0;
        }
        length++;
    }
    b->length = length;
    b->cutter = cutter;
    return status;
}

static int blocks_merge(void *into, void *from, tl_error *e)
{
    tl_blocks *b = into;
    const tl_blocks *other = from;
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < other->map.n; i++)
        status = add_executions(b, other->map.pair[i].a, other->map.pair[i].b, other->executions[i], e);
    b->without_pc += other->without_pc;
    b->insns += other->insns;
    return status;
}

static void blocks_fini(void *table)
{
    tl_blocks *b = table;
    tl_pair_map_fini(&b->map);
    free(b->executions);
    b->executions = NULL;
}

const tl_insn_table tl_blocks_table = {.size = sizeof(tl_blocks),
                                       .begin = blocks_begin,
                                       .events = blocks_events,
                                       .end = blocks_end,
                                       .merge = blocks_merge,
                                       .fini = blocks_fini};

static int compare(const void *left, const void *right)
{
    const tl_insn_block *a = left, *b = right;
    const uint64_t insns = a->executions * a->length, others = b->executions * b->length;
    if (insns != others)
        return insns > others ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return TL_COMPARE(a->length, b->length);
}

tl_insn_block *tl_blocks_rows(const tl_blocks *b)
{
    tl_insn_block *row = tl_alloc((size_t)b->map.n + 1, sizeof *row);
    if (!row)
        return NULL;
    for (uint32_t i = 0; i < b->map.n; i++)
        row[i] = (tl_insn_block){b->map.pair[i].a, b->map.pair[i].b, b->executions[i]};
    qsort(row, b->map.n, sizeof *row, compare);
    return row;
}

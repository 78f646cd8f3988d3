/* Counts branches: the instruction after each shows where it went. */
#include "analysis/instruction/branch_table.h"

#include <stdlib.h>

#include "base/grow.h"
#include "isa/a64_block.h"

static int branches_init(void *table, const void *options, tl_error *e)
{
    tl_branches *b = table;
    const tl_predictor_list *list = options;
    int status = 0;
    for (unsigned i = 0; list && status == 0 && i < list->n; i++) {
        status = tl_predictor_init(&b->predictor[i], &list->model[i], e);
        b->npredictor++;
    }
    return status;
}

static int branches_begin(void *table, const tl_trace *t, tl_error *e)
{
    tl_branches *b = table;
    (void)e;
    tl_insn_classes_find(&b->classes, t);
    for (unsigned i = 0; i < b->npredictor; i++)
        tl_predictor_forget(&b->predictor[i]);
    b->open.is = false;
    return 0;
}

/* A stream has ended: the outcome of a final branch is unknown. */
static int branches_end(void *table, tl_error *e)
{
    tl_branches *b = table;
    (void)e;
    b->without += b->open.is;
    b->open.is = false;
    return 0;
}

static int no_memory(const tl_branches *b, tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for more than %u different branches", b->n);
}

/* A row for a new pc. */
static TL_NOINLINE int add_row(tl_branches *b, const tl_branch *new, uint32_t *row, tl_error *e)
{
    if (b->n >= TL_BRANCHES_MAX || !TL_GROW(b->row, b->n, 1, b->capacity))
        return no_memory(b, e);
    if (b->npredictor > 0 && b->n == b->nmiss &&
        !tl_grow_to(&b->miss, &b->nmiss, sizeof b->nmiss, b->n, TL_BRANCHES_MAX, b->npredictor * sizeof *b->miss))
        return no_memory(b, e);
    if (!tl_hash_put(&b->index, new->pc, b->n))
        return no_memory(b, e);
    *row = b->n;
    b->row[b->n++] = *new;
    return 0;
}

/* The row of a pc. Of several kinds, the first one in the lowest track counts, whichever thread read it. */
TL_ALWAYS_INLINE int find_row(tl_branches *b, const tl_branch *like, uint32_t *row, tl_error *e)
{
    *row = tl_hash_get(&b->index, like->pc);
    if (TL_UNLIKELY(*row == TL_HASH_NONE))
        return add_row(b, like, row, e);
    tl_branch *r = &b->row[*row];
    if (TL_UNLIKELY(r->first_track > like->first_track ||
                    (r->first_track == like->first_track && r->first_ts > like->first_ts))) {
        r->first_track = like->first_track;
        r->first_ts = like->first_ts;
        r->kind = like->kind;
    }
    return 0;
}

static int add_target(tl_branches *b, uint64_t pc, uint64_t target, uint64_t times, tl_error *e)
{
    uint32_t index = tl_pair_map_get(&b->to, pc, target);
    if (TL_UNLIKELY(index == TL_HASH_NONE)) {
        if (TL_GROW(b->times, b->to.n, 1, b->ntimes))
            index = tl_pair_map_add(&b->to, pc, target, TL_BRANCH_TARGETS_MAX);
        if (index == TL_HASH_NONE)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for more than %u targets of branches", b->to.n);
        b->times[index] = 0;
    }
    b->times[index] += times;
    return 0;
}

static bool is_to_register(unsigned kind)
{
    return kind == A64_INDIRECT || kind == A64_INDIRECT_CALL || kind == A64_RETURN;
}

/* The open branch went to `target`. */
static int close_branch(tl_branches *b, uint64_t target, tl_error *e)
{
    const tl_branch like = {
        .pc = b->open.pc, .first_ts = b->open.ts, .first_track = b->open.track, .kind = b->open.kind};
    const bool taken = b->open.kind != A64_COND || target != b->open.pc + 4;
    uint32_t row;
    int status = find_row(b, &like, &row, e);
    if (status < 0)
        return status;
    b->row[row].taken += taken;
    b->row[row].not_taken += !taken;
    for (unsigned i = 0; i < b->npredictor; i++)
        if (tl_predictor_step(&b->predictor[i], like.pc, (a64_class)like.kind, taken, target))
            b->miss[(size_t)row * b->npredictor + i]++;
    return is_to_register(like.kind) ? add_target(b, like.pc, target, 1, e) : 0;
}

static int branches_events(void *table, const tl_batch *batch, uint32_t from, uint32_t to, bool gap, tl_error *e)
{
    tl_branches *b = table;
    const uint64_t *const aux = batch->aux, *const pc = batch->key;
    int status = gap ? branches_end(b, e) : 0;
    tl_insn_picked picked;
    const uint32_t n = tl_insn_pick(&b->classes, batch, from, to, &picked, NULL);
    b->insns += n;
    for (uint32_t k = 0; status == 0 && k < n; k++) {
        const uint32_t i = picked.at[k];
        if (b->open.is) {
            b->open.is = false;
            if (tl_insn_has_pc(aux[i]) && tl_insn_level(aux[i]) == b->open.level)
                status = close_branch(b, pc[i], e);
            else
                b->without++;
        }
        const a64_class kind = a64_block_class(tl_insn_opcode(aux[i]));
        if (!a64_is_branch(kind))
            continue;
        if (!tl_insn_has_pc(aux[i])) {
            b->without++;
            continue;
        }
        b->open.is = true;
        b->open.kind = (uint8_t)kind;
        b->open.level = (uint8_t)tl_insn_level(aux[i]);
        b->open.track = batch->track[i];
        b->open.pc = pc[i];
        b->open.ts = batch->ts[i];
    }
    return status;
}

static int branches_merge(void *into, void *from, tl_error *e)
{
    tl_branches *b = into;
    const tl_branches *other = from;
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < other->n; i++) {
        const tl_branch *theirs = &other->row[i];
        tl_branch like = *theirs;
        uint32_t row;
        like.taken = like.not_taken = 0;
        status = find_row(b, &like, &row, e);
        if (status < 0)
            break;
        b->row[row].taken += theirs->taken;
        b->row[row].not_taken += theirs->not_taken;
        for (unsigned k = 0; k < b->npredictor; k++)
            b->miss[(size_t)row * b->npredictor + k] += other->miss[(size_t)i * b->npredictor + k];
    }
    for (uint32_t i = 0; status == 0 && i < other->to.n; i++)
        status = add_target(b, other->to.pair[i].a, other->to.pair[i].b, other->times[i], e);
    for (unsigned i = 0; i < b->npredictor; i++) {
        b->predictor[i].branches += other->predictor[i].branches;
        b->predictor[i].misses += other->predictor[i].misses;
    }
    b->insns += other->insns;
    b->without += other->without;
    return status;
}

static void branches_fini(void *table)
{
    tl_branches *b = table;
    for (unsigned i = 0; i < TL_PREDICTORS; i++)
        tl_predictor_fini(&b->predictor[i]);
    tl_hash_fini(&b->index);
    tl_pair_map_fini(&b->to);
    free(b->row);
    free(b->times);
    free(b->miss);
    *b = (tl_branches){0};
}

const tl_insn_table tl_branches_table = {.size = sizeof(tl_branches),
                                         .init = branches_init,
                                         .begin = branches_begin,
                                         .events = branches_events,
                                         .end = branches_end,
                                         .merge = branches_merge,
                                         .fini = branches_fini};

/* A row number and its sort key. */
typedef struct sorted {
    uint64_t misses, times, pc;
    uint32_t row;
} sorted;

static int compare(const void *left, const void *right)
{
    const sorted *a = left, *b = right;
    if (a->misses != b->misses)
        return a->misses > b->misses ? -1 : 1;
    if (a->times != b->times)
        return a->times > b->times ? -1 : 1;
    return TL_COMPARE(a->pc, b->pc);
}

static uint64_t most_misses(const tl_branches *b, uint32_t row)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < b->npredictor; i++) {
        const uint64_t n = b->miss[(size_t)row * b->npredictor + i];
        most = n > most ? n : most;
    }
    return most;
}

uint32_t *tl_branches_order(const tl_branches *b, bool by_misses)
{
    uint32_t *order = tl_alloc((size_t)b->n + 1, sizeof *order);
    sorted *by = tl_alloc((size_t)b->n + 1, sizeof *by);
    if (!order || !by) {
        free(order);
        free(by);
        return NULL;
    }
    for (uint32_t i = 0; i < b->n; i++)
        by[i] = (sorted){.misses = by_misses ? most_misses(b, i) : 0,
                         .times = b->row[i].taken + b->row[i].not_taken,
                         .pc = b->row[i].pc,
                         .row = i};
    qsort(by, b->n, sizeof *by, compare);
    for (uint32_t i = 0; i < b->n; i++)
        order[i] = by[i].row;
    free(by);
    return order;
}

tl_branch_targets *tl_branches_targets(const tl_branches *b)
{
    tl_branch_targets *t = calloc((size_t)b->n + 1, sizeof *t);
    for (uint32_t i = 0; t && i < b->to.n; i++) {
        tl_branch_targets *of = &t[tl_hash_get(&b->index, b->to.pair[i].a)];
        const uint64_t target = b->to.pair[i].b, times = b->times[i];
        if (!of->distinct++ || times > of->times || (times == of->times && target < of->most)) {
            of->most = target;
            of->times = times;
        }
    }
    return t;
}

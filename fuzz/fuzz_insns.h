/* What the fuzz targets of instruction streams check about an open source: values, parts of it, every table, and
 * writing. */
#ifndef TL_FUZZ_INSNS_H
#define TL_FUZZ_INSNS_H

#include <string.h>

#include "analysis/instruction/block_table.h"
#include "analysis/instruction/branch_table.h"
#include "analysis/instruction/cache_table.h"
#include "analysis/instruction/machine_state.h"
#include "analysis/instruction/mix_table.h"
#include "analysis/instruction/page_table.h"
#include "analysis/instruction/reuse_table.h"
#include "analysis/instruction/snapshot_find.h"
#include "analysis/instruction/syscall_table.h"
#include "analysis/instruction/thread_insn_table.h"
#include "fuzz_promises.h"
#include "fuzz_write.h"
#include "model/field_text.h"
#include "op/source_impl.h"

enum { INSNS_WRITTEN = 4000 /* values: writing is the slow part */ };

/* ------------------------------------------------------------------------------------------------------- reading */

static void insns_values(tl_source *s)
{
    const tl_trace *t = tl_source_trace(s);
    const tl_batch *b;
    tl_error e;
    while (tl_source_next(s, &b, &e) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            const tl_class *c = tl_trace_class(t, b->cls[i]);
            const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
            for (uint32_t f = 0; f < c->nfield; f++) {
                promise(v < end, "every field has its value");
                v = tl_value_skip(v, end);
            }
            promise(v == end, "and there are no others");
        }
}

static void insns_damages(const tl_source *s, size_t size)
{
    const tl_trace *t = tl_source_trace(s);
    const uint64_t content = tl_trace_bytes(t) > size ? tl_trace_bytes(t) : size; /* files may be compressed */
    for (uint32_t i = 0; i < tl_trace_damages(t); i++) {
        const tl_damage *d = tl_trace_damage(t, i);
        promise(d->offset <= content && d->bytes <= content - d->offset, "damage lies in the file");
    }
}

/* -------------------------------------------------------------------------------------------------------- tables */

static bool insns_pass(void *table, const tl_insn_table *how, const void *options, tl_source *s)
{
    tl_error e = {0};
    const int status = tl_insn_pass(table, how, options, true, s, NULL, 1, &e);
    promise(status >= 0 || e.code == status, "an error carries the code that is returned");
    return status >= 0;
}

/* Each table that counts instructions counts all of them. */
static void insns_flow(tl_source *s)
{
    static tl_mix mix;
    static tl_blocks blocks;
    static tl_branches branches;
    static tl_threads_insns threads;
    tl_predictor_list list;
    char message[200];
    promise(tl_predictor_parse(&list, "bimodal:4,gshare:4:3,ras:2,btb:2", message, sizeof message), "a list is one");
    if (insns_pass(&mix, &tl_mix_table, NULL, s)) {
        const uint64_t insns = tl_mix_insns(&mix);
        if (insns_pass(&blocks, &tl_blocks_table, NULL, s)) {
            tl_insn_block *row = tl_blocks_rows(&blocks);
            uint64_t sum = blocks.without_pc;
            for (uint32_t i = 0; row && i < blocks.map.n; i++)
                sum += row[i].length * row[i].executions;
            promise(sum == insns && blocks.insns == insns, "every instruction is in a block");
            free(row);
        }
        tl_blocks_table.fini(&blocks);
        if (insns_pass(&branches, &tl_branches_table, &list, s)) {
            promise(branches.insns == insns, "branches are instructions");
            free(tl_branches_order(&branches, true));
            free(tl_branches_targets(&branches));
        }
        tl_branches_table.fini(&branches);
        if (insns_pass(&threads, &tl_threads_insns_table, NULL, s)) {
            uint64_t sum = 0;
            for (uint32_t i = 0; i < threads.n; i++)
                sum += tl_thread_insns_all(&threads.row[i]);
            promise(sum == insns, "every instruction is of a thread");
        }
        tl_threads_insns_table.fini(&threads);
    }
    if (tl_mix_table.fini)
        tl_mix_table.fini(&mix);
}

static void insns_memory(tl_source *s, size_t choice)
{
    static tl_pages pages;
    static tl_reuse reuse;
    static tl_caches caches;
    static tl_syscalls calls;
    const tl_page_options intervals = {.interval = choice % 3 * 7};
    const tl_reuse_options lines = {.line_size = 16u << choice % 5, .sample = 1u << choice % 3};
    tl_cache_setup setup = tl_cache_default;
    promise(tl_cache_setup_parse(&setup, "l1i=1K:2:64,l1d=1K:2:64,l2=4K:4:64,itlb=4,dtlb=4,l2tlb=8:2", NULL) == 0,
            "a setup is one");
    if (insns_pass(&pages, &tl_page_table, &intervals, s)) {
        uint32_t n;
        free(tl_pages_sort(&pages, true));
        free(tl_pages_sort_intervals(&pages));
        free(tl_pages_regions(&pages, &n));
    }
    tl_page_table.fini(&pages);
    if (insns_pass(&reuse, &tl_reuse_table, &lines, s))
        for (unsigned i = 1; i < 40; i++)
            promise(tl_reuse_misses(&reuse, i) <= tl_reuse_misses(&reuse, i - 1), "a larger cache misses no more");
    tl_reuse_table.fini(&reuse);
    if (insns_pass(&caches, &tl_cache_table, &setup, s))
        free(tl_caches_sort(&caches));
    tl_cache_table.fini(&caches);
    if (insns_pass(&calls, &tl_syscall_list_table, &(tl_syscall_options){.list = true}, s)) {
        free(tl_syscalls_sort(&calls));
        free(tl_syscalls_sort_list(&calls));
    }
    tl_syscall_list_table.fini(&calls);
}

/* The known state of the machine at some place, and where slices would begin. */
static void insns_state(tl_source *s, size_t choice)
{
    static tl_machine machine;
    uint64_t ts;
    tl_error e;
    tl_machine_at(&machine, s, NULL, choice % 40, &e);
    tl_machine_fini(&machine);
    tl_snapshot_find(s, NULL, choice % 5, &ts, &e);
}

/* ------------------------------------------------------------------------------------------------------- writing */

static uint8_t *insns_written(tl_source *s, const char *name, size_t *n)
{
    return fuzz_written(s, &(tl_write_options){.to = name, .interval = 50}, INSNS_WRITTEN, n);
}

/* Our output is read without damage, and writing it again gives the same bytes. */
static void insns_again(tl_source *s, const char *name)
{
    const tl_open_options options = {.from = "xtrace", .want = {.fields = true, .cpu = true}};
    size_t n = 0, m = 0;
    tl_source *again = NULL;
    tl_error e;
    uint8_t *once = insns_written(s, "xtrace", &n), *twice = NULL;
    if (once && tl_source_open_memory(&again, once, n, name, &options, &e) >= 0) {
        fuzz_iterate(again);
        promise(tl_trace_damages(tl_source_trace(again)) == 0, "what was written is not damaged");
        twice = insns_written(again, "xtrace", &m);
        const size_t both = m < n ? m : n; /* the second may have been cut off at another place */
        promise(!twice || both == 0 || memcmp(once, twice, both) == 0, "what was written is written again");
    }
    tl_source_close(again);
    free(once);
    free(twice);
}

/* Another format for each input, since each takes long. `name`: of a file of the written kind, or NULL. */
static void insns_write(tl_source *s, const char *name, size_t choice)
{
    static const char *const writers[] = {"champsim", "drmemtrace", "simpoint", "listing", "jsonl", "csv", "text"};
    size_t n;
    free(insns_written(s, writers[choice % (sizeof writers / sizeof *writers)], &n));
    if (name)
        insns_again(s, name);
}

#endif

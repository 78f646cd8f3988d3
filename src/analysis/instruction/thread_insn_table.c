/* Counts what each track executed. */
#include "analysis/instruction/thread_insn_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "isa/a64_block.h"

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of threads");
}

/* The row of a track by its identity, made if needed. `what`: its name, and what its tid numbers. */
static int find_row(tl_threads_insns *t, const tl_thread_insns *what, uint32_t *row, tl_error *e)
{
    /* The number follows the last newline, so that no two tracks have one key. */
    const char *const name = what->name;
    const size_t n = strlen(name), size = n + 32;
    char *key = malloc(size);
    if (!key)
        return no_memory(e);
    memcpy(key, name, n);
    const int more = what->has_tid || what->is_cpu
                         ? snprintf(key + n, size - n, "\n%s%" PRId64, what->is_cpu ? "c" : "", what->tid)
                         : snprintf(key + n, size - n, "\n");
    const char *kept = tl_strings_get(&t->strings, key, n + (size_t)more);
    free(key);
    if (!kept)
        return no_memory(e);
    *row = tl_hash_get(&t->index, (uintptr_t)kept);
    if (*row != TL_HASH_NONE)
        return 0;
    const char *own = tl_strings_get(&t->strings, name, n);
    if (!own || !TL_GROW(t->row, t->n, 1, t->capacity) || !tl_hash_put(&t->index, (uintptr_t)kept, t->n))
        return no_memory(e);
    *row = t->n;
    t->row[t->n++] = (tl_thread_insns){.name = own, .tid = what->tid, .has_tid = what->has_tid, .is_cpu = what->is_cpu};
    return 0;
}

static int threads_begin(void *table, const tl_trace *trace, tl_error *e)
{
    tl_threads_insns *t = table;
    (void)e;
    tl_insn_classes_find(&t->classes, trace);
    t->trace = trace;
    t->current = TL_HASH_NONE;
    t->in_call = false;
    return 0;
}

/* Switches to the events of another track. */
static int turn_to(tl_threads_insns *t, uint32_t track, tl_error *e)
{
    const tl_track *of = tl_trace_track(t->trace, track);
    t->track = track;
    t->in_call = false;
    const bool is_cpu = of && of->is_cpu, has_tid = of && of->has_tid && !is_cpu;
    const tl_thread_insns what = {.name = of && of->name ? of->name : "?",
                                  .tid = has_tid || is_cpu ? of->tid : 0,
                                  .has_tid = has_tid,
                                  .is_cpu = is_cpu};
    return find_row(t, &what, &t->current, e);
}

static int threads_events(void *table, const tl_batch *b, uint32_t from, uint32_t to, bool gap, tl_error *e)
{
    tl_threads_insns *t = table;
    const uint64_t *const aux = b->aux;
    int status = 0;
    if (gap)
        t->in_call = false;
    for (uint32_t i = from; i < to; i++) {
        const tl_insn_what what = tl_insn_what_is(&t->classes, b->cls[i]);
        if (what == TL_IS_SNAPSHOT)
            continue;
        if (TL_UNLIKELY(b->track[i] != t->track || t->current == TL_HASH_NONE) &&
            (status = turn_to(t, b->track[i], e)) < 0)
            return status;
        tl_thread_insns *row = &t->row[t->current];
        const bool before = t->in_call;
        t->in_call = what == TL_IS_CALL_ARGUMENT;
        switch (what) {
        case TL_IS_INSN:
            row->level[tl_insn_level(aux[i])]++;
            row->branches += a64_is_branch(a64_block_class(tl_insn_opcode(aux[i])));
            break;
        case TL_IS_LOAD:
            row->loads++;
            row->load_bytes += aux[i];
            break;
        case TL_IS_STORE:
            row->stores++;
            row->store_bytes += aux[i];
            break;
        case TL_IS_CALL_ARGUMENT:
            row->calls += !before;
            break;
        default:
            break;
        }
    }
    return 0;
}

static int threads_merge(void *into, void *from, tl_error *e)
{
    tl_threads_insns *t = into;
    const tl_threads_insns *other = from;
    for (uint32_t i = 0; i < other->n; i++) {
        const tl_thread_insns *theirs = &other->row[i];
        uint32_t at;
        const int status = find_row(t, theirs, &at, e);
        if (status < 0)
            return status;
        tl_thread_insns *row = &t->row[at];
        for (unsigned level = 0; level < TL_INSN_LEVELS; level++)
            row->level[level] += theirs->level[level];
        row->loads += theirs->loads;
        row->load_bytes += theirs->load_bytes;
        row->stores += theirs->stores;
        row->store_bytes += theirs->store_bytes;
        row->branches += theirs->branches;
        row->calls += theirs->calls;
    }
    return 0;
}

static void threads_fini(void *table)
{
    tl_threads_insns *t = table;
    tl_strings_fini(&t->strings);
    tl_hash_fini(&t->index);
    free(t->row);
    t->row = NULL;
}

const tl_insn_table tl_threads_insns_table = {.size = sizeof(tl_threads_insns),
                                              .begin = threads_begin,
                                              .events = threads_events,
                                              .merge = threads_merge,
                                              .fini = threads_fini};

uint64_t tl_thread_insns_all(const tl_thread_insns *t)
{
    uint64_t n = 0;
    for (unsigned level = 0; level < TL_INSN_LEVELS; level++)
        n += t->level[level];
    return n;
}

static int compare(const void *left, const void *right)
{
    const tl_thread_insns *a = left, *b = right;
    const uint64_t insns = tl_thread_insns_all(a), others = tl_thread_insns_all(b);
    if (insns != others)
        return insns > others ? -1 : 1;
    const int by_name = strcmp(a->name, b->name);
    if (by_name != 0)
        return by_name;
    if (a->is_cpu != b->is_cpu)
        return a->is_cpu ? 1 : -1;
    return a->has_tid != b->has_tid ? (a->has_tid ? 1 : -1) : TL_COMPARE(a->tid, b->tid);
}

tl_thread_insns *tl_threads_insns_rows(const tl_threads_insns *t)
{
    tl_thread_insns *row = tl_alloc((size_t)t->n + 1, sizeof *row);
    if (!row)
        return NULL;
    if (t->n > 0)
        memcpy(row, t->row, t->n * sizeof *row);
    qsort(row, t->n, sizeof *row, compare);
    return row;
}

/* The relation `thread_insns`: what each track of an instruction trace executed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/insn_answer.h"
#include "analysis/instruction/thread_insn_table.h"
#include "base/text/number.h"
#include "model/trace_impl.h"

#define THREAD_ROWS 30u /* on a terminal */

/* Sums over all threads. */
typedef struct totals {
    uint64_t level[TL_INSN_LEVELS], all;
    bool cpus; /* all are processors */
} totals;

static void get_insns(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, tl_thread_insns_all(at->row));
}

static void get_share(const tl_at *at, tl_cell *out)
{
    const totals *t = at->part->answer->detail;
    tl_cell_share(out, (double)tl_thread_insns_all(at->row), (double)t->all);
}

/* If it differs from the name. */
static void get_tid(const tl_at *at, tl_cell *out)
{
    const tl_thread_insns *t = at->row;
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, t->tid);
    if (t->has_tid && strcmp(number, t->name) != 0)
        tl_cell_printf(at, out, "tid %s", number);
}

#define LEVEL(name, title, number)                                                                                     \
    {                                                                                                                  \
        TL_COL(name, title, INTEGER, COUNT, "instructions executed at exception level " #number), "levels." name,      \
            TL_AT(U64, tl_thread_insns, level[number]), .drop = 5                                                      \
    }
enum { NAME, FIRST_LEVEL = 5 }; /* columns */

static const tl_column threads[] = {
    [NAME] = {TL_COL("thread", "thread", TEXT, NONE, "name of the thread or processor"), "name",
              TL_AT(TEXT, tl_thread_insns, name), .role = TL_ROLE_NAME},
    {TL_COL("tid", NULL, INTEGER, NONE, "thread id; null: unknown"), TL_AT(I64, tl_thread_insns, tid),
     TL_ONLY_IF(tl_thread_insns, has_tid)},
    {TL_COL("cpu", NULL, INTEGER, NONE, "number of the processor; null: it is a thread"),
     TL_AT(I64, tl_thread_insns, tid), TL_ONLY_IF(tl_thread_insns, is_cpu), .flags = TL_LEFT_OUT},
    {TL_COL("instructions", "instructions", INTEGER, COUNT, "instructions executed"), .get = get_insns},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), .get = get_share, .flags = TL_WITH_BAR},
    LEVEL("el0", "EL0", 0),
    LEVEL("el1", "EL1", 1),
    LEVEL("el2", "EL2", 2),
    LEVEL("el3", "EL3", 3),
    {TL_COL("loads", "loads", INTEGER, COUNT, "loads executed"), "loads.tokens", TL_AT(U64, tl_thread_insns, loads),
     .drop = 2},
    {TL_COL("load_bytes", "read", INTEGER, BYTES, "bytes loaded"), "loads.bytes",
     TL_AT(U64, tl_thread_insns, load_bytes), .drop = 4},
    {TL_COL("stores", "stores", INTEGER, COUNT, "stores executed"), "stores.tokens",
     TL_AT(U64, tl_thread_insns, stores), .drop = 2},
    {TL_COL("store_bytes", "written", INTEGER, BYTES, "bytes stored"), "stores.bytes",
     TL_AT(U64, tl_thread_insns, store_bytes), .drop = 4},
    {TL_COL("branches", "branches", INTEGER, COUNT, "branches executed"), TL_AT(U64, tl_thread_insns, branches),
     .drop = 3},
    {TL_COL("syscalls", "syscalls", INTEGER, COUNT, "system calls made"), TL_AT(U64, tl_thread_insns, calls),
     .drop = 1},
    {TL_COL(NULL, "tid", TEXT, NONE, NULL), .get = get_tid, .role = TL_ROLE_SUFFIX},
};

static totals *add_up(const tl_threads_insns *t, tl_answer *a)
{
    totals *sum = tl_answer_alloc(a, 1, sizeof *sum);
    if (!sum)
        return NULL;
    sum->cpus = true;
    for (uint32_t i = 0; i < t->n; i++) {
        sum->cpus = sum->cpus && t->row[i].is_cpu;
        sum->all += tl_thread_insns_all(&t->row[i]);
        for (unsigned k = 0; k < TL_INSN_LEVELS; k++)
            sum->level[k] += t->row[i].level[k];
    }
    return sum;
}

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_threads_insns *t = a->table;
    const totals *sum = a->detail;
    tl_say_subject(a, p);
    tl_say_count(p, t->n, sum->cpus ? "processor, " : "thread, ", sum->cpus ? "processors, " : "threads, ");
    tl_say_count(p, sum->all, "instruction", "instructions");
    tl_output_puts(p->out, "\n");
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_threads_insns *t = table;
    const totals *sum = add_up(t, a);
    tl_thread_insns *row = tl_threads_insns_rows(t);
    uint32_t columns = TL_COUNT(threads);
    (void)e;
    tl_answer_own(a, row);
    if (!sum)
        return 0;
    tl_column *column =
        tl_answer_columns(a, threads, &columns, ask->for_programs ? 0 : tl_levels_without(sum->level) << FIRST_LEVEL);
    if (column && sum->cpus)
        column[NAME].info.title = "processor";
    a->unit = "instructions";
    a->head = head;
    a->detail = sum;
    tl_answer_add_top(a, ask, "threads", column, columns, row, sizeof *row, NULL, t->n, THREAD_ROWS,
                      sum->cpus ? "processors" : "threads", 12);
    return 0;
}

const tl_table_kind tl_table_thread_insns = {.info = {"thread", "what each thread executed", TL_NEEDS_INSNS},
                                             .sql = "thread_insns",
                                             .only_of = tl_trace_counts_insns,
                                             .what = "instructions",
                                             .pass = &tl_threads_insns_table,
                                             TL_EMPTY_IF_0(tl_threads_insns, n),
                                             .answer = answer,
                                             TL_TABLE_COLUMNS(threads)};

/* The relation `collections`: garbage collections and their pauses, and the sizes of the heap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/runtime/gc_table.h"
#include "analysis/runtime/runtime_answer.h"
#include "base/compiler.h"
#include "base/text/number.h"

#define LONGEST_ROWS    10u /* on a terminal */
#define LONGEST_IN_FILE 50u /* in other outputs */
#define CHART           32u /* columns of the sizes over time */
#define NAME_COLUMNS    16u /* of a generation, so that the charts are aligned */
#define GENERATIONS     64u /* different names of generations in the table of sizes */

static bool is_empty(const void *table)
{
    const tl_gc *g = table;
    return g->n == 0 && g->nheap == 0 && g->stray_ends == 0;
}

/* ---- for programs ---- */

/* "gen 0-1, LOH, induced" for "ttft": the collected generations, and the reason. */
static void describe(const tl_at *at, tl_cell *out, const char *generations, const char *reason)
{
    char text[128], part[24];
    size_t used = 0;
    unsigned last = 0;
    while (last < 3 && generations[last] == 't')
        last++;
    if (last > 1)
        used += (size_t)snprintf(text, sizeof text, "gen 0%s%u",
                                 at->part->for_people && at->part->answer->unicode ? "–" : "-", last - 1);
    else if (last == 1)
        used += (size_t)snprintf(text, sizeof text, "gen 0");
    for (unsigned i = last; i < 9 && i < strlen(generations); i++) {
        if (generations[i] != 't')
            continue;
        snprintf(part, sizeof part, i == 3 ? "LOH" : "gen %u", i);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", part);
    }
    if (used == 0)
        used += (size_t)snprintf(text, sizeof text, "no generation");
    if (reason)
        snprintf(text + used, sizeof text - used, ", %s", reason);
    tl_cell_printf(at, out, "%s", text);
}

/* For programs; null if there is none. */
static void get_generations(const tl_at *at, tl_cell *out)
{
    const char *generations = ((const tl_collection *)at->row)->generations;
    if (strchr(generations, 't'))
        describe(at, out, generations, NULL);
}

static const tl_column collections[] = {
    {TL_COL("ts", NULL, INTEGER, TIME, "when it began"), "begin", TL_AT(U64, tl_collection, begin)},
    {TL_COL("end_ts", NULL, INTEGER, TIME, "when it ended; null: it did not"), "end", TL_AT(U64, tl_collection, end),
     TL_ONLY_IF(tl_collection, ended)},
    {TL_COL("dur", NULL, INTEGER, TIME, "how long the program stood"), "pause", TL_AT(U64, tl_collection, pause),
     TL_ONLY_IF(tl_collection, ended)},
    {TL_COL("thread", NULL, TEXT, NONE, "the thread that collected"), "track", TL_AT(TEXT, tl_collection, track)},
    {TL_COL("reason", NULL, TEXT, NONE, "induced, or null: memory was needed"), TL_AT(TEXT, tl_collection, reason)},
    {TL_COL("generations", NULL, TEXT, NONE, "what was collected: gen 0-1, LOH"), .get = get_generations,
     .flags = TL_NOT_IN_JSON},
    {.json = "generations", TL_AT(TEXT, tl_collection, generations)}, /* as it always was: "tfff" */
};

static const tl_column counts[] = {
    {TL_COL("induced", NULL, INTEGER, COUNT, "collections that the program asked for"), TL_AT(U64, tl_gc, induced)},
    {TL_COL("by_generation.gen0", NULL, INTEGER, COUNT, "of generation 0"), TL_AT(U64, tl_gc, by_generation[0])},
    {TL_COL("by_generation.gen1", NULL, INTEGER, COUNT, "of generation 1"), TL_AT(U64, tl_gc, by_generation[1])},
    {TL_COL("by_generation.gen2", NULL, INTEGER, COUNT, "of generation 2"), TL_AT(U64, tl_gc, by_generation[2])},
    {TL_COL("by_generation.loh", NULL, INTEGER, COUNT, "of large objects"), TL_AT(U64, tl_gc, by_generation[3])},
};

static const tl_column pauses[] = {TL_QUANTILE_FACTS("pause")};

static const tl_column sizes[] = {
    {TL_COL("name", NULL, TEXT, NONE, "the generation"), TL_AT(TEXT, tl_heap_size, name)},
    {TL_COL("alloc", NULL, INTEGER, BYTES, "in use"), TL_AT(U64, tl_heap_size, used)},
    {TL_COL("reserved", NULL, INTEGER, BYTES, "reserved"), TL_AT(U64, tl_heap_size, reserved)},
};

static void get_sizes(const tl_at *at, tl_cell *out)
{
    const tl_heap_sizes *h = at->row;
    tl_cell_rows(out, h->first, h->n);
}

static const tl_column heap_sizes[] = {
    {TL_COL("ts", NULL, INTEGER, TIME, "when the sizes were recorded"), TL_AT(U64, tl_heap_sizes, ts)},
    {TL_COL("generations", NULL, TEXT, JSON, "the sizes of each generation"), .get = get_sizes},
};

static const tl_column unmatched[] = {TL_UNMATCHED_FACTS(tl_gc)};

/* All collections by time or, with --top, the longest ones, as in the text. */
static int answer_programs(const tl_gc *g, const tl_quantiles *pause, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const uint32_t most = tl_ask_rows(ask, g->n, 0, 0);
    uint32_t *order = NULL, n = g->n;
    int status = most < g->n ? tl_gc_longest(g, most, &order, &n, e) : 0;
    if (status < 0)
        return status;
    if (order)
        tl_answer_own(a, order);
    TL_ADD_ROWS(a, ask, "collections", collections, g->collection, order, n);
    TL_ADD_FACTS(a, ask, counts, g);
    TL_ADD_FACTS(a, ask, pauses, pause);
    TL_ADD_ROWS(a, ask, "heap", heap_sizes, g->heap, NULL, g->nheap)->list = TL_ADD_LIST(a, sizes, g->size);
    TL_ADD_FACTS(a, ask, unmatched, g);
    return 0;
}

/* ---- for people ---- */

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_gc *g = a->table;
    const tl_quantiles *pause = a->detail;
    char text[32];
    tl_say_subject(a, p);
    tl_say_count(p, g->n, "collection", "collections");
    if (g->induced)
        tl_output_printf(p->out, " (%s induced)", tl_human_grouped(text, sizeof text, g->induced));
    tl_output_printf(p->out, ", %s of pauses", tl_answer_time(a, text, sizeof text, tl_sum_u64(pause->total)));
    if (g->span)
        tl_output_printf(p->out, " in %s (%.1f %%)", tl_answer_time(a, text, sizeof text, g->span),
                         100 * tl_sum_double(pause->total) / (double)g->span);
    tl_output_puts(p->out, "\n");
    tl_say_unmatched(p, g->open, g->stray_ends, "not in the pauses");
}

static void get_kind(const tl_at *at, tl_cell *out)
{
    const tl_gc_kind *kind = at->row;
    if (kind->generations)
        describe(at, out, kind->generations, kind->reason);
    else
        tl_cell_text(out, "all");
}

#define PAUSE(title, rank, drop_at)                                                                                    \
    {                                                                                                                  \
        TL_COL(NULL, title, INTEGER, TIME, NULL), .get = get_pause, .which = offsetof(tl_quantiles, rank),             \
                                                  .drop = drop_at                                                      \
    }

static void get_pause(const tl_at *at, tl_cell *out)
{
    const tl_gc_kind *kind = at->row;
    tl_at of = *at;
    of.row = &kind->pause;
    tl_get_quantile(&of, out);
}

static const tl_column kinds[] = {
    {TL_COL(NULL, "count", INTEGER, COUNT, NULL), TL_AT(U64, tl_gc_kind, collections)},
    {TL_COL(NULL, "pauses", INTEGER, TIME, NULL), TL_AT(SUM, tl_gc_kind, pause.total)},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(SUM, tl_gc_kind, pause.total), .flags = TL_WITH_BAR, .drop = 3},
    PAUSE("p50", p50, 1),
    PAUSE("p90", p90, 4),
    PAUSE("p99", p99, 2),
    PAUSE("max", max, 0),
    {TL_COL(NULL, "collected", TEXT, NONE, NULL), .get = get_kind, .role = TL_ROLE_NAME},
};

static void get_length(const tl_at *at, tl_cell *out)
{
    const tl_collection *c = at->row;
    const tl_quantiles *all = at->part->answer->detail;
    tl_cell_share(out, (double)c->pause, (double)all->max);
}

static void get_collection(const tl_at *at, tl_cell *out)
{
    const tl_collection *c = at->row;
    describe(at, out, c->generations, c->reason);
}

static const tl_column longest[] = {
    {TL_COL(NULL, "begin", INTEGER, TIME, NULL), TL_AT(U64, tl_collection, begin)},
    {TL_COL(NULL, "pause", INTEGER, TIME, NULL), TL_AT(U64, tl_collection, pause)},
    {TL_COL(NULL, NULL, REAL, SHARE, NULL), .get = get_length, .role = TL_ROLE_BAR},
    {TL_COL(NULL, "longest pauses", TEXT, NONE, NULL), .get = get_collection, .role = TL_ROLE_NAME},
    {TL_COL(NULL, "thread", TEXT, NONE, NULL), TL_AT(TEXT, tl_collection, track), .role = TL_ROLE_SUFFIX},
};

/* A generation over time. */
typedef struct generation {
    const char *name;
    uint64_t last, max, reserved;
    double share; /* of the largest at the end */
    double chart[CHART];
} generation;

/* Fills g with the generations by name, and returns their number. Charts show the largest size in each column. */
static unsigned find_generations(const tl_gc *gc, generation *g)
{
    const uint64_t first = gc->heap[0].ts, last = gc->heap[gc->nheap - 1].ts, span = last > first ? last - first : 0;
    unsigned n = 0;
    for (uint32_t i = 0; i < gc->nheap; i++) {
        const tl_heap_sizes *h = &gc->heap[i];
        const double share = h->ts > first && span ? (double)(h->ts - first) / (double)span : 0;
        const unsigned column = share < 1 ? (unsigned)(share * CHART) : CHART - 1;
        for (uint32_t k = 0; k < h->n; k++) {
            const tl_heap_size *size = &gc->size[h->first + k];
            unsigned at = 0;
            while (at < n && g[at].name != size->name) /* interned */
                at++;
            if (at == n && n == GENERATIONS)
                continue;
            if (at == n) {
                g[n++] = (generation){.name = size->name};
                for (unsigned c = 0; c < CHART; c++)
                    g[at].chart[c] = -1;
            }
            g[at].last = size->used;
            g[at].reserved = size->reserved;
            g[at].max = size->used > g[at].max ? size->used : g[at].max;
            if ((double)size->used > g[at].chart[column])
                g[at].chart[column] = (double)size->used;
        }
    }
    return n;
}

/* Sizes stay until the next record, and are shown as shares of the largest. */
static void finish_charts(generation *g, unsigned n)
{
    uint64_t max = 0;
    for (unsigned i = 0; i < n; i++)
        max = g[i].max > max ? g[i].max : max;
    for (unsigned i = 0; i < n; i++) {
        double before = -1;
        g[i].share = max ? (double)g[i].last / (double)max : 0;
        for (unsigned c = 0; c < CHART; c++) {
            before = g[i].chart[c] >= 0 ? g[i].chart[c] : before;
            g[i].chart[c] = before < 0 ? -1 : g[i].max ? before / (double)g[i].max : 0;
        }
    }
}

/* Aligned below each other, not directly after the names. */
static void get_chart(const tl_at *at, tl_cell *out)
{
    const generation *g = at->row, *all = at->part->row;
    char spark[4 * CHART + 1];
    const tl_terminal terminal = {.unicode = at->part->answer->unicode};
    size_t widest = 0;
    for (uint64_t i = 0; i < at->part->n; i++)
        widest = strlen(all[i].name) > widest ? strlen(all[i].name) : widest;
    tl_cell_printf(at, out, "%*s%s", widest <= NAME_COLUMNS ? (int)(widest - strlen(g->name)) : 0, "",
                   tl_text_spark(&terminal, spark, g->chart, CHART));
}

static const tl_column generations[] = {
    {TL_COL(NULL, "at end", INTEGER, BYTES, NULL), TL_AT(U64, generation, last)},
    {TL_COL(NULL, NULL, REAL, SHARE, NULL), TL_AT(REAL, generation, share), .role = TL_ROLE_BAR},
    {TL_COL(NULL, "largest", INTEGER, BYTES, NULL), TL_AT(U64, generation, max), .drop = 1},
    {TL_COL(NULL, "reserved", INTEGER, BYTES, NULL), TL_AT(U64, generation, reserved), .drop = 2},
    {TL_COL(NULL, "heap", TEXT, NONE, NULL), TL_AT(TEXT, generation, name), .role = TL_ROLE_NAME},
};

/* With a chart instead of a bar. */
static const tl_column generations_over_time[] = {
    {TL_COL(NULL, "at end", INTEGER, BYTES, NULL), TL_AT(U64, generation, last)},
    {TL_COL(NULL, "largest", INTEGER, BYTES, NULL), TL_AT(U64, generation, max), .drop = 1},
    {TL_COL(NULL, "reserved", INTEGER, BYTES, NULL), TL_AT(U64, generation, reserved), .drop = 2},
    {TL_COL(NULL, "heap", TEXT, NONE, NULL), TL_AT(TEXT, generation, name), .role = TL_ROLE_NAME},
    {TL_COL(NULL, "over time", TEXT, NONE, NULL), .get = get_chart, .role = TL_ROLE_SUFFIX},
};

static void add_generations(const tl_gc *gc, const tl_ask *ask, tl_answer *a)
{
    generation *g = tl_answer_alloc(a, GENERATIONS, sizeof *g);
    if (!g)
        return;
    const unsigned n = find_generations(gc, g);
    finish_charts(g, n);
    tl_part *p = gc->nheap > 1 ? TL_ADD_ROWS(a, ask, NULL, generations_over_time, g, NULL, n)
                               : TL_ADD_ROWS(a, ask, NULL, generations, g, NULL, n);
    p->name_wish = 8;
}

static int add_kinds(const tl_gc *g, const tl_quantiles *all, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    tl_gc_kind *kind = NULL;
    uint32_t n = 0;
    const int status = tl_gc_kinds(g, &kind, &n, e);
    if (status < 0)
        return status;
    tl_answer_own(a, kind);
    if (n > 1)
        kind[n++] = (tl_gc_kind){.collections = g->n, .pause = *all};
    TL_ADD_ROWS(a, ask, NULL, kinds, kind, NULL, n)->name_wish = 24;
    return 0;
}

static int add_longest(const tl_gc *g, const tl_quantiles *all, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const uint32_t ended = all->count < UINT32_MAX ? (uint32_t)all->count : UINT32_MAX;
    uint32_t *order = NULL, n = 0;
    const int status = tl_gc_longest(g, tl_ask_rows(ask, ended, LONGEST_ROWS, LONGEST_IN_FILE), &order, &n, e);
    if (status < 0)
        return status;
    tl_answer_own(a, order);
    tl_part *p = TL_ADD_ROWS(a, ask, NULL, longest, g->collection, order, n);
    p->left_out = ended - n;
    p->of = "pauses";
    p->name_wish = 24;
    return 0;
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_gc *g = table;
    tl_quantiles *pause = tl_answer_alloc(a, 1, sizeof *pause);
    int status = pause ? tl_gc_pauses(g, pause, e) : 0;
    if (status < 0 || !pause)
        return status;
    if (ask->for_programs)
        return answer_programs(g, pause, ask, a, e);
    a->head = head;
    a->detail = pause;
    a->whole = tl_sum_double(pause->total);
    if (g->n)
        status = add_kinds(g, pause, ask, a, e);
    if (status == 0 && pause->count)
        status = add_longest(g, pause, ask, a, e);
    if (status == 0 && g->nheap)
        add_generations(g, ask, a);
    return status;
}

const tl_table_kind tl_table_gc = {.info = {"gc", "garbage collections and their pauses", TL_NEEDS_RUNTIME},
                                   .sql = "collections",
                                   .what = "garbage collections",
                                   .tab = "runtime",
                                   .several = true,
                                   .late = true,
                                   .of_runtime = true,
                                   .size = sizeof(tl_gc),
                                   .read = tl_gc_read,
                                   .empty = is_empty,
                                   .answer = answer,
                                   .fini = tl_gc_fini,
                                   TL_TABLE_COLUMNS(collections)};

/* `report --by gc`: garbage collections and their pauses, and the sizes of the heap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/number.h"
#include "cli/report/report_runtime.h"

#define LONGEST_ROWS 10u /* on a terminal */
#define LONGEST_MOST 50u /* elsewhere */
#define CHART        32u /* columns of the sizes over time */
#define NAME_MOST    16u /* of a generation, for its chart to stand below others */
#define GENERATIONS  64u /* different names of generations in the table of sizes */

static int read_gc(tl_runtime_report *r, tl_source *s, const tl_select *select, tl_error *e)
{
    return tl_gc_read(&r->gc, s, select, e);
}

static bool is_empty(const tl_runtime_report *r)
{
    return r->gc.n == 0 && r->gc.nheap == 0 && r->gc.stray_ends == 0;
}

/* JSON */

static void put_collection(tl_json *j, const tl_collection *c)
{
    tl_json_object(j);
    tl_json_key_u64(j, "begin", c->begin);
    if (c->ended) {
        tl_json_key_u64(j, "end", c->end);
        tl_json_key_u64(j, "pause", c->pause);
    } else {
        tl_json_key_null(j, "end");
        tl_json_key_null(j, "pause");
    }
    tl_json_key_string(j, "track", c->track);
    tl_json_key_string(j, "reason", c->reason);
    tl_json_key_string(j, "generations", c->generations);
    tl_json_object_end(j);
}

/* All of them by time, or the longest that --top asks for, as the text has them. */
static int put_collections(const tl_runtime_report *r, tl_json *j, tl_error *e)
{
    const tl_gc *g = &r->gc;
    const uint32_t most = tl_runtime_json_rows(r, g->n);
    uint32_t *index = NULL, n = 0;
    int status = most < g->n ? tl_gc_longest(g, most, &index, &n, e) : 0;
    if (status < 0)
        return status;
    tl_json_key(j, "collections");
    tl_json_array(j);
    for (uint32_t i = 0; i < (index ? n : g->n); i++)
        put_collection(j, &g->collection[index ? index[i] : i]);
    tl_json_array_end(j);
    free(index);
    return 0;
}

static void put_heap(tl_json *j, const tl_gc *g)
{
    tl_json_key(j, "heap");
    tl_json_array(j);
    for (uint32_t i = 0; i < g->nheap; i++) {
        const tl_heap_sizes *h = &g->heap[i];
        tl_json_object(j);
        tl_json_key_u64(j, "ts", h->ts);
        tl_json_key(j, "generations");
        tl_json_array(j);
        for (uint32_t k = 0; k < h->n; k++) {
            const tl_heap_size *size = &g->size[h->first + k];
            tl_json_object(j);
            tl_json_key_string(j, "name", size->name);
            tl_json_key_u64(j, "alloc", size->used);
            tl_json_key_u64(j, "reserved", size->reserved);
            tl_json_object_end(j);
        }
        tl_json_array_end(j);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
}

static int put_json(tl_runtime_report *r, tl_json *j, tl_error *e)
{
    static const char *const generation[] = {"gen0", "gen1", "gen2", "loh"};
    const tl_gc *g = &r->gc;
    tl_quantiles pause;
    int status = tl_gc_pauses(g, &pause, e);
    if (status < 0)
        return status;
    tl_json_key_string(j, "unit", r->unit);
    status = put_collections(r, j, e);
    if (status < 0)
        return status;
    tl_json_key_u64(j, "induced", g->induced);
    tl_json_key(j, "by_generation");
    tl_json_object(j);
    for (size_t i = 0; i < TL_COUNT(generation); i++)
        tl_json_key_u64(j, generation[i], g->by_generation[i]);
    tl_json_object_end(j);
    tl_runtime_put_quantiles(j, "pause", &pause);
    put_heap(j, g);
    tl_json_key(j, "unmatched");
    tl_json_object(j);
    tl_json_key_u64(j, "ends", g->stray_ends);
    tl_json_key_u64(j, "open", g->open);
    tl_json_object_end(j);
    return 0;
}

/* Text */

/* "gen 0-1, LOH, induced" of "ttft": which generations were collected, and why. */
static const char *describe(const tl_runtime_report *r, tl_text_table *t, const char *generations, const char *reason)
{
    char text[128], part[24];
    size_t at = 0;
    unsigned last = 0;
    while (last < 3 && generations[last] == 't')
        last++;
    if (last > 1)
        at += (size_t)snprintf(text, sizeof text, "gen 0%s%u", r->terminal->unicode ? "–" : "-", last - 1);
    else if (last == 1)
        at += (size_t)snprintf(text, sizeof text, "gen 0");
    for (unsigned i = last; i < 9 && i < strlen(generations); i++) {
        if (generations[i] != 't')
            continue;
        snprintf(part, sizeof part, i == 3 ? "LOH" : "gen %u", i);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? ", " : "", part);
    }
    if (at == 0)
        at += (size_t)snprintf(text, sizeof text, "no generation");
    if (reason)
        snprintf(text + at, sizeof text - at, ", %s", reason);
    return tl_text_table_keep(t, text);
}

static void print_head(const tl_runtime_report *r, const tl_quantiles *pause, tl_output *out)
{
    const tl_gc *g = &r->gc;
    char text[32];
    tl_runtime_subject(r, out);
    tl_output_printf(out, "%s %s", tl_human_grouped(text, sizeof text, g->n), g->n == 1 ? "collection" : "collections");
    if (g->induced)
        tl_output_printf(out, " (%s induced)", tl_human_grouped(text, sizeof text, g->induced));
    const uint64_t total = tl_sum_u64(pause->total);
    tl_output_printf(out, ", %s of pauses", tl_runtime_time_text(r, text, sizeof text, total));
    if (g->span)
        tl_output_printf(out, " in %s (%.1f %%)", tl_runtime_time_text(r, text, sizeof text, g->span),
                         100 * tl_sum_double(pause->total) / (double)g->span);
    tl_output_puts(out, "\n");
    if (g->open || g->stray_ends) {
        tl_output_printf(out, "%s%s without end", tl_style_on(r->terminal, TL_FAINT),
                         tl_human_grouped(text, sizeof text, g->open));
        tl_output_printf(out, ", %s without begin: not in the pauses%s\n",
                         tl_human_grouped(text, sizeof text, g->stray_ends), tl_style_on(r->terminal, TL_PLAIN_TEXT));
    }
}

static void put_kind(const tl_runtime_report *r, tl_text_table *t, const char *name, uint64_t collections,
                     const tl_quantiles *q, tl_sum whole)
{
    const uint64_t rank[] = {q->p50, q->p90, q->p99, q->max};
    tl_text_row *row = tl_text_table_add(t);
    unsigned at = 0;
    row->name = name;
    tl_runtime_cell_count(t, row, &at, tl_sum_of(collections));
    tl_runtime_cell_sum_time(r, t, row, &at, q->total);
    tl_runtime_cell_share(t, row, &at, tl_sum_double(q->total), tl_sum_double(whole));
    for (size_t i = 0; i < TL_COUNT(rank); i++)
        if (q->count)
            tl_runtime_cell_time(r, t, row, &at, rank[i]);
        else
            tl_runtime_cell(t, row, &at, "-");
}

static int print_kinds(const tl_runtime_report *r, const tl_quantiles *all, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"count", 0}, {"pauses", 0}, {"share", 3}, {"p50", 1},
                                            {"p90", 4},   {"p99", 2},    {"max", 0}};
    tl_text_table t = {
        .column = column, .ncolumn = TL_COUNT(column), .name_title = "collected", .bar_after = 2, .name_wish = 24};
    tl_gc_kind *kind = NULL;
    uint32_t n = 0;
    int status = tl_gc_kinds(&r->gc, &kind, &n, e);
    if (status < 0)
        return status;
    for (uint32_t i = 0; i < n; i++)
        put_kind(r, &t, describe(r, &t, kind[i].generations, kind[i].reason), kind[i].collections, &kind[i].pause,
                 all->total);
    if (n > 1)
        put_kind(r, &t, "all", r->gc.n, all, all->total);
    free(kind);
    tl_output_puts(out, "\n");
    return tl_runtime_print(r, &t, 0, "kinds of collections", out, e);
}

static int print_longest(const tl_runtime_report *r, const tl_quantiles *all, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"begin", 0}, {"pause", 0}};
    tl_text_table t = {
        .column = column, .ncolumn = TL_COUNT(column), .name_title = "longest pauses", .bar_after = 1, .name_wish = 24};
    const tl_gc *g = &r->gc;
    uint32_t *index = NULL, n = 0;
    const uint32_t ended = all->count < UINT32_MAX ? (uint32_t)all->count : UINT32_MAX;
    const uint32_t most = tl_runtime_rows(r, ended, LONGEST_ROWS, LONGEST_MOST);
    int status = tl_gc_longest(g, most, &index, &n, e);
    if (status < 0)
        return status;
    for (uint32_t i = 0; i < n; i++) {
        const tl_collection *c = &g->collection[index[i]];
        tl_text_row *row = tl_text_table_add(&t);
        unsigned at = 0;
        tl_runtime_cell_time(r, &t, row, &at, c->begin);
        tl_runtime_cell_time(r, &t, row, &at, c->pause);
        row->share = all->max ? (double)c->pause / (double)all->max : 0;
        row->name = describe(r, &t, c->generations, c->reason);
        row->suffix = tl_text_table_keep(&t, c->track);
    }
    free(index);
    tl_output_puts(out, "\n");
    return tl_runtime_print(r, &t, ended - n, "pauses", out, e);
}

/* A generation over time. */
typedef struct generation {
    const char *name;
    uint64_t last, max, reserved;
    double chart[CHART];
} generation;

/* Fills g with the generations by name, and returns how many there are. Charts show the largest size in each column. */
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

static int print_heap(const tl_runtime_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"at end", 0}, {"largest", 1}, {"reserved", 2}};
    tl_text_table t = {.column = column, .ncolumn = 3, .name_title = "heap", .bar_after = 3, .name_wish = 8};
    if (r->gc.nheap < 2) /* else there is a chart over time */
        t.bar_after = 0;
    generation *g = malloc(GENERATIONS * sizeof *g);
    if (!g)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of generations");
    const unsigned n = find_generations(&r->gc, g);
    uint64_t max = 0;
    size_t longest = 0;
    for (unsigned i = 0; i < n; i++) {
        max = g[i].max > max ? g[i].max : max;
        longest = strlen(g[i].name) > longest ? strlen(g[i].name) : longest;
    }
    for (unsigned i = 0; i < n; i++) {
        tl_text_row *row = tl_text_table_add(&t);
        unsigned at = 0;
        char spark[4 * CHART + 1], chart[NAME_MOST + sizeof spark];
        const size_t name = strlen(g[i].name);
        double before = -1;
        tl_runtime_cell_bytes(&t, row, &at, tl_sum_of(g[i].last));
        tl_runtime_cell_bytes(&t, row, &at, tl_sum_of(g[i].max));
        tl_runtime_cell_bytes(&t, row, &at, tl_sum_of(g[i].reserved));
        row->share = max ? (double)g[i].last / (double)max : 0;
        row->name = tl_text_table_keep(&t, g[i].name);
        for (unsigned c = 0; c < CHART; c++) { /* a size stays until the next is told */
            before = g[i].chart[c] >= 0 ? g[i].chart[c] : before;
            g[i].chart[c] = before < 0 ? -1 : g[i].max ? before / (double)g[i].max : 0;
        }
        if (r->gc.nheap > 1) { /* one below the other: after the name they would not be */
            snprintf(chart, sizeof chart, "%*s%s", longest <= NAME_MOST ? (int)(longest - name) : 0, "",
                     tl_runtime_spark(r->terminal, spark, g[i].chart, CHART));
            row->suffix = tl_text_table_keep_raw(&t, chart);
        }
    }
    free(g);
    tl_output_puts(out, "\n");
    return tl_runtime_print(r, &t, 0, "generations", out, e);
}

static int print_text(tl_runtime_report *r, tl_output *out, tl_error *e)
{
    tl_quantiles pause;
    int status = tl_gc_pauses(&r->gc, &pause, e);
    if (status < 0)
        return status;
    print_head(r, &pause, out);
    if (r->gc.n)
        status = print_kinds(r, &pause, out, e);
    if (status == 0 && pause.count)
        status = print_longest(r, &pause, out, e);
    if (status == 0 && r->gc.nheap)
        status = print_heap(r, out, e);
    return status;
}

const tl_runtime_table tl_runtime_gc = {.what = "garbage collections",
                                        .several = true,
                                        .read = read_gc,
                                        .empty = is_empty,
                                        .json = put_json,
                                        .text = print_text};

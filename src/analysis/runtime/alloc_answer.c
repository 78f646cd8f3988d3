/* The relation `allocations`: by class, by place, and over time. */
#include <string.h>

#include "analysis/runtime/alloc_table.h"
#include "analysis/runtime/runtime_answer.h"
#include "base/compiler.h"
#include "base/text/number.h"

#define CLASS_ROWS 10u /* on a terminal */
#define PLACE_ROWS 8u  /* on a terminal */
#define TIME_ROWS  16u /* the most, in every output */

static bool set(void *to, const tl_table_options *o, char message[static TL_TABLE_MESSAGE])
{
    (void)message;
    ((tl_alloc *)to)->several = o->several;
    return true;
}

static bool is_empty(const void *table)
{
    const tl_alloc *t = table;
    return t->types.n == 0 && !t->has_live;
}

static tl_type_order chosen_order(const tl_ask *ask)
{
    if (ask->sort && strcmp(ask->sort, "calls") == 0)
        return TL_TYPES_BY_COUNT;
    return ask->sort && strcmp(ask->sort, "name") == 0 ? TL_TYPES_BY_NAME : TL_TYPES_BY_BYTES;
}

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_alloc *t = a->table;
    char text[32];
    tl_sum count, bytes;
    tl_say_subject(a, p);
    if (t->types.n == 0) {
        tl_output_puts(p->out, "no allocations");
    } else {
        tl_output_printf(p->out, "%s in", tl_human_bytes(text, sizeof text, tl_sum_u64(t->bytes)));
        tl_output_printf(p->out, " %s allocations of ", tl_human_grouped(text, sizeof text, tl_sum_u64(t->count)));
        tl_say_count(p, t->types.n, "class", "classes");
    }
    if (t->has_span && t->last > t->first)
        tl_output_printf(p->out, " in %s", tl_answer_time(a, text, sizeof text, t->last - t->first));
    tl_output_puts(p->out, "\n");
    if (t->sampling)
        tl_output_printf(p->out, "estimates: one object was recorded per %s\n",
                         tl_human_bytes(text, sizeof text, t->sampling));
    if (!t->has_live)
        return;
    tl_type_rows_total(&t->live, &count, &bytes);
    tl_output_printf(p->out, "in the heap at %s: ", tl_answer_time(a, text, sizeof text, t->live_ts));
    tl_output_printf(p->out, "%s in ", tl_human_bytes(text, sizeof text, tl_sum_u64(bytes)));
    tl_output_printf(p->out, "%s objects; --by heap shows them\n",
                     tl_human_grouped(text, sizeof text, tl_sum_u64(count)));
}

static const tl_column classes[] = {
    TL_TYPE_COLUMNS,
    {TL_COL(NULL, "bytes", INTEGER, BYTES, NULL), TL_AT(SUM, tl_type_row, bytes)},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(SUM, tl_type_row, bytes), .flags = TL_WITH_BAR, .drop = 1},
    {TL_COL("objects", "count", INTEGER, COUNT, "how many there are"), "count", TL_AT(SUM, tl_type_row, count),
     .drop = 2},
    {TL_COL("bytes", NULL, INTEGER, BYTES, "their size"), TL_AT(SUM, tl_type_row, bytes)},
};

static void get_sampling(const tl_at *at, tl_cell *out)
{
    const tl_alloc *t = at->row;
    if (t->sampling)
        tl_cell_u64(out, t->sampling);
}

static const tl_column sums[] = {
    {TL_COL("count", NULL, INTEGER, COUNT, "all objects"), TL_AT(SUM, tl_alloc, count)},
    {TL_COL("bytes", NULL, INTEGER, BYTES, "all bytes"), TL_AT(SUM, tl_alloc, bytes)},
    {TL_COL("sampling", NULL, INTEGER, BYTES,
            "bytes per recorded object, if these numbers are estimates; null: every object was recorded"),
     .get = get_sampling},
};
static const tl_column none_live[] = {
    {TL_COL("live", NULL, TEXT, JSON, "null: the trace does not list the objects in the heap"), .get = NULL},
};
static const tl_column live[] = {
    {TL_COL("live.ts", NULL, INTEGER, TIME, "when these objects were in the heap"), TL_AT(U64, tl_alloc, live_ts)},
};

static void get_place(const tl_at *at, tl_cell *out)
{
    const tl_alloc_place *place = at->row;
    tl_cell_text(out, place->name ? place->name : "(no stack)");
}

static const tl_column places[] = {
    {TL_COL(NULL, "bytes", INTEGER, BYTES, NULL), TL_AT(SUM, tl_alloc_place, bytes)},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(SUM, tl_alloc_place, bytes), .flags = TL_WITH_BAR, .drop = 1},
    {TL_COL(NULL, "count", INTEGER, COUNT, NULL), TL_AT(SUM, tl_alloc_place, count), .drop = 2},
    {TL_COL(NULL, "by place", TEXT, NONE, NULL), .get = get_place, .role = TL_ROLE_NAME},
    {TL_COL(NULL, NULL, TEXT, NONE, NULL), TL_AT(TEXT, tl_alloc_place, source), .role = TL_ROLE_SUFFIX},
};

typedef struct interval {
    uint64_t begin, bytes;
    double share; /* of the largest */
} interval;

static const tl_column over_time[] = {
    {TL_COL(NULL, "over time", INTEGER, TIME, NULL), TL_AT(U64, interval, begin)},
    {TL_COL(NULL, "bytes", INTEGER, BYTES, NULL), TL_AT(U64, interval, bytes)},
    {TL_COL(NULL, NULL, REAL, SHARE, NULL), TL_AT(REAL, interval, share), .role = TL_ROLE_BAR},
};

static void add_over_time(const tl_alloc *t, const tl_ask *ask, tl_answer *a)
{
    const uint64_t step = tl_round_interval(t->last - t->first, TIME_ROWS - 1), first = t->first / step * step;
    interval *row = tl_answer_alloc(a, TIME_ROWS + 1, sizeof *row);
    double sum[TIME_ROWS + 1], most = 0;
    unsigned n = 0;
    if (!row)
        return;
    for (uint64_t at = first; n < TL_COUNT(sum) && at <= t->last; at += step) {
        const uint64_t end = at <= UINT64_MAX - step ? at + step : UINT64_MAX;
        sum[n] = tl_over_time_sum(&t->over_time, at, end);
        most = sum[n] > most ? sum[n] : most;
        n++;
        if (end == UINT64_MAX)
            break;
    }
    for (unsigned i = 0; i < n; i++)
        row[i] =
            (interval){first + i * step, sum[i] < 18e18 ? (uint64_t)sum[i] : UINT64_MAX, most > 0 ? sum[i] / most : 0};
    TL_ADD_ROWS(a, ask, NULL, over_time, row, NULL, n);
}

static void add_classes(const tl_type_rows *rows, const char *key, const tl_ask *ask, tl_answer *a)
{
    TL_ADD_TOP(a, ask, key, classes, rows->row, NULL, rows->n, CLASS_ROWS, "classes", 32);
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    tl_alloc *t = table;
    (void)e;
    tl_alloc_sort(t, chosen_order(ask));
    a->unit = "bytes";
    a->head = head;
    a->whole = tl_sum_double(t->bytes);
    if (ask->for_programs || t->types.n)
        add_classes(&t->types, "classes", ask, a);
    if (ask->for_programs) {
        TL_ADD_FACTS(a, ask, sums, t);
        if (t->has_live) {
            TL_ADD_FACTS(a, ask, live, t);
            add_classes(&t->live, "live.classes", ask, a);
        } else {
            TL_ADD_FACTS(a, ask, none_live, t);
        }
    } else if (t->types.n) {
        TL_ADD_TOP(a, ask, NULL, places, t->places.place, NULL, t->places.n, PLACE_ROWS, "places", 32);
        if (t->last > t->first)
            add_over_time(t, ask, a);
    }
    return 0;
}

const tl_table_kind tl_table_alloc = {.info = {"alloc", "objects allocated", TL_NEEDS_RUNTIME},
                                      .sql = "allocated_types",
                                      .what = "allocations",
                                      .tab = "runtime",
                                      .sorts = "total calls name",
                                      .several = true,
                                      .of_runtime = true,
                                      .size = sizeof(tl_alloc),
                                      .set = set,
                                      .read = tl_alloc_read,
                                      .empty = is_empty,
                                      .answer = answer,
                                      .fini = tl_alloc_fini,
                                      TL_TABLE_COLUMNS(classes)};

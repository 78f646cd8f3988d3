/* The relation `heap_snapshots`: the live objects each time that the trace lists them, and their growth. */
#include "analysis/runtime/heap_table.h"
#include "analysis/runtime/runtime_answer.h"
#include "base/compiler.h"
#include "base/text/number.h"

#define CLASS_ROWS    12u /* on a terminal */
#define SNAPSHOT_ROWS 16u /* in every output, unless --top 0 */

static const tl_column snapshots[] = {
    {TL_COL("ts", NULL, INTEGER, TIME, "when it was taken"), TL_AT(U64, tl_snapshot, ts)},
    {TL_COL("objects", NULL, INTEGER, COUNT, "objects in the heap"), "count", TL_AT(SUM, tl_snapshot, count)},
    {TL_COL("bytes", NULL, INTEGER, BYTES, "their size"), TL_AT(SUM, tl_snapshot, bytes)},
};

typedef struct span {
    uint64_t from, to;
} span;

static const tl_column no_growth[] = {
    {TL_COL("growth", NULL, TEXT, JSON, "null: there are no two snapshots"), .get = NULL},
};
static const tl_column growth_span[] = {
    {TL_COL("growth.from", NULL, INTEGER, TIME, "the first snapshot"), TL_AT(U64, span, from)},
    {TL_COL("growth.to", NULL, INTEGER, TIME, "the last snapshot"), TL_AT(U64, span, to)},
};

static void get_bytes_growth(const tl_at *at, tl_cell *out)
{
    const tl_type_row *row = at->row;
    tl_cell_growth(out, row->bytes, row->bytes_before);
}

static void get_objects_growth(const tl_at *at, tl_cell *out)
{
    const tl_type_row *row = at->row;
    tl_cell_growth(out, row->count, row->count_before);
}

static const tl_column growth[] = {
    TL_TYPE_COLUMNS,
    {TL_COL(NULL, "growth", INTEGER, BYTES, NULL), .get = get_bytes_growth, .flags = TL_SIGNED},
    {TL_COL(NULL, "bytes", INTEGER, BYTES, NULL), TL_AT(SUM, tl_type_row, bytes)},
    {TL_COL(NULL, NULL, REAL, SHARE, NULL), TL_AT(SUM, tl_type_row, bytes), .role = TL_ROLE_BAR},
    {TL_COL("objects", "objects", INTEGER, COUNT, "how many there are in the last snapshot"), "count",
     TL_AT(SUM, tl_type_row, count), .drop = 1},
    {TL_COL("bytes", NULL, INTEGER, BYTES, "their size in the last snapshot"), TL_AT(SUM, tl_type_row, bytes)},
    {TL_COL("objects_before", NULL, INTEGER, COUNT, "how many there were in the first snapshot"), "count_before",
     TL_AT(SUM, tl_type_row, count_before)},
    {TL_COL("bytes_before", NULL, INTEGER, BYTES, "their size in the first snapshot"),
     TL_AT(SUM, tl_type_row, bytes_before)},
    {TL_COL(NULL, "more", INTEGER, COUNT, NULL), .get = get_objects_growth, .flags = TL_SIGNED, .drop = 2},
};

static void add_programs(const tl_heap *h, const tl_ask *ask, tl_answer *a)
{
    TL_ADD_ROWS(a, ask, "snapshots", snapshots, h->snapshot, NULL, h->n);
    if (h->n < 2) {
        TL_ADD_FACTS(a, ask, no_growth, h);
        return;
    }
    span *s = tl_answer_alloc(a, 1, sizeof *s);
    if (!s)
        return;
    *s = (span){h->snapshot[0].ts, h->snapshot[h->n - 1].ts};
    TL_ADD_FACTS(a, ask, growth_span, s);
    TL_ADD_ROWS(a, ask, "growth.classes", growth, h->types.row, NULL, tl_ask_rows(ask, h->types.n, 0, 0));
}

/* ---- for people ---- */

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_heap *h = a->table;
    const tl_snapshot *first = &h->snapshot[0], *last = &h->snapshot[h->n - 1];
    char text[32];
    tl_say_subject(a, p);
    tl_say_count(p, h->n, "snapshot", "snapshots");
    tl_output_puts(p->out, " of the heap: ");
    if (h->n > 1) {
        tl_output_puts(p->out, tl_human_bytes(text, sizeof text, tl_sum_u64(first->bytes)));
        tl_output_printf(p->out, " at %s, ", tl_answer_time(a, text, sizeof text, first->ts));
    }
    tl_output_puts(p->out, tl_human_bytes(text, sizeof text, tl_sum_u64(last->bytes)));
    tl_output_printf(p->out, " at %s\n", tl_answer_time(a, text, sizeof text, last->ts));
}

/* A snapshot, as shown. */
typedef struct step {
    tl_snapshot at, before; /* the previous one shown */
    bool has_before;
    double share; /* of the largest */
} step;

static void get_step(const tl_at *at, tl_cell *out)
{
    const step *s = at->row;
    tl_cell_growth(out, s->at.bytes, s->before.bytes);
}

static const tl_column steps[] = {
    {TL_COL(NULL, "time", INTEGER, TIME, NULL), TL_AT(U64, step, at.ts)},
    {TL_COL(NULL, "objects", INTEGER, COUNT, NULL), TL_AT(SUM, step, at.count)},
    {TL_COL(NULL, "bytes", INTEGER, BYTES, NULL), TL_AT(SUM, step, at.bytes)},
    {TL_COL(NULL, "growth", INTEGER, BYTES, NULL), .get = get_step, TL_ONLY_IF(step, has_before),
     .flags = TL_SIGNED | TL_BLANK, .drop = 1},
    {TL_COL(NULL, NULL, REAL, SHARE, NULL), TL_AT(REAL, step, share), .role = TL_ROLE_BAR},
};

/* All snapshots or, if fewer, evenly spaced ones with the first and the last. */
static void add_steps(const tl_heap *h, const tl_ask *ask, tl_answer *a)
{
    const uint32_t n = tl_ask_rows(ask, h->n, SNAPSHOT_ROWS, SNAPSHOT_ROWS);
    step *row = tl_answer_alloc(a, n, sizeof *row);
    double most = 0;
    if (!row)
        return;
    for (uint32_t i = 0; i < h->n; i++)
        most = tl_sum_double(h->snapshot[i].bytes) > most ? tl_sum_double(h->snapshot[i].bytes) : most;
    for (uint32_t i = 0; i < n; i++) {
        row[i].at = h->snapshot[n > 1 ? (uint64_t)i * (h->n - 1) / (n - 1) : h->n - 1];
        row[i].has_before = i > 0;
        row[i].before = row[i ? i - 1 : 0].at;
        row[i].share = most > 0 ? tl_sum_double(row[i].at.bytes) / most : 0;
    }
    tl_part *p = TL_ADD_ROWS(a, ask, NULL, steps, row, NULL, n);
    p->left_out = h->n - n;
    p->of = "snapshots between these";
}

/* For a single snapshot. */
static const tl_column alone[] = {
    TL_TYPE_COLUMNS,
    {TL_COL(NULL, "bytes", INTEGER, BYTES, NULL), TL_AT(SUM, tl_type_row, bytes)},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(SUM, tl_type_row, bytes), .flags = TL_WITH_BAR, .drop = 1},
    {TL_COL(NULL, "objects", INTEGER, COUNT, NULL), TL_AT(SUM, tl_type_row, count)},
};

static void add_classes(const tl_heap *h, const tl_ask *ask, tl_answer *a)
{
    const tl_type_row *row = h->types.row;
    if (h->n > 1)
        TL_ADD_TOP(a, ask, NULL, growth, row, NULL, h->types.n, CLASS_ROWS, "classes", 32);
    else
        TL_ADD_TOP(a, ask, NULL, alone, row, NULL, h->types.n, CLASS_ROWS, "classes", 32);
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_heap *h = table;
    (void)e;
    a->unit = "bytes";
    a->head = head;
    a->whole = h->n ? tl_sum_double(h->snapshot[h->n - 1].bytes) : 0;
    if (ask->for_programs)
        add_programs(h, ask, a);
    if (!ask->for_programs && h->n > 1)
        add_steps(h, ask, a);
    if (!ask->for_programs && h->types.n)
        add_classes(h, ask, a);
    return 0;
}

const tl_table_kind tl_table_heap = {.info = {"heap", "objects in the heap, and how it grew", TL_NEEDS_RUNTIME},
                                     .sql = "heap_snapshots",
                                     .what = "snapshots of the heap",
                                     .tab = "runtime",
                                     .no_thread = "the heap belongs to all threads",
                                     .late = true,
                                     .of_runtime = true,
                                     .size = sizeof(tl_heap),
                                     .read = tl_heap_read,
                                     TL_EMPTY_IF_0(tl_heap, n),
                                     .answer = answer,
                                     .fini = tl_heap_fini,
                                     TL_TABLE_COLUMNS(snapshots)};

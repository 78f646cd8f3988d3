/* The relation `reuse`: how many other lines of memory are used before one is used again, and the resulting misses in
 * caches of all sizes. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/instruction/insn_answer.h"
#include "analysis/instruction/reuse_table.h"
#include "base/text/number.h"

#define SMALLEST_CACHE 4u /* log2 of its number of lines */

static bool set(void *to, const tl_table_options *o, char message[static TL_TABLE_MESSAGE])
{
    *(tl_reuse_options *)to = (tl_reuse_options){.line_size = o->line_size, .sample = o->sample};
    const bool is_line = o->line_size <= TL_REUSE_LINE_LARGEST && !(o->line_size & (o->line_size - 1));
    if (is_line && o->sample <= TL_REUSE_SAMPLE_MAX && !(o->sample & (o->sample - 1)))
        return true;
    if (!is_line)
        snprintf(message, TL_TABLE_MESSAGE, "line size %" PRIu32 ": expected a power of two up to %" PRIu32,
                 o->line_size, TL_REUSE_LINE_LARGEST);
    else
        snprintf(message, TL_TABLE_MESSAGE,
                 "sample %" PRIu64 ": expected a power of two up to %" PRIu64 ", for one line of so many", o->sample,
                 TL_REUSE_SAMPLE_MAX);
    return false;
}

/* ---- facts ---- */

static void get_line_size(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, UINT64_C(1) << ((const tl_reuse *)at->table)->shift);
}

static void get_sampled(const tl_at *at, tl_cell *out)
{
    const tl_reuse *t = at->table;
    if (t->sample > 1)
        tl_cell_u64(out, t->sample);
}

static void get_lines(const tl_at *at, tl_cell *out)
{
    const tl_reuse *t = at->table;
    tl_cell_u64(out, tl_reuse_scaled(t, t->stack.n));
}

static void get_cold(const tl_at *at, tl_cell *out)
{
    const tl_reuse *t = at->table;
    tl_cell_u64(out, tl_reuse_scaled(t, t->cold));
}

static const tl_column facts[] = {
    {TL_COL("line_size", NULL, INTEGER, BYTES, "size of a line"), .get = get_line_size},
    {TL_COL("sampled", NULL, INTEGER, COUNT, "one line in this many was sampled; null: all lines"), .get = get_sampled},
    {TL_COL("accesses", NULL, INTEGER, COUNT, "accesses to lines"), TL_AT(U64, tl_reuse, accesses)},
    {TL_COL("lines", NULL, INTEGER, COUNT, "distinct lines"), .get = get_lines},
    {TL_COL("cold", NULL, INTEGER, COUNT, "first accesses to a line"), .get = get_cold},
};

/* ---- distances, and caches of all sizes ---- */

/* Accesses of some distance or, for people, the first ones of all lines; or misses of a cache of that many lines. */
typedef struct row {
    bool is_first;
    uint64_t from, to; /* of a cache: equal */
    uint64_t n;        /* of the examined ones */
} row;

static void get_n(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, tl_reuse_scaled(at->table, ((const row *)at->row)->n));
}

static void get_distance(const tl_at *at, tl_cell *out)
{
    const row *r = at->row;
    char from[32], to[32];
    if (r->is_first)
        tl_cell_text(out, "first use");
    else
        tl_cell_printf(at, out, r->from == r->to ? "%s" : "%s - %s", tl_human_grouped(from, sizeof from, r->from),
                       tl_human_grouped(to, sizeof to, r->to));
}

static const tl_column distances[] = {
    {TL_COL("low", NULL, INTEGER, COUNT, "least number of other lines used since the last access to the same line"),
     "from", TL_AT(U64, row, from)},
    {TL_COL("high", NULL, INTEGER, COUNT, "greatest number of other lines"), "to", TL_AT(U64, row, to)},
    {TL_COL("accesses", "accesses", INTEGER, COUNT, "accesses in this range"), .get = get_n},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(U64, row, n), .flags = TL_WITH_BAR},
    {TL_COL(NULL, "other lines since then", TEXT, NONE, NULL), .get = get_distance, .role = TL_ROLE_NAME},
};

static void get_bytes(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, ((const row *)at->row)->from << ((const tl_reuse *)at->table)->shift);
}

static void get_cache_lines(const tl_at *at, tl_cell *out)
{
    char text[32];
    tl_cell_printf(at, out, "%s lines", tl_human_grouped(text, sizeof text, ((const row *)at->row)->from));
}

static const tl_column caches[] = {
    {TL_COL(NULL, "misses", INTEGER, COUNT, NULL), .get = get_n, .drop = 1},
    {TL_COL(NULL, "ratio", REAL, SHARE, NULL), TL_AT(U64, row, n), .flags = TL_WITH_BAR},
    {TL_COL(NULL, "fully associative LRU cache", INTEGER, BYTES, NULL), .get = get_bytes, .role = TL_ROLE_NAME},
    {TL_COL(NULL, "lines", TEXT, NONE, NULL), .get = get_cache_lines, .role = TL_ROLE_SUFFIX},
};

static void add_distances(const tl_reuse *t, const tl_ask *ask, tl_answer *a)
{
    row *r = tl_answer_alloc(a, TL_REUSE_BUCKETS + 1, sizeof *r);
    unsigned n = TL_REUSE_BUCKETS;
    if (!r)
        return;
    while (n && !t->bucket[n - 1])
        n--;
    for (unsigned i = 0; i < n; i++) {
        r[i].n = t->bucket[i];
        tl_reuse_range(i, &r[i].from, &r[i].to);
    }
    r[n] = (row){.is_first = true, .n = t->cold};
    TL_ADD_ROWS(a, ask, "distances", distances, r, NULL, n + !ask->for_programs)->name_wish = 22;
}

/* From the smallest cache that a sample covers, to the first in which all lines stay. */
static void add_caches(const tl_reuse *t, const tl_ask *ask, tl_answer *a)
{
    row *r = tl_answer_alloc(a, 64, sizeof *r);
    uint32_t n = 0;
    for (unsigned i = SMALLEST_CACHE; r && i + t->shift < 64; i++) {
        if (UINT64_C(1) << i < t->sample)
            continue;
        r[n++] = (row){.from = UINT64_C(1) << i, .n = tl_reuse_misses(t, i)};
        if (r[n - 1].n == t->cold)
            break;
    }
    TL_ADD_ROWS(a, ask, NULL, caches, r, NULL, n)->name_wish = 28;
}

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_reuse *t = a->table;
    const uint64_t lines = tl_reuse_scaled(t, t->stack.n);
    char x[32], y[32];
    tl_say_subject(a, p);
    tl_say_count(p, t->accesses, "access", "accesses");
    tl_output_printf(p->out, " to %s%s lines of %s", t->sample > 1 ? "about " : "",
                     tl_human_grouped(x, sizeof x, lines), tl_human_bytes(y, sizeof y, UINT64_C(1) << t->shift));
    if (lines <= UINT64_MAX >> t->shift)
        tl_output_printf(p->out, " (%s)", tl_human_bytes(x, sizeof x, lines << t->shift));
    tl_output_puts(p->out, "\n");
    if (t->sample > 1)
        tl_output_printf(p->out, "%sestimated from one line of %s; distances below that are shown as 0%s\n",
                         tl_style_on(p->terminal, TL_STRONG), tl_human_grouped(x, sizeof x, t->sample),
                         tl_style_on(p->terminal, TL_PLAIN_TEXT));
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_reuse *t = table;
    (void)e;
    a->unit = "accesses";
    a->head = head;
    a->whole = (double)t->looked;
    if (ask->for_programs)
        TL_ADD_FACTS(a, ask, facts, t);
    add_distances(t, ask, a);
    if (!ask->for_programs)
        add_caches(t, ask, a);
    return 0;
}

const tl_table_kind tl_table_reuse = {
    .info = {"reuse", "how many other lines of memory are used before one is used again", TL_NEEDS_INSNS},
    .sql = "reuse",
    .what = "accesses to memory",
    .tab = "code",
    .takes = "line-size sample",
    .options_size = sizeof(tl_reuse_options),
    .set = set,
    .pass = &tl_reuse_table,
    TL_EMPTY_IF_0(tl_reuse, accesses),
    .answer = answer,
    TL_TABLE_COLUMNS(distances)};

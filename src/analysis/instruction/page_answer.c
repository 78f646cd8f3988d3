/* The relation `pages`: touched pages of memory, the regions that they form, and how many are in use at a time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/insn_answer.h"
#include "analysis/instruction/page_table.h"
#include "base/text/number.h"

#define PAGE_ROWS     10u /* on a terminal */
#define REGION_ROWS   6u
#define INTERVAL_ROWS 12u
#define CHART         60u /* columns of the working set over time */

/* Uses of all pages, and properties of the intervals. */
typedef struct detail {
    uint64_t code_pages, data_pages, uses[3];
    uint64_t most; /* pages in use in an interval */
    bool several;  /* tracks with intervals */
} detail;

static bool set(void *to, const tl_table_options *o, char message[static TL_TABLE_MESSAGE])
{
    (void)message;
    ((tl_page_options *)to)->interval = o->interval;
    return true;
}

/* ---- pages and regions ---- */

static const uint64_t *uses_of(const tl_at *at) /* code, loads, stores */
{
    return (const uint64_t *)(const void *)((const char *)at->row + at->column->which);
}

static uint64_t sum(const uint64_t uses[3])
{
    return uses[0] + uses[1] + uses[2];
}

static void get_touches(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, sum(uses_of(at)));
}

static void get_share(const tl_at *at, tl_cell *out)
{
    const detail *d = at->part->answer->detail;
    tl_cell_share(out, (double)sum(uses_of(at)), (double)sum(d->uses));
}

/* "r-x": actual uses, not permissions. */
static void get_use(const tl_at *at, tl_cell *out)
{
    const uint64_t *uses = uses_of(at);
    tl_cell_printf(at, out, "%c%c%c", uses[1] ? 'r' : '-', uses[2] ? 'w' : '-', uses[0] ? 'x' : '-');
}

static void get_address(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, ((const tl_page *)at->row)->number << TL_PAGE_SHIFT);
}

static void get_size(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, ((const tl_page_region *)at->row)->pages << TL_PAGE_SHIFT);
}

static void get_range(const tl_at *at, tl_cell *out)
{
    const tl_page_region *r = at->row;
    tl_cell_printf(at, out, "0x%" PRIx64 "-0x%" PRIx64, r->first << TL_PAGE_SHIFT,
                   ((r->first + r->pages) << TL_PAGE_SHIFT) - 1);
}

#define USES(type, with_bar)                                                                                           \
    {TL_COL(NULL, "touches", INTEGER, COUNT, NULL), .get = get_touches, .which = offsetof(type, code)},                \
        {TL_COL(NULL, "share", REAL, SHARE, NULL), .get = get_share, .which = offsetof(type, code), .drop = 1,         \
         .flags = (with_bar)},                                                                                         \
        {TL_COL("code", "code", INTEGER, COUNT, "times an executed instruction touched it"), TL_AT(U64, type, code),   \
         .drop = 4},                                                                                                   \
        {TL_COL("loads", "loads", INTEGER, COUNT, "times a load touched it"), TL_AT(U64, type, loads), .drop = 3},     \
        {TL_COL("stores", "stores", INTEGER, COUNT, "times a store touched it"), TL_AT(U64, type, stores), .drop = 2}, \
    {                                                                                                                  \
        TL_COL(NULL, "use", TEXT, NONE, NULL), .get = get_use, .which = offsetof(type, code)                           \
    }

static const tl_column pages[] = {
    {TL_COL("page", "page", INTEGER, HEX, "address of the page"), .get = get_address, .role = TL_ROLE_NAME},
    USES(tl_page, TL_WITH_BAR),
};

static const tl_column regions[] = {
    {TL_COL(NULL, "size", INTEGER, BYTES, NULL), .get = get_size},
    USES(tl_page_region, 0),
    {TL_COL(NULL, "region", TEXT, NONE, NULL), .get = get_range, .role = TL_ROLE_NAME},
};

static void get_page_size(const tl_at *at, tl_cell *out)
{
    (void)at;
    tl_cell_u64(out, TL_PAGE_BYTES);
}

static const tl_column page_size[] = {
    {TL_COL("page_size", NULL, INTEGER, BYTES, "size of a page"), .get = get_page_size},
};

/* All pages by address for programs, otherwise the most used ones. */
static void add_pages(const tl_pages *p, const tl_ask *ask, tl_answer *a)
{
    const uint32_t n = tl_ask_rows(ask, p->n, PAGE_ROWS, 0);
    uint32_t *order = tl_pages_sort(p, !ask->for_programs || n < p->n);
    tl_answer_own(a, order);
    TL_ADD_TOP(a, ask, "pages", pages, p->page, order, p->n, PAGE_ROWS, "pages", 18);
}

static void add_regions(const tl_pages *p, const tl_ask *ask, tl_answer *a)
{
    uint32_t n = 0;
    tl_page_region *region = tl_pages_regions(p, &n);
    tl_answer_own(a, region);
    if (!region)
        return;
    tl_page_regions_by_use(region, n);
    TL_ADD_TOP(a, ask, NULL, regions, region, NULL, n, REGION_ROWS, "regions", 37);
}

/* ---- working set ---- */

static uint64_t pages_of(const tl_page_interval *i)
{
    return i->code_pages + i->data_pages;
}

static void get_in_use(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, pages_of(at->row) << TL_PAGE_SHIFT);
}

static void get_part_of_most(const tl_at *at, tl_cell *out)
{
    const detail *d = at->part->answer->detail;
    tl_cell_share(out, (double)pages_of(at->row), (double)d->most);
}

static void get_track(const tl_at *at, tl_cell *out)
{
    const detail *d = at->part->answer->detail;
    tl_cell_text(out, d->several ? ((const tl_page_interval *)at->row)->track : NULL);
}

static const tl_column intervals[] = {
    {TL_COL("thread", NULL, TEXT, NONE, "the thread"), "track", TL_AT(TEXT, tl_page_interval, track)},
    {TL_COL("ts", "from", INTEGER, COUNT, "instructions the thread had executed when the interval began"), "from",
     TL_AT(U64, tl_page_interval, from), .role = TL_ROLE_NAME},
    {TL_COL("end_ts", NULL, INTEGER, COUNT, "instructions it had executed when the interval ended"), "to",
     TL_AT(U64, tl_page_interval, to)},
    {TL_COL("code_pages", "code", INTEGER, COUNT, "pages it executed code from"),
     TL_AT(U64, tl_page_interval, code_pages), .drop = 2},
    {TL_COL("data_pages", "data", INTEGER, COUNT, "pages it loaded from or stored to"),
     TL_AT(U64, tl_page_interval, data_pages), .drop = 2},
    {TL_COL("new_pages", "new", INTEGER, COUNT, "pages it had not used before"),
     TL_AT(U64, tl_page_interval, new_pages), .drop = 1},
    {TL_COL(NULL, "in use", INTEGER, BYTES, NULL), .get = get_in_use},
    {TL_COL(NULL, NULL, REAL, SHARE, NULL), .get = get_part_of_most, .role = TL_ROLE_BAR},
    {TL_COL(NULL, "thread", TEXT, NONE, NULL), .get = get_track, .role = TL_ROLE_SUFFIX},
};

/* One track as a line, which includes what the table below leaves out. */
static void say_chart(const tl_part *part, const tl_prose *prose)
{
    const tl_pages *p = part->table;
    const detail *d = part->answer->detail;
    const uint32_t *index = part->order;
    const uint64_t first = p->interval[index[0]].from, last = p->interval[index[p->nintervals - 1]].from;
    const double span = (double)(last - first) + (double)p->length;
    double value[CHART] = {0};
    char text[4 * CHART + 1];
    for (unsigned i = 0; i < CHART; i++) { /* the largest of the intervals that overlap a column */
        const uint64_t from = first + (uint64_t)(span * i / CHART), to = first + (uint64_t)(span * (i + 1) / CHART);
        for (uint32_t k = 0; k < p->nintervals && p->interval[index[k]].from < to; k++) {
            const tl_page_interval *interval = &p->interval[index[k]];
            const double share = d->most ? (double)pages_of(interval) / (double)d->most : 0;
            if (interval->from + (p->length - 1) >= from && share > value[i])
                value[i] = share;
        }
    }
    tl_output_puts(prose->out, "  ");
    tl_say_styled(prose, TL_ACCENT, tl_text_spark(prose->terminal, text, value, CHART));
    tl_output_puts(prose->out, "\n");
}

static void before_intervals(const tl_part *part, const tl_prose *prose)
{
    const tl_pages *p = part->table;
    const detail *d = part->answer->detail;
    char length[32], most[32];
    tl_output_printf(prose->out, "working set in intervals of %s instructions: at most %s\n",
                     tl_human_grouped(length, sizeof length, p->length),
                     tl_human_bytes(most, sizeof most, d->most << TL_PAGE_SHIFT));
    if (!d->several && p->nintervals > part->n)
        say_chart(part, prose);
}

static void add_intervals(const tl_pages *p, const tl_ask *ask, tl_answer *a, detail *d)
{
    uint32_t *order = tl_pages_sort_intervals(p);
    tl_answer_own(a, order);
    if (order && p->nintervals)
        d->several = strcmp(p->interval[order[0]].track, p->interval[order[p->nintervals - 1]].track) != 0;
    for (uint32_t i = 0; i < p->nintervals; i++)
        d->most = pages_of(&p->interval[i]) > d->most ? pages_of(&p->interval[i]) : d->most;
    if (ask->for_programs)
        TL_ADD_ROWS(a, ask, "working_set", intervals, p->interval, order, p->nintervals);
    else
        TL_ADD_TOP(a, ask, NULL, intervals, p->interval, order, p->nintervals, INTERVAL_ROWS, "intervals", 16)->before =
            before_intervals;
}

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_pages *t = a->table;
    const detail *d = a->detail;
    char x[32], y[32], z[32];
    tl_say_subject(a, p);
    tl_say_count(p, t->n, "page", "pages");
    tl_output_printf(p->out, " of %s (%s): %s with code, %s with data\n", tl_human_bytes(x, sizeof x, TL_PAGE_BYTES),
                     tl_human_bytes(y, sizeof y, (uint64_t)t->n << TL_PAGE_SHIFT),
                     tl_human_grouped(z, sizeof z, d->code_pages), tl_human_grouped((char[32]){0}, 32, d->data_pages));
    tl_output_printf(p->out, "touched %s times by code, %s by loads, %s by stores\n",
                     tl_human_grouped(x, sizeof x, d->uses[0]), tl_human_grouped(y, sizeof y, d->uses[1]),
                     tl_human_grouped(z, sizeof z, d->uses[2]));
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_pages *p = table;
    detail *d = tl_answer_alloc(a, 1, sizeof *d);
    (void)e;
    if (!d)
        return 0;
    a->unit = "accesses";
    a->head = head;
    a->detail = d;
    for (uint32_t i = 0; i < p->n; i++) {
        const tl_page *page = &p->page[i];
        d->code_pages += page->code != 0;
        d->data_pages += page->loads || page->stores;
        d->uses[0] += page->code;
        d->uses[1] += page->loads;
        d->uses[2] += page->stores;
    }
    if (ask->for_programs)
        TL_ADD_FACTS(a, ask, page_size, p);
    add_pages(p, ask, a);
    if (!ask->for_programs)
        add_regions(p, ask, a);
    if (ask->for_programs ? p->length : p->nintervals)
        add_intervals(p, ask, a, d);
    return 0;
}

const tl_table_kind tl_table_page = {
    .info = {"page", "pages of memory, and how many are in use at a time", TL_NEEDS_INSNS},
    .sql = "pages",
    .what = "instructions or accesses to memory",
    .tab = "code",
    .takes = "interval",
    .options_size = sizeof(tl_page_options),
    .set = set,
    .pass = &tl_page_table,
    TL_EMPTY_IF_0(tl_pages, n),
    .answer = answer,
    TL_TABLE_COLUMNS(pages)};

/* The relation `histograms`: durations of calls by function.
 *
 * The buckets of a profile are far too fine for people: they are merged into at most RANGES ranges, by the series of
 * limits that suits the spread: ten, five, three or one in each power of ten, or steps of equal width. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function/profile_answer.h"
#include "base/io/base_name.h"
#include "base/text/number.h"

#define RANGES        24u
#define RANGES_FEW    8u /* with fewer from the finest series, steps of equal width are tried */
#define TOP_FUNCTIONS 3u /* without -F */

typedef struct range_list {
    uint64_t edge[RANGES + 1]; /* range i is edge[i] .. edge[i+1]-1, in the profile's unit */
    uint64_t calls[RANGES];
    uint32_t n;
} range_list;

/* Limits within a power of ten, in hundredths. */
typedef struct series {
    unsigned n;
    unsigned limit[10];
} series;

static const series all_series[] = {{10, {100, 125, 160, 200, 250, 320, 400, 500, 630, 800}},
                                    {5, {100, 160, 250, 400, 630}},
                                    {3, {100, 200, 500}},
                                    {1, {100}}};

/* Fills r with the limits of a series around low .. high; false if there are too many. */
static bool try_series(range_list *r, const series *s, uint64_t low, uint64_t high)
{
    uint64_t power = 1, last = 0;
    r->n = 0;
    r->edge[0] = 0;
    for (;;) {
        for (unsigned i = 0; i < s->n; i++) {
            /* In two parts: power * limit may overflow 64 bits although the result does not. */
            uint64_t whole = power / 100 * s->limit[i], rest = power % 100 * s->limit[i] / 100;
            if (power > UINT64_MAX / 100 && power / 100 > (UINT64_MAX - rest) / s->limit[i])
                whole = UINT64_MAX - rest;
            uint64_t edge = whole + rest;
            if (edge == last)
                continue;
            last = edge;
            if (edge <= low) {
                r->edge[0] = edge;
                continue;
            }
            if (r->n == RANGES)
                return false;
            r->edge[++r->n] = edge;
            if (edge > high || edge == UINT64_MAX)
                return true;
        }
        if (power > UINT64_MAX / 10) {
            if (r->n == RANGES)
                return false;
            r->edge[++r->n] = UINT64_MAX;
            return true;
        }
        power *= 10;
    }
}

/* Steps of equal width: 1, 2 or 5 times a power of ten, at least a bucket of the profile wide. */
static bool try_steps(range_list *r, uint64_t low, uint64_t high)
{
    static const unsigned factor[] = {1, 2, 5};
    uint64_t power = 1;
    for (unsigned i = 0;; i++) {
        if (i == TL_COUNT(factor)) {
            i = 0;
            if (power > UINT64_MAX / 100)
                return false;
            power *= 10;
        }
        uint64_t step = power * factor[i], first = low - low % step;
        if (step < high / TL_HIST_SUB || (high - first) / step + 1 > RANGES)
            continue;
        r->n = 0;
        r->edge[0] = first;
        while (r->edge[r->n] <= high && r->n < RANGES) {
            if (r->edge[r->n] > UINT64_MAX - step)
                return false;
            r->edge[r->n + 1] = r->edge[r->n] + step;
            r->n++;
        }
        return true;
    }
}

static void choose_ranges(range_list *r, uint64_t low, uint64_t high)
{
    unsigned i = 0;
    while (i + 1 < TL_COUNT(all_series) && !try_series(r, &all_series[i], low, high))
        i++;
    if (i + 1 == TL_COUNT(all_series))
        (void)try_series(r, &all_series[i], low, high);
    range_list steps = {.n = 0};
    if (r->n < RANGES_FEW && try_steps(&steps, low, high) && steps.n > r->n)
        *r = steps;
}

static uint32_t range_of(const range_list *r, uint64_t value)
{
    uint32_t i = 0;
    while (i + 1 < r->n && value >= r->edge[i + 1])
        i++;
    return i;
}

/* ---- for programs ---- */

/* Adds up the histograms of all places of a row's function. */
static void add_up(const tl_profile *p, const tl_row *row, tl_hist_total *out)
{
    tl_hist_total_start(out, row->stat.min, row->stat.max);
    for (uint32_t place = p->same_first[row->function]; place; place = p->same_next[place])
        tl_hist_total_add(out, &p->stat[place].hist);
}

/* Buckets as JSON. */
static void get_histogram(const tl_at *at, tl_cell *out)
{
    enum { BUCKET_TEXT = sizeof "{'low':,'high':,'calls':}," + 3 * 20 };
    const tl_profile *p = tl_at_profile(at);
    tl_hist_total *sum = at->part->detail;
    tl_hist_pair pair;
    size_t n = 0;
    if (!tl_profile_has_histogram(p))
        return;
    add_up(p, at->row, sum);
    for (uint32_t i = 0; tl_hist_each(&sum->hist, &i, &pair);)
        n++;
    char *list = tl_arena_alloc(&at->part->answer->scratch, n * BUCKET_TEXT + 3), *end = list;
    at->part->answer->failed = at->part->answer->failed || !list;
    if (!list)
        return;
    end += sprintf(end, "[");
    for (uint32_t i = 0; tl_hist_each(&sum->hist, &i, &pair);)
        end += sprintf(end, "%s{\"low\":%" PRIu64 ",\"high\":%" PRIu64 ",\"calls\":%" PRIu64 "}",
                       end[-1] == '[' ? "" : ",", tl_profile_time(p, tl_hist_low(pair.bucket)),
                       tl_profile_time(p, tl_hist_high(pair.bucket)), pair.count);
    sprintf(end, "]");
    tl_cell_text(out, list);
}

static const tl_column columns[] = {
    {TL_COL("function_id", NULL, INTEGER, NONE, "the number that the trace knows it by"), "id",
     .get = tl_get_function_id},
    {TL_COL("name", NULL, TEXT, NONE, "the function"), .get = tl_get_function},
    {TL_COL("file", NULL, TEXT, NONE, "where it is defined"), .get = tl_get_file},
    {TL_COL("line", NULL, INTEGER, NONE, "the line there"), .get = tl_get_line},
    TL_CALLS(0, 0),
    TL_TICKS("total", stat.total, 0, 0, "time in it and in what it called; recursion counts once"),
    TL_TICKS("self", stat.self, 0, 0, "time in it alone"),
    TL_DURATIONS,
    {TL_COL("histogram", NULL, TEXT, JSON, "low and high end of each bucket of durations, and the calls in it"),
     .get = get_histogram},
};

/* ---- for people ---- */

/* A range of durations. */
typedef struct range_row {
    uint64_t from, below, calls;
    double share, bar;
    char marks[16]; /* the percentiles in it: "p50 p90" */
} range_row;

static void get_marks(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, ((const range_row *)at->row)->marks);
}

static const tl_column ranges[] = {
    {TL_COL(NULL, "from", INTEGER, TIME, NULL), TL_AT(U64, range_row, from)},
    {TL_COL(NULL, "below", INTEGER, TIME, NULL), TL_AT(U64, range_row, below), .drop = 1},
    {TL_COL(NULL, "calls", INTEGER, COUNT, NULL), TL_AT(U64, range_row, calls)},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(REAL, range_row, share)},
    {TL_COL(NULL, NULL, REAL, SHARE, NULL), TL_AT(REAL, range_row, bar), .role = TL_ROLE_BAR},
    {TL_COL(NULL, "", TEXT, NONE, NULL), .get = get_marks, .role = TL_ROLE_NAME},
};

/* The function, and its numbers, in two lines. */
static void say_function(const tl_part *part, const tl_prose *to)
{
    const tl_row *row = part->detail;
    const tl_profile *p = ((const tl_profile_table *)part->table)->profile;
    const tl_function *f = tl_profile_get_function(p, row->function);
    const struct {
        const char *name;
        uint64_t ticks;
    } number[] = {{", self", row->stat.self}, {"; min", row->stat.min}, {", p50", row->p50},
                  {", p90", row->p90},        {", p99", row->p99},      {", max", row->stat.max}};
    char text[32];
    tl_say_styled(to, TL_STRONG, tl_function_label(f, text));
    if (f->file) {
        tl_output_puts(to->out, "  ");
        tl_text_put_clean(to->out, tl_base_name(f->file));
    }
    if (f->file && f->line)
        tl_output_printf(to->out, ":%" PRIu32, f->line);
    tl_output_puts(to->out, "\n");
    tl_say_count(to, row->stat.calls, "call", "calls");
    for (size_t i = 0; i < TL_COUNT(number); i++)
        tl_output_printf(to->out, "%s %s", number[i].name,
                         tl_human_time(text, sizeof text, tl_profile_time(p, number[i].ticks), part->answer->is_ns));
    tl_output_puts(to->out, "\n");
}

static void mark(const tl_profile *p, const range_list *g, const tl_row *row, range_row *to)
{
    const struct {
        const char *name;
        uint64_t ticks;
    } rank[] = {{"p50", row->p50}, {"p90", row->p90}, {"p99", row->p99}};
    for (size_t k = 0; k < TL_COUNT(rank); k++) {
        char *marks = to[range_of(g, tl_profile_time(p, rank[k].ticks))].marks;
        const size_t used = strlen(marks);
        snprintf(marks + used, sizeof to->marks - used, "%s%s", used ? " " : "", rank[k].name);
    }
}

static void add_function(const tl_profile *p, const tl_row *row, tl_hist_total *sum, const tl_ask *ask, tl_answer *a)
{
    range_list g = {.n = 0};
    tl_hist_pair pair;
    uint64_t most = 1;
    add_up(p, row, sum);
    choose_ranges(&g, tl_profile_time(p, row->stat.min), tl_profile_time(p, row->stat.max));
    for (uint32_t i = 0; tl_hist_each(&sum->hist, &i, &pair);) {
        uint64_t ticks = tl_hist_middle(pair.bucket);
        ticks = ticks < row->stat.min ? row->stat.min : ticks > row->stat.max ? row->stat.max : ticks;
        g.calls[range_of(&g, tl_profile_time(p, ticks))] += pair.count;
    }
    for (uint32_t i = 0; i < g.n; i++)
        most = g.calls[i] > most ? g.calls[i] : most;
    range_row *to = tl_answer_alloc(a, g.n, sizeof *to);
    if (!to)
        return;
    for (uint32_t i = 0; i < g.n; i++)
        to[i] = (range_row){g.edge[i],
                            g.edge[i + 1],
                            g.calls[i],
                            (double)g.calls[i] / (double)row->stat.calls,
                            (double)g.calls[i] / (double)most,
                            ""};
    mark(p, &g, row, to);
    tl_part *part = TL_ADD_ROWS(a, ask, NULL, ranges, to, NULL, g.n);
    part->before = say_function;
    part->detail = (void *)(uintptr_t)row;
    part->name_wish = 11;
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_profile_table *t = table;
    const tl_profile *p = t->profile;
    tl_table rows = {0};
    tl_hist_total *sum = tl_answer_alloc(a, 1, sizeof *sum);
    const int status = sum ? tl_function_rows(&rows, p, e) : 0;
    if (status < 0 || !sum)
        return status;
    const tl_ask all = {.for_programs = true, .has_top = ask->has_top, .top = ask->top, .sort = ask->sort};
    tl_profile_sort(&rows, p, &all, TL_BY_SELF);
    if (ask->for_programs) {
        tl_profile_add(a, ask, "functions", columns, TL_COUNT(columns), &rows, NULL, 0)->detail = sum;
        return 0;
    }
    tl_answer_own(a, rows.row);
    const uint32_t n = t->are_chosen || ask->has_top || rows.n < TOP_FUNCTIONS ? rows.n : TOP_FUNCTIONS;
    for (uint32_t i = 0; i < n; i++)
        if (rows.row[i].stat.calls)
            add_function(p, &rows.row[i], sum, ask, a);
    if (!a->first)
        TL_ADD_ROWS(a, ask, NULL, ranges, (const range_row *)NULL, NULL, 0)->none = "no calls";
    return 0;
}

const tl_table_kind tl_table_hist = {
    .info = {"hist", "durations of the calls of chosen functions, or of the three with most self time",
             TL_NEEDS_DURATIONS},
    .sorts = TL_PROFILE_SORTS,
    .profile = TL_PROFILE_FLAT,
    .answer = answer,
    TL_TABLE_COLUMNS(columns)};

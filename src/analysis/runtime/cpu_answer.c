/* The relation `cpu_usage`: how busy the process and its threads were, over time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/runtime/cpu_table.h"
#include "analysis/runtime/runtime_answer.h"
#include "base/compiler.h"
#include "base/text/number.h"

#define TRACK_ROWS    18u /* on a terminal */
#define CHART_LEAST   10u
#define CHART_COLUMNS 120u
#define NAME_COLUMNS  24u
#define NAME_SIZE     256u

static void get_elapsed(const tl_at *at, tl_cell *out)
{
    const tl_cpu_track *t = at->row;
    tl_cell_growth(out, t->elapsed, t->elapsed_minus);
}

static void get_points(const tl_at *at, tl_cell *out)
{
    const tl_cpu_track *t = at->row;
    tl_cell_rows(out, t->first, t->n);
}

static void get_negative(const tl_at *at, tl_cell *out)
{
    const tl_cpu_track *t = at->row;
    if (t->negative)
        tl_cell_u64(out, t->negative);
}

static void get_used(const tl_at *at, tl_cell *out)
{
    const tl_cpu_point *p = at->row;
    tl_cell_sum(out, tl_sum_times(p->used, TL_CPU_NS_PER_US));
}

static const tl_column tracks[] = {
    {TL_COL("thread", NULL, TEXT, NONE, "the process, or one of its threads"), "track",
     TL_AT(TEXT, tl_cpu_track, name)},
    {TL_COL("used", NULL, INTEGER, TIME, "processor time"), TL_AT(SUM, tl_cpu_track, used)},
    {TL_COL("elapsed", NULL, INTEGER, TIME, "how long it was measured; negative if time went back"),
     .get = get_elapsed},
    {TL_COL("points", NULL, TEXT, JSON, "the measurements"), .get = get_points},
    {TL_COL("negative", NULL, INTEGER, COUNT, "measurements below zero, which count as zero; null: none"),
     .get = get_negative, .flags = TL_LEFT_OUT},
};
static const tl_column points[] = {
    {TL_COL("ts", NULL, INTEGER, TIME, "begin; null: not known"), "begin", TL_AT(U64, tl_cpu_point, begin),
     TL_ONLY_IF(tl_cpu_point, has_begin)},
    {TL_COL("end_ts", NULL, INTEGER, TIME, "end"), "end", TL_AT(U64, tl_cpu_point, end)},
    {TL_COL("used", NULL, INTEGER, TIME, "processor time"), .get = get_used},
};

/* ---- for people ---- */

/* A track, as printed. */
typedef struct line {
    uint32_t track;
    double used, elapsed, peak;
} line;

/* Widths of columns. */
typedef struct widths {
    unsigned name, chart;
} widths;

static int busiest_first(const void *left, const void *right)
{
    const line *a = left, *b = right;
    if (a->used < b->used || a->used > b->used)
        return a->used < b->used ? 1 : -1;
    return TL_COMPARE(a->track, b->track);
}

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_cpu *c = a->table;
    char text[32];
    tl_say_subject(a, p);
    tl_output_puts(p->out, "processor time of ");
    tl_say_count(p, c->n, "track", "tracks");
    tl_output_printf(p->out, " in %s\n", tl_answer_time(a, text, sizeof text, c->last - c->first));
}

static void put_blanks(tl_output *out, unsigned n)
{
    tl_output_printf(out, "%*s", (int)n, "");
}

/* A share of a processor, for people. */
static const char *percent(char *buf, size_t size, double used, double elapsed)
{
    if (elapsed > 0)
        snprintf(buf, size, used < 1000 * elapsed ? "%.1f %%" : "%.0e %%", 100 * used / elapsed);
    else
        snprintf(buf, size, "-");
    return buf;
}

/* A time of at most nine columns. */
static const char *short_time(char *buf, size_t size, double ns)
{
    const double hours = ns / 3600e9;
    if (hours < 1)
        return tl_human_time(buf, size, (uint64_t)ns, true);
    snprintf(buf, size, hours < 99999 ? "%.1f h" : "%.1e h", hours);
    return buf;
}

/* The line above the charts: titles, and the time range. */
static void say_titles(const tl_answer *a, const tl_prose *p, widths w)
{
    const tl_cpu *c = a->table;
    char begin[32], end[32];
    const char *from = tl_answer_time(a, begin, sizeof begin, c->first),
               *to = tl_answer_time(a, end, sizeof end, c->last);
    const unsigned used = (unsigned)(strlen(from) + strlen(to));
    tl_output_puts(p->out, tl_style_on(p->terminal, TL_HEADER));
    tl_output_printf(p->out, "%9s  %8s  %8s  %-*s  %s", "used", "CPU", "highest", (int)w.name, "track", from);
    put_blanks(p->out, w.chart > used + 1 ? w.chart - used : 1);
    tl_output_printf(p->out, "%s%s\n", to, tl_style_on(p->terminal, TL_PLAIN_TEXT));
}

/* One track: numbers, name, and a chart whose full height is one processor, or the peak if that is higher. Returns
 * whether the chart shows a gap. */
static bool say_line(tl_answer *a, const tl_prose *p, const line *l, widths w)
{
    const tl_cpu *c = a->table;
    double value[CHART_COLUMNS];
    char used[32], share[32], peak[32], clean[NAME_SIZE], fit[NAME_SIZE], spark[4 * CHART_COLUMNS + 1];
    bool has_gap = false;
    const char *label = tl_text_clean(clean, sizeof clean, c->track[l->track].name);
    if (tl_cpu_columns(c, l->track, c->first, c->last, value, w.chart, NULL) < 0) {
        a->failed = true;
        return false;
    }
    const double full = l->peak > 1 ? l->peak : 1;
    for (unsigned i = 0; i < w.chart; i++) {
        has_gap = has_gap || value[i] <= TL_CPU_GAP;
        value[i] = value[i] > 0 ? value[i] / full : value[i];
    }
    label = tl_text_fit(p->terminal, fit, sizeof fit, label, w.name);
    const unsigned width = tl_text_width(label, strlen(label));
    tl_output_printf(p->out, "%9s  %8s  %8s  %s", short_time(used, sizeof used, l->used),
                     percent(share, sizeof share, l->used, l->elapsed),
                     percent(peak, sizeof peak, l->peak, l->elapsed > 0), label);
    put_blanks(p->out, (w.name > width ? w.name - width : 0) + 2);
    tl_text_spark(p->terminal, spark, value, w.chart);
    for (size_t n = strlen(spark); n > 0 && spark[n - 1] == ' '; n--)
        spark[n - 1] = 0;
    tl_output_printf(p->out, "%s%s%s\n", tl_style_on(p->terminal, TL_ACCENT), spark,
                     tl_style_on(p->terminal, TL_PLAIN_TEXT));
    return has_gap;
}

/* The widths of the names, and the rest for charts. */
static widths measure(const tl_cpu *c, const line *l, uint64_t n, unsigned width)
{
    enum { NUMBERS = 9 + 2 + 8 + 2 + 8 + 2 }; /* columns before the name */
    widths w = {.name = 5};
    for (uint64_t i = 0; i < n; i++) {
        char clean[NAME_SIZE];
        const char *label = tl_text_clean(clean, sizeof clean, c->track[l[i].track].name);
        const unsigned columns = tl_text_width(label, strlen(label));
        w.name = columns > w.name ? columns : w.name;
    }
    if (w.name > NAME_COLUMNS)
        w.name = NAME_COLUMNS;
    const unsigned used = NUMBERS + w.name + 2;
    w.chart = width > used + CHART_LEAST ? width - used : CHART_LEAST;
    if (w.chart > CHART_COLUMNS)
        w.chart = CHART_COLUMNS;
    return w;
}

static void say_lines(const tl_part *part, const tl_prose *p)
{
    const tl_answer *a = part->answer;
    const line *l = part->row;
    const widths w = measure(a->table, l, part->n, p->terminal->width);
    bool has_gap = false;
    say_titles(a, p, w);
    for (uint64_t i = 0; i < part->n; i++)
        has_gap = say_line(part->answer, p, &l[i], w) || has_gap;
    tl_say_left_out(p, part->left_out, part->of, NULL);
    tl_say_styled(p, TL_FAINT, "charts are full at 100 %, or at the highest of the track if that is more");
    tl_output_puts(p->out, "\n");
    if (!has_gap)
        return;
    tl_say_styled(p, TL_FAINT, p->terminal->unicode ? "╌: recording was paused" : "~: recording was paused");
    tl_output_puts(p->out, "\n");
}

static void add_lines(const tl_cpu *c, const tl_ask *ask, tl_answer *a)
{
    line *l = tl_answer_alloc(a, c->n, sizeof *l);
    const uint32_t n = tl_ask_rows(ask, c->n, TRACK_ROWS, 0);
    if (!l)
        return;
    for (uint32_t i = 0; i < c->n; i++)
        l[i] = (line){i, tl_sum_double(c->track[i].used), tl_sum_double(c->track[i].elapsed), tl_cpu_peak(c, i)};
    qsort(l, c->n, sizeof *l, busiest_first);
    tl_part *p = tl_answer_add_rows(a, ask, NULL, NULL, 0, l, sizeof *l, NULL, n);
    p->before = say_lines;
    p->verbatim = true;
    p->left_out = ask->has_top ? 0 : c->n - n;
    p->of = "tracks";
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_cpu *c = table;
    (void)e;
    a->head = head;
    if (ask->for_programs)
        TL_ADD_ROWS(a, ask, "tracks", tracks, c->track, NULL, tl_ask_rows(ask, c->n, 0, 0))->list =
            TL_ADD_LIST(a, points, c->point);
    else
        add_lines(c, ask, a);
    return 0;
}

const tl_table_kind tl_table_cpu = {
    .info = {"cpu", "processor time of the process and its threads, over time", TL_NEEDS_RUNTIME},
    .sql = "cpu_stats",
    .what = "measurements of processor time",
    .tab = "runtime",
    .late = true,
    .of_runtime = true,
    .size = sizeof(tl_cpu),
    .read = tl_cpu_read,
    TL_EMPTY_IF_0(tl_cpu, n),
    .answer = answer,
    .fini = tl_cpu_fini,
    TL_TABLE_COLUMNS(tracks)};

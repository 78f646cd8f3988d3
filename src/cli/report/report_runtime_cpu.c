/* `report --by cpu`: how busy the process and its threads were, over time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/number.h"
#include "cli/report/report_runtime.h"

#define TRACK_ROWS  18u /* on a terminal */
#define CHART_LEAST 10u
#define CHART_MOST  120u
#define NAME_MOST   24u
#define NAME_SIZE   256u

static int read_cpu(tl_runtime_report *r, tl_source *s, const tl_select *select, tl_error *e)
{
    return tl_cpu_read(&r->cpu, s, select, e);
}

static bool is_empty(const tl_runtime_report *r)
{
    return r->cpu.n == 0;
}

static void put_elapsed(tl_json *j, const tl_cpu_track *t)
{
    if (tl_sum_compare(t->elapsed, t->elapsed_minus) >= 0) {
        tl_runtime_put_sum(j, "elapsed", tl_sum_minus(t->elapsed, t->elapsed_minus));
        return;
    }
    char text[TL_SUM_TEXT]; /* time went back more than forth */
    tl_json_key(j, "elapsed");
    tl_output_printf(j->out, "-%s", tl_sum_text(text, tl_sum_minus(t->elapsed_minus, t->elapsed)));
    j->comma = true;
}

static int put_json(tl_runtime_report *r, tl_json *j, tl_error *e)
{
    const tl_cpu *c = &r->cpu;
    (void)e;
    tl_json_key_string(j, "unit", r->unit);
    tl_json_key(j, "tracks");
    tl_json_array(j);
    for (uint32_t i = 0; i < tl_runtime_json_rows(r, c->n); i++) {
        const tl_cpu_track *t = &c->track[i];
        tl_json_object(j);
        tl_json_key_string(j, "track", t->name);
        tl_runtime_put_sum(j, "used", t->used);
        put_elapsed(j, t);
        tl_json_key(j, "points");
        tl_json_array(j);
        for (uint32_t k = 0; k < t->n; k++) {
            const tl_cpu_point *p = &c->point[t->first + k];
            tl_json_object(j);
            if (p->has_begin)
                tl_json_key_u64(j, "begin", p->begin);
            else
                tl_json_key_null(j, "begin");
            tl_json_key_u64(j, "end", p->end);
            tl_runtime_put_sum(j, "used", tl_sum_times(p->used, TL_CPU_NS_PER_US));
            tl_json_object_end(j);
        }
        tl_json_array_end(j);
        if (t->negative)
            tl_json_key_u64(j, "negative", t->negative);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    return 0;
}

/* A track, as it is printed. */
typedef struct line {
    uint32_t track;
    double used, elapsed, peak;
    bool has_gap; /* its chart shows one */
} line;

static int busiest_first(const void *left, const void *right)
{
    const line *a = left, *b = right;
    if (a->used < b->used || a->used > b->used)
        return a->used < b->used ? 1 : -1;
    return (a->track > b->track) - (a->track < b->track);
}

static void print_head(const tl_runtime_report *r, tl_output *out)
{
    const tl_cpu *c = &r->cpu;
    char text[32];
    tl_runtime_subject(r, out);
    tl_output_printf(out, "processor time of %s %s", tl_human_grouped(text, sizeof text, c->n),
                     c->n == 1 ? "track" : "tracks");
    tl_output_printf(out, " in %s\n\n", tl_runtime_time_text(r, text, sizeof text, c->last - c->first));
}

static void put_blanks(tl_output *out, unsigned n)
{
    tl_output_printf(out, "%*s", (int)n, "");
}

/* A share of a processor as people write it. */
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

/* The line above the charts: titles, and where they begin and end. */
static void print_titles(const tl_runtime_report *r, unsigned name, unsigned chart, tl_output *out)
{
    const tl_cpu *c = &r->cpu;
    char begin[32], end[32];
    const char *from = tl_runtime_time_text(r, begin, sizeof begin, c->first),
               *to = tl_runtime_time_text(r, end, sizeof end, c->last);
    const unsigned used = (unsigned)(strlen(from) + strlen(to));
    tl_output_puts(out, tl_style_on(r->terminal, TL_HEADER));
    tl_output_printf(out, "%9s  %8s  %8s  %-*s  %s", "used", "CPU", "highest", (int)name, "track", from);
    put_blanks(out, chart > used + 1 ? chart - used : 1);
    tl_output_printf(out, "%s%s\n", to, tl_style_on(r->terminal, TL_PLAIN_TEXT));
}

/* One track: numbers, name, and a chart that is full at one processor, or at its own peak if that is higher. */
static int print_line(const tl_runtime_report *r, line *l, unsigned name, unsigned chart, double *value, char *spark,
                      tl_output *out, tl_error *e)
{
    const tl_cpu *c = &r->cpu;
    const tl_terminal *terminal = r->terminal;
    char used[32], share[32], peak[32], clean[NAME_SIZE], fit[NAME_SIZE];
    const char *label = tl_text_clean(clean, sizeof clean, c->track[l->track].name);
    int status = tl_cpu_columns(c, l->track, c->first, c->last, value, chart, e);
    if (status < 0)
        return status;
    const double full = l->peak > 1 ? l->peak : 1;
    for (unsigned i = 0; i < chart; i++) {
        l->has_gap = l->has_gap || value[i] <= TL_CPU_GAP;
        value[i] = value[i] > 0 ? value[i] / full : value[i];
    }
    label = tl_text_fit(terminal, fit, sizeof fit, label, name);
    const unsigned width = tl_text_width(label, strlen(label));
    tl_output_printf(out, "%9s  %8s  %8s  %s", short_time(used, sizeof used, l->used),
                     percent(share, sizeof share, l->used, l->elapsed),
                     percent(peak, sizeof peak, l->peak, l->elapsed > 0), label);
    put_blanks(out, (name > width ? name - width : 0) + 2);
    char *end = tl_runtime_spark(terminal, spark, value, chart);
    for (size_t n = strlen(end); n > 0 && spark[n - 1] == ' '; n--)
        spark[n - 1] = 0;
    tl_output_printf(out, "%s%s%s\n", tl_style_on(terminal, TL_ACCENT), spark, tl_style_on(terminal, TL_PLAIN_TEXT));
    return 0;
}

static int print_lines(const tl_runtime_report *r, line *l, uint32_t n, tl_output *out, tl_error *e)
{
    const tl_cpu *c = &r->cpu;
    enum { NUMBERS = 9 + 2 + 8 + 2 + 8 + 2 }; /* columns before the name */
    unsigned name = 5;
    for (uint32_t i = 0; i < n; i++) {
        char clean[NAME_SIZE];
        const char *label = tl_text_clean(clean, sizeof clean, c->track[l[i].track].name);
        const unsigned width = tl_text_width(label, strlen(label));
        name = width > name ? width : name;
    }
    if (name > NAME_MOST)
        name = NAME_MOST;
    const unsigned used = NUMBERS + name + 2, width = r->terminal->width;
    unsigned chart = width > used + CHART_LEAST ? width - used : CHART_LEAST;
    if (chart > CHART_MOST)
        chart = CHART_MOST;
    double *value = malloc(chart * sizeof *value);
    char *spark = malloc(4 * (size_t)chart + 1);
    int status = value && spark ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a chart");
    if (status == 0)
        print_titles(r, name, chart, out);
    for (uint32_t i = 0; status == 0 && i < n; i++)
        status = print_line(r, &l[i], name, chart, value, spark, out, e);
    free(value);
    free(spark);
    return status;
}

static int print_text(tl_runtime_report *r, tl_output *out, tl_error *e)
{
    const tl_cpu *c = &r->cpu;
    line *l = malloc(((size_t)c->n + 1) * sizeof *l);
    if (!l)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of processor time");
    for (uint32_t i = 0; i < c->n; i++) {
        const tl_cpu_track *t = &c->track[i];
        l[i] = (line){i, tl_sum_double(t->used), tl_sum_double(t->elapsed), tl_cpu_peak(c, i), false};
    }
    qsort(l, c->n, sizeof *l, busiest_first);
    const uint32_t n = tl_runtime_rows(r, c->n, TRACK_ROWS, 0);
    char number[32];
    print_head(r, out);
    int status = print_lines(r, l, n, out, e);
    bool has_gap = false;
    for (uint32_t i = 0; i < n; i++)
        has_gap = has_gap || l[i].has_gap;
    free(l);
    if (status == 0 && n < c->n && !r->cli->args->has_top)
        tl_output_printf(out, "%s%s %s more tracks; --top 0 shows all%s\n", tl_style_on(r->terminal, TL_FAINT),
                         r->terminal->unicode ? "…" : "...", tl_human_grouped(number, sizeof number, c->n - n),
                         tl_style_on(r->terminal, TL_PLAIN_TEXT));
    if (status == 0)
        tl_output_printf(out, "%scharts are full at 100 %%, or at the highest of the track if that is more%s\n",
                         tl_style_on(r->terminal, TL_FAINT), tl_style_on(r->terminal, TL_PLAIN_TEXT));
    if (status == 0 && has_gap)
        tl_output_printf(out, "%s%s: recording was paused%s\n", tl_style_on(r->terminal, TL_FAINT),
                         r->terminal->unicode ? "╌" : "~", tl_style_on(r->terminal, TL_PLAIN_TEXT));
    return status;
}

const tl_runtime_table tl_runtime_cpu = {.what = "measurements of processor time",
                                         .read = read_cpu,
                                         .empty = is_empty,
                                         .json = put_json,
                                         .text = print_text};

/* `report --by page`: pages of memory that were touched, the regions that they make, and how many are in use at a time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/page_table.h"
#include "base/text/number.h"
#include "cli/report/report_insn.h"
#include "cli/report/report_insn_parts.h"

#define PAGE_ROWS     10u /* on a terminal */
#define REGION_ROWS   6u
#define INTERVAL_ROWS 12u
#define CHART         60u /* columns of the working set over time */

static bool get_options(void *options, const tl_arguments *a, char message[static TL_USAGE_SIZE])
{
    (void)message;
    ((tl_page_options *)options)->interval = a->interval;
    return true;
}

static bool is_empty(const void *table)
{
    return ((const tl_pages *)table)->n == 0;
}

static int fail_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of pages");
}

/* JSON */

static int put_intervals(const tl_insn_report *r, tl_json *j, tl_error *e)
{
    const tl_pages *p = r->table;
    uint32_t *index = tl_pages_sort_intervals(p);
    if (!index)
        return fail_memory(e);
    tl_json_key(j, "working_set");
    tl_json_array(j);
    for (uint32_t i = 0; i < p->nintervals; i++) {
        const tl_page_interval *interval = &p->interval[index[i]];
        tl_json_object(j);
        tl_json_key_string(j, "track", interval->track);
        tl_json_key_u64(j, "from", interval->from);
        tl_json_key_u64(j, "to", interval->to);
        tl_json_key_u64(j, "code_pages", interval->code_pages);
        tl_json_key_u64(j, "data_pages", interval->data_pages);
        tl_json_key_u64(j, "new_pages", interval->new_pages);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    free(index);
    return 0;
}

static int put_json(const tl_insn_report *r, tl_json *j, tl_error *e)
{
    const tl_pages *p = r->table;
    const uint32_t n = tl_insn_rows(r, p->n, 0);
    uint32_t *index = tl_pages_sort(p, n < p->n); /* of all pages by address, of the first few by use */
    char text[24];
    if (!index)
        return fail_memory(e);
    tl_json_key_string(j, "unit", "accesses");
    tl_json_key_u64(j, "page_size", TL_PAGE_BYTES);
    tl_json_key(j, "pages");
    tl_json_array(j);
    for (uint32_t i = 0; i < n; i++) {
        const tl_page *page = &p->page[index[i]];
        tl_json_object(j);
        snprintf(text, sizeof text, "0x%" PRIx64, page->number << TL_PAGE_SHIFT);
        tl_json_key_string(j, "page", text);
        tl_json_key_u64(j, "code", page->code);
        tl_json_key_u64(j, "loads", page->loads);
        tl_json_key_u64(j, "stores", page->stores);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    free(index);
    return p->length ? put_intervals(r, j, e) : 0;
}

/* Text */

/* What all pages were used for. */
typedef struct totals {
    uint64_t code_pages, data_pages, code, loads, stores;
} totals;

static totals add_up(const tl_pages *p)
{
    totals t = {0};
    for (uint32_t i = 0; i < p->n; i++) {
        const tl_page *page = &p->page[i];
        t.code_pages += page->code != 0;
        t.data_pages += page->loads || page->stores;
        t.code += page->code;
        t.loads += page->loads;
        t.stores += page->stores;
    }
    return t;
}

static void print_head(const tl_insn_report *r, const totals *t, tl_output *out)
{
    const tl_pages *p = r->table;
    char a[32], b[32], c[32];
    tl_insn_subject(r, out);
    tl_output_printf(out, "%s %s of %s (%s): %s with code, %s with data\n", tl_human_grouped(a, sizeof a, p->n),
                     p->n == 1 ? "page" : "pages", tl_human_bytes(b, sizeof b, TL_PAGE_BYTES),
                     tl_human_bytes(c, sizeof c, (uint64_t)p->n << TL_PAGE_SHIFT),
                     tl_human_grouped((char[32]){0}, 32, t->code_pages),
                     tl_human_grouped((char[32]){0}, 32, t->data_pages));
    tl_output_printf(out, "touched %s times by code, %s by loads, %s by stores\n",
                     tl_human_grouped(a, sizeof a, t->code), tl_human_grouped(b, sizeof b, t->loads),
                     tl_human_grouped(c, sizeof c, t->stores));
}

/* The cells that pages and regions have in common, and "r-x": what they were used for, not what was allowed. */
static void put_uses(tl_text_table *t, tl_text_row *row, unsigned *at, uint64_t code, uint64_t loads, uint64_t stores,
                     const totals *whole)
{
    const char use[] = {loads ? 'r' : '-', stores ? 'w' : '-', code ? 'x' : '-', 0};
    tl_insn_cell_count(t, row, at, code + loads + stores);
    tl_insn_cell_share(t, row, at, (double)(code + loads + stores),
                       (double)(whole->code + whole->loads + whole->stores));
    tl_insn_cell_count(t, row, at, code);
    tl_insn_cell_count(t, row, at, loads);
    tl_insn_cell_count(t, row, at, stores);
    tl_runtime_cell(t, row, at, use);
}

static int print_pages(const tl_insn_report *r, const totals *whole, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"touches", 0}, {"share", 1},  {"code", 4},
                                            {"loads", 3},   {"stores", 2}, {"use", 0}};
    const tl_pages *p = r->table;
    tl_text_table t = {.column = column, .ncolumn = 6, .name_title = "page", .bar_after = 1, .name_wish = 18};
    const uint32_t n = tl_insn_rows(r, p->n, PAGE_ROWS);
    uint32_t *index = tl_pages_sort(p, true);
    char text[24];
    if (!index)
        return fail_memory(e);
    for (uint32_t i = 0; i < n; i++) {
        const tl_page *page = &p->page[index[i]];
        tl_text_row *row = tl_text_table_add(&t);
        unsigned at = 0;
        snprintf(text, sizeof text, "0x%" PRIx64, page->number << TL_PAGE_SHIFT);
        row->name = tl_text_table_keep_raw(&t, text);
        put_uses(&t, row, &at, page->code, page->loads, page->stores, whole);
    }
    free(index);
    tl_output_puts(out, "\n");
    return tl_insn_print(r, &t, p->n - n, "pages", out, e);
}

static int print_regions(const tl_insn_report *r, const totals *whole, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"size", 0},  {"touches", 0}, {"share", 1}, {"code", 4},
                                            {"loads", 3}, {"stores", 2},  {"use", 0}};
    const tl_pages *p = r->table;
    tl_text_table t = {.column = column, .ncolumn = 7, .name_title = "region", .bar_after = 7, .name_wish = 37};
    uint32_t all = 0;
    tl_page_region *region = tl_pages_regions(p, &all);
    const uint32_t n = tl_insn_rows(r, all, REGION_ROWS);
    char text[48];
    if (!region)
        return fail_memory(e);
    tl_page_regions_by_use(region, all);
    for (uint32_t i = 0; i < n; i++) {
        const tl_page_region *from = &region[i];
        tl_text_row *row = tl_text_table_add(&t);
        unsigned at = 0;
        tl_insn_cell_bytes(&t, row, &at, from->pages << TL_PAGE_SHIFT);
        const uint64_t last = ((from->first + from->pages) << TL_PAGE_SHIFT) - 1;
        snprintf(text, sizeof text, "0x%" PRIx64 "-0x%" PRIx64, from->first << TL_PAGE_SHIFT, last);
        row->name = tl_text_table_keep_raw(&t, text);
        put_uses(&t, row, &at, from->code, from->loads, from->stores, whole);
    }
    free(region);
    tl_output_puts(out, "\n");
    return tl_insn_print(r, &t, all - n, "regions", out, e);
}

/* Working set */

static uint64_t pages_of(const tl_page_interval *i)
{
    return i->code_pages + i->data_pages;
}

/* The whole of one track in a line, so that what is left out of the table below is seen, too. */
static void print_chart(const tl_insn_report *r, const uint32_t *index, uint64_t most, tl_output *out)
{
    const tl_pages *p = r->table;
    const uint64_t first = p->interval[index[0]].from, last = p->interval[index[p->nintervals - 1]].from;
    const double span = (double)(last - first) + (double)p->length;
    double value[CHART];
    char text[4 * CHART + 1];
    for (unsigned i = 0; i < CHART; i++)
        value[i] = 0;
    for (unsigned i = 0; i < CHART; i++) { /* the largest of the intervals that reach into a column */
        const uint64_t from = first + (uint64_t)(span * i / CHART), to = first + (uint64_t)(span * (i + 1) / CHART);
        for (uint32_t k = 0; k < p->nintervals; k++) {
            const tl_page_interval *interval = &p->interval[index[k]];
            if (interval->from >= to)
                break;
            const double share = most ? (double)pages_of(interval) / (double)most : 0;
            if (interval->from + (p->length - 1) >= from && share > value[i])
                value[i] = share;
        }
    }
    tl_output_printf(out, "  %s%s%s\n", tl_style_on(r->terminal, TL_ACCENT),
                     tl_runtime_spark(r->terminal, text, value, CHART), tl_style_on(r->terminal, TL_PLAIN_TEXT));
}

static void put_interval(tl_text_table *t, const tl_page_interval *interval, uint64_t most, bool several)
{
    tl_text_row *row = tl_text_table_add(t);
    unsigned at = 0;
    char from[32];
    tl_insn_cell_count(t, row, &at, interval->code_pages);
    tl_insn_cell_count(t, row, &at, interval->data_pages);
    tl_insn_cell_count(t, row, &at, interval->new_pages);
    tl_insn_cell_bytes(t, row, &at, pages_of(interval) << TL_PAGE_SHIFT);
    row->share = most ? (double)pages_of(interval) / (double)most : 0;
    row->name = tl_text_table_keep_raw(t, tl_human_grouped(from, sizeof from, interval->from));
    if (several)
        row->suffix = tl_text_table_keep(t, interval->track);
}

static int print_intervals(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"code", 2}, {"data", 2}, {"new", 1}, {"in use", 0}};
    const tl_pages *p = r->table;
    tl_text_table t = {.column = column, .ncolumn = 4, .name_title = "from", .bar_after = 3, .name_wish = 16};
    const uint32_t n = tl_insn_rows(r, p->nintervals, INTERVAL_ROWS);
    uint32_t *index = tl_pages_sort_intervals(p);
    char text[32];
    uint64_t most = 0;
    if (!index)
        return fail_memory(e);
    const bool several = strcmp(p->interval[index[0]].track, p->interval[index[p->nintervals - 1]].track) != 0;
    for (uint32_t i = 0; i < p->nintervals; i++)
        most = pages_of(&p->interval[i]) > most ? pages_of(&p->interval[i]) : most;
    tl_output_printf(out, "\nworking set in intervals of %s instructions: at most %s\n",
                     tl_human_grouped(text, sizeof text, p->length),
                     tl_human_bytes((char[32]){0}, 32, most << TL_PAGE_SHIFT));
    if (!several && p->nintervals > n)
        print_chart(r, index, most, out);
    for (uint32_t i = 0; i < n; i++)
        put_interval(&t, &p->interval[index[i]], most, several);
    free(index);
    return tl_insn_print(r, &t, p->nintervals - n, "intervals", out, e);
}

static int print_text(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    const tl_pages *p = r->table;
    const totals whole = add_up(p);
    print_head(r, &whole, out);
    int status = print_pages(r, &whole, out, e);
    if (status == 0)
        status = print_regions(r, &whole, out, e);
    if (status == 0 && p->nintervals)
        status = print_intervals(r, out, e);
    return status;
}

const tl_insn_view tl_insn_view_page = {.by = "page",
                                        .what = "instructions or accesses to memory",
                                        .how = &tl_page_table,
                                        .options_size = sizeof(tl_page_options),
                                        .options = get_options,
                                        .empty = is_empty,
                                        .json = put_json,
                                        .text = print_text};

/* `report --by reuse`: how many other lines of memory are used before one is used again, and what caches of all sizes
 * would make of it. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/instruction/reuse_table.h"
#include "base/text/number.h"
#include "cli/report/report_insn.h"
#include "cli/report/report_insn_parts.h"

#define SMALLEST_CACHE 4u /* log2 of its lines */

static bool get_options(void *options, const tl_arguments *a, char message[static TL_USAGE_SIZE])
{
    tl_reuse_options *o = options;
    o->line_size = a->line_size;
    o->sample = a->sample;
    if (a->sample > TL_REUSE_SAMPLE_MAX || a->sample & (a->sample - 1)) {
        snprintf(message, TL_USAGE_SIZE,
                 "--sample %" PRIu64 ": expected a power of two up to %" PRIu64 ", for one line of so many", a->sample,
                 TL_REUSE_SAMPLE_MAX);
        return false;
    }
    return true;
}

static bool is_empty(const void *table)
{
    return ((const tl_reuse *)table)->accesses == 0;
}

/* Buckets up to the last that is not empty. */
static unsigned buckets(const tl_reuse *t)
{
    unsigned n = TL_REUSE_BUCKETS;
    while (n && !t->bucket[n - 1])
        n--;
    return n;
}

static int put_json(const tl_insn_report *r, tl_json *j, tl_error *e)
{
    const tl_reuse *t = r->table;
    (void)e;
    tl_json_key_string(j, "unit", "accesses");
    tl_json_key_u64(j, "line_size", UINT64_C(1) << t->shift);
    if (t->sample > 1)
        tl_json_key_u64(j, "sampled", t->sample);
    else
        tl_json_key_null(j, "sampled");
    tl_json_key_u64(j, "accesses", t->accesses);
    tl_json_key_u64(j, "lines", tl_reuse_scaled(t, t->stack.n));
    tl_json_key_u64(j, "cold", tl_reuse_scaled(t, t->cold));
    tl_json_key(j, "distances");
    tl_json_array(j);
    for (unsigned i = 0; i < buckets(t); i++) {
        uint64_t from, to;
        tl_reuse_range(i, &from, &to);
        tl_json_object(j);
        tl_json_key_u64(j, "from", from);
        tl_json_key_u64(j, "to", to);
        tl_json_key_u64(j, "accesses", tl_reuse_scaled(t, t->bucket[i]));
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    return 0;
}

static void print_head(const tl_insn_report *r, tl_output *out)
{
    const tl_reuse *t = r->table;
    const uint64_t lines = tl_reuse_scaled(t, t->stack.n);
    char a[32], b[32], c[32];
    tl_insn_subject(r, out);
    tl_output_printf(out, "%s %s to %s%s lines of %s", tl_human_grouped(a, sizeof a, t->accesses),
                     t->accesses == 1 ? "access" : "accesses", t->sample > 1 ? "about " : "",
                     tl_human_grouped(b, sizeof b, lines), tl_human_bytes(c, sizeof c, UINT64_C(1) << t->shift));
    if (lines <= UINT64_MAX >> t->shift)
        tl_output_printf(out, " (%s)", tl_human_bytes(a, sizeof a, lines << t->shift));
    tl_output_puts(out, "\n");
    if (t->sample > 1)
        tl_output_printf(out, "%sestimated from one line of %s; distances below that are told as 0%s\n",
                         tl_style_on(r->terminal, TL_STRONG), tl_human_grouped(a, sizeof a, t->sample),
                         tl_style_on(r->terminal, TL_PLAIN_TEXT));
}

static void put_distance(const tl_reuse *t, tl_text_table *to, const char *name, uint64_t accesses)
{
    tl_text_row *row = tl_text_table_add(to);
    unsigned at = 0;
    tl_insn_cell_count(to, row, &at, tl_reuse_scaled(t, accesses));
    tl_insn_cell_share(to, row, &at, (double)accesses, (double)t->looked);
    row->name = name;
}

static int print_distances(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"accesses", 0}, {"share", 0}};
    const tl_reuse *t = r->table;
    tl_text_table table = {
        .column = column, .ncolumn = 2, .name_title = "other lines since then", .bar_after = 1, .name_wish = 22};
    char a[32], b[32], text[80];
    for (unsigned i = 0; i < buckets(t); i++) {
        uint64_t from, to;
        tl_reuse_range(i, &from, &to);
        snprintf(text, sizeof text, from == to ? "%s" : "%s - %s", tl_human_grouped(a, sizeof a, from),
                 tl_human_grouped(b, sizeof b, to));
        put_distance(t, &table, tl_text_table_keep_raw(&table, text), t->bucket[i]);
    }
    put_distance(t, &table, "first use", t->cold);
    tl_output_puts(out, "\n");
    return tl_insn_print(r, &table, 0, "distances", out, e);
}

static int print_caches(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"misses", 1}, {"ratio", 0}};
    const tl_reuse *t = r->table;
    tl_text_table table = {
        .column = column, .ncolumn = 2, .name_title = "fully associative LRU cache", .bar_after = 1, .name_wish = 28};
    char size[32], lines[48], number[32];
    unsigned first = SMALLEST_CACHE;
    while (UINT64_C(1) << first < t->sample) /* of smaller ones a sample says nothing */
        first++;
    for (unsigned i = first; i + t->shift < 64; i++) {
        const uint64_t misses = tl_reuse_misses(t, i);
        tl_text_row *row = tl_text_table_add(&table);
        unsigned at = 0;
        tl_insn_cell_count(&table, row, &at, tl_reuse_scaled(t, misses));
        tl_insn_cell_share(&table, row, &at, (double)misses, (double)t->looked);
        row->name = tl_text_table_keep_raw(&table, tl_human_bytes(size, sizeof size, UINT64_C(1) << (i + t->shift)));
        snprintf(lines, sizeof lines, "%s lines", tl_human_grouped(number, sizeof number, UINT64_C(1) << i));
        row->suffix = tl_text_table_keep_raw(&table, lines);
        if (misses == t->cold)
            break;
    }
    tl_output_puts(out, "\n");
    return tl_insn_print(r, &table, 0, "caches", out, e);
}

static int print_text(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    print_head(r, out);
    const int status = print_distances(r, out, e);
    return status < 0 ? status : print_caches(r, out, e);
}

const tl_insn_view tl_insn_view_reuse = {.by = "reuse",
                                         .what = "accesses to memory",
                                         .how = &tl_reuse_table,
                                         .options_size = sizeof(tl_reuse_options),
                                         .options = get_options,
                                         .empty = is_empty,
                                         .json = put_json,
                                         .text = print_text};

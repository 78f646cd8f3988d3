/* `report --by block`: the basic blocks in which most instructions were executed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/instruction/block_table.h"
#include "base/text/number.h"
#include "cli/report/report_insn.h"
#include "cli/report/report_insn_parts.h"

#define BLOCK_ROWS 20u /* on a terminal */

static bool is_empty(const void *table)
{
    return ((const tl_blocks *)table)->insns == 0;
}

static int fail_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of blocks");
}

static int put_json(const tl_insn_report *r, tl_json *j, tl_error *e)
{
    const tl_blocks *b = r->table;
    const uint32_t n = tl_insn_rows(r, b->map.n, 0);
    tl_insn_block *row = tl_blocks_rows(b);
    char text[24];
    if (!row)
        return fail_memory(e);
    tl_json_key_string(j, "unit", "instructions");
    tl_json_key(j, "blocks");
    tl_json_array(j);
    for (uint32_t i = 0; i < n; i++) {
        tl_json_object(j);
        snprintf(text, sizeof text, "0x%" PRIx64, row[i].start);
        tl_json_key_string(j, "start", text);
        tl_json_key_u64(j, "instructions", row[i].length);
        tl_json_key_u64(j, "executions", row[i].executions);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    tl_json_key_u64(j, "without_pc", b->without_pc);
    free(row);
    return 0;
}

/* Text */

/* How many of the first rows hold `part` of all instructions. */
static uint32_t rows_of(const tl_insn_block *row, uint32_t n, double part, uint64_t insns)
{
    uint32_t i = 0;
    for (double sum = 0; i < n && sum < part * (double)insns; i++)
        sum += (double)(row[i].executions * row[i].length);
    return i;
}

static void print_head(const tl_insn_report *r, const tl_insn_block *row, tl_output *out)
{
    const tl_blocks *b = r->table;
    const uint32_t n = b->map.n;
    const uint64_t known = b->insns - b->without_pc;
    uint64_t executions = 0;
    char x[32], y[32], z[32];
    for (uint32_t i = 0; i < n; i++)
        executions += row[i].executions;
    tl_insn_subject(r, out);
    tl_output_printf(out, "%s %s, executed %s %s: %s %s", tl_human_grouped(x, sizeof x, n), n == 1 ? "block" : "blocks",
                     tl_human_grouped(y, sizeof y, executions), executions == 1 ? "time" : "times",
                     tl_human_grouped(z, sizeof z, known), known == 1 ? "instruction" : "instructions");
    if (executions)
        tl_output_printf(out, ", %.1f each time", (double)known / (double)executions);
    tl_output_puts(out, "\n");
    const uint32_t half = rows_of(row, n, 0.5, known), most = rows_of(row, n, 0.9, known);
    if (n > 1)
        tl_output_printf(out, "half of them are in %s %s, 90 %% in %s\n", tl_human_grouped(x, sizeof x, half),
                         half == 1 ? "block" : "blocks", tl_human_grouped(y, sizeof y, most));
    if (b->without_pc)
        tl_output_printf(out, "%s%s without a known pc in none%s\n", tl_style_on(r->terminal, TL_FAINT),
                         tl_human_grouped(x, sizeof x, b->without_pc), tl_style_on(r->terminal, TL_PLAIN_TEXT));
}

static int print_text(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"instructions", 0}, {"share", 3}, {"executions", 0}, {"length", 1}};
    const tl_blocks *b = r->table;
    tl_text_table t = {.column = column, .ncolumn = 4, .name_title = "block", .bar_after = 1, .name_wish = 18};
    tl_insn_block *row = tl_blocks_rows(b);
    if (!row)
        return fail_memory(e);
    print_head(r, row, out);
    tl_output_puts(out, "\n");
    const uint32_t n = tl_insn_rows(r, b->map.n, BLOCK_ROWS);
    for (uint32_t i = 0; i < n; i++) {
        tl_text_row *to = tl_text_table_add(&t);
        const uint64_t insns = row[i].executions * row[i].length;
        unsigned at = 0;
        char text[24];
        tl_insn_cell_count(&t, to, &at, insns);
        tl_insn_cell_share(&t, to, &at, (double)insns, (double)b->insns);
        tl_insn_cell_count(&t, to, &at, row[i].executions);
        tl_insn_cell_count(&t, to, &at, row[i].length);
        snprintf(text, sizeof text, "0x%" PRIx64, row[i].start);
        to->name = tl_text_table_keep_raw(&t, text);
        to->suffix = tl_insn_place(r, &t, row[i].start);
    }
    free(row);
    return tl_insn_print(r, &t, b->map.n - n, "blocks", out, e);
}

const tl_insn_view tl_insn_view_block = {.by = "block",
                                         .what = "instructions",
                                         .how = &tl_blocks_table,
                                         .empty = is_empty,
                                         .json = put_json,
                                         .text = print_text};

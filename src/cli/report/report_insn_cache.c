/* `report --by cache`: hits and misses of simulated caches, and the instructions that miss most. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/instruction/cache_table.h"
#include "base/text/number.h"
#include "cli/report/report_insn.h"
#include "cli/report/report_insn_parts.h"

#define PC_ROWS 10u /* on a terminal */

static bool get_options(void *options, const tl_arguments *a, char message[static TL_USAGE_SIZE])
{
    tl_error e = {0};
    *(tl_cache_setup *)options = tl_cache_default;
    if (!a->cache || tl_cache_setup_parse(options, a->cache, &e) == 0)
        return true;
    snprintf(message, TL_USAGE_SIZE, "--%s", e.message);
    return false;
}

static bool is_empty(const void *table)
{
    const tl_caches *c = table;
    return c->instructions == 0 && c->sim.accesses[TL_CACHE_LOAD] == 0 && c->sim.accesses[TL_CACHE_STORE] == 0;
}

static int fail_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of caches");
}

static uint64_t sum(const uint64_t of[TL_CACHE_CLASSES])
{
    return of[TL_CACHE_CODE] + of[TL_CACHE_LOAD] + of[TL_CACHE_STORE];
}

/* JSON */

static void put_level(tl_json *j, const tl_caches *c, tl_cache_id id)
{
    static const char *const name[] = {"code", "load", "store"};
    const tl_cache_shape *shape = &c->setup.cache[id];
    const tl_cache_count count = tl_cache_sim_count(&c->sim, id);
    tl_json_object(j);
    tl_json_key_string(j, "name", tl_cache_name(id));
    if (tl_cache_is_tlb(id))
        tl_json_key_u64(j, "entries", (uint64_t)shape->sets * shape->ways);
    else
        tl_json_key_u64(j, "size", (uint64_t)shape->sets * shape->ways * shape->line);
    tl_json_key_u64(j, "ways", shape->ways);
    tl_json_key_u64(j, tl_cache_is_tlb(id) ? "page_size" : "line_size", shape->line);
    tl_json_key_u64(j, "accesses", sum(count.accesses));
    tl_json_key_u64(j, "lookups", sum(count.lookups));
    tl_json_key_u64(j, "misses", sum(count.misses));
    tl_json_key_u64(j, "writebacks", count.writebacks);
    for (unsigned k = 0; k < TL_CACHE_CLASSES; k++) {
        tl_json_key(j, name[k]);
        tl_json_object(j);
        tl_json_key_u64(j, "accesses", count.accesses[k]);
        tl_json_key_u64(j, "lookups", count.lookups[k]);
        tl_json_key_u64(j, "misses", count.misses[k]);
        tl_json_object_end(j);
    }
    tl_json_object_end(j);
}

static void put_misses(tl_json *j, const tl_cache_pc *pc)
{
    tl_json_key_u64(j, "loads", pc->loads);
    tl_json_key_u64(j, "stores", pc->stores);
    tl_json_key_u64(j, "l2", pc->l2);
}

static int put_json(const tl_insn_report *r, tl_json *j, tl_error *e)
{
    const tl_caches *c = r->table;
    uint32_t *index = tl_caches_sort(c);
    char text[24];
    if (!index)
        return fail_memory(e);
    tl_json_key_string(j, "unit", "accesses");
    tl_json_key_u64(j, "instructions", c->instructions);
    tl_json_key(j, "levels");
    tl_json_array(j);
    for (unsigned i = 0; i < TL_CACHES; i++)
        if (c->setup.cache[i].sets)
            put_level(j, c, (tl_cache_id)i);
    tl_json_array_end(j);
    tl_json_key(j, "misses_by_pc");
    tl_json_array(j);
    for (uint32_t i = 0; i < tl_insn_rows(r, c->npc, 0); i++) {
        const tl_cache_pc *pc = &c->pc[index[i]];
        tl_json_object(j);
        snprintf(text, sizeof text, "0x%" PRIx64, pc->pc);
        tl_json_key_string(j, "pc", text);
        put_misses(j, pc);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    tl_json_key(j, "misses_without_pc");
    tl_json_object(j);
    put_misses(j, &c->without_pc);
    tl_json_object_end(j);
    free(index);
    return 0;
}

/* Text */

static void print_head(const tl_insn_report *r, tl_output *out)
{
    const tl_caches *c = r->table;
    const uint64_t *accesses = c->sim.accesses;
    char a[32], b[32], d[32], setup[TL_CACHE_SETUP_TEXT];
    tl_insn_subject(r, out);
    tl_output_printf(out, "%s instructions, %s loads, %s stores\n", tl_human_grouped(a, sizeof a, c->instructions),
                     tl_human_grouped(b, sizeof b, accesses[TL_CACHE_LOAD]),
                     tl_human_grouped(d, sizeof d, accesses[TL_CACHE_STORE]));
    tl_output_printf(out, "%s%s%s\n", tl_style_on(r->terminal, TL_FAINT), tl_cache_setup_text(setup, &c->setup),
                     tl_style_on(r->terminal, TL_PLAIN_TEXT));
}

/* Cells of a whole cache, or of one class of what it was asked for. */
static void put_cells(tl_text_table *t, tl_text_row *row, uint64_t instructions, uint64_t lookups, uint64_t misses)
{
    char text[32];
    unsigned at = 0;
    tl_insn_cell_count(t, row, &at, lookups);
    tl_insn_cell_count(t, row, &at, misses);
    if (lookups)
        tl_insn_cell_share(t, row, &at, (double)misses, (double)lookups);
    else
        tl_runtime_cell(t, row, &at, "-");
    snprintf(text, sizeof text, "%.2f", instructions ? 1000 * (double)misses / (double)instructions : 0);
    tl_runtime_cell(t, row, &at, instructions ? text : "-");
}

static void put_cache(tl_text_table *t, const tl_caches *c, tl_cache_id id)
{
    static const char *const name[] = {"  instructions", "  loads", "  stores"};
    const tl_cache_count count = tl_cache_sim_count(&c->sim, id);
    tl_text_row *row = tl_text_table_add(t);
    unsigned classes = 0, at = 4;
    put_cells(t, row, c->instructions, sum(count.lookups), sum(count.misses));
    if (tl_cache_is_tlb(id))
        tl_runtime_cell(t, row, &at, "");
    else
        tl_insn_cell_count(t, row, &at, count.writebacks);
    row->name = tl_cache_name(id);
    for (unsigned k = 0; k < TL_CACHE_CLASSES; k++)
        classes += count.lookups[k] != 0;
    for (unsigned k = 0; k < TL_CACHE_CLASSES && classes > 1; k++)
        if (count.lookups[k]) {
            row = tl_text_table_add(t);
            put_cells(t, row, c->instructions, count.lookups[k], count.misses[k]);
            row->name = name[k];
        }
}

static int print_levels(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {
        {"lookups", 0}, {"misses", 0}, {"ratio", 0}, {"per 1000", 1}, {"written", 2}};
    const tl_caches *c = r->table;
    tl_text_table t = {.column = column, .ncolumn = 5, .name_title = "cache", .bar_after = 2, .name_wish = 14};
    for (unsigned i = 0; i < TL_CACHES; i++)
        if (c->setup.cache[i].sets)
            put_cache(&t, c, (tl_cache_id)i);
    tl_output_puts(out, "\n");
    const int status = tl_insn_print(r, &t, 0, "caches", out, e);
    tl_output_printf(out,
                     "%sper 1000: misses in 1000 instructions; written: lines that were written back.\n"
                     "What touches two lines looks up both. Each track has caches of its own, LRU.%s\n",
                     tl_style_on(r->terminal, TL_FAINT), tl_style_on(r->terminal, TL_PLAIN_TEXT));
    return status;
}

static int print_pcs(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"misses", 0}, {"share", 1}, {"loads", 2}, {"stores", 2}, {"of L2", 3}};
    const tl_caches *c = r->table;
    const bool l2 = c->setup.cache[TL_CACHE_L2].sets != 0;
    tl_text_table t = {.column = column,
                       .ncolumn = l2 ? 5 : 4,
                       .name_title = "instructions that miss L1D",
                       .bar_after = 1,
                       .name_wish = 26};
    const tl_cache_count l1d = tl_cache_sim_count(&c->sim, TL_CACHE_L1D);
    const uint32_t n = tl_insn_rows(r, c->npc, PC_ROWS);
    uint32_t *index = tl_caches_sort(c);
    char text[24];
    if (!index)
        return fail_memory(e);
    for (uint32_t i = 0; i < n; i++) {
        const tl_cache_pc *pc = &c->pc[index[i]];
        tl_text_row *row = tl_text_table_add(&t);
        unsigned at = 0;
        tl_insn_cell_count(&t, row, &at, pc->loads + pc->stores);
        tl_insn_cell_share(&t, row, &at, (double)(pc->loads + pc->stores), (double)sum(l1d.misses));
        tl_insn_cell_count(&t, row, &at, pc->loads);
        tl_insn_cell_count(&t, row, &at, pc->stores);
        if (l2)
            tl_insn_cell_count(&t, row, &at, pc->l2);
        snprintf(text, sizeof text, "0x%" PRIx64, pc->pc);
        row->name = tl_text_table_keep_raw(&t, text);
        row->suffix = tl_insn_place(r, &t, pc->pc);
    }
    free(index);
    tl_output_puts(out, "\n");
    return tl_insn_print(r, &t, c->npc - n, "instructions", out, e);
}

static int print_text(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    const tl_caches *c = r->table;
    print_head(r, out);
    const int status = print_levels(r, out, e);
    return status < 0 || !c->npc ? status : print_pcs(r, out, e);
}

const tl_insn_view tl_insn_view_cache = {.by = "cache",
                                         .what = "instructions",
                                         .how = &tl_cache_table,
                                         .options_size = sizeof(tl_cache_setup),
                                         .options = get_options,
                                         .empty = is_empty,
                                         .json = put_json,
                                         .text = print_text};

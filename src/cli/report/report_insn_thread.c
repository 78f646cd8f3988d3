/* `report --by thread` of traces of instructions: what each track executed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/thread_insn_table.h"
#include "base/compiler.h"
#include "base/text/number.h"
#include "cli/report/report_insn.h"
#include "cli/report/report_insn_parts.h"

#define THREAD_ROWS 30u /* on a terminal */

static const char *const level_name[TL_INSN_LEVELS] = {"el0", "el1", "el2", "el3"};
static const char *const level_title[TL_INSN_LEVELS] = {"EL0", "EL1", "EL2", "EL3"};

static bool is_empty(const void *table)
{
    return ((const tl_threads_insns *)table)->n == 0;
}

static int fail_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of threads");
}

static void put_accesses(tl_json *j, const char *key, uint64_t tokens, uint64_t bytes)
{
    tl_json_key(j, key);
    tl_json_object(j);
    tl_json_key_u64(j, "tokens", tokens);
    tl_json_key_u64(j, "bytes", bytes);
    tl_json_object_end(j);
}

static void put_thread(tl_json *j, const tl_thread_insns *row)
{
    tl_json_object(j);
    tl_json_key_string(j, "name", row->name);
    if (row->has_tid)
        tl_json_key_i64(j, "tid", row->tid);
    else
        tl_json_key_null(j, "tid");
    if (row->is_cpu)
        tl_json_key_i64(j, "cpu", row->tid);
    tl_json_key_u64(j, "instructions", tl_thread_insns_all(row));
    tl_json_key(j, "levels");
    tl_json_object(j);
    for (unsigned level = 0; level < TL_INSN_LEVELS; level++)
        tl_json_key_u64(j, level_name[level], row->level[level]);
    tl_json_object_end(j);
    put_accesses(j, "loads", row->loads, row->load_bytes);
    put_accesses(j, "stores", row->stores, row->store_bytes);
    tl_json_key_u64(j, "branches", row->branches);
    tl_json_key_u64(j, "syscalls", row->calls);
    tl_json_object_end(j);
}

static int put_json(const tl_insn_report *r, tl_json *j, tl_error *e)
{
    const tl_threads_insns *t = r->table;
    const uint32_t n = tl_insn_rows(r, t->n, 0);
    tl_thread_insns *row = tl_threads_insns_rows(t);
    if (!row)
        return fail_memory(e);
    tl_json_key_string(j, "unit", "instructions");
    tl_json_key(j, "threads");
    tl_json_array(j);
    for (uint32_t i = 0; i < n; i++)
        put_thread(j, &row[i]);
    tl_json_array_end(j);
    free(row);
    return 0;
}

/* Text */

typedef struct layout {
    unsigned level[TL_INSN_LEVELS], levels; /* that have columns: none if there is one */
    uint64_t all;
    bool cpus; /* all of them are processors */
} layout;

static void put_row(const layout *l, tl_text_table *t, const tl_thread_insns *row)
{
    char tid[32], number[24];
    tl_text_row *to = tl_text_table_add(t);
    unsigned at = 0;
    tl_insn_cell_count(t, to, &at, tl_thread_insns_all(row));
    tl_insn_cell_share(t, to, &at, (double)tl_thread_insns_all(row), (double)l->all);
    for (unsigned i = 0; i < l->levels; i++)
        tl_insn_cell_count(t, to, &at, row->level[l->level[i]]);
    tl_insn_cell_count(t, to, &at, row->loads);
    tl_insn_cell_bytes(t, to, &at, row->load_bytes);
    tl_insn_cell_count(t, to, &at, row->stores);
    tl_insn_cell_bytes(t, to, &at, row->store_bytes);
    tl_insn_cell_count(t, to, &at, row->branches);
    tl_insn_cell_count(t, to, &at, row->calls);
    to->name = tl_text_table_keep(t, row->name);
    snprintf(number, sizeof number, "%" PRId64, row->tid);
    snprintf(tid, sizeof tid, "tid %s", number);
    if (row->has_tid && strcmp(number, row->name) != 0)
        to->suffix = tl_text_table_keep_raw(t, tid);
}

/* What all threads together have, and so which levels get columns. */
static layout lay_out(const tl_threads_insns *t)
{
    uint64_t level[TL_INSN_LEVELS] = {0};
    layout l = {.cpus = true};
    for (uint32_t i = 0; i < t->n; i++)
        l.cpus = l.cpus && t->row[i].is_cpu;
    for (uint32_t i = 0; i < t->n; i++)
        for (unsigned k = 0; k < TL_INSN_LEVELS; k++)
            level[k] += t->row[i].level[k];
    for (unsigned k = 0; k < TL_INSN_LEVELS; k++) {
        l.all += level[k];
        if (level[k])
            l.level[l.levels++] = k;
    }
    l.levels = l.levels > 1 ? l.levels : 0;
    return l;
}

static int print_text(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column before[] = {{"instructions", 0}, {"share", 0}},
                                after[] = {{"loads", 2},   {"read", 4},     {"stores", 2},
                                           {"written", 4}, {"branches", 3}, {"syscalls", 1}};
    const tl_threads_insns *t = r->table;
    const layout l = lay_out(t);
    tl_text_column column[TL_COUNT(before) + TL_INSN_LEVELS + TL_COUNT(after)];
    tl_text_table table = {
        .column = column, .name_title = l.cpus ? "processor" : "thread", .bar_after = 1, .name_wish = 12};
    const char *const all = l.cpus ? "processors" : "threads";
    char a[32], b[32];
    tl_thread_insns *row = tl_threads_insns_rows(t);
    if (!row)
        return fail_memory(e);
    for (unsigned i = 0; i < TL_COUNT(before); i++)
        column[table.ncolumn++] = before[i];
    for (unsigned i = 0; i < l.levels; i++)
        column[table.ncolumn++] = (tl_text_column){level_title[l.level[i]], 5};
    for (unsigned i = 0; i < TL_COUNT(after); i++)
        column[table.ncolumn++] = after[i];
    tl_insn_subject(r, out);
    tl_output_printf(out, "%s %s, %s %s\n\n", tl_human_grouped(a, sizeof a, t->n), t->n == 1 ? table.name_title : all,
                     tl_human_grouped(b, sizeof b, l.all), l.all == 1 ? "instruction" : "instructions");
    const uint32_t n = tl_insn_rows(r, t->n, THREAD_ROWS);
    for (uint32_t i = 0; i < n; i++)
        put_row(&l, &table, &row[i]);
    free(row);
    return tl_insn_print(r, &table, t->n - n, all, out, e);
}

const tl_insn_view tl_insn_view_thread = {.by = "thread",
                                          .what = "instructions",
                                          .how = &tl_threads_insns_table,
                                          .empty = is_empty,
                                          .json = put_json,
                                          .text = print_text};

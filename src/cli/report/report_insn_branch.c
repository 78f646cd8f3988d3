/* `report --by branch`: which branches were taken how often, where they went, and what predictors make of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/branch_table.h"
#include "base/text/number.h"
#include "cli/report/report_insn.h"
#include "cli/report/report_insn_parts.h"

#define BRANCH_ROWS 20u /* on a terminal */

static bool get_options(void *options, const tl_arguments *a, char message[static TL_USAGE_SIZE])
{
    return !a->predictor || tl_predictor_parse(options, a->predictor, message, TL_USAGE_SIZE);
}

static bool is_empty(const void *table)
{
    return ((const tl_branches *)table)->n == 0;
}

static int fail_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of branches");
}

static double per_1000(uint64_t n, uint64_t insns)
{
    return insns ? 1000 * (double)n / (double)insns : 0;
}

/* JSON */

static void put_predictors(tl_json *j, const tl_branches *b)
{
    tl_json_key(j, "predictors");
    tl_json_array(j);
    for (unsigned i = 0; i < b->npredictor; i++) {
        const tl_predictor *p = &b->predictor[i];
        tl_json_object(j);
        tl_json_key_string(j, "name", p->model.name);
        tl_json_key_u64(j, "branches", p->branches);
        tl_json_key_u64(j, "misses", p->misses);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    tl_json_key_u64(j, "instructions", b->insns);
}

/* One number for each predictor, null of branches that are not its business. */
static void put_misses(tl_json *j, const tl_branches *b, uint32_t row)
{
    tl_json_key(j, "misses");
    tl_json_array(j);
    for (unsigned i = 0; i < b->npredictor; i++) {
        if (tl_predictor_foresees(&b->predictor[i].model, (a64_class)b->row[row].kind))
            tl_json_u64(j, b->miss[(size_t)row * b->npredictor + i]);
        else
            tl_json_null(j);
    }
    tl_json_array_end(j);
}

static int put_json(const tl_insn_report *r, tl_json *j, tl_error *e)
{
    const tl_branches *b = r->table;
    const uint32_t n = tl_insn_rows(r, b->n, 0);
    uint32_t *order = tl_branches_order(b, false);
    char text[24];
    if (!order)
        return fail_memory(e);
    tl_json_key_string(j, "unit", "instructions");
    tl_json_key(j, "branches");
    tl_json_array(j);
    for (uint32_t i = 0; i < n; i++) {
        const tl_branch *row = &b->row[order[i]];
        tl_json_object(j);
        snprintf(text, sizeof text, "0x%" PRIx64, row->pc);
        tl_json_key_string(j, "pc", text);
        tl_json_key_string(j, "kind", a64_class_name((a64_class)row->kind));
        tl_json_key_u64(j, "taken", row->taken);
        tl_json_key_u64(j, "not_taken", row->not_taken);
        if (b->npredictor)
            put_misses(j, b, order[i]);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    free(order);
    if (b->npredictor)
        put_predictors(j, b);
    return 0;
}

/* Text */

/* "branch.cond" without what they all have in common. */
static const char *short_name(unsigned kind)
{
    const char *name = a64_class_name((a64_class)kind), *dot = strchr(name, '.');
    return dot ? dot + 1 : name;
}

static int print_kinds(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"executed", 0}, {"share", 0}, {"taken", 1}, {"places", 2}};
    const tl_branches *b = r->table;
    tl_text_table t = {.column = column, .ncolumn = 4, .name_title = "kind", .bar_after = 1, .name_wish = 14};
    uint64_t taken[A64_CLASSES] = {0}, all[A64_CLASSES] = {0}, places[A64_CLASSES] = {0}, whole = 0;
    char x[32], y[32];
    for (uint32_t i = 0; i < b->n; i++) {
        const tl_branch *row = &b->row[i];
        taken[row->kind] += row->taken;
        all[row->kind] += row->taken + row->not_taken;
        places[row->kind]++;
        whole += row->taken + row->not_taken;
    }
    tl_insn_subject(r, out);
    tl_output_printf(out, "%s %s at %s %s, one in %.1f instructions\n", tl_human_grouped(x, sizeof x, whole),
                     whole == 1 ? "branch" : "branches", tl_human_grouped(y, sizeof y, b->n),
                     b->n == 1 ? "place" : "places", (double)b->insns / (double)whole);
    if (b->without)
        tl_output_printf(out, "%s%s more: it is not known where %s went%s\n", tl_style_on(r->terminal, TL_FAINT),
                         tl_human_grouped(x, sizeof x, b->without), b->without == 1 ? "it" : "they",
                         tl_style_on(r->terminal, TL_PLAIN_TEXT));
    for (unsigned kind = A64_JUMP; kind <= A64_RETURN; kind++) {
        if (!all[kind])
            continue;
        tl_text_row *row = tl_text_table_add(&t);
        unsigned at = 0;
        row->name = short_name(kind);
        tl_insn_cell_count(&t, row, &at, all[kind]);
        snprintf(x, sizeof x, "%.1f %%", 100 * (double)taken[kind] / (double)all[kind]);
        tl_insn_cell_share(&t, row, &at, (double)all[kind], (double)whole);
        tl_runtime_cell(&t, row, &at, x);
        tl_insn_cell_count(&t, row, &at, places[kind]);
    }
    tl_output_puts(out, "\n");
    return tl_insn_print(r, &t, 0, "kinds", out, e);
}

static int print_predictors(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    static const char *const of[] = {[TL_PREDICT_BIMODAL] = "conditional branches, by place",
                                     [TL_PREDICT_GSHARE] = "conditional branches, by place and history",
                                     [TL_PREDICT_RAS] = "returns, by a stack of calls",
                                     [TL_PREDICT_BTB] = "indirect branches and calls, by their last target"};
    static const tl_text_column column[] = {{"predicted", 1}, {"wrong", 0}, {"share", 0}, {"per 1000 instructions", 0}};
    const tl_branches *b = r->table;
    tl_text_table t = {.column = column, .ncolumn = 4, .name_title = "predictor", .bar_after = 2, .name_wish = 14};
    char text[32];
    for (unsigned i = 0; i < b->npredictor; i++) {
        const tl_predictor *p = &b->predictor[i];
        tl_text_row *row = tl_text_table_add(&t);
        unsigned at = 0;
        row->name = p->model.name;
        row->suffix = of[p->model.kind];
        tl_insn_cell_count(&t, row, &at, p->branches);
        tl_insn_cell_count(&t, row, &at, p->misses);
        tl_insn_cell_share(&t, row, &at, (double)p->misses, (double)p->branches);
        snprintf(text, sizeof text, "%.3f", per_1000(p->misses, b->insns));
        tl_runtime_cell(&t, row, &at, text);
    }
    tl_output_puts(out, "\n");
    return tl_insn_print(r, &t, 0, "predictors", out, e);
}

/* "cond, main+0x1c", "indirect, main+0x40, 3 targets, 0x4100 in 60.0 %". */
static const char *describe(const tl_insn_report *r, tl_text_table *t, const tl_branch *row,
                            const tl_branch_targets *targets)
{
    char text[2200], number[32];
    const char *place = tl_insn_place(r, t, row->pc);
    int n = snprintf(text, sizeof text, "%s%s%s", short_name(row->kind), *place ? ", " : "", place);
    if (targets->distinct && n > 0 && (size_t)n < sizeof text) {
        const char *to = tl_insn_place(r, t, targets->most);
        const size_t at = (size_t)n;
        snprintf(number, sizeof number, "0x%" PRIx64, targets->most);
        if (targets->distinct == 1)
            snprintf(text + at, sizeof text - at, ", to %s", *to ? to : number);
        else
            snprintf(text + at, sizeof text - at, ", %" PRIu32 " targets, %s in %.1f %%", targets->distinct,
                     *to ? to : number, 100 * (double)targets->times / (double)(row->taken + row->not_taken));
    }
    return tl_text_table_keep(t, text);
}

static void put_branch(const tl_insn_report *r, tl_text_table *t, uint32_t index, const tl_branch_targets *targets,
                       uint64_t whole)
{
    const tl_branches *b = r->table;
    const tl_branch *branch = &b->row[index];
    const uint64_t all = branch->taken + branch->not_taken;
    tl_text_row *row = tl_text_table_add(t);
    unsigned at = 0;
    char text[32];
    tl_insn_cell_count(t, row, &at, all);
    tl_insn_cell_share(t, row, &at, (double)all, (double)whole);
    snprintf(text, sizeof text, "%.1f %%", 100 * (double)branch->taken / (double)all);
    tl_runtime_cell(t, row, &at, text);
    for (unsigned i = 0; i < b->npredictor; i++) {
        const uint64_t wrong = b->miss[(size_t)index * b->npredictor + i];
        if (tl_predictor_foresees(&b->predictor[i].model, (a64_class)branch->kind))
            tl_insn_cell_count(t, row, &at, wrong);
        else
            tl_runtime_cell(t, row, &at, "-");
    }
    snprintf(text, sizeof text, "0x%" PRIx64, branch->pc);
    row->name = tl_text_table_keep_raw(t, text);
    row->suffix = describe(r, t, branch, targets);
}

static int print_branches(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    const tl_branches *b = r->table;
    tl_text_column column[3 + TL_PREDICTORS] = {{"executed", 0}, {"share", 2}, {"taken", 1}};
    tl_text_table t = {
        .column = column, .ncolumn = 3 + b->npredictor, .name_title = "branch", .bar_after = 2, .name_wish = 18};
    uint32_t *order = tl_branches_order(b, b->npredictor > 0);
    tl_branch_targets *targets = tl_branches_targets(b);
    uint64_t whole = 0;
    int status = order && targets ? 0 : fail_memory(e);
    for (unsigned i = 0; i < b->npredictor; i++)
        column[3 + i] = (tl_text_column){b->predictor[i].model.name, 3 + i};
    for (uint32_t i = 0; i < b->n; i++)
        whole += b->row[i].taken + b->row[i].not_taken;
    if (status == 0) {
        const uint32_t n = tl_insn_rows(r, b->n, BRANCH_ROWS);
        for (uint32_t i = 0; i < n; i++)
            put_branch(r, &t, order[i], &targets[order[i]], whole);
        tl_output_puts(out, "\n");
        status = tl_insn_print(r, &t, b->n - n, "branches", out, e);
    }
    free(order);
    free(targets);
    return status;
}

static int print_text(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    const tl_branches *b = r->table;
    int status = print_kinds(r, out, e);
    if (status == 0 && b->npredictor)
        status = print_predictors(r, out, e);
    return status < 0 ? status : print_branches(r, out, e);
}

const tl_insn_view tl_insn_view_branch = {.by = "branch",
                                          .what = "branches",
                                          .how = &tl_branches_table,
                                          .options_size = sizeof(tl_predictor_list),
                                          .options = get_options,
                                          .empty = is_empty,
                                          .json = put_json,
                                          .text = print_text};

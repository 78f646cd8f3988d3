/* `report --by mix`: what kinds of instructions were executed, and how wide their accesses to memory were. */
#include <stdio.h>

#include "analysis/instruction/mix_table.h"
#include "base/compiler.h"
#include "base/text/number.h"
#include "cli/report/report_insn.h"
#include "cli/report/report_insn_parts.h"

static bool is_empty(const void *table)
{
    return tl_mix_insns(table) == 0;
}

/* JSON */

static void put_accesses(tl_json *j, const char *key, const tl_mix_accesses *a)
{
    tl_json_key(j, key);
    tl_json_object(j);
    tl_json_key_u64(j, "tokens", a->tokens);
    tl_json_key_u64(j, "bytes", a->bytes);
    tl_json_object_end(j);
}

static int put_json(const tl_insn_report *r, tl_json *j, tl_error *e)
{
    const tl_mix *m = r->table;
    tl_mix_row row[A64_CLASSES];
    const unsigned n = tl_insn_rows(r, tl_mix_rows(m, row), 0);
    (void)e;
    tl_json_key_string(j, "unit", "instructions");
    tl_json_key_u64(j, "instructions", tl_mix_insns(m));
    tl_json_key(j, "levels");
    tl_json_object(j);
    for (unsigned level = 0; level < TL_INSN_LEVELS; level++)
        tl_json_key_u64(j, (const char *const[]){"el0", "el1", "el2", "el3"}[level], tl_mix_level(m, level));
    tl_json_object_end(j);
    tl_json_key(j, "classes");
    tl_json_array(j);
    for (unsigned i = 0; i < n; i++) {
        tl_json_object(j);
        tl_json_key_string(j, "name", a64_class_name(row[i].cls));
        tl_json_key_u64(j, "instructions", row[i].insns);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    put_accesses(j, "loads", &m->load);
    put_accesses(j, "stores", &m->store);
    return 0;
}

/* Text */

static const char *meaning(a64_class c)
{
    static const char *const text[A64_CLASSES] = {[A64_INT] = "arithmetic, logic, moves",
                                                  [A64_LOAD] = "LDR, LDP, LD1 and the like",
                                                  [A64_STORE] = "STR, STP, ST1 and the like",
                                                  [A64_JUMP] = "B",
                                                  [A64_CALL] = "BL",
                                                  [A64_COND] = "B.cond, CBZ, CBNZ, TBZ, TBNZ",
                                                  [A64_INDIRECT] = "BR",
                                                  [A64_INDIRECT_CALL] = "BLR",
                                                  [A64_RETURN] = "RET",
                                                  [A64_EXCEPTION] = "SVC, HVC, SMC, BRK, HLT, ERET",
                                                  [A64_SYSTEM] = "MRS, MSR, hints, barriers",
                                                  [A64_SIMD] = "vectors and floating point",
                                                  [A64_ATOMIC] = "CAS, SWP, LDADD and the like",
                                                  [A64_PREFETCH] = "PRFM",
                                                  [A64_SVE] = "scalable vectors",
                                                  [A64_SME] = "scalable matrices",
                                                  [A64_OTHER] = "not allocated"};
    return text[c];
}

/* Levels with instructions, and how many there are. */
static unsigned used_levels(const tl_mix *m, unsigned level[static TL_INSN_LEVELS])
{
    unsigned n = 0;
    for (unsigned i = 0; i < TL_INSN_LEVELS; i++)
        if (tl_mix_level(m, i))
            level[n++] = i;
    return n;
}

static void print_head(const tl_insn_report *r, tl_output *out)
{
    const tl_mix *m = r->table;
    const uint64_t all = tl_mix_insns(m);
    char text[32];
    unsigned level[TL_INSN_LEVELS];
    const unsigned n = used_levels(m, level);
    tl_insn_subject(r, out);
    tl_output_printf(out, "%s %s", tl_human_grouped(text, sizeof text, all), all == 1 ? "instruction" : "instructions");
    if (n == 1)
        tl_output_printf(out, ", all at EL%u", level[0]);
    for (unsigned i = 0; n > 1 && i < n; i++)
        tl_output_printf(out, "%s %.1f %% at EL%u", i ? "," : ":",
                         100 * (double)tl_mix_level(m, level[i]) / (double)all, level[i]);
    uint64_t branches = 0;
    for (unsigned c = 0; c < A64_CLASSES; c++)
        for (unsigned i = 0; a64_is_branch((a64_class)c) && i < TL_INSN_LEVELS; i++)
            branches += m->insns[i][c];
    if (branches)
        tl_output_printf(out, "; one in %.1f is a branch", (double)all / (double)branches);
    tl_output_puts(out, "\n");
    if (m->without_pc)
        tl_output_printf(out, "%s%s without a known pc%s\n", tl_style_on(r->terminal, TL_FAINT),
                         tl_human_grouped(text, sizeof text, m->without_pc), tl_style_on(r->terminal, TL_PLAIN_TEXT));
}

static int print_classes(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    static const char *const title[TL_INSN_LEVELS] = {"EL0", "EL1", "EL2", "EL3"};
    const tl_mix *m = r->table;
    tl_text_column column[2 + TL_INSN_LEVELS] = {{"instructions", 0}, {"share", 0}};
    unsigned level[TL_INSN_LEVELS];
    const unsigned levels = used_levels(m, level), more = levels > 1 ? levels : 0;
    for (unsigned i = 0; i < more; i++)
        column[2 + i] = (tl_text_column){title[level[i]], 1 + i};
    tl_text_table t = {.column = column, .ncolumn = 2 + more, .name_title = "class", .bar_after = 1, .name_wish = 24};
    tl_mix_row row[A64_CLASSES];
    const unsigned all = tl_mix_rows(m, row), n = tl_insn_rows(r, all, 0);
    for (unsigned i = 0; i < n; i++) {
        tl_text_row *to = tl_text_table_add(&t);
        unsigned at = 0;
        to->name = a64_class_name(row[i].cls);
        to->suffix = meaning(row[i].cls);
        tl_insn_cell_count(&t, to, &at, row[i].insns);
        tl_insn_cell_share(&t, to, &at, (double)row[i].insns, (double)tl_mix_insns(m));
        for (unsigned k = 0; k < more; k++)
            tl_insn_cell_count(&t, to, &at, m->insns[level[k]][row[i].cls]);
    }
    return tl_insn_print(r, &t, all - n, "classes", out, e);
}

static void put_width(tl_text_table *t, const tl_mix *m, const char *name, uint64_t loads, uint64_t stores)
{
    tl_text_row *row = tl_text_table_add(t);
    unsigned at = 0;
    row->name = tl_text_table_keep_raw(t, name);
    tl_insn_cell_count(t, row, &at, loads);
    tl_insn_cell_share(t, row, &at, (double)loads, (double)m->load.tokens);
    tl_insn_cell_count(t, row, &at, stores);
    tl_insn_cell_share(t, row, &at, (double)stores, (double)m->store.tokens);
    row->share = (double)(loads + stores) / (double)(m->load.tokens + m->store.tokens);
}

static int print_accesses(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"loads", 0}, {"share", 2}, {"stores", 0}, {"share", 1}};
    const tl_mix *m = r->table;
    const double insns = (double)tl_mix_insns(m);
    char a[32], b[32];
    if (m->load.tokens + m->store.tokens == 0)
        return 0;
    tl_output_printf(out, "\n%s %s of %s, %.2f for each instruction\n", tl_human_grouped(a, sizeof a, m->load.tokens),
                     m->load.tokens == 1 ? "load" : "loads", tl_human_bytes(b, sizeof b, m->load.bytes),
                     (double)m->load.tokens / insns);
    tl_output_printf(out, "%s %s of %s, %.2f for each instruction\n", tl_human_grouped(a, sizeof a, m->store.tokens),
                     m->store.tokens == 1 ? "store" : "stores", tl_human_bytes(b, sizeof b, m->store.bytes),
                     (double)m->store.tokens / insns);
    tl_text_table t = {.column = column, .ncolumn = 4, .name_title = "bytes", .bar_after = 3, .name_wish = 8};
    for (unsigned i = 0; i < TL_MIX_WIDTHS; i++) {
        if (m->load.width[i] + m->store.width[i] == 0)
            continue;
        if (i < TL_MIX_WIDTHS - 1)
            tl_human_grouped(a, sizeof a, UINT64_C(1) << i);
        else
            snprintf(a, sizeof a, "more");
        put_width(&t, m, a, m->load.width[i], m->store.width[i]);
    }
    return tl_insn_print(r, &t, 0, "widths", out, e);
}

static int print_text(const tl_insn_report *r, tl_output *out, tl_error *e)
{
    print_head(r, out);
    tl_output_puts(out, "\n");
    const int status = print_classes(r, out, e);
    return status < 0 ? status : print_accesses(r, out, e);
}

const tl_insn_view tl_insn_view_mix = {
    .by = "mix", .what = "instructions", .how = &tl_mix_table, .empty = is_empty, .json = put_json, .text = print_text};

/* The relation `mix`: kinds of executed instructions, and widths of their memory accesses. */
#include "analysis/instruction/insn_answer.h"
#include "analysis/instruction/mix_table.h"
#include "base/text/number.h"

static bool is_empty(const void *table)
{
    return tl_mix_insns(table) == 0;
}

static void get_insns(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, tl_mix_insns(at->table));
}

static void get_level(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, tl_mix_level(at->table, at->column->which));
}

#define LEVEL(name, number)                                                                                            \
    {                                                                                                                  \
        TL_COL("levels." name, NULL, INTEGER, COUNT, "instructions at this exception level"), .get = get_level,        \
                                                                                              .which = (number)        \
    }

static const tl_column counts[] = {
    {TL_COL("instructions", NULL, INTEGER, COUNT, "instructions executed"), .get = get_insns},
    LEVEL("el0", 0),
    LEVEL("el1", 1),
    LEVEL("el2", 2),
    LEVEL("el3", 3),
};

static const tl_column accesses[] = {
    {TL_COL("loads.tokens", NULL, INTEGER, COUNT, "number of loads"), TL_AT(U64, tl_mix, load.tokens)},
    {TL_COL("loads.bytes", NULL, INTEGER, BYTES, "bytes loaded"), TL_AT(U64, tl_mix, load.bytes)},
    {TL_COL("stores.tokens", NULL, INTEGER, COUNT, "number of stores"), TL_AT(U64, tl_mix, store.tokens)},
    {TL_COL("stores.bytes", NULL, INTEGER, BYTES, "bytes stored"), TL_AT(U64, tl_mix, store.bytes)},
};

/* ---- classes ---- */

static void get_name(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, a64_class_name(((const tl_mix_row *)at->row)->cls));
}

static void get_at_level(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, ((const tl_mix *)at->table)->insns[at->column->which][((const tl_mix_row *)at->row)->cls]);
}

static void get_meaning(const tl_at *at, tl_cell *out)
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
    tl_cell_text(out, text[((const tl_mix_row *)at->row)->cls]);
}

#define AT_LEVEL(title, number)                                                                                        \
    {                                                                                                                  \
        TL_COL(NULL, title, INTEGER, COUNT, NULL), .get = get_at_level, .which = (number), .drop = 1 + (number)        \
    }

#define FIRST_LEVEL 3u /* column of the classes */

static const tl_column classes[] = {
    {TL_COL("class", "class", TEXT, NONE, "class of instructions, such as branch.cond"), "name", get_name,
     .role = TL_ROLE_NAME},
    {TL_COL("instructions", "instructions", INTEGER, COUNT, "instructions of this class that were executed"),
     TL_AT(U64, tl_mix_row, insns)},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(U64, tl_mix_row, insns), .flags = TL_WITH_BAR},
    AT_LEVEL("EL0", 0),
    AT_LEVEL("EL1", 1),
    AT_LEVEL("EL2", 2),
    AT_LEVEL("EL3", 3),
    {TL_COL(NULL, "which are", TEXT, NONE, NULL), .get = get_meaning, .role = TL_ROLE_SUFFIX},
};

static void add_classes(const tl_mix *m, const tl_ask *ask, tl_answer *a)
{
    tl_mix_row *row = tl_answer_alloc(a, A64_CLASSES, sizeof *row);
    uint64_t level[TL_INSN_LEVELS];
    uint32_t columns = TL_COUNT(classes);
    for (unsigned i = 0; i < TL_INSN_LEVELS; i++)
        level[i] = tl_mix_level(m, i);
    const tl_column *column = tl_answer_columns(a, classes, &columns, tl_levels_without(level) << FIRST_LEVEL);
    if (row && column)
        tl_answer_add_rows(a, ask, "classes", column, columns, row, sizeof *row, NULL,
                           tl_ask_rows(ask, tl_mix_rows(m, row), 0, 0))
            ->name_wish = 24;
}

/* ---- accesses ---- */

/* Loads and stores of one width, by its number. */
static void get_width(const tl_at *at, tl_cell *out)
{
    const uint32_t i = *(const uint32_t *)at->row;
    if (i < TL_MIX_WIDTHS - 1)
        tl_cell_u64(out, UINT64_C(1) << i);
    else
        tl_cell_text(out, "more");
}

static const tl_mix_accesses *accesses_of(const tl_at *at)
{
    return (const tl_mix_accesses *)(const void *)((const char *)at->table + at->column->which);
}

static void get_accesses(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, accesses_of(at)->width[*(const uint32_t *)at->row]);
}

static void get_accesses_share(const tl_at *at, tl_cell *out)
{
    const tl_mix_accesses *of = accesses_of(at);
    tl_cell_share(out, (double)of->width[*(const uint32_t *)at->row], (double)of->tokens);
}

static void get_bar(const tl_at *at, tl_cell *out)
{
    const tl_mix *m = at->table;
    const uint32_t i = *(const uint32_t *)at->row;
    tl_cell_share(out, (double)(m->load.width[i] + m->store.width[i]), (double)(m->load.tokens + m->store.tokens));
}

#define WIDTHS(title, what, drop_at)                                                                                   \
    {TL_COL(NULL, title, INTEGER, COUNT, NULL), .get = get_accesses, .which = offsetof(tl_mix, what)},                 \
    {                                                                                                                  \
        TL_COL(NULL, "share", REAL, SHARE, NULL), .get = get_accesses_share, .which = offsetof(tl_mix, what),          \
                                                  .drop = (drop_at)                                                    \
    }

static const tl_column widths[] = {
    WIDTHS("loads", load, 2),
    WIDTHS("stores", store, 1),
    {TL_COL(NULL, NULL, REAL, SHARE, NULL), .get = get_bar, .role = TL_ROLE_BAR},
    {TL_COL(NULL, "bytes", INTEGER, COUNT, NULL), .get = get_width, .role = TL_ROLE_NAME},
};

static void say_accesses(const tl_prose *p, const tl_mix_accesses *of, uint64_t insns, const char *one,
                         const char *many)
{
    char bytes[32];
    tl_say_count(p, of->tokens, one, many);
    tl_output_printf(p->out, " of %s, %.2f for each instruction\n", tl_human_bytes(bytes, sizeof bytes, of->bytes),
                     (double)of->tokens / (double)insns);
}

static void before_widths(const tl_part *part, const tl_prose *p)
{
    const tl_mix *m = part->table;
    say_accesses(p, &m->load, tl_mix_insns(m), "load", "loads");
    say_accesses(p, &m->store, tl_mix_insns(m), "store", "stores");
}

static void add_widths(const tl_mix *m, const tl_ask *ask, tl_answer *a)
{
    uint32_t *row = tl_answer_alloc(a, TL_MIX_WIDTHS, sizeof *row), n = 0;
    for (uint32_t i = 0; row && i < TL_MIX_WIDTHS; i++)
        if (m->load.width[i] + m->store.width[i])
            row[n++] = i;
    tl_part *part = TL_ADD_ROWS(a, ask, NULL, widths, row, NULL, n);
    part->before = before_widths;
    part->name_wish = 8;
}

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_mix *m = a->table;
    const uint64_t all = tl_mix_insns(m);
    uint64_t branches = 0;
    const char *between = ":";
    tl_say_subject(a, p);
    tl_say_count(p, all, "instruction", "instructions");
    for (unsigned i = 0; i < TL_INSN_LEVELS; i++) {
        const uint64_t n = tl_mix_level(m, i);
        if (n == all) {
            tl_output_printf(p->out, ", all at EL%u", i);
        } else if (n) {
            tl_output_printf(p->out, "%s %.1f %% at EL%u", between, 100 * (double)n / (double)all, i);
            between = ",";
        }
        for (unsigned c = 0; c < A64_CLASSES; c++)
            branches += a64_is_branch((a64_class)c) ? m->insns[i][c] : 0;
    }
    if (branches)
        tl_output_printf(p->out, "; one in %.1f is a branch", (double)all / (double)branches);
    tl_output_puts(p->out, "\n");
    if (m->without_pc)
        tl_say_faint(p, m->without_pc, "without a known pc");
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_mix *m = table;
    (void)e;
    a->unit = "instructions";
    a->head = head;
    a->whole = (double)tl_mix_insns(m);
    if (ask->for_programs)
        TL_ADD_FACTS(a, ask, counts, m);
    add_classes(m, ask, a);
    if (ask->for_programs)
        TL_ADD_FACTS(a, ask, accesses, m);
    else if (m->load.tokens + m->store.tokens)
        add_widths(m, ask, a);
    return 0;
}

const tl_table_kind tl_table_mix = {.info = {"mix", "what kinds of instructions were executed", TL_NEEDS_INSNS},
                                    .sql = "insn_mix",
                                    .what = "instructions",
                                    .tab = "code",
                                    .pass = &tl_mix_table,
                                    .empty = is_empty,
                                    .answer = answer,
                                    TL_TABLE_COLUMNS(classes)};

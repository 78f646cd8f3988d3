/* The relation `branches`: how often each was taken, where it went, and how well predictors do. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/branch_table.h"
#include "analysis/instruction/insn_answer.h"
#include "base/text/number.h"

#define BRANCH_ROWS 20u /* on a terminal */

static bool set(void *to, const tl_table_options *o, char message[static TL_TABLE_MESSAGE])
{
    return !o->predictor || tl_predictor_parse(to, o->predictor, message, TL_TABLE_MESSAGE);
}

/* "branch.cond" without the common prefix. */
static const char *short_name(unsigned kind)
{
    const char *name = a64_class_name((a64_class)kind), *dot = strchr(name, '.');
    return dot ? dot + 1 : name;
}

/* ---- kinds ---- */

typedef struct kind {
    const char *name;
    uint64_t taken, all, places;
} kind;

static void get_kind_taken(const tl_at *at, tl_cell *out)
{
    const kind *k = at->row;
    tl_cell_share(out, (double)k->taken, (double)k->all);
}

static const tl_column kinds[] = {
    {TL_COL(NULL, "executed", INTEGER, COUNT, NULL), TL_AT(U64, kind, all)},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(U64, kind, all), .flags = TL_WITH_BAR},
    {TL_COL(NULL, "taken", REAL, SHARE, NULL), .get = get_kind_taken, .drop = 1},
    {TL_COL(NULL, "places", INTEGER, COUNT, NULL), TL_AT(U64, kind, places), .drop = 2},
    {TL_COL(NULL, "kind", TEXT, NONE, NULL), TL_AT(TEXT, kind, name), .role = TL_ROLE_NAME},
};

static void add_kinds(const tl_branches *b, const tl_ask *ask, tl_answer *a)
{
    kind all[A64_CLASSES] = {0}, *row = tl_answer_alloc(a, A64_CLASSES, sizeof *row);
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        kind *k = &all[b->row[i].kind];
        k->name = short_name(b->row[i].kind);
        k->taken += b->row[i].taken;
        k->all += b->row[i].taken + b->row[i].not_taken;
        k->places++;
    }
    for (unsigned i = A64_JUMP; row && i <= A64_RETURN; i++)
        if (all[i].all)
            row[n++] = all[i];
    TL_ADD_ROWS(a, ask, NULL, kinds, row, NULL, n)->name_wish = 14;
}

/* ---- predictors ---- */

static void get_name(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, ((const tl_predictor *)at->row)->model.name);
}

static void get_miss_share(const tl_at *at, tl_cell *out)
{
    const tl_predictor *p = at->row;
    tl_cell_share(out, (double)p->misses, (double)p->branches);
}

static void get_per_1000(const tl_at *at, tl_cell *out)
{
    const tl_branches *b = at->table;
    tl_cell_real(out, b->insns ? 1000 * (double)((const tl_predictor *)at->row)->misses / (double)b->insns : 0);
}

static void get_predicts(const tl_at *at, tl_cell *out)
{
    static const char *const of[] = {[TL_PREDICT_BIMODAL] = "conditional branches, by place",
                                     [TL_PREDICT_GSHARE] = "conditional branches, by place and history",
                                     [TL_PREDICT_RAS] = "returns, by a stack of calls",
                                     [TL_PREDICT_BTB] = "indirect branches and calls, by their last target"};
    tl_cell_text(out, of[((const tl_predictor *)at->row)->model.kind]);
}

static const tl_column predictors[] = {
    {TL_COL("name", "predictor", TEXT, NONE, "the predictor, as --predictor names it"), .get = get_name,
     .role = TL_ROLE_NAME},
    {TL_COL("branches", "predicted", INTEGER, COUNT, "branches it predicted"), TL_AT(U64, tl_predictor, branches),
     .drop = 1},
    {TL_COL("misses", "wrong", INTEGER, COUNT, "mispredictions"), TL_AT(U64, tl_predictor, misses)},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), .get = get_miss_share, .flags = TL_WITH_BAR},
    {TL_COL(NULL, "per 1000 instructions", REAL, NONE, NULL), .get = get_per_1000, .decimals = 3},
    {TL_COL(NULL, "of", TEXT, NONE, NULL), .get = get_predicts, .role = TL_ROLE_SUFFIX},
};

static const tl_column instructions[] = {
    {TL_COL("instructions", NULL, INTEGER, COUNT, "instructions executed"), TL_AT(U64, tl_branches, insns)},
};

static void add_predictors(const tl_branches *b, const tl_ask *ask, tl_answer *a)
{
    if (b->npredictor)
        TL_ADD_ROWS(a, ask, "predictors", predictors, b->predictor, NULL, b->npredictor)->name_wish = 14;
}

/* ---- branches ---- */

static size_t index_of(const tl_at *at)
{
    return (size_t)((const tl_branch *)at->row - ((const tl_branches *)at->table)->row);
}

static void get_kind(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, a64_class_name((a64_class)((const tl_branch *)at->row)->kind));
}

static uint64_t executed(const tl_branch *b)
{
    return b->taken + b->not_taken;
}

static void get_executed(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, executed(at->row));
}

static void get_share(const tl_at *at, tl_cell *out)
{
    tl_cell_share(out, (double)executed(at->row), at->part->answer->whole);
}

static void get_taken(const tl_at *at, tl_cell *out)
{
    const tl_branch *b = at->row;
    tl_cell_share(out, (double)b->taken, (double)executed(b));
}

static void get_misses(const tl_at *at, tl_cell *out)
{
    const tl_branches *b = at->table;
    const uint32_t i = at->column->which;
    if (tl_predictor_foresees(&b->predictor[i].model, (a64_class)((const tl_branch *)at->row)->kind))
        tl_cell_u64(out, b->miss[index_of(at) * b->npredictor + i]);
}

/* "cond, main+0x1c", "indirect, main+0x40, 3 targets, 0x4100 in 60.0 %". */
static void get_description(const tl_at *at, tl_cell *out)
{
    const tl_branch *b = at->row;
    const tl_branch_targets *t = (const tl_branch_targets *)at->part->answer->detail + index_of(at);
    const char *place = tl_insn_place(at, b->pc), *to = t->distinct ? tl_insn_place(at, t->most) : NULL;
    char number[32], targets[64] = "", share[32] = "";
    snprintf(number, sizeof number, "0x%" PRIx64, t->most);
    if (t->distinct > 1) {
        snprintf(targets, sizeof targets, ", %" PRIu32 " targets, ", t->distinct);
        snprintf(share, sizeof share, " in %.1f %%", 100 * (double)t->times / (double)executed(b));
    } else if (t->distinct) {
        snprintf(targets, sizeof targets, ", to ");
    }
    tl_cell_printf(at, out, "%s%s%s%s%s%s", short_name(b->kind), place ? ", " : "", place ? place : "", targets,
                   to            ? to
                   : t->distinct ? number
                                 : "",
                   share);
}

#define MISSES(number)                                                                                                 \
    {                                                                                                                  \
        TL_COL("misses_" #number, "", INTEGER, COUNT,                                                                  \
               "mispredictions by predictor " #number ", which the name says: misses_gshare_12_12; null: it does not " \
               "predict such branches"),                                                                               \
            "misses[]", get_misses, .which = (number)-1, .drop = 2 + (number)                                          \
    }
#define FIRST_MISSES 8u /* column of the branches */

static const tl_column branches[] = {
    {TL_COL("pc", "branch", INTEGER, HEX, "address of the branch"), TL_AT(U64, tl_branch, pc), .role = TL_ROLE_NAME},
    {TL_COL("kind", NULL, TEXT, NONE, "kind of branch, such as branch.cond"), .get = get_kind},
    {TL_COL("taken", NULL, INTEGER, COUNT, "times it was taken"), TL_AT(U64, tl_branch, taken)},
    {TL_COL("not_taken", NULL, INTEGER, COUNT, "times it was not taken"), TL_AT(U64, tl_branch, not_taken)},
    {TL_COL(NULL, "executed", INTEGER, COUNT, NULL), .get = get_executed},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), .get = get_share, .drop = 2},
    {TL_COL(NULL, "taken", REAL, SHARE, NULL), .get = get_taken, .drop = 1},
    {TL_COL(NULL, NULL, REAL, SHARE, NULL), .get = get_share, .role = TL_ROLE_BAR},
    MISSES(1),
    MISSES(2),
    MISSES(3),
    MISSES(4),
    MISSES(5),
    MISSES(6),
    MISSES(7),
    MISSES(8),
    {TL_COL(NULL, "kind", TEXT, NONE, NULL), .get = get_description, .role = TL_ROLE_SUFFIX},
    TL_SYMBOL(tl_branch, pc),
};

/* "misses_gshare_12_12"; the column's own name if another predictor is the same. */
static const char *name_misses(const tl_branches *b, tl_answer *a, const tl_column *column, unsigned i)
{
    const char *model = b->predictor[i].model.name;
    char *name = tl_answer_alloc(a, strlen(model) + sizeof "misses_", 1);
    for (unsigned k = 0; k < i; k++)
        if (strcmp(b->predictor[k].model.name, model) == 0)
            return column->info.name;
    if (!name)
        return column->info.name;
    strcpy(strcpy(name, "misses_") + strlen("misses_"), model);
    for (char *p = name; (p = strchr(p, ':')) != NULL;)
        *p = '_';
    return name;
}

/* A column for each predictor, with its name. */
static const tl_column *columns_of(const tl_branches *b, tl_answer *a, uint32_t *n)
{
    const uint64_t all = (1u << TL_PREDICTORS) - 1;
    *n = TL_COUNT(branches);
    tl_column *const column = tl_answer_columns(a, branches, n, (all << b->npredictor & all) << FIRST_MISSES);
    for (unsigned i = 0; column && i < b->npredictor; i++) {
        tl_column *c = &column[FIRST_MISSES + i];
        c->info.name = name_misses(b, a, c, i);
        c->info.title = b->predictor[i].model.name;
    }
    return column;
}

static void add_branches(const tl_branches *b, const tl_ask *ask, tl_answer *a)
{
    uint32_t ncolumn, *order = tl_branches_order(b, b->npredictor > 0 && !ask->for_programs);
    const tl_column *column = columns_of(b, a, &ncolumn);
    tl_answer_own(a, order);
    tl_answer_add_top(a, ask, "branches", column, column ? ncolumn : 0, b->row, sizeof *b->row, order, b->n,
                      BRANCH_ROWS, "branches", 18);
}

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_branches *b = a->table;
    tl_say_subject(a, p);
    tl_say_count(p, (uint64_t)a->whole, "branch at ", "branches at ");
    tl_say_count(p, b->n, "place", "places");
    tl_output_printf(p->out, ", one in %.1f instructions\n", (double)b->insns / a->whole);
    if (b->without)
        tl_say_faint(p, b->without,
                     b->without == 1 ? "more: it is not known where it went" : "more: it is not known where they went");
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_branches *b = table;
    (void)e;
    a->unit = "instructions";
    a->head = head;
    for (uint32_t i = 0; i < b->n; i++)
        a->whole += (double)executed(&b->row[i]);
    if (ask->for_programs) {
        add_branches(b, ask, a);
        add_predictors(b, ask, a);
        if (b->npredictor)
            TL_ADD_FACTS(a, ask, instructions, b);
        return 0;
    }
    tl_branch_targets *targets = tl_branches_targets(b);
    tl_answer_own(a, targets);
    a->detail = targets;
    add_kinds(b, ask, a);
    add_predictors(b, ask, a);
    add_branches(b, ask, a);
    return 0;
}

const tl_table_kind tl_table_branch = {
    .info = {"branch", "branches, and how well they can be predicted", TL_NEEDS_INSNS},
    .sql = "branches",
    .what = "branches",
    .tab = "code",
    .takes = "predictor",
    .options_size = sizeof(tl_predictor_list),
    .set = set,
    .pass = &tl_branches_table,
    TL_EMPTY_IF_0(tl_branches, n),
    .answer = answer,
    TL_TABLE_COLUMNS(branches)};

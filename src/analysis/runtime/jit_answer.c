/* The relation `compilations`: functions that were compiled while the program ran, or found precompiled. */
#include <inttypes.h>
#include <string.h>

#include "analysis/runtime/jit_table.h"
#include "analysis/runtime/runtime_answer.h"
#include "base/compiler.h"
#include "base/text/number.h"

#define THREAD_ROWS 6u  /* on a terminal */
#define METHOD_ROWS 12u /* on a terminal */

/* Sums of all methods. */
typedef struct totals {
    tl_quantiles compile;
    uint64_t compiled, searched, failed;
    tl_sum code_bytes;
} totals;

static bool set(void *to, const tl_table_options *o, char message[static TL_TABLE_MESSAGE])
{
    (void)message;
    ((tl_jit *)to)->by_name = o->several;
    return true;
}

static bool is_empty(const void *table)
{
    const tl_jit *t = table;
    return t->n == 0 && t->stray_ends == 0;
}

static tl_jit_order chosen_order(const tl_ask *ask, tl_jit_order otherwise)
{
    static const struct {
        const char *name;
        tl_jit_order order;
    } by[] = {{"total", TL_JIT_BY_TOTAL}, {"calls", TL_JIT_BY_CALLS}, {"max", TL_JIT_BY_MAX}, {"name", TL_JIT_BY_NAME}};
    for (size_t i = 0; ask->sort && i < TL_COUNT(by); i++)
        if (strcmp(by[i].name, ask->sort) == 0)
            return by[i].order;
    return otherwise;
}

static void add_up(const tl_jit *t, totals *sum)
{
    for (uint32_t i = 0; i < t->n; i++) {
        sum->compiled += t->method[i].compiled;
        sum->searched += t->method[i].searched;
        sum->failed += t->method[i].failed;
        tl_sum_join(&sum->code_bytes, t->method[i].code_bytes);
    }
}

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_jit *t = a->table;
    const totals *sum = a->detail;
    const tl_quantiles *q = &sum->compile;
    char text[32];
    tl_say_subject(a, p);
    tl_say_count(p, t->n, "method", "methods");
    if (t->span)
        tl_output_printf(p->out, " in %s", tl_answer_time(a, text, sizeof text, t->span));
    tl_output_printf(p->out, ": %s compiled", tl_human_grouped(text, sizeof text, sum->compiled));
    if (sum->failed)
        tl_output_printf(p->out, " (%s failed)", tl_human_grouped(text, sizeof text, sum->failed));
    tl_output_printf(p->out, ", %s found", tl_human_grouped(text, sizeof text, sum->searched));
    tl_output_printf(p->out, ", %s of code\n", tl_human_bytes(text, sizeof text, tl_sum_u64(sum->code_bytes)));
    if (q->count) {
        const struct {
            const char *name;
            uint64_t value;
        } rank[] = {{"p50", q->p50}, {"p90", q->p90}, {"p99", q->p99}, {"max", q->max}};
        tl_output_printf(p->out, "compiling took %s", tl_answer_time(a, text, sizeof text, tl_sum_u64(q->total)));
        for (size_t i = 0; i < TL_COUNT(rank); i++)
            tl_output_printf(p->out, "%s%s %s", i ? ", " : ": ", rank[i].name,
                             tl_answer_time(a, text, sizeof text, rank[i].value));
        tl_output_puts(p->out, "\n");
    }
    tl_say_unmatched(p, t->open, t->stray_ends, "not counted");
}

/* Its name, or its number, or the id of its code. */
static void get_method(const tl_at *at, tl_cell *out)
{
    const tl_jit_method *m = at->row;
    if (m->name || m->has_function || !m->has_id)
        tl_cell_name(at, out, m->name, m->has_function, m->function);
    else
        tl_cell_printf(at, out, "(code 0x%" PRIx64 ")", m->id);
}

static const tl_column methods[] = {
    {TL_COL("code_id", NULL, INTEGER, HEX, "the runtime's id of the code"), "id", TL_AT(U64, tl_jit_method, id),
     TL_ONLY_IF(tl_jit_method, has_id)},
    {TL_COL("function_id", NULL, INTEGER, HEX, "the runtime's id of the function"), "iid",
     TL_AT(U64, tl_jit_method, function), TL_ONLY_IF(tl_jit_method, has_function)},
    {TL_COL("function_name", NULL, TEXT, NONE, "the function, if its name is known"), "name",
     TL_AT(TEXT, tl_jit_method, name)},
    {TL_COL(NULL, "total", INTEGER, TIME, NULL), TL_AT(SUM, tl_jit_method, total)},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(SUM, tl_jit_method, total), .flags = TL_WITH_BAR, .drop = 2},
    {TL_COL(NULL, "max", INTEGER, TIME, NULL), TL_AT(U64, tl_jit_method, max), .drop = 3},
    {TL_COL("compiled", "compiled", INTEGER, COUNT, "how often it was compiled"), TL_AT(U64, tl_jit_method, compiled),
     .drop = 4},
    {TL_COL("searched", "found", INTEGER, COUNT, "how often its code was searched for"),
     TL_AT(U64, tl_jit_method, searched), .drop = 5},
    {TL_COL("failed", "failed", INTEGER, COUNT, "compilations that failed"), TL_AT(U64, tl_jit_method, failed),
     .drop = 6},
    {TL_COL("total", NULL, INTEGER, TIME, "how long compiling took; nested compilations count in both"),
     TL_AT(SUM, tl_jit_method, total)},
    {TL_COL("max_dur", NULL, INTEGER, TIME, "the longest compilation"), "max", TL_AT(U64, tl_jit_method, max)},
    {TL_COL("code_bytes", "code", INTEGER, BYTES, "size of the last code"), TL_AT(SUM, tl_jit_method, code_bytes),
     .drop = 1},
    {TL_COL(NULL, "method", TEXT, NONE, NULL), .get = get_method, .role = TL_ROLE_NAME},
};

static const tl_column compile[] = {TL_QUANTILE_FACTS("compile")};
static const tl_column unmatched[] = {TL_UNMATCHED_FACTS(tl_jit)};

static const tl_column threads[] = {
    {TL_COL(NULL, "total", INTEGER, TIME, NULL), TL_AT(SUM, tl_jit_thread, total)},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(SUM, tl_jit_thread, total), .flags = TL_WITH_BAR, .drop = 2},
    {TL_COL(NULL, "compiled", INTEGER, COUNT, NULL), TL_AT(U64, tl_jit_thread, compiled)},
    {TL_COL(NULL, "found", INTEGER, COUNT, NULL), TL_AT(U64, tl_jit_thread, searched)},
    {TL_COL(NULL, "failed", INTEGER, COUNT, NULL), TL_AT(U64, tl_jit_thread, failed), .drop = 3},
    {TL_COL(NULL, "max", INTEGER, TIME, NULL), TL_AT(U64, tl_jit_thread, max), .drop = 1},
    {TL_COL(NULL, "thread", TEXT, NONE, NULL), TL_AT(TEXT, tl_jit_thread, name), .role = TL_ROLE_NAME},
};

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    tl_jit *t = table;
    totals *sum = tl_answer_alloc(a, 1, sizeof *sum);
    (void)e;
    if (!sum)
        return 0;
    sum->compile = tl_quantiles_of_set(&t->compile);
    add_up(t, sum);
    a->detail = sum;
    a->whole = tl_sum_double(sum->compile.total);
    a->head = head;
    tl_jit_sort(t,
                chosen_order(ask, ask->for_programs && !(ask->has_top && ask->top) ? TL_JIT_BY_ID : TL_JIT_BY_TOTAL));
    if (!ask->for_programs && t->nthread)
        TL_ADD_TOP(a, ask, NULL, threads, t->thread, NULL, t->nthread, THREAD_ROWS, "threads", 16);
    if (ask->for_programs || t->n)
        TL_ADD_TOP(a, ask, "methods", methods, t->method, NULL, t->n, METHOD_ROWS, "methods", 28);
    if (ask->for_programs) {
        TL_ADD_FACTS(a, ask, compile, &sum->compile);
        TL_ADD_FACTS(a, ask, unmatched, t);
    }
    return 0;
}

const tl_table_kind tl_table_jit = {.info = {"jit", "functions compiled while the program ran", TL_NEEDS_RUNTIME},
                                    .sql = "compiled_functions",
                                    .what = "compilations or searches for code",
                                    .tab = "runtime",
                                    .sorts = "total calls max name",
                                    .several = true,
                                    .late = true,
                                    .of_runtime = true,
                                    .size = sizeof(tl_jit),
                                    .set = set,
                                    .read = tl_jit_read,
                                    .empty = is_empty,
                                    .answer = answer,
                                    .fini = tl_jit_fini,
                                    TL_TABLE_COLUMNS(methods)};

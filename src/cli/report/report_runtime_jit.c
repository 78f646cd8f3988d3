/* `report --by jit`: functions that were compiled while the program ran, or found compiled. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "cli/report/report_runtime.h"

#define THREAD_ROWS 6u  /* on a terminal */
#define METHOD_ROWS 12u /* on a terminal */

static int read_jit(tl_runtime_report *r, tl_source *s, const tl_select *select, tl_error *e)
{
    return tl_jit_read(&r->jit, s, select, e);
}

static bool is_empty(const tl_runtime_report *r)
{
    return r->jit.n == 0 && r->jit.stray_ends == 0;
}

static tl_jit_order chosen_order(const tl_runtime_report *r, tl_jit_order otherwise)
{
    static const struct {
        const char *name;
        tl_jit_order order;
    } by[] = {{"total", TL_JIT_BY_TOTAL}, {"calls", TL_JIT_BY_CALLS}, {"max", TL_JIT_BY_MAX}, {"name", TL_JIT_BY_NAME}};
    const tl_arguments *a = r->cli->args;
    for (size_t i = 0; a->sort && i < TL_COUNT(by); i++)
        if (strcmp(by[i].name, a->sort) == 0)
            return by[i].order;
    return otherwise;
}

static int put_json(tl_runtime_report *r, tl_json *j, tl_error *e)
{
    tl_jit *t = &r->jit;
    const tl_quantiles compile = tl_quantiles_of_set(&t->compile);
    (void)e;
    tl_jit_sort(t, chosen_order(r, r->cli->args->has_top && r->cli->args->top ? TL_JIT_BY_TOTAL : TL_JIT_BY_ID));
    tl_json_key_string(j, "unit", r->unit);
    tl_json_key(j, "methods");
    tl_json_array(j);
    for (uint32_t i = 0; i < tl_runtime_json_rows(r, t->n); i++) {
        const tl_jit_method *m = &t->method[i];
        tl_json_object(j);
        tl_runtime_put_id(j, "id", m->has_id, m->id);
        tl_runtime_put_id(j, "iid", m->has_function, m->function);
        tl_json_key_string(j, "name", m->name);
        tl_json_key_u64(j, "compiled", m->compiled);
        tl_json_key_u64(j, "searched", m->searched);
        tl_json_key_u64(j, "failed", m->failed);
        tl_runtime_put_sum(j, "total", m->total);
        tl_json_key_u64(j, "max", m->max);
        tl_runtime_put_sum(j, "code_bytes", m->code_bytes);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    tl_runtime_put_quantiles(j, "compile", &compile);
    tl_json_key(j, "unmatched");
    tl_json_object(j);
    tl_json_key_u64(j, "ends", t->stray_ends);
    tl_json_key_u64(j, "open", t->open);
    tl_json_object_end(j);
    return 0;
}

/* Sums of all methods. */
typedef struct totals {
    uint64_t compiled, searched, failed;
    tl_sum code_bytes;
} totals;

static totals add_up(const tl_jit *t)
{
    totals sum = {0};
    for (uint32_t i = 0; i < t->n; i++) {
        sum.compiled += t->method[i].compiled;
        sum.searched += t->method[i].searched;
        sum.failed += t->method[i].failed;
        tl_sum_join(&sum.code_bytes, t->method[i].code_bytes);
    }
    return sum;
}

static void print_head(const tl_runtime_report *r, const totals *sum, const tl_quantiles *q, tl_output *out)
{
    const tl_jit *t = &r->jit;
    char text[32];
    tl_runtime_subject(r, out);
    tl_output_printf(out, "%s %s", tl_human_grouped(text, sizeof text, t->n), t->n == 1 ? "method" : "methods");
    if (t->span)
        tl_output_printf(out, " in %s", tl_runtime_time_text(r, text, sizeof text, t->span));
    tl_output_printf(out, ": %s compiled", tl_human_grouped(text, sizeof text, sum->compiled));
    if (sum->failed)
        tl_output_printf(out, " (%s failed)", tl_human_grouped(text, sizeof text, sum->failed));
    tl_output_printf(out, ", %s found", tl_human_grouped(text, sizeof text, sum->searched));
    tl_output_printf(out, ", %s of code\n", tl_human_bytes(text, sizeof text, tl_sum_u64(sum->code_bytes)));
    if (q->count) {
        const struct {
            const char *name;
            uint64_t value;
        } rank[] = {{"p50", q->p50}, {"p90", q->p90}, {"p99", q->p99}, {"max", q->max}};
        tl_output_printf(out, "compiling took %s", tl_runtime_time_text(r, text, sizeof text, tl_sum_u64(q->total)));
        for (size_t i = 0; i < TL_COUNT(rank); i++)
            tl_output_printf(out, "%s%s %s", i ? ", " : ": ", rank[i].name,
                             tl_runtime_time_text(r, text, sizeof text, rank[i].value));
        tl_output_puts(out, "\n");
    }
    if (t->open || t->stray_ends) {
        tl_output_printf(out, "%s%s without end", tl_style_on(r->terminal, TL_FAINT),
                         tl_human_grouped(text, sizeof text, t->open));
        tl_output_printf(out, ", %s without begin: not counted%s\n", tl_human_grouped(text, sizeof text, t->stray_ends),
                         tl_style_on(r->terminal, TL_PLAIN_TEXT));
    }
}

static int print_threads(const tl_runtime_report *r, const tl_quantiles *q, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"total", 0}, {"share", 2},  {"compiled", 0},
                                            {"found", 0}, {"failed", 3}, {"max", 1}};
    tl_text_table t = {.column = column, .ncolumn = 6, .name_title = "thread", .bar_after = 1, .name_wish = 16};
    const uint32_t n = tl_runtime_rows(r, r->jit.nthread, THREAD_ROWS, 0);
    for (uint32_t i = 0; i < n; i++) {
        const tl_jit_thread *from = &r->jit.thread[i];
        tl_text_row *row = tl_text_table_add(&t);
        unsigned at = 0;
        tl_runtime_cell_sum_time(r, &t, row, &at, from->total);
        tl_runtime_cell_share(&t, row, &at, tl_sum_double(from->total), tl_sum_double(q->total));
        tl_runtime_cell_count(&t, row, &at, tl_sum_of(from->compiled));
        tl_runtime_cell_count(&t, row, &at, tl_sum_of(from->searched));
        tl_runtime_cell_count(&t, row, &at, tl_sum_of(from->failed));
        tl_runtime_cell_time(r, &t, row, &at, from->max);
        row->name = tl_text_table_keep(&t, from->name);
    }
    tl_output_puts(out, "\n");
    return tl_runtime_print(r, &t, r->jit.nthread - n, "threads", out, e);
}

/* Its name, else its number, else the id of its code. */
static const char *method_name(tl_text_table *t, const tl_jit_method *m)
{
    char text[40];
    if (m->name || m->has_function || !m->has_id)
        return tl_runtime_name(t, m->name, m->has_function, m->function);
    snprintf(text, sizeof text, "(code 0x%" PRIx64 ")", m->id);
    return tl_text_table_keep_raw(t, text);
}

static int print_methods(const tl_runtime_report *r, const tl_quantiles *q, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"total", 0}, {"share", 2},  {"max", 3}, {"compiled", 4},
                                            {"found", 5}, {"failed", 6}, {"code", 1}};
    tl_text_table t = {.column = column, .ncolumn = 7, .name_title = "method", .bar_after = 1, .name_wish = 28};
    const uint32_t n = tl_runtime_rows(r, r->jit.n, METHOD_ROWS, 0);
    for (uint32_t i = 0; i < n; i++) {
        const tl_jit_method *m = &r->jit.method[i];
        tl_text_row *row = tl_text_table_add(&t);
        unsigned at = 0;
        tl_runtime_cell_sum_time(r, &t, row, &at, m->total);
        tl_runtime_cell_share(&t, row, &at, tl_sum_double(m->total), tl_sum_double(q->total));
        tl_runtime_cell_time(r, &t, row, &at, m->max);
        tl_runtime_cell_count(&t, row, &at, tl_sum_of(m->compiled));
        tl_runtime_cell_count(&t, row, &at, tl_sum_of(m->searched));
        tl_runtime_cell_count(&t, row, &at, tl_sum_of(m->failed));
        tl_runtime_cell_bytes(&t, row, &at, m->code_bytes);
        row->name = method_name(&t, m);
    }
    tl_output_puts(out, "\n");
    return tl_runtime_print(r, &t, r->jit.n - n, "methods", out, e);
}

static int print_text(tl_runtime_report *r, tl_output *out, tl_error *e)
{
    const totals sum = add_up(&r->jit);
    const tl_quantiles compile = tl_quantiles_of_set(&r->jit.compile);
    int status = 0;
    tl_jit_sort(&r->jit, chosen_order(r, TL_JIT_BY_TOTAL));
    print_head(r, &sum, &compile, out);
    if (r->jit.nthread)
        status = print_threads(r, &compile, out, e);
    if (status == 0 && r->jit.n)
        status = print_methods(r, &compile, out, e);
    return status;
}

const tl_runtime_table tl_runtime_jit = {.what = "compilations or searches for code",
                                         .sorts = "total calls max name",
                                         .several = true,
                                         .read = read_jit,
                                         .empty = is_empty,
                                         .json = put_json,
                                         .text = print_text};

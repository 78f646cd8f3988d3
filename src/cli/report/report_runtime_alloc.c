/* `report --by alloc`: what was allocated, by class, by place, and over time. */
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "cli/report/report_runtime.h"

#define CLASS_ROWS 10u /* on a terminal */
#define PLACE_ROWS 8u  /* on a terminal */
#define TIME_ROWS  16u /* the most, everywhere */

static int read_alloc(tl_runtime_report *r, tl_source *s, const tl_select *select, tl_error *e)
{
    return tl_alloc_read(&r->alloc, s, select, e);
}

static bool is_empty(const tl_runtime_report *r)
{
    return r->alloc.types.n == 0 && !r->alloc.has_live;
}

static tl_type_order chosen_order(const tl_runtime_report *r)
{
    const char *sort = r->cli->args->sort;
    if (sort && strcmp(sort, "calls") == 0)
        return TL_TYPES_BY_COUNT;
    return sort && strcmp(sort, "name") == 0 ? TL_TYPES_BY_NAME : TL_TYPES_BY_BYTES;
}

static void put_classes(tl_json *j, const tl_type_rows *rows, uint32_t n)
{
    tl_json_key(j, "classes");
    tl_json_array(j);
    for (uint32_t i = 0; i < n; i++) {
        const tl_type_row *row = &rows->row[i];
        tl_json_object(j);
        tl_runtime_put_id(j, "iid", row->has_type, row->type);
        tl_json_key_string(j, "name", row->name);
        tl_runtime_put_sum(j, "count", row->count);
        tl_runtime_put_sum(j, "bytes", row->bytes);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
}

static int put_json(tl_runtime_report *r, tl_json *j, tl_error *e)
{
    tl_alloc *a = &r->alloc;
    (void)e;
    tl_alloc_sort(a, chosen_order(r));
    tl_json_key_string(j, "unit", "bytes");
    put_classes(j, &a->types, tl_runtime_json_rows(r, a->types.n));
    tl_runtime_put_sum(j, "count", a->count);
    tl_runtime_put_sum(j, "bytes", a->bytes);
    if (!a->has_live) {
        tl_json_key_null(j, "live");
        return 0;
    }
    tl_json_key(j, "live");
    tl_json_object(j);
    tl_json_key_u64(j, "ts", a->live_ts);
    put_classes(j, &a->live, tl_runtime_json_rows(r, a->live.n));
    tl_json_object_end(j);
    return 0;
}

static void print_head(const tl_runtime_report *r, tl_output *out)
{
    const tl_alloc *a = &r->alloc;
    char text[32];
    tl_sum count, bytes;
    tl_runtime_subject(r, out);
    if (a->types.n == 0) {
        tl_output_puts(out, "no allocations");
    } else {
        tl_output_printf(out, "%s in", tl_human_bytes(text, sizeof text, tl_sum_u64(a->bytes)));
        tl_output_printf(out, " %s allocations", tl_human_grouped(text, sizeof text, tl_sum_u64(a->count)));
        tl_output_printf(out, " of %s %s", tl_human_grouped(text, sizeof text, a->types.n),
                         a->types.n == 1 ? "class" : "classes");
    }
    if (a->has_span && a->last > a->first)
        tl_output_printf(out, " in %s", tl_runtime_time_text(r, text, sizeof text, a->last - a->first));
    tl_output_puts(out, "\n");
    if (!a->has_live)
        return;
    tl_type_rows_total(&a->live, &count, &bytes);
    tl_output_printf(out, "in the heap at %s: ", tl_runtime_time_text(r, text, sizeof text, a->live_ts));
    tl_output_printf(out, "%s in ", tl_human_bytes(text, sizeof text, tl_sum_u64(bytes)));
    tl_output_printf(out, "%s objects; --by heap shows them\n", tl_human_grouped(text, sizeof text, tl_sum_u64(count)));
}

static int print_classes(const tl_runtime_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"bytes", 0}, {"share", 1}, {"count", 2}};
    tl_text_table t = {.column = column, .ncolumn = 3, .name_title = "class", .bar_after = 1, .name_wish = 32};
    const tl_alloc *a = &r->alloc;
    const uint32_t n = tl_runtime_rows(r, a->types.n, CLASS_ROWS, 0);
    for (uint32_t i = 0; i < n; i++) {
        const tl_type_row *from = &a->types.row[i];
        tl_text_row *row = tl_text_table_add(&t);
        unsigned at = 0;
        tl_runtime_cell_bytes(&t, row, &at, from->bytes);
        tl_runtime_cell_share(&t, row, &at, tl_sum_double(from->bytes), tl_sum_double(a->bytes));
        tl_runtime_cell_count(&t, row, &at, from->count);
        row->name = tl_runtime_name(&t, from->name, from->has_type, from->type);
    }
    tl_output_puts(out, "\n");
    return tl_runtime_print(r, &t, a->types.n - n, "classes", out, e);
}

static int print_places(const tl_runtime_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"bytes", 0}, {"share", 1}, {"count", 2}};
    tl_text_table t = {.column = column, .ncolumn = 3, .name_title = "by place", .bar_after = 1, .name_wish = 32};
    const tl_alloc *a = &r->alloc;
    const uint32_t n = tl_runtime_rows(r, a->places.n, PLACE_ROWS, 0);
    for (uint32_t i = 0; i < n; i++) {
        const tl_alloc_place *from = &a->places.place[i];
        tl_text_row *row = tl_text_table_add(&t);
        unsigned at = 0;
        tl_runtime_cell_bytes(&t, row, &at, from->bytes);
        tl_runtime_cell_share(&t, row, &at, tl_sum_double(from->bytes), tl_sum_double(a->bytes));
        tl_runtime_cell_count(&t, row, &at, from->count);
        row->name = from->name ? tl_text_table_keep(&t, from->name) : "(no stack)";
        row->suffix = tl_text_table_keep(&t, from->source);
    }
    tl_output_puts(out, "\n");
    return tl_runtime_print(r, &t, a->places.n - n, "places", out, e);
}

static int print_over_time(const tl_runtime_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"over time", 0}, {"bytes", 0}};
    tl_text_table t = {.column = column, .ncolumn = 2, .name_title = "", .bar_after = 1};
    const tl_alloc *a = &r->alloc;
    const uint64_t step = tl_round_interval(a->last - a->first, TIME_ROWS - 1), first = a->first / step * step;
    double sum[TIME_ROWS + 1], most = 0;
    unsigned n = 0;
    for (uint64_t at = first; n < TL_COUNT(sum) && at <= a->last; at += step) {
        const uint64_t end = at <= UINT64_MAX - step ? at + step : UINT64_MAX;
        sum[n] = tl_over_time_sum(&a->over_time, at, end);
        most = sum[n] > most ? sum[n] : most;
        n++;
        if (end == UINT64_MAX)
            break;
    }
    for (unsigned i = 0; i < n; i++) {
        tl_text_row *row = tl_text_table_add(&t);
        unsigned column_at = 0;
        tl_runtime_cell_time(r, &t, row, &column_at, first + i * step);
        tl_runtime_cell_bytes(&t, row, &column_at, tl_sum_of(sum[i] < 18e18 ? (uint64_t)sum[i] : UINT64_MAX));
        row->share = most > 0 ? sum[i] / most : 0;
    }
    tl_output_puts(out, "\n");
    return tl_runtime_print(r, &t, 0, "intervals", out, e);
}

static int print_text(tl_runtime_report *r, tl_output *out, tl_error *e)
{
    int status = 0;
    tl_alloc_sort(&r->alloc, chosen_order(r));
    print_head(r, out);
    if (r->alloc.types.n == 0)
        return 0;
    status = print_classes(r, out, e);
    if (status == 0)
        status = print_places(r, out, e);
    if (status == 0 && r->alloc.last > r->alloc.first)
        status = print_over_time(r, out, e);
    return status;
}

const tl_runtime_table tl_runtime_alloc = {.what = "allocations",
                                           .sorts = "total calls name",
                                           .several = true,
                                           .read = read_alloc,
                                           .empty = is_empty,
                                           .json = put_json,
                                           .text = print_text};

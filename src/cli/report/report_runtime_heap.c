/* `report --by heap`: what lived in the heap, each time that the trace says it, and how it grew. */
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "cli/report/report_runtime.h"

#define CLASS_ROWS    12u /* on a terminal */
#define SNAPSHOT_ROWS 16u /* everywhere, unless --top 0 */

static int read_heap(tl_runtime_report *r, tl_source *s, const tl_select *select, tl_error *e)
{
    return tl_heap_read(&r->heap, s, select, e);
}

static bool is_empty(const tl_runtime_report *r)
{
    return r->heap.n == 0;
}

static void put_growth(const tl_runtime_report *r, tl_json *j)
{
    const tl_heap *h = &r->heap;
    if (h->n < 2) {
        tl_json_key_null(j, "growth");
        return;
    }
    tl_json_key(j, "growth");
    tl_json_object(j);
    tl_json_key_u64(j, "from", h->snapshot[0].ts);
    tl_json_key_u64(j, "to", h->snapshot[h->n - 1].ts);
    tl_json_key(j, "classes");
    tl_json_array(j);
    for (uint32_t i = 0; i < tl_runtime_json_rows(r, h->types.n); i++) {
        const tl_type_row *row = &h->types.row[i];
        tl_json_object(j);
        tl_runtime_put_id(j, "iid", row->has_type, row->type);
        tl_json_key_string(j, "name", row->name);
        tl_runtime_put_sum(j, "count", row->count);
        tl_runtime_put_sum(j, "bytes", row->bytes);
        tl_runtime_put_sum(j, "count_before", row->count_before);
        tl_runtime_put_sum(j, "bytes_before", row->bytes_before);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    tl_json_object_end(j);
}

static int put_json(tl_runtime_report *r, tl_json *j, tl_error *e)
{
    const tl_heap *h = &r->heap;
    (void)e;
    tl_json_key_string(j, "unit", "bytes");
    tl_json_key(j, "snapshots");
    tl_json_array(j);
    for (uint32_t i = 0; i < h->n; i++) {
        tl_json_object(j);
        tl_json_key_u64(j, "ts", h->snapshot[i].ts);
        tl_runtime_put_sum(j, "count", h->snapshot[i].count);
        tl_runtime_put_sum(j, "bytes", h->snapshot[i].bytes);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
    put_growth(r, j);
    return 0;
}

static void print_head(const tl_runtime_report *r, tl_output *out)
{
    const tl_heap *h = &r->heap;
    const tl_snapshot *first = &h->snapshot[0], *last = &h->snapshot[h->n - 1];
    char text[32];
    tl_runtime_subject(r, out);
    tl_output_printf(out, "%s %s of the heap", tl_human_grouped(text, sizeof text, h->n),
                     h->n == 1 ? "snapshot" : "snapshots");
    if (h->n > 1)
        tl_output_printf(out, ": %s", tl_human_bytes(text, sizeof text, tl_sum_u64(first->bytes)));
    if (h->n > 1)
        tl_output_printf(out, " at %s", tl_runtime_time_text(r, text, sizeof text, first->ts));
    tl_output_printf(out, "%s%s", h->n > 1 ? ", " : ": ", tl_human_bytes(text, sizeof text, tl_sum_u64(last->bytes)));
    tl_output_printf(out, " at %s\n", tl_runtime_time_text(r, text, sizeof text, last->ts));
}

/* All snapshots, or so many of them, evenly spread, with the first and the last. */
static int print_snapshots(const tl_runtime_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"time", 0}, {"objects", 0}, {"bytes", 0}, {"growth", 1}};
    tl_text_table t = {.column = column, .ncolumn = 4, .name_title = "", .bar_after = 3};
    const tl_heap *h = &r->heap;
    const uint32_t n = tl_runtime_rows(r, h->n, SNAPSHOT_ROWS, SNAPSHOT_ROWS);
    double most = 0;
    for (uint32_t i = 0; i < h->n; i++)
        most = tl_sum_double(h->snapshot[i].bytes) > most ? tl_sum_double(h->snapshot[i].bytes) : most;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = n > 1 ? (uint32_t)((uint64_t)i * (h->n - 1) / (n - 1)) : h->n - 1,
                       before = i ? (uint32_t)((uint64_t)(i - 1) * (h->n - 1) / (n - 1)) : at;
        const tl_snapshot *s = &h->snapshot[at];
        tl_text_row *row = tl_text_table_add(&t);
        unsigned cell = 0;
        tl_runtime_cell_time(r, &t, row, &cell, s->ts);
        tl_runtime_cell_count(&t, row, &cell, s->count);
        tl_runtime_cell_bytes(&t, row, &cell, s->bytes);
        if (i)
            tl_runtime_cell_growth(&t, row, &cell, s->bytes, h->snapshot[before].bytes, true);
        row->share = most > 0 ? tl_sum_double(s->bytes) / most : 0;
    }
    tl_output_puts(out, "\n");
    return tl_runtime_print(r, &t, h->n - n, "snapshots between these", out, e);
}

static int print_classes(const tl_runtime_report *r, tl_output *out, tl_error *e)
{
    static const tl_text_column column[] = {{"growth", 0}, {"bytes", 0}, {"objects", 1}, {"more", 2}};
    static const tl_text_column alone[] = {{"bytes", 0}, {"share", 1}, {"objects", 0}};
    const tl_heap *h = &r->heap;
    const tl_snapshot *last = &h->snapshot[h->n - 1];
    const bool grows = h->n > 1;
    tl_text_table t = {.column = grows ? column : alone,
                       .ncolumn = grows ? 4 : 3,
                       .name_title = "class",
                       .bar_after = 1,
                       .name_wish = 32};
    const uint32_t n = tl_runtime_rows(r, h->types.n, CLASS_ROWS, 0);
    for (uint32_t i = 0; i < n; i++) {
        const tl_type_row *from = &h->types.row[i];
        tl_text_row *row = tl_text_table_add(&t);
        unsigned at = 0;
        if (grows)
            tl_runtime_cell_growth(&t, row, &at, from->bytes, from->bytes_before, true);
        tl_runtime_cell_bytes(&t, row, &at, from->bytes);
        if (grows)
            row->share =
                last->bytes.high || last->bytes.low ? tl_sum_double(from->bytes) / tl_sum_double(last->bytes) : 0;
        else
            tl_runtime_cell_share(&t, row, &at, tl_sum_double(from->bytes), tl_sum_double(last->bytes));
        tl_runtime_cell_count(&t, row, &at, from->count);
        if (grows)
            tl_runtime_cell_growth(&t, row, &at, from->count, from->count_before, false);
        row->name = tl_runtime_name(&t, from->name, from->has_type, from->type);
    }
    tl_output_puts(out, "\n");
    return tl_runtime_print(r, &t, h->types.n - n, "classes", out, e);
}

static int print_text(tl_runtime_report *r, tl_output *out, tl_error *e)
{
    int status = 0;
    print_head(r, out);
    if (r->heap.n > 1)
        status = print_snapshots(r, out, e);
    if (status == 0 && r->heap.types.n)
        status = print_classes(r, out, e);
    return status;
}

const tl_runtime_table tl_runtime_heap = {.what = "snapshots of the heap",
                                          .no_thread = "the heap belongs to all threads",
                                          .read = read_heap,
                                          .empty = is_empty,
                                          .json = put_json,
                                          .text = print_text};

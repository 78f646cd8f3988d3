/* `report --by line` and `--by module` as text. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/report/report.h"
#include "view/text_table.h"

/* "Program.cs:42", "IL_0007", or "" */
static const char *source_of(char *buf, size_t size, const tl_function *f)
{
    tl_report_source(buf, size, f);
    if (!*buf && f->flags & TL_FUNCTION_OFFSET)
        snprintf(buf, size, "IL_%04" PRIx32, f->offset);
    return buf;
}

static void name_line(tl_text_table *t, tl_text_row *row, const tl_function *f)
{
    char label[24], source[256];
    if (*source_of(source, sizeof source, f)) {
        row->name = tl_text_table_keep(t, source);
        row->suffix = tl_text_table_keep(t, tl_function_label(f, label));
    } else {
        row->name = tl_text_table_keep(t, tl_function_label(f, label));
    }
}

static void name_module(tl_text_table *t, tl_text_row *row, const tl_function *f)
{
    row->name = f->name ? tl_text_table_keep(t, f->name) : "(unknown)";
}

/* One row for each function of the profile, which is grouped by what the table is of. */
static int print_rows(const tl_report *r, tl_output *out, const char *title, const char *what,
                      void (*name)(tl_text_table *t, tl_text_row *row, const tl_function *f), tl_error *e)
{
    const tl_text_column column[] = {{"self", 0}, {"share", 0}, {"total", 1}, {tl_report_calls(r), 2}};
    const char *none = tl_profile_weights(r->profile) ? "no samples" : "no calls";
    tl_text_table text = {
        .column = column, .ncolumn = TL_COUNT(column), .name_title = title, .none = none, .bar_after = 1};
    const tl_profile *p = r->profile;
    uint64_t whole = 0;
    char number[32];
    tl_table t = {0};
    int status = tl_table_functions(&t, p, e);
    if (status < 0)
        return status;
    if (tl_report_measure(r) == TL_MEASURE_COUNT)
        text.ncolumn--;
    text.name_wish = 28;
    for (uint32_t i = 0; i < t.n; i++)
        whole = tl_add_saturated(whole, t.row[i].stat.self);
    const uint32_t all = tl_report_sort(r, &t, TL_REPORT_ROWS);
    for (uint32_t i = 0; i < t.n; i++) {
        const tl_stat *stat = &t.row[i].stat;
        tl_text_row *row = tl_text_table_add(&text);
        row->share = whole ? (double)stat->self / (double)whole : 0;
        row->cell[0] = tl_text_table_keep_raw(&text, tl_report_time(r, number, sizeof number, stat->self));
        row->cell[1] = tl_text_table_keep_raw(&text, tl_report_share(number, sizeof number, row->share));
        row->cell[2] = tl_text_table_keep_raw(&text, tl_report_time(r, number, sizeof number, stat->total));
        if (text.ncolumn > 3)
            row->cell[3] = tl_text_table_keep_raw(&text, tl_human_grouped(number, sizeof number, stat->calls));
        name(&text, row, tl_profile_get_function(p, t.row[i].function));
    }
    tl_text_table_print(&text, r->terminal, out);
    tl_report_more(r, out, all - t.n, what);
    if (text.failed)
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of %" PRIu32 " %s", t.n, what);
    tl_text_table_fini(&text);
    tl_table_free(&t);
    return status;
}

int tl_report_text_lines(const tl_report *r, tl_output *out, tl_error *e)
{
    return print_rows(r, out, "line", "lines", name_line, e);
}

int tl_report_text_modules(const tl_report *r, tl_output *out, tl_error *e)
{
    return print_rows(r, out, "module", "modules", name_module, e);
}

/* What the tables of managed runtimes share: numbers as JSON and as cells, and small pictures. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "cli/report/report_events.h"
#include "cli/report/report_runtime.h"

void tl_runtime_put_sum(tl_json *j, const char *key, tl_sum s)
{
    tl_json_key(j, key);
    if (s.high == 0) {
        tl_json_u64(j, s.low);
        return;
    }
    char text[TL_SUM_TEXT]; /* right after a key no comma is due */
    tl_output_puts(j->out, tl_sum_text(text, s));
    j->comma = true;
}

void tl_runtime_put_quantiles(tl_json *j, const char *key, const tl_quantiles *q)
{
    const struct {
        const char *key;
        uint64_t value;
    } rank[] = {{"min", q->min}, {"p50", q->p50}, {"p90", q->p90}, {"p99", q->p99}, {"max", q->max}};
    tl_json_key(j, key);
    tl_json_object(j);
    tl_json_key_u64(j, "count", q->count);
    tl_runtime_put_sum(j, "total", q->total);
    for (size_t i = 0; i < TL_COUNT(rank); i++)
        if (q->count)
            tl_json_key_u64(j, rank[i].key, rank[i].value);
        else
            tl_json_key_null(j, rank[i].key);
    tl_json_object_end(j);
}

void tl_runtime_put_id(tl_json *j, const char *key, bool has_id, uint64_t id)
{
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, id);
    tl_json_key_string(j, key, has_id ? text : NULL);
}

uint32_t tl_runtime_json_rows(const tl_runtime_report *r, uint32_t n)
{
    return tl_events_json_rows(r->cli, n);
}

void tl_runtime_cell(tl_text_table *t, tl_text_row *row, unsigned *column, const char *text)
{
    row->cell[(*column)++] = tl_text_table_keep_raw(t, text);
}

const char *tl_runtime_time_text(const tl_runtime_report *r, char *buf, size_t size, uint64_t v)
{
    return tl_human_time(buf, size, v, r->is_ns);
}

void tl_runtime_cell_time(const tl_runtime_report *r, tl_text_table *t, tl_text_row *row, unsigned *column, uint64_t v)
{
    char text[32];
    tl_runtime_cell(t, row, column, tl_runtime_time_text(r, text, sizeof text, v));
}

void tl_runtime_cell_sum_time(const tl_runtime_report *r, tl_text_table *t, tl_text_row *row, unsigned *column,
                              tl_sum v)
{
    tl_runtime_cell_time(r, t, row, column, tl_sum_u64(v));
}

void tl_runtime_cell_count(tl_text_table *t, tl_text_row *row, unsigned *column, tl_sum v)
{
    char text[32];
    tl_runtime_cell(t, row, column, tl_human_grouped(text, sizeof text, tl_sum_u64(v)));
}

void tl_runtime_cell_bytes(tl_text_table *t, tl_text_row *row, unsigned *column, tl_sum v)
{
    char text[32];
    tl_runtime_cell(t, row, column, tl_human_bytes(text, sizeof text, tl_sum_u64(v)));
}

void tl_runtime_cell_growth(tl_text_table *t, tl_text_row *row, unsigned *column, tl_sum now, tl_sum before,
                            bool is_bytes)
{
    char number[32], text[40];
    const int order = tl_sum_compare(now, before);
    const uint64_t by = tl_sum_u64(order < 0 ? tl_sum_minus(before, now) : tl_sum_minus(now, before));
    snprintf(text, sizeof text, "%s%s",
             order < 0   ? "-"
             : order > 0 ? "+"
                         : "",
             is_bytes ? tl_human_bytes(number, sizeof number, by) : tl_human_grouped(number, sizeof number, by));
    tl_runtime_cell(t, row, column, text);
}

void tl_runtime_cell_share(tl_text_table *t, tl_text_row *row, unsigned *column, double part, double whole)
{
    char text[32];
    row->share = whole > 0 ? part / whole : 0;
    snprintf(text, sizeof text, "%.1f %%", 100 * row->share);
    tl_runtime_cell(t, row, column, text);
}

const char *tl_runtime_name(tl_text_table *t, const char *name, bool has_number, uint64_t number)
{
    char text[24];
    if (name && *name)
        return tl_text_table_keep(t, name);
    if (!has_number)
        return "?";
    snprintf(text, sizeof text, "0x%" PRIx64, number);
    return tl_text_table_keep_raw(t, text);
}

void tl_runtime_subject(const tl_runtime_report *r, tl_output *out)
{
    tl_events_subject(r->terminal, r->subject, out);
}

uint32_t tl_runtime_rows(const tl_runtime_report *r, uint32_t n, uint32_t on_terminal, uint32_t elsewhere)
{
    return tl_events_rows(r->cli, r->terminal, n, on_terminal, elsewhere);
}

int tl_runtime_print(const tl_runtime_report *r, tl_text_table *t, uint64_t left_out, const char *what, tl_output *out,
                     tl_error *e)
{
    return tl_events_print(r->cli, r->terminal, t, left_out, what, out, e);
}

char *tl_runtime_spark(const tl_terminal *terminal, char *buf, const double *value, unsigned n)
{
    static const char *const block[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letter[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    char *p = buf;
    for (unsigned i = 0; i < n; i++) {
        const char *text = " ";
        if (value[i] >= 0) {
            const unsigned step = value[i] >= 1 ? 7 : (unsigned)(value[i] * 8);
            text = (terminal->unicode ? block : letter)[step];
        } else if (value[i] <= -2) {
            text = terminal->unicode ? "╌" : "~";
        }
        const size_t length = strlen(text);
        memcpy(p, text, length);
        p += length;
    }
    *p = 0;
    return buf;
}

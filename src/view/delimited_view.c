/* The rows of a relation as CSV. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"
#include "model/row_json.h"
#include "view/view.h"

/* As it is, or in quotes with inner quotes doubled. */
static void put_cell(tl_output *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        tl_output_puts(out, text);
        return;
    }
    tl_output_puts(out, "\"");
    for (size_t n; *text; text += n) {
        n = strcspn(text, "\"");
        tl_output_write(out, text, n);
        if (text[n]) {
            tl_output_puts(out, "\"\"");
            n++;
        }
    }
    tl_output_puts(out, "\"");
}

/* The text as UTF-8, in scratch. */
static const char *repaired(const tl_part *p, const char *text)
{
    const size_t n = strlen(text);
    char *out = tl_arena_alloc(&p->answer->scratch, 2 * n + 1);
    p->answer->failed = p->answer->failed || !out;
    if (!out)
        return "";
    out[tl_utf8_repair(out, text, n)] = 0;
    return out;
}

static const char *exact(const tl_part *p, const tl_column *c, const tl_cell *v, char *buf, size_t size)
{
    switch (v->kind) {
    case TL_CELL_ROWS:
        return tl_rows_json(p, v);
    case TL_CELL_NULL:
        return "";
    case TL_CELL_TEXT:
        return repaired(p, v->text);
    case TL_CELL_REAL:
        snprintf(buf, size, "%.17g", v->real);
        break;
    case TL_CELL_UINT:
        snprintf(buf, size, c->info.unit == TL_UNIT_HEX ? "0x%" PRIx64 : "%" PRIu64, v->u64);
        break;
    case TL_CELL_INT:
        snprintf(buf, size, "%" PRId64, v->i64);
        break;
    case TL_CELL_SUM:
        buf[0] = '-';
        tl_sum_text(buf + v->negative, v->sum);
        break;
    }
    return buf;
}

static int show_csv(const tl_showing *s, tl_error *e)
{
    const tl_answer *a = s->answer;
    tl_output *out = s->out;
    const tl_part *p = tl_answer_main(a);
    char text[TL_SUM_TEXT + 1];
    const char *between = "";
    tl_cell v;
    for (uint32_t i = 0; p && i < p->ncolumn; i++)
        if (p->column[i].info.name) {
            tl_output_puts(out, between);
            put_cell(out, p->column[i].info.name);
            between = ",";
        }
    tl_output_puts(out, p ? "\r\n" : "");
    for (uint64_t row = 0; p && row < p->n; row++) {
        between = "";
        for (uint32_t i = 0; i < p->ncolumn; i++)
            if (p->column[i].info.name) {
                tl_output_puts(out, between);
                tl_part_cell(p, row, i, &v);
                put_cell(out, exact(p, &p->column[i], &v, text, sizeof text));
                between = ",";
            }
        tl_output_puts(out, "\r\n");
        tl_arena_reset(&p->answer->scratch);
    }
    return tl_answer_check(a, e);
}

const tl_view tl_view_csv = {.name = "csv",
                             .suffix = ".csv",
                             .for_programs = true,
                             .show = show_csv,
                             .what = "comma-separated values, with a line of names"};

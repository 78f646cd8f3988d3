/* The list of views, and values as text. */
#include "view/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/ends_in.h"
#include "base/text/number.h"

static const tl_view *const all[] = {&tl_view_table, &tl_view_json, &tl_view_jsonl, &tl_view_csv, &tl_view_markdown};

const tl_view *const *tl_views(size_t *n)
{
    *n = TL_COUNT(all);
    return all;
}

const tl_view *tl_view_find(const char *name)
{
    for (size_t i = 0; i < TL_COUNT(all); i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

const tl_view *tl_view_of_path(const char *path)
{
    for (size_t i = 0; i < TL_COUNT(all); i++)
        if (tl_has_suffix(path, all[i]->suffix))
            return all[i];
    return NULL;
}

int tl_answer_check(const tl_answer *a, tl_error *e)
{
    return a->failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table") : 0;
}

static void show_number(const tl_part *part, const tl_column *c, uint64_t v, char *buf, size_t size)
{
    const tl_column_unit times = part->answer->times;
    switch (c->info.unit == TL_UNIT_TIME && times ? times : c->info.unit) {
    case TL_UNIT_TIME:
        tl_human_time(buf, size, v, part->answer->is_ns);
        break;
    case TL_UNIT_BYTES:
        tl_human_bytes(buf, size, v);
        break;
    case TL_UNIT_HEX:
        snprintf(buf, size, "0x%" PRIx64, v);
        break;
    case TL_UNIT_COUNT:
        tl_human_grouped(buf, size, v);
        break;
    case TL_UNIT_NONE:
    case TL_UNIT_SHARE:
    case TL_UNIT_BOOL:
    case TL_UNIT_JSON:
    case TL_UNIT_UTC:
    case TL_UNIT_BLOB:
        snprintf(buf, size, "%" PRIu64, v);
        break;
    }
}

static const char *sign_of(const tl_column *c, const tl_cell *v)
{
    if (v->negative)
        return "-";
    return c->flags & TL_SIGNED && (v->sum.low || v->sum.high) ? "+" : "";
}

static const char *show(const tl_part *part, const tl_column *c, const tl_cell *v, char *buf, size_t size)
{
    char text[48];
    switch (v->kind) {
    case TL_CELL_ROWS:
    case TL_CELL_NULL:
        return c->flags & TL_BLANK || c->info.type == TL_TEXT ? "" : "-";
    case TL_CELL_TEXT:
        return v->text;
    case TL_CELL_REAL:
        if (c->info.unit == TL_UNIT_SHARE)
            snprintf(buf, size, "%.1f %%", 100 * v->real);
        else
            snprintf(buf, size, c->decimals ? "%.*f" : "%.*g", c->decimals ? c->decimals : 6, v->real);
        break;
    case TL_CELL_UINT:
        show_number(part, c, v->u64, buf, size);
        break;
    case TL_CELL_INT:
        show_number(part, c, v->i64 < 0 ? -(uint64_t)v->i64 : (uint64_t)v->i64, text, sizeof text);
        snprintf(buf, size, "%s%s", v->i64 < 0 ? "-" : "", text);
        break;
    case TL_CELL_SUM:
        show_number(part, c, tl_sum_u64(v->sum), text, sizeof text);
        snprintf(buf, size, "%s%s", sign_of(c, v), text);
        break;
    }
    return buf;
}

const char *tl_cell_shown(const tl_part *part, uint64_t row, uint32_t column, char *buf, size_t size)
{
    const tl_column *c = &part->column[column];
    tl_cell v;
    tl_part_cell(part, row, column, &v);
    if (!(c->flags & TL_APPROXIMATE) || v.kind == TL_CELL_NULL || !part->approximate ||
        !part->approximate(tl_part_row(part, row)))
        return show(part, c, &v, buf, size);
    buf[0] = '~';
    return show(part, c, &v, buf + 1, size - 1) == buf + 1 ? buf : "";
}

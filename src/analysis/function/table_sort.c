/* Sorting tables. Positions of rows are distinct, so there is only one sorted order. */
#include <stdlib.h>
#include <string.h>

#include "analysis/function/tables.h"

typedef struct sorting {
    const tl_profile *p;
    tl_row_order column;
} sorting;

static uint64_t column_value(const tl_row *r, tl_row_order column)
{
    switch (column) {
    case TL_BY_SELF:
        return r->stat.self;
    case TL_BY_TOTAL:
        return r->stat.total;
    case TL_BY_CALLS:
        return r->stat.calls;
    case TL_BY_MIN:
        return r->stat.min;
    case TL_BY_P50:
        return r->p50;
    case TL_BY_P90:
        return r->p90;
    case TL_BY_P99:
        return r->p99;
    case TL_BY_MAX:
        return r->stat.max;
    case TL_BY_NAME:
    case TL_BY_ID:
        break;
    }
    return 0;
}

/* The name of a row: its function's, its thread's, or "". */
static const char *row_name(const tl_profile *p, const tl_row *r, char buffer[static 24])
{
    if (r->function != TL_NO_FUNCTION)
        return tl_function_label(&p->function[r->function], buffer);
    const char *name = r->track != TL_NO_TRACK ? p->track[r->track].name : NULL;
    return name ? name : "";
}

static int64_t row_id(const tl_profile *p, const tl_row *r)
{
    if (r->function != TL_NO_FUNCTION)
        return p->function[r->function].id;
    return r->track != TL_NO_TRACK ? p->track[r->track].tid : 0;
}

static bool has_hex_id(const tl_profile *p, const tl_row *r)
{
    return r->function != TL_NO_FUNCTION && p->function[r->function].flags & TL_FUNCTION_HEX_ID;
}

/* Ids shown in hexadecimal are unsigned; they come after the others. */
static int compare_row_ids(const tl_profile *p, const tl_row *a, const tl_row *b)
{
    const int64_t ia = row_id(p, a), ib = row_id(p, b);
    const bool hex_a = has_hex_id(p, a), hex_b = has_hex_id(p, b);
    if (hex_a != hex_b)
        return hex_a - hex_b;
    if (ia == ib)
        return 0;
    if (hex_a)
        return (uint64_t)ia < (uint64_t)ib ? -1 : 1;
    return ia < ib ? -1 : 1;
}

static int compare_rows(const void *x, const void *y, void *argument)
{
    const tl_row *a = x, *b = y;
    const sorting *s = argument;
    uint64_t va = column_value(a, s->column), vb = column_value(b, s->column);
    if (va != vb)
        return va > vb ? -1 : 1;
    if (s->column == TL_BY_NAME) {
        char buffer_a[24], buffer_b[24];
        int c = strcmp(row_name(s->p, a, buffer_a), row_name(s->p, b, buffer_b));
        if (c)
            return c;
    }
    /* In samples many rows have no self time. */
    if ((s->p->nweight || s->p->of_stacks) && s->column == TL_BY_SELF && a->stat.total != b->stat.total)
        return a->stat.total > b->stat.total ? -1 : 1;
    int c = compare_row_ids(s->p, a, b);
    if (c)
        return c;
    return TL_COMPARE(a->position, b->position);
}

void tl_table_sort(tl_table *t, const tl_profile *p, tl_row_order column, uint32_t top)
{
    sorting s = {.p = p, .column = column};
    if (t->n > 1)
        qsort_r(t->row, t->n, sizeof *t->row, compare_rows, &s);
    if (top && top < t->n)
        t->n = top;
}

void tl_table_free(tl_table *t)
{
    free(t->row);
    *t = (tl_table){0};
}

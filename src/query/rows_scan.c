/* Tables of `report` as tables that are scanned. */
#include "query/rows_scan.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/rows_part.h"
#include "base/grow.h"
#include "model/row_json.h"

typedef struct rows_scan {
    tl_scan scan;
    const tl_rows_table *table;
    uint32_t source;
    uint64_t at; /* the next row of the source */
    tl_scan_block block;
} rows_scan;

static const tl_column_info trace_column = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE,
                                            "the number of the trace, from 1"};

static void put_text(tl_scan_block *b, uint32_t column, uint32_t row, const char *text)
{
    tl_scan_put_copy(b, column, row, text, strlen(text));
}

static void put_cell(tl_scan_block *b, uint32_t column, uint32_t row, const tl_part *part, const tl_column_info *c,
                     const tl_cell *v)
{
    if (v->kind == TL_CELL_NULL)
        tl_scan_put_null(b, column, row);
    else if (v->kind == TL_CELL_ROWS)
        put_text(b, column, row, tl_rows_json(part, v));
    else if (c->type == TL_INTEGER)
        tl_scan_put_int(b, column, row, tl_rows_integer(c, v));
    else if (c->type == TL_REAL && v->kind == TL_CELL_REAL)
        tl_scan_put_real(b, column, row, v->real);
    else if (c->type == TL_TEXT && v->kind == TL_CELL_TEXT)
        put_text(b, column, row, v->text);
    else
        tl_scan_put_null(b, column, row);
}

static void put_row(rows_scan *s, const tl_part *part, uint32_t row)
{
    const tl_rows_table *t = s->table;
    for (uint32_t i = 0; i < t->ncolumn; i++) {
        tl_cell v;
        if (!tl_scan_has(&s->block, i))
            continue;
        if (i == t->trace) {
            tl_scan_put_int(&s->block, i, row, s->source + 1);
            continue;
        }
        const uint32_t place = t->place[s->source][i];
        if (place == TL_NO_PLACE) {
            tl_scan_put_null(&s->block, i, row);
            continue;
        }
        tl_part_cell(part, s->at, place, &v);
        put_cell(&s->block, i, row, part, &t->column[i], &v);
        s->block.failed = s->block.failed || part->answer->failed;
    }
}

static int next_block(tl_scan *scan, tl_block *block, tl_error *e)
{
    rows_scan *s = (rows_scan *)scan;
    uint32_t rows = 0;
    tl_scan_block_begin(&s->block);
    for (; s->source < s->table->dataset->n && !tl_scan_block_is_full(&s->block, rows); s->source++, s->at = 0) {
        const tl_rows *r = s->table->rows[s->source];
        const tl_part *part = r ? tl_rows_current(r) : NULL;
        for (; part && s->at < part->n && !tl_scan_block_is_full(&s->block, rows); s->at++) {
            put_row(s, part, rows++);
            tl_arena_reset(&part->answer->scratch);
        }
        if (part && s->at < part->n)
            break;
    }
    return rows == 0 ? 0 : tl_scan_block_done(&s->block, rows, block, e);
}

static void close_scan(tl_scan *scan)
{
    rows_scan *s = (rows_scan *)scan;
    tl_scan_block_fini(&s->block);
    free(s);
}

static int open_scan(tl_scan **out, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask, tl_error *e)
{
    (void)d;
    rows_scan *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
    s->scan = (tl_scan){next_block, close_scan};
    s->table = t->arg;
    const int status = tl_scan_block_init(&s->block, t->column, t->ncolumn, ask->used, e);
    return tl_scan_opened(out, &s->scan, status);
}

int tl_rows_table_init(tl_rows_table *t, const tl_table_kind *kind, const tl_dataset *d, tl_scan_table *out,
                       tl_error *e)
{
    t->kind = kind;
    t->dataset = d;
    t->column = tl_alloc((size_t)kind->ncolumn + 1, sizeof *t->column);
    t->place = calloc((size_t)d->n + 1, sizeof *t->place);
    t->rows = calloc((size_t)d->n + 1, sizeof *t->rows);
    if (!t->column || !t->place || !t->rows)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table");
    bool has_trace = false;
    for (uint32_t i = 0; i < kind->ncolumn; i++)
        has_trace =
            has_trace || (kind->column[i].info.name && strcmp(kind->column[i].info.name, trace_column.name) == 0);
    if (!has_trace)
        t->column[t->ncolumn++] = trace_column;
    for (uint32_t i = 0; i < kind->ncolumn; i++)
        if (kind->column[i].info.name) {
            if (strcmp(kind->column[i].info.name, trace_column.name) == 0)
                t->trace = t->ncolumn;
            t->column[t->ncolumn++] = kind->column[i].info;
        }
    *out = (tl_scan_table){.info = {kind->sql, kind->info.summary, kind->info.needs},
                           .column = t->column,
                           .ncolumn = t->ncolumn,
                           .order = TL_NO_ORDER,
                           .rows = 1000,
                           .arg = t,
                           .keeps = tl_scan_keeps_all,
                           .open = open_scan};
    return 0;
}

void tl_rows_table_fini(tl_rows_table *t)
{
    for (uint32_t i = 0; t->rows && t->place && i < t->dataset->n; i++) {
        tl_rows_close(t->rows[i]);
        free(t->place[i]);
    }
    free(t->rows);
    free(t->column);
    free(t->place);
    *t = (tl_rows_table){0};
}

/* Where the columns are in the rows of a source: some answers leave out columns, or name them. */
static int find_places(tl_rows_table *t, uint32_t source, tl_error *e)
{
    const tl_part *part = tl_rows_current(t->rows[source]);
    uint32_t *place = tl_alloc((size_t)t->ncolumn + 1, sizeof *place);
    if (!place)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table");
    for (uint32_t i = 0; i < t->ncolumn; i++) {
        place[i] = TL_NO_PLACE;
        for (uint32_t k = 0; part && k < part->ncolumn; k++)
            if (part->column[k].info.name && strcmp(part->column[k].info.name, t->column[i].name) == 0 &&
                part->column[k].info.type == t->column[i].type)
                place[i] = k;
    }
    free(t->place[source]);
    t->place[source] = place;
    return 0;
}

int tl_rows_table_make(tl_rows_table *t, tl_error *e)
{
    const tl_dataset *d = t->dataset;
    const tl_rows_options options = {.select = t->kind->of_any ? NULL : d->select, .threads = d->threads};
    int status = 0;
    for (uint32_t i = 0; i < d->n && status == 0 && !t->made; i++) {
        tl_error why = {0};
        if (tl_table_find(t->kind->info.name, tl_source_trace(d->source[i])) != t->kind)
            continue;
        tl_rows_close(t->rows[i]);
        t->rows[i] = NULL;
        status = tl_rows_open(&t->rows[i], t->kind->info.name, d->source + i, 1, &options, &why);
        if (status == 0) {
            tl_rows_label(t->rows[i]);
            status = find_places(t, i, &why);
        }
        if (status == TL_EUNSUPPORTED) /* such a trace has no rows of it */
            status = 0;
        else if (status < 0 && e)
            *e = why;
    }
    t->made = t->made || status == 0;
    return status;
}

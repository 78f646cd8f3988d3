/* The events of all classes in one pass. A run is sorted by table, and the rows of each are made a few at a time, in a
 * small block of that table. */
#include "op/scan/class_rows.h"

#include <stdlib.h>

#include "base/grow.h"
#include "op/scan/event_reader.h"

struct tl_class_rows {
    tl_class_tables *tables;
    tl_scan_table all; /* what the reader reads */
    tl_event_table kind;
    tl_event_reader reader;
    tl_scan_block *block; /* [tables->n] without columns: not used yet */
    uint32_t *count;      /* [tables->n] events of the run */
    const tl_batch *batch;
    uint32_t nrun, ntouched, part, given; /* given: events of the table at touched[part] */
    uint32_t of[TL_BATCH_MAX];            /* [nrun] the table of each event, in their order */
    uint32_t touched[TL_BATCH_MAX];       /* [ntouched] tables of the run */
    uint32_t begin[TL_BATCH_MAX];         /* [ntouched] where the events of each are in at[] */
    uint32_t at[TL_BATCH_MAX], picked[TL_BATCH_MAX];
};

/* All that tables of classes have. */
static const uint8_t parts[] = {TL_EVENT_ID, TL_EVENT_CPU, TL_EVENT_OTHER};

int tl_class_rows_open(tl_class_rows **out, tl_class_tables *tables, const tl_dataset *d, const tl_scan_ask *ask,
                       tl_error *e)
{
    tl_class_rows *r = calloc(1, sizeof *r);
    if (!r)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
    r->tables = tables;
    r->kind = (tl_event_table){.part = parts};
    r->all = (tl_scan_table){.ncolumn = TL_COUNT(parts), .arg = &r->kind};
    r->block = calloc((size_t)tables->n + 1, sizeof *r->block);
    r->count = calloc((size_t)tables->n + 1, sizeof *r->count);
    const tl_scan_ask all = {.ordered = ask->ordered, .stop = ask->stop, .stop_arg = ask->stop_arg};
    int status = r->block && r->count ? tl_event_reader_init(&r->reader, &r->all, d, &all, e)
                                      : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
    if (status < 0) {
        tl_class_rows_close(r);
        return status;
    }
    *out = r;
    return 0;
}

void tl_class_rows_close(tl_class_rows *r)
{
    if (!r)
        return;
    tl_event_reader_fini(&r->reader);
    for (uint32_t i = 0; r->block && i < r->tables->n; i++)
        tl_scan_block_fini(&r->block[i]);
    free(r->block);
    free(r->count);
    free(r);
}

/* Sorts the picked events by table, without changing the order within each. */
static void sort_run(tl_class_rows *r, uint32_t n)
{
    const uint32_t *table_of = r->tables->of[r->reader.view.number - 1];
    r->nrun = r->ntouched = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t table = table_of[r->batch->cls[r->picked[i]]];
        if (table == TL_NO_COLUMN)
            continue;
        if (r->count[table]++ == 0)
            r->touched[r->ntouched++] = table;
        r->picked[r->nrun] = r->picked[i];
        r->of[r->nrun++] = table;
    }
    for (uint32_t i = 0, at = 0; i < r->ntouched; i++) {
        const uint32_t table = r->touched[i], events = r->count[table];
        r->begin[i] = at;
        r->count[table] = at; /* where its next event goes */
        at += events;
    }
    for (uint32_t i = 0; i < r->nrun; i++)
        r->at[r->count[r->of[i]]++] = r->picked[i];
    for (uint32_t i = 0; i < r->ntouched; i++)
        r->count[r->touched[i]] = 0;
    r->part = r->given = 0;
}

int tl_class_rows_next(tl_class_rows *r, const uint32_t **table, uint32_t *n, tl_error *e)
{
    tl_event_reader *reader = &r->reader;
    do {
        const int status = tl_event_reader_next(reader, e);
        if (status <= 0)
            return status;
        const tl_run *run = reader->run++;
        reader->nrun--;
        r->batch = run->batch;
        sort_run(r, tl_event_filter_pick(&reader->filter, run, r->picked));
    } while (r->nrun == 0);
    *table = r->of;
    *n = r->nrun;
    return 1;
}

static void put_rows(tl_class_rows *r, const tl_class_table *t, tl_scan_block *block, const uint32_t *at, uint32_t n)
{
    tl_event_view *v = &r->reader.view;
    for (uint32_t c = 0; c < t->table.ncolumn; c++)
        if (t->kind.part[c] != TL_EVENT_OTHER)
            tl_event_part_put(t->kind.part[c], v, r->batch, at, n, block, c, 0);
    tl_class_fields_put(&t->kind.source[v->number - 1], v, r->batch, at, n, block, &t->table, 0);
}

int tl_class_rows_part(tl_class_rows *r, uint32_t *table, tl_block *out, tl_error *e)
{
    if (r->part == r->ntouched)
        return 0;
    const uint32_t index = r->touched[r->part], first = r->begin[r->part] + r->given,
                   end = r->part + 1 < r->ntouched ? r->begin[r->part + 1] : r->nrun,
                   n = end - first > TL_BLOCK_TEXTS ? TL_BLOCK_TEXTS : end - first;
    tl_scan_block *block = &r->block[index];
    int status = tl_class_table_make(r->tables, index, e);
    const tl_class_table *t = &r->tables->table[index];
    if (status == 0 && !block->column)
        status = tl_scan_block_init_rows(block, t->table.column, t->table.ncolumn, NULL, TL_BLOCK_TEXTS, e);
    if (status < 0)
        return status;
    tl_scan_block_begin(block);
    put_rows(r, t, block, r->at + first, n);
    r->given += n;
    if (first + n == end) {
        r->part++;
        r->given = 0;
    }
    *table = index;
    return tl_scan_block_done(block, n, out, e);
}

/* Events of all classes as columns of Arrow, in one pass. */
#include <stdlib.h>

#include "base/columnar/arrow_c.h"
#include "base/grow.h"
#include "model/table_columns.h"
#include "op/scan/class_rows.h"
#include "query/query_arrow.h"
#include "query/query_sharing.h"

#define ROWS_USUAL 65536u

struct tl_arrow_events {
    tl_query *query;
    uint64_t rows; /* about how many are read at once */
    bool ordered, has_begun;
    tl_class_rows *scan;
    uint32_t first;            /* the number of the first table of a class */
    tl_table_columns *columns; /* [classes.n] without columns: not used yet */
    uint32_t *table;           /* [nevent] of each event that was read, in their order */
    uint32_t nevent, capacity;
    uint32_t taken; /* tables before this have been taken */
    int status;
};

int tl_arrow_events_open(tl_arrow_events **out, tl_query *q, const tl_arrow_options *options, tl_error *e)
{
    int status = tl_query_enter(q, e);
    if (status < 0)
        return status;
    tl_arrow_events *r = calloc(1, sizeof *r);
    if (r)
        r->columns = calloc((size_t)q->classes.n + 1, sizeof *r->columns);
    if (!r || !r->columns) {
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for events");
    } else if (options && options->ordered && q->dataset.n > 1) {
        status =
            tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "events of several traces cannot be read in the order of time");
    } else {
        r->query = q;
        r->ordered = options && options->ordered;
        r->rows = options && options->rows ? options->rows : ROWS_USUAL;
        r->first = q->ntable - q->classes.n;
        r->taken = q->classes.n;
        tl_query_hold(q);
        *out = r;
    }
    if (status < 0 && r) {
        free(r->columns);
        free(r);
    }
    tl_query_leave(q);
    return status;
}

void tl_arrow_events_close(tl_arrow_events *r)
{
    if (!r)
        return;
    tl_query *q = r->query;
    tl_query_wait(q);
    tl_class_rows_close(r->scan);
    for (uint32_t i = 0; i < q->classes.n; i++)
        tl_table_columns_fini(&r->columns[i]);
    free(r->columns);
    free(r->table);
    free(r);
    tl_query_leave(q);
    tl_query_drop(q);
}

static int begin(tl_arrow_events *r, tl_error *e)
{
    tl_query *q = r->query;
    const tl_scan_ask ask = {.ordered = r->ordered, .stop = tl_query_stopped, .stop_arg = q};
    for (uint32_t i = 0; i < q->ntable; i++)
        q->table[i].is_used = q->table[i].wants_places = false;
    q->wants_places = false;
    const int status = tl_query_begin(q, e);
    r->has_begun = true;
    return status == 0 ? tl_class_rows_open(&r->scan, &q->classes, &q->dataset, &ask, e) : status;
}

/* The columns of a table of a class, which is made if there is none yet: *n of them, in *from. */
static int describe(tl_table_columns *c, tl_query *q, uint32_t table, tl_error *e)
{
    const tl_scan_table *t = &q->classes.table[table].table;
    uint32_t *from = tl_alloc((size_t)t->ncolumn + 1, sizeof *from);
    if (!from)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for columns");
    for (uint32_t i = 0; i < t->ncolumn; i++)
        from[i] = i;
    const int status = tl_table_columns_init(c, t->column, from, t->ncolumn, tl_query_is_ns(q), UINT32_MAX, e);
    free(from);
    return status;
}

/* Adds a run of events. 1, 0: the end, < 0. */
static int read_run(tl_arrow_events *r, tl_error *e)
{
    const uint32_t *of = NULL;
    uint32_t n = 0, table = 0;
    tl_block block;
    int status = tl_class_rows_next(r->scan, &of, &n, e);
    if (status <= 0)
        return status;
    if (!TL_GROW(r->table, r->nevent, n, r->capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for events");
    for (uint32_t i = 0; i < n; i++)
        r->table[r->nevent++] = r->first + of[i];
    while (status >= 0 && (status = tl_class_rows_part(r->scan, &table, &block, e)) > 0) {
        tl_table_columns *c = &r->columns[table];
        if (!c->n)
            status = describe(c, r->query, table, e);
        if (status >= 0)
            status = tl_table_columns_put(c, &block, 0, e);
    }
    return status < 0 ? status : 1;
}

static int read_runs(tl_arrow_events *r, tl_error *e)
{
    int status = r->has_begun ? 0 : begin(r, e);
    for (uint32_t i = 0; i < r->query->classes.n; i++)
        if (r->columns[i].n)
            tl_column_batch_clear(&r->columns[i].batch);
    r->nevent = r->taken = 0;
    do
        status = status < 0 ? status : read_run(r, e);
    while (status > 0 && r->nevent < r->rows);
    return status < 0 ? tl_query_read_error(r->query, status, e) : r->nevent > 0;
}

int tl_arrow_events_next(tl_arrow_events *r, const uint32_t **table, uint32_t *n, tl_error *e)
{
    int status = r->status < 0 ? tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "reading these events has failed before")
                               : tl_query_enter(r->query, e);
    if (status < 0)
        return status;
    status = r->status = read_runs(r, e);
    if (status > 0) {
        *table = r->table;
        *n = r->nevent;
    }
    tl_query_leave(r->query);
    return status;
}

int tl_arrow_events_take(tl_arrow_events *r, uint32_t *table, struct ArrowArray *out, tl_error *e)
{
    const uint32_t n = r->query->classes.n;
    while (r->taken < n && r->columns[r->taken].batch.rows == 0)
        r->taken++;
    if (r->status <= 0 || r->taken == n)
        return 0;
    const int status = tl_arrow_c_array(out, &r->columns[r->taken].batch, e);
    if (status < 0)
        return status;
    *table = r->first + r->taken++;
    return 1;
}

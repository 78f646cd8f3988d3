/* Streams of the Arrow C stream interface: rows of a statement, and rows of a table that are read without SQL. */
#include "query/query_arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/columnar/arrow_c.h"
#include "model/table_columns.h"
#include "query/query_sharing.h"
#include "query/result_columns.h"
#include "query/session_rows.h"

typedef struct arrow_stream {
    tl_query *query;
    /* rows of a statement */
    tl_statement *statement; /* NULL: of a table */
    tl_statement_rows rows;
    tl_result_columns result;
    /* rows of a table */
    uint32_t table;
    tl_table_columns columns;
    uint8_t *used; /* [columns of the table] */
    bool is_ordered, has_begun;
    tl_scan *scan;  /* NULL: the table has no rows, or it ended */
    tl_block block; /* of which rows from `at` on are in no batch yet */
    uint32_t at;

    bool ended;
    int status; /* < 0: it failed, with this error */
    tl_error error;
} arrow_stream;

bool tl_query_is_ns(const tl_query *q)
{
    bool is_ns = true;
    for (uint32_t i = 0; i < q->dataset.n; i++)
        is_ns = is_ns && strcmp(tl_trace_unit(tl_source_trace(q->source[i])), "ns") == 0;
    return is_ns;
}

int tl_query_read_error(tl_query *q, int status, tl_error *e)
{
    return status == TL_ELIMIT && q->limit ? tl_query_limited(q, e) : status;
}

/* -- rows -- */

static int open_scan(arrow_stream *s, tl_error *e)
{
    const tl_scan_ask ask = {.used = s->used, .ordered = s->is_ordered, .stop = tl_query_stopped, .stop_arg = s->query};
    s->has_begun = true;
    return tl_session_scan_open(&s->scan, s->query, s->table, &ask, e);
}

/* Fills the batch with rows of the table. 1, 0 or < 0, as tl_scan_next(). */
static int fill_from_table(arrow_stream *s, tl_error *e)
{
    tl_column_batch *batch = &s->columns.batch;
    int status = s->has_begun ? 0 : open_scan(s, e);
    while (status >= 0 && !tl_column_batch_is_full(batch)) {
        if (s->at == s->block.rows) {
            s->at = s->block.rows = 0;
            status = s->scan ? tl_scan_next(s->scan, &s->block, e) : 0;
            if (status <= 0)
                break;
        }
        status = tl_table_columns_put(&s->columns, &s->block, s->at, e);
        s->at += status > 0 ? (uint32_t)status : 0;
    }
    return status < 0 ? tl_query_read_error(s->query, status, e) : batch->rows > 0;
}

static int fill(arrow_stream *s, tl_column_batch **batch, tl_error *e)
{
    *batch = s->statement ? &s->result.batch : &s->columns.batch;
    return s->statement ? tl_result_columns_next(&s->result, e) : fill_from_table(s, e);
}

/* -- callbacks -- */

static int errno_of(const tl_error *e)
{
    switch (e->code) {
    case TL_ENOMEM:
        return ENOMEM;
    case TL_EIO:
        return e->sys_errno > 0 ? e->sys_errno : EIO;
    case TL_ELIMIT:
        return ECANCELED;
    case TL_EUNSUPPORTED:
        return ENOSYS;
    default:
        return EINVAL;
    }
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    arrow_stream *s = stream->private_data;
    const tl_stored_as *as = s->statement ? s->result.as : s->columns.as;
    const uint32_t n = s->statement ? s->result.n : s->columns.n;
    return tl_arrow_c_schema(out, as, n, &s->error) < 0 ? errno_of(&s->error) : 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    arrow_stream *s = stream->private_data;
    tl_column_batch *batch = NULL;
    if (s->status < 0)
        return errno_of(&s->error);
    if (tl_query_enter(s->query, &s->error) < 0)
        return EBUSY;
    const int status = s->ended ? 0 : fill(s, &batch, &s->error);
    s->ended = status == 0;
    s->status = status > 0 ? tl_arrow_c_array(out, batch, &s->error) : status;
    if (s->ended)
        *out = (struct ArrowArray){0};
    tl_query_leave(s->query);
    return s->status < 0 ? errno_of(&s->error) : 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    const arrow_stream *s = stream->private_data;
    return s->error.code ? s->error.message : NULL;
}

static void free_stream(arrow_stream *s)
{
    tl_scan_close(s->scan);
    if (s->statement)
        tl_statement_free(s->statement);
    tl_result_columns_fini(&s->result);
    tl_table_columns_fini(&s->columns);
    free(s->used);
    free(s);
}

static void release(struct ArrowArrayStream *stream)
{
    arrow_stream *s = stream->private_data;
    tl_query *q = s->query;
    tl_query_wait(q);
    free_stream(s);
    tl_query_leave(q);
    tl_query_drop(q);
    stream->release = NULL;
}

static const tl_error no_error;

const tl_error *tl_arrow_error(const struct ArrowArrayStream *stream)
{
    return stream->release ? &((const arrow_stream *)stream->private_data)->error : &no_error;
}

/* Hands out a stream that began with `status`; of a failed one the statement stays the caller's. */
static int hand_out(struct ArrowArrayStream *out, arrow_stream *s, int status)
{
    if (status < 0) {
        s->statement = NULL;
        free_stream(s);
        return status;
    }
    tl_query_hold(s->query);
    *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = release,
                                     .private_data = s};
    return 0;
}

static arrow_stream *new_stream(tl_query *q, tl_error *e)
{
    arrow_stream *s = calloc(1, sizeof *s);
    if (s)
        s->query = q;
    else
        tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a stream");
    return s;
}

/* -- opening -- */

int tl_query_arrow(struct ArrowArrayStream *out, tl_statement *statement, const tl_arrow_options *options, tl_error *e)
{
    tl_query *q = tl_statement_query(statement);
    int status = tl_query_enter(q, e);
    if (status < 0)
        return status;
    arrow_stream *s = new_stream(q, e);
    status = s ? 0 : TL_ENOMEM;
    if (s) {
        s->statement = statement;
        s->rows = tl_rows_of_statement(statement, tl_query_is_ns(q));
        status =
            tl_result_columns_init(&s->result, &s->rows.result, tl_sql_is_compound(tl_statement_sql(statement)), e);
        if (status >= 0) {
            tl_column_batch_of(&s->result.batch, options ? options->rows : 0);
            status = 0;
        }
        status = hand_out(out, s, status);
    }
    tl_query_leave(q);
    return status;
}

static uint32_t table_named(const tl_query *q, const char *name)
{
    uint32_t i = 0;
    while (i < q->ntable && strcasecmp(q->table[i].table->info.name, name) != 0)
        i++;
    return i;
}

static uint32_t column_named(const tl_scan_table *t, const char *name)
{
    uint32_t i = 0;
    while (i < t->ncolumn && strcasecmp(t->column[i].name, name) != 0)
        i++;
    return i;
}

/* Which columns there are, into from[]. */
static int choose_columns(const tl_scan_table *t, const tl_arrow_options *o, uint32_t *from, uint32_t *n, tl_error *e)
{
    *n = o->column ? o->ncolumn : t->ncolumn - t->nargument;
    for (uint32_t i = 0; i < *n; i++) {
        from[i] = o->column ? column_named(t, o->column[i]) : i;
        if (from[i] >= t->ncolumn - t->nargument)
            return tl_fail(e, TL_ESYNTAX, TL_NO_OFFSET, "no such column: %s.%s", t->info.name, o->column[i]);
    }
    return 0;
}

static int open_table(arrow_stream *s, const char *name, const tl_arrow_options *o, tl_error *e)
{
    tl_query *q = s->query;
    uint32_t n = 0;
    s->table = table_named(q, name);
    if (s->table == q->ntable)
        return tl_fail(e, TL_ESYNTAX, TL_NO_OFFSET, "no such table: %s", name);
    int status = tl_query_table_open(&q->table[s->table], e);
    if (status < 0)
        return status;
    const tl_scan_table *t = q->table[s->table].table;
    if (o->ordered && (t->order == TL_NO_ORDER || strcmp(t->column[t->order].name, "ts") != 0))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s cannot be read in the order of time", t->info.name);
    s->is_ordered = o->ordered;
    s->used = calloc((size_t)t->ncolumn + 1, sizeof *s->used);
    uint32_t *from = tl_alloc((size_t)(o->column ? o->ncolumn : t->ncolumn) + 1, sizeof *from);
    status = s->used && from ? choose_columns(t, o, from, &n, e)
                             : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a stream");
    if (status == 0)
        status = tl_table_columns_init(&s->columns, t->column, from, n, tl_query_is_ns(q), o->rows, e);
    for (uint32_t i = 0; status == 0 && i < n; i++)
        s->used[from[i]] = 1;
    free(from);
    return status;
}

int tl_query_table_arrow(struct ArrowArrayStream *out, tl_query *q, const char *table, const tl_arrow_options *options,
                         tl_error *e)
{
    static const tl_arrow_options usual;
    int status = tl_query_enter(q, e);
    if (status < 0)
        return status;
    arrow_stream *s = new_stream(q, e);
    status = s ? hand_out(out, s, open_table(s, table, options ? options : &usual, e)) : TL_ENOMEM;
    tl_query_leave(q);
    return status;
}

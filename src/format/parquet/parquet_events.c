/* Apache Parquet: the table `events` of SQL, with its columns, in the order of time. docs/format/parquet.md has the
 * bytes, which base/columnar writes.
 *
 * Events become rows of a block, as when SQL reads them, and blocks batches of columns, which are pages. Nothing is
 * kept of what is written but the description of row groups, which ends the file. */
#include <stdlib.h>

#include "base/columnar/parquet_write.h"
#include "model/event_parts.h"
#include "model/format_impl.h"
#include "model/table_columns.h"
#include "model/trace_description.h"
#include "model/value_json.h"

typedef struct parquet_writer {
    tl_column_info column[TL_EVENTS_PARTS];
    tl_event_view view;
    tl_fields json;
    tl_scan_block block;
    uint32_t rows; /* of the block */
    tl_table_columns columns;
    tl_parquet *file;
    char *traces; /* a note in the file */
} parquet_writer;

static int parquet_create(void *writer, const tl_write_context *context, tl_error *e)
{
    parquet_writer *w = writer;
    const tl_trace *t = context->trace;
    uint32_t all[TL_EVENTS_PARTS];
    for (uint32_t i = 0; i < TL_EVENTS_PARTS; i++) {
        all[i] = i;
        w->column[i] = tl_event_part_column[tl_events_part[i]];
    }
    w->view = (tl_event_view){.trace = t, .begin = context->options->begin, .number = 1, .json = &w->json};
    int status = tl_json_fields_init(&w->json, t) ? tl_scan_block_init(&w->block, w->column, TL_EVENTS_PARTS, NULL, e)
                                                  : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "parquet: no memory");
    if (status == 0)
        status = tl_table_columns_init(&w->columns, w->column, all, TL_EVENTS_PARTS, t->clock.hz != 0, 0, e);
    for (uint32_t i = 0; status == 0 && i < TL_EVENTS_PARTS; i++) /* its key, as in an export of the table */
        w->columns.as[i].is_required = tl_events_part[i] == TL_EVENT_TRACE || tl_events_part[i] == TL_EVENT_ID;
    if (status == 0)
        status = tl_parquet_open(&w->file, context->out, w->columns.as, TL_EVENTS_PARTS, context->options->level, e);
    if (status == 0)
        status = tl_describe_traces(&w->traces, &(tl_described_trace){t, context->options->begin}, 1, e);
    if (status < 0)
        return status;
    tl_parquet_note(w->file, "traceloom.version", tl_version());
    tl_parquet_note(w->file, "traceloom.trace", w->traces);
    tl_parquet_note(w->file, "traceloom.table", "events");
    return 0;
}

static int write_batch(parquet_writer *w, tl_error *e)
{
    const int status = tl_parquet_write(w->file, &w->columns.batch, e);
    tl_column_batch_clear(&w->columns.batch);
    return status;
}

/* Moves the rows of the block to the batch, which is written whenever it is full. */
static int end_block(parquet_writer *w, tl_error *e)
{
    tl_block block;
    int status = tl_scan_block_done(&w->block, w->rows, &block, e);
    for (uint32_t at = 0; status >= 0 && at < w->rows; at += (uint32_t)status) {
        status = tl_table_columns_put(&w->columns, &block, at, e);
        if (status >= 0 && tl_column_batch_is_full(&w->columns.batch)) {
            const int written = write_batch(w, e);
            status = written < 0 ? written : status;
        }
    }
    w->rows = 0;
    tl_scan_block_begin(&w->block);
    return status < 0 ? status : 0;
}

static bool is_object(uint32_t column)
{
    return tl_events_part[column] == TL_EVENT_FIELDS || tl_events_part[column] == TL_EVENT_CONTEXT;
}

/* Puts what may be long of n events at at[]: of fewer, if the block is full. How many. */
static uint32_t put_objects(parquet_writer *w, const tl_batch *b, const uint32_t *at, uint32_t n)
{
    uint32_t done = 0;
    while (done < n && (done == 0 || !tl_scan_block_is_full(&w->block, w->rows + done))) {
        const uint32_t some = n - done < TL_BLOCK_TEXTS ? n - done : TL_BLOCK_TEXTS;
        for (uint32_t i = 0; i < TL_EVENTS_PARTS; i++)
            if (is_object(i))
                tl_event_part_put(tl_events_part[i], &w->view, b, at + done, some, &w->block, i, w->rows + done);
        done += some;
    }
    return done;
}

static int parquet_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    parquet_writer *w = writer;
    uint32_t at[TL_BATCH_MAX];
    int status = 0;
    for (uint32_t i = from; i < to; i++)
        at[i] = i;
    while (status == 0 && from < to) {
        const uint32_t room = TL_BLOCK_ROWS - w->rows,
                       n = put_objects(w, b, at + from, to - from < room ? to - from : room);
        for (uint32_t i = 0; i < TL_EVENTS_PARTS; i++)
            if (!is_object(i))
                tl_event_part_put(tl_events_part[i], &w->view, b, at + from, n, &w->block, i, w->rows);
        from += n;
        w->rows += n;
        if (tl_scan_block_is_full(&w->block, w->rows))
            status = end_block(w, e);
    }
    return status;
}

static int parquet_finish(void *writer, tl_error *e)
{
    parquet_writer *w = writer;
    int status = end_block(w, e);
    if (status == 0)
        status = write_batch(w, e);
    return status < 0 ? status : tl_parquet_finish(w->file, e);
}

static void parquet_discard(void *writer)
{
    parquet_writer *w = writer;
    tl_parquet_close(w->file);
    free(w->traces);
    tl_table_columns_fini(&w->columns);
    tl_scan_block_fini(&w->block);
    tl_fields_fini(&w->json);
}

const tl_format tl_format_parquet = {
    .name = "parquet",
    .summary = "Apache Parquet: events as rows of typed columns",
    .suffixes = ".parquet",
    .event_writer = &(const tl_event_writer){.ordered = true,
                                             .numbers = true,
                                             .wants = {.fields = true, .cpu = true},
                                             .size = sizeof(parquet_writer),
                                             .create = parquet_create,
                                             .accept = tl_accept_events,
                                             .write = parquet_write,
                                             .finish = parquet_finish,
                                             .discard = parquet_discard},
};

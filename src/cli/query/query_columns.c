/* Results of SQL as files of columns. */
#include "cli/query/query_columns.h"

#include "base/columnar/arrow_write.h"
#include "base/columnar/parquet_write.h"
#include "query/result_columns.h"
#include "query/table_keys.h"
#include "traceloom/format.h"

/* The next rows, of which the file takes `left` at most. */
static int next_batch(tl_result_columns *c, uint64_t left, tl_error *e)
{
    c->batch.full_rows = left < TL_COLUMN_ROWS ? (uint32_t)left : TL_COLUMN_ROWS;
    return tl_result_columns_next(c, e);
}

/* A file of at most `most` rows; the first are in the batch, if more > 0. Returns whether the batch has rows then. */
static int write_file(tl_result_columns *c, const tl_result_to *to, tl_output *out, uint64_t most, int more,
                      tl_error *e)
{
    tl_parquet *w = NULL;
    int status = tl_parquet_open(&w, out, c->as, c->n, 0, e);
    if (status < 0)
        return status;
    tl_parquet_note(w, "traceloom.version", tl_version());
    if (to->traces)
        tl_parquet_note(w, "traceloom.trace", to->traces);
    if (to->table)
        tl_parquet_note(w, "traceloom.table", to->table);
    for (uint64_t left = most; status == 0 && more > 0 && left > 0;) {
        left -= c->batch.rows;
        status = tl_parquet_write(w, &c->batch, e);
        if (status == 0)
            more = next_batch(c, left ? left : most, e);
    }
    if (status == 0 && more >= 0)
        status = tl_parquet_finish(w, e);
    tl_parquet_close(w);
    return status < 0 ? status : more;
}

static int write_parquet(tl_result_columns *c, const tl_result_to *to, tl_error *e)
{
    const uint64_t most = to->next_file ? to->rows : UINT64_MAX;
    tl_output *out = to->out;
    int more = next_batch(c, most, e);
    if (more < 0)
        return more;
    do {
        const int status = to->next_file ? to->next_file(to->arg, &out, e) : 0;
        more = status < 0 ? status : write_file(c, to, out, most, more, e);
    } while (more > 0);
    return more;
}

static int write_arrow(tl_result_columns *c, const tl_result_to *to, tl_error *e)
{
    tl_arrow w;
    int status = tl_arrow_begin(&w, to->out, c->as, c->n, e);
    while (status == 0 && (status = tl_result_columns_next(c, e)) > 0)
        status = tl_arrow_write(&w, &c->batch, e);
    if (status == 0)
        tl_arrow_end(&w);
    tl_arrow_fini(&w);
    return status;
}

static int print(tl_result *r, const tl_result_to *to, uint64_t *rows,
                 int (*write)(tl_result_columns *c, const tl_result_to *to, tl_error *e), tl_error *e)
{
    tl_result_columns c;
    int status = tl_result_columns_init(&c, r, to->is_compound, e);
    for (uint32_t i = 0; status == 0 && to->table && i < c.n; i++)
        c.as[i].is_required = tl_table_requires(to->table, c.as[i].name);
    if (status == 0)
        status = write(&c, to, e);
    *rows = c.rows;
    tl_result_columns_fini(&c);
    return status;
}

int tl_print_parquet(tl_result *r, const tl_result_to *to, uint64_t *rows, tl_error *e)
{
    return print(r, to, rows, write_parquet, e);
}

int tl_print_arrow(tl_result *r, const tl_result_to *to, uint64_t *rows, tl_error *e)
{
    return print(r, to, rows, write_arrow, e);
}

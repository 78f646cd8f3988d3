/* Results of SQL as files of columns. */
#include "cli/query/query_columns.h"

#include "base/columnar/arrow_write.h"
#include "base/columnar/parquet_write.h"
#include "query/result_columns.h"
#include "traceloom/format.h"

static int write_parquet(tl_result_columns *c, tl_output *out, tl_error *e)
{
    tl_parquet *w = NULL;
    int status = tl_parquet_open(&w, out, c->as, c->n, 0, e);
    if (status < 0)
        return status;
    tl_parquet_note(w, "traceloom.version", tl_version());
    while ((status = tl_result_columns_next(c, e)) > 0 && (status = tl_parquet_write(w, &c->batch, e)) >= 0)
        ;
    if (status == 0)
        status = tl_parquet_finish(w, e);
    tl_parquet_close(w);
    return status;
}

static int write_arrow(tl_result_columns *c, tl_output *out, tl_error *e)
{
    tl_arrow w;
    int status = tl_arrow_begin(&w, out, c->as, c->n, e);
    while (status == 0 && (status = tl_result_columns_next(c, e)) > 0)
        status = tl_arrow_write(&w, &c->batch, e);
    if (status == 0)
        tl_arrow_end(&w);
    tl_arrow_fini(&w);
    return status;
}

static int print(tl_result *r, const tl_result_to *to, uint64_t *rows,
                 int (*write)(tl_result_columns *c, tl_output *out, tl_error *e), tl_error *e)
{
    tl_result_columns c;
    int status = tl_result_columns_init(&c, r, to->is_compound, e);
    if (status == 0)
        status = write(&c, to->out, e);
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

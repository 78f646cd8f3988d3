/* The rows of a table, cut into chunks. */
#include "query/server/load_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/hasher.h"
#include "query/server/server_table.h"
#include "query/session_rows.h"

struct tl_load_rows {
    tl_scan *scan; /* NULL: the table has no rows */
    const tl_column_info *column;
    uint32_t ncolumn;
    bool *sums;     /* [ncolumn] it counts in the sums of chunks */
    uint32_t *as;   /* [ncolumn] its number in the block; UINT32_MAX: it is not kept */
    uint32_t fixed; /* bytes of a row without its texts */
    int64_t trace;
    uint32_t day;
    tl_native_block *native; /* the caller's, while a chunk is made */
    tl_block block;          /* of rows, of which those from `at` on are in no chunk yet */
    uint32_t *length;        /* [ncolumn][TL_BLOCK_ROWS] of their texts, 0 for NULL */
    uint32_t at;
    bool is_over;
    uint32_t chunk;
    uint64_t seq;
    uint64_t mark[TL_BLOCK_ROWS]; /* of rows, what is summed */
};

static bool choose_columns(tl_load_rows *r, const tl_query *q, uint32_t table)
{
    uint32_t n = TL_SERVER_FIRST;
    if (!r->as || !r->sums || !r->length)
        return false;
    r->fixed = 4 + 8 + 4 + 8;
    for (uint32_t i = 0; i < r->ncolumn; i++) {
        const bool keeps = tl_server_keeps(q, table, r->column, r->ncolumn, i);
        r->as[i] = keeps ? n++ : UINT32_MAX;
        r->sums[i] = tl_server_sums(q, table, &r->column[i]);
        r->fixed += !keeps ? 0 : r->column[i].type == TL_TEXT ? 1 : 9;
    }
    return true;
}

static bool begin_block(const tl_load_rows *r)
{
    static const char *const first[TL_SERVER_FIRST] = {"day", "trace", "chunk", "seq"};
    static const tl_native_type type[TL_SERVER_FIRST] = {TL_NATIVE_UINT32, TL_NATIVE_INT64, TL_NATIVE_UINT32,
                                                         TL_NATIVE_UINT64};
    bool ok = true;
    tl_native_restart(r->native, (size_t)2 * TL_CHUNK_BYTES);
    for (uint32_t i = 0; i < TL_SERVER_FIRST && ok; i++)
        ok = tl_native_add(r->native, first[i], type[i]);
    for (uint32_t i = 0; i < r->ncolumn && ok; i++)
        if (r->as[i] != UINT32_MAX)
            ok = tl_native_add(r->native, r->column[i].name, tl_server_type(&r->column[i]));
    return ok;
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a block of rows");
}

int tl_load_rows_open(tl_load_rows **out, tl_query *q, uint32_t table, int64_t trace, uint32_t day, tl_error *e)
{
    tl_load_rows *r = calloc(1, sizeof *r);
    if (!r)
        return no_memory(e);
    int status = tl_session_rows_open(&r->scan, q, table, e);
    if (status == 0) {
        r->trace = trace;
        r->day = day;
        r->column = tl_query_table_columns(q, table, &r->ncolumn);
        r->as = tl_alloc((size_t)r->ncolumn + 1, sizeof *r->as);
        r->sums = tl_alloc((size_t)r->ncolumn + 1, sizeof *r->sums);
        r->length = tl_alloc((size_t)r->ncolumn + 1, TL_BLOCK_ROWS * sizeof *r->length);
        status = choose_columns(r, q, table) ? 0 : no_memory(e);
    }
    if (status < 0) {
        tl_load_rows_close(r);
        return status;
    }
    *out = r;
    return 0;
}

void tl_load_rows_close(tl_load_rows *r)
{
    if (!r)
        return;
    tl_scan_close(r->scan);
    free(r->as);
    free(r->sums);
    free(r->length);
    free(r);
}

/* What servers call intHash64. */
static uint64_t mixed(uint64_t x)
{
    x ^= UINT64_C(0x4cf2d2baae6da887);
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static const uint32_t *lengths_of(const tl_load_rows *r, uint32_t column)
{
    return r->length + (size_t)column * TL_BLOCK_ROWS;
}

static void mark_column(tl_load_rows *r, uint32_t i, uint32_t from, uint32_t n)
{
    const tl_block_column *c = &r->block.column[i];
    const uint64_t factor = tl_server_factor(i), null = tl_server_null(i);
    const char *last = NULL;
    uint64_t value = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t row = from + k;
        const bool is_null = c->is_null[row];
        if (c->text) {
            const char *text = is_null ? "" : c->text[row];
            if (text != last) /* rows in a row often share one */
                value = tl_siphash_24(text, lengths_of(r, i)[row]);
            last = text;
        } else if (is_null) {
            value = 0;
        } else if (c->i64) {
            value = (uint64_t)c->i64[row];
        } else {
            memcpy(&value, &c->real[row], sizeof value);
        }
        r->mark[k] += value * factor + (is_null ? null : 0);
    }
}

/* Adds rows of the block to the chunk. */
static void put_rows(tl_load_rows *r, tl_load_chunk *chunk, uint32_t n)
{
    const uint64_t factor = tl_server_factor(UINT32_MAX);
    for (uint32_t k = 0; k < n; k++)
        r->mark[k] = (r->seq + k) * factor;
    for (uint32_t i = 0; i < r->ncolumn; i++) {
        const tl_block_column *c = &r->block.column[i];
        if (r->as[i] == UINT32_MAX)
            continue;
        if (r->sums[i])
            mark_column(r, i, r->at, n);
        if (c->i64)
            tl_native_put_int(r->native, r->as[i], c->i64 + r->at, c->is_null + r->at, n);
        else if (c->real)
            tl_native_put_real(r->native, r->as[i], c->real + r->at, c->is_null + r->at, n);
        else
            tl_native_put_text(r->native, r->as[i], c->text + r->at, lengths_of(r, i) + r->at, c->is_null + r->at, n);
    }
    for (uint32_t k = 0; k < n; k++)
        chunk->sum += mixed(r->mark[k]);
    r->at += n;
    r->seq += n;
    chunk->rows += n;
}

static size_t row_size(const tl_load_rows *r, uint32_t row)
{
    size_t size = r->fixed;
    for (uint32_t i = 0; i < r->ncolumn; i++)
        if (r->as[i] != UINT32_MAX && r->block.column[i].text)
            size += tl_native_text_size(lengths_of(r, i)[row]);
    return size;
}

static void measure_texts(tl_load_rows *r)
{
    for (uint32_t i = 0; i < r->ncolumn; i++) {
        const tl_block_column *c = &r->block.column[i];
        uint32_t *length = r->length + (size_t)i * TL_BLOCK_ROWS;
        if (r->as[i] == UINT32_MAX || !c->text)
            continue;
        for (uint32_t k = 0; k < r->block.rows; k++)
            length[k] = c->is_null[k]                                             ? 0
                        : k && !c->is_null[k - 1] && c->text[k] == c->text[k - 1] ? length[k - 1]
                                                                                  : (uint32_t)strlen(c->text[k]);
    }
}

/* How many rows of the block the chunk takes: that depends on nothing but the rows. */
static uint32_t taken(const tl_load_rows *r, uint32_t rows, uint64_t *bytes, bool *full)
{
    uint32_t n = 0;
    for (; r->at + n < r->block.rows; n++) {
        const size_t size = row_size(r, r->at + n);
        *full = rows + n == TL_CHUNK_ROWS || (rows + n > 0 && *bytes + size > TL_CHUNK_BYTES);
        if (*full)
            break;
        *bytes += size;
    }
    return n;
}

int tl_load_rows_next(tl_load_rows *r, tl_load_chunk *chunk, tl_native_block *block, tl_error *e)
{
    uint64_t bytes = 0;
    bool full = false;
    int status = 1;
    *chunk = (tl_load_chunk){.number = r->chunk, .first = r->seq};
    r->native = block;
    if (!begin_block(r))
        return no_memory(e);
    while (r->scan && !full && status > 0) {
        if (r->at < r->block.rows) {
            put_rows(r, chunk, taken(r, chunk->rows, &bytes, &full));
            continue;
        }
        r->at = 0;
        r->block.rows = 0;
        status = r->is_over ? 0 : tl_scan_next(r->scan, &r->block, e);
        r->is_over = status == 0;
        if (status > 0)
            measure_texts(r);
    }
    if (status < 0 || chunk->rows == 0)
        return status < 0 ? status : 0;
    tl_native_put_same(r->native, TL_SERVER_DAY, r->day, chunk->rows);
    tl_native_put_same(r->native, TL_SERVER_TRACE, (uint64_t)r->trace, chunk->rows);
    tl_native_put_same(r->native, TL_SERVER_CHUNK, r->chunk++, chunk->rows);
    tl_native_put_count(r->native, TL_SERVER_SEQ, chunk->first, chunk->rows);
    status = tl_native_end(r->native, chunk->rows, e);
    return status < 0 ? status : 1;
}

/* The rows of a table as batches of columns. */
#include "model/table_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/stored_column.h"

void tl_column_batch_of(tl_column_batch *b, uint64_t rows)
{
    if (rows == 0)
        return;
    b->full_rows = rows < UINT32_MAX / 2 ? (uint32_t)rows : UINT32_MAX / 2;
    b->full_size = SIZE_MAX;
}

int tl_table_columns_init(tl_table_columns *c, const tl_column_info *column, const uint32_t *from, uint32_t n,
                          bool is_ns, uint64_t rows, tl_error *e)
{
    c->n = n;
    c->from = tl_alloc((size_t)n + 1, sizeof *c->from);
    c->as = calloc((size_t)n + 1, sizeof *c->as);
    bool ok = c->from && c->as;
    for (uint32_t i = 0; ok && i < n; i++) {
        c->from[i] = from[i];
        ok = tl_stored_describe(&c->arena, c->as, i, &column[from[i]], tl_store_of(&column[from[i]]), is_ns, false);
    }
    const int status = ok ? tl_column_batch_init(&c->batch, c->as, n, e)
                          : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for columns");
    tl_column_batch_of(&c->batch, rows);
    return status;
}

void tl_table_columns_fini(tl_table_columns *c)
{
    tl_column_batch_fini(&c->batch);
    tl_arena_fini(&c->arena);
    free(c->from);
    free(c->as);
    free(c->bytes);
    *c = (tl_table_columns){0};
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Bytes are pairs of digits in blocks. */
static void put_blobs(tl_table_columns *c, uint32_t i, const char *const *text, const uint8_t *is_null, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        const size_t size = is_null[k] ? 0 : strlen(text[k]) / 2;
        if (!TL_GROW(c->bytes, 0u, size, c->bytes_room)) {
            c->batch.failed = true;
            return;
        }
        for (size_t b = 0; b < size; b++)
            c->bytes[b] = (char)(digit(text[k][2 * b]) << 4 | digit(text[k][2 * b + 1]));
        if (is_null[k])
            tl_column_put_null(&c->batch, i);
        else
            tl_column_put_bytes(&c->batch, i, c->bytes, size);
    }
}

int tl_table_columns_put(tl_table_columns *c, const tl_block *block, uint32_t first, tl_error *e)
{
    tl_column_batch *batch = &c->batch;
    const uint32_t left = block->rows - first, room = batch->full_rows - batch->rows, n = left < room ? left : room;
    for (uint32_t i = 0; i < c->n; i++) {
        const tl_block_column *from = &block->column[c->from[i]];
        const uint8_t *is_null = from->is_null + first;
        if (from->i64)
            tl_column_put_words(batch, i, (const uint64_t *)from->i64 + first, is_null, n);
        else if (from->real)
            tl_column_put_words(batch, i, (const uint64_t *)(const void *)(from->real + first), is_null, n);
        else if (c->as[i].store == TL_STORE_BLOB)
            put_blobs(c, i, from->text + first, is_null, n);
        else
            tl_column_put_texts(batch, i, from->text + first, is_null, n);
    }
    const int status = tl_column_rows_done(batch, n, e);
    return status < 0 ? status : (int)n;
}

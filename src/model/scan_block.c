/* The block of rows that a scan fills. */
#include "model/scan_block.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/utf8.h"

/* Shown in place of NUL, which would end the text. */
static const char replacement[] = "\xEF\xBF\xBD";

static bool init_column(tl_scan_block *b, uint32_t i, tl_column_type type, uint32_t rows)
{
    tl_scan_array *a = &b->array[i];
    a->is_null = calloc(rows, sizeof *a->is_null);
    a->i64 = type == TL_INTEGER ? tl_alloc(rows, sizeof *a->i64) : NULL;
    a->real = type == TL_REAL ? tl_alloc(rows, sizeof *a->real) : NULL;
    a->text = type == TL_TEXT ? tl_alloc(rows, sizeof *a->text) : NULL;
    b->column[i] = (tl_block_column){.i64 = a->i64, .real = a->real, .text = a->text, .is_null = a->is_null};
    return a->is_null && (a->i64 || a->real || a->text);
}

int tl_scan_block_init(tl_scan_block *b, const tl_column_info *column, uint32_t ncolumn, const uint8_t *used,
                       tl_error *e)
{
    return tl_scan_block_init_rows(b, column, ncolumn, used, TL_BLOCK_ROWS, e);
}

int tl_scan_block_init_rows(tl_scan_block *b, const tl_column_info *column, uint32_t ncolumn, const uint8_t *used,
                            uint32_t rows, tl_error *e)
{
    b->array = calloc((size_t)ncolumn + 1, sizeof *b->array);
    b->column = calloc((size_t)ncolumn + 1, sizeof *b->column);
    b->ncolumn = ncolumn;
    bool ok = b->array && b->column;
    for (uint32_t i = 0; ok && i < ncolumn; i++)
        if (!used || used[i])
            ok = init_column(b, i, column[i].type, rows);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows");
}

void tl_scan_block_fini(tl_scan_block *b)
{
    for (uint32_t i = 0; b->array && i < b->ncolumn; i++) {
        free(b->array[i].i64);
        free(b->array[i].real);
        free(b->array[i].text);
        free(b->array[i].is_null);
    }
    free(b->array);
    free(b->column);
    tl_arena_fini(&b->arena);
    tl_pb_fini(&b->json);
    *b = (tl_scan_block){0};
}

/* Replaces NUL; the copy has room for it. */
static size_t without_nul(char *text, size_t n)
{
    size_t nul = 0;
    for (size_t i = 0; i < n; i++)
        nul += text[i] == '\0';
    const size_t longer = n + nul * (sizeof replacement - 2);
    for (size_t from = n, to = longer; nul > 0 && from > 0;) {
        if (text[--from] != '\0') {
            text[--to] = text[from];
            continue;
        }
        to -= sizeof replacement - 1;
        memcpy(text + to, replacement, sizeof replacement - 1);
        nul--;
    }
    return longer;
}

void tl_scan_put_copy(tl_scan_block *b, uint32_t column, uint32_t row, const char *text, size_t n)
{
    char *copy = n <= SIZE_MAX / 4 ? tl_arena_alloc(&b->arena, 3 * n + 1) : NULL;
    b->failed = b->failed || !copy;
    if (copy)
        copy[without_nul(copy, tl_utf8_repair(copy, text, n))] = '\0';
    tl_scan_put_text(b, column, row, copy);
}

void tl_scan_put_json(tl_scan_block *b, uint32_t column, uint32_t row)
{
    char *copy = b->json.failed ? NULL : tl_arena_strndup(&b->arena, (const char *)b->json.data, b->json.n);
    b->failed = b->failed || !copy;
    tl_pb_clear(&b->json);
    tl_scan_put_text(b, column, row, copy);
}

void tl_scan_put_blob(tl_scan_block *b, uint32_t column, uint32_t row, const uint8_t *bytes, size_t n)
{
    static const char digit[] = "0123456789abcdef";
    char *text = n <= SIZE_MAX / 4 ? tl_arena_alloc(&b->arena, 2 * n + 1) : NULL;
    b->failed = b->failed || !text;
    for (size_t i = 0; text && i < n; i++) {
        text[2 * i] = digit[bytes[i] >> 4];
        text[2 * i + 1] = digit[bytes[i] & 15];
    }
    if (text)
        text[2 * n] = '\0';
    tl_scan_put_text(b, column, row, text);
}

void tl_scan_block_begin(tl_scan_block *b)
{
    if (b->arena.total > TL_BLOCK_TEXT_ENOUGH) /* else every later block would be full at once */
        tl_arena_fini(&b->arena);
    else
        tl_arena_reset(&b->arena);
}

int tl_scan_block_done(tl_scan_block *b, uint32_t rows, tl_block *out, tl_error *e)
{
    if (b->failed)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a block of rows");
    *out = (tl_block){.rows = rows, .column = b->column};
    return 1;
}

/* Writes a file of Parquet from blocks of any content: parquet_blocks OUT < BLOCKS
 *
 *   columns   u32; each: u8 tl_store, u8 flags (1 required, 2 JSON, 4 UTC), u16 bytes of its name, the name
 *   batches   u8 1, or 0: the end; u32 rows, u32 rows that are put at once, 0: row by row; then the values of each
 * column: u8 1 for null, else u8 0 and u64, or of text u32 bytes and these
 *
 * Little-endian. Texts of a batch that are equal are often at the same address. Exits with 1, and says why, if the
 * writer refuses. parquet_blocks.py makes the blocks, and reads the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/columnar/parquet_write.h"
#include "base/endian.h"

enum { RECENT = 50 };

typedef struct value {
    bool is_null;
    uint64_t word;
    char *text;
    uint32_t n;
} value;

static void take(void *to, size_t n)
{
    if (fread(to, 1, n, stdin) != n) {
        fprintf(stderr, "the blocks end too early\n");
        exit(2);
    }
}

static uint64_t number(unsigned bytes)
{
    uint8_t data[8] = {0};
    take(data, bytes);
    return tl_load64(data, false);
}

static void *room(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    if (!p)
        exit(2);
    return p;
}

static char *text(size_t n)
{
    char *p = room(n, 1);
    take(p, n);
    return p;
}

static void fail(const tl_error *e)
{
    fprintf(stderr, "%s\n", e->message);
    exit(1);
}

/* The values of a column; a text that one of the last different ones equals has its address. */
static value *read_values(bool is_text, uint32_t rows)
{
    value *v = room(rows, sizeof *v), *recent[RECENT] = {NULL};
    for (uint32_t i = 0; i < rows; i++) {
        v[i].is_null = number(1) != 0;
        if (v[i].is_null)
            continue;
        if (!is_text) {
            v[i].word = number(8);
            continue;
        }
        v[i].n = (uint32_t)number(4);
        v[i].text = text(v[i].n);
        unsigned k = 0;
        while (k < RECENT && recent[k] && (recent[k]->n != v[i].n || memcmp(recent[k]->text, v[i].text, v[i].n) != 0))
            k++;
        if (k < RECENT && recent[k]) {
            free(v[i].text);
            v[i].text = recent[k]->text;
        } else {
            recent[i % RECENT] = &v[i];
        }
    }
    return v;
}

static void put_row(tl_column_batch *b, uint32_t column, const value *v)
{
    if (v->is_null)
        tl_column_put_null(b, column);
    else if (b->as[column].store == TL_STORE_TEXT)
        tl_column_put_text(b, column, v->text, v->n);
    else if (b->as[column].store == TL_STORE_BLOB)
        tl_column_put_bytes(b, column, v->text, v->n);
    else
        tl_column_put_word(b, column, v->word);
}

static void put_many(tl_column_batch *b, uint32_t column, const value *v, uint32_t n)
{
    uint64_t *word = room(n, sizeof *word);
    const char **at = room(n, sizeof *at);
    uint8_t *is_null = room(n, 1);
    for (uint32_t i = 0; i < n; i++) {
        word[i] = v[i].word;
        at[i] = v[i].text;
        is_null[i] = v[i].is_null;
    }
    if (b->as[column].store == TL_STORE_BLOB)
        for (uint32_t i = 0; i < n; i++)
            put_row(b, column, &v[i]);
    else if (b->as[column].store == TL_STORE_TEXT)
        tl_column_put_texts(b, column, at, is_null, n);
    else
        tl_column_put_words(b, column, word, is_null, n);
    free(word);
    free(at);
    free(is_null);
}

static void put_batch(tl_parquet *w, tl_column_batch *b)
{
    tl_error e = {0};
    const uint32_t rows = (uint32_t)number(4), at_once = (uint32_t)number(4), step = at_once ? at_once : 1;
    value **v = room(b->n, sizeof *v);
    for (uint32_t c = 0; c < b->n; c++)
        v[c] = read_values(tl_column_is_text(b->as[c].store), rows);
    tl_column_batch_clear(b);
    for (uint32_t row = 0; row < rows; row += step) {
        const uint32_t n = rows - row < step ? rows - row : step;
        for (uint32_t c = 0; c < b->n; c++) {
            if (at_once)
                put_many(b, c, v[c] + row, n);
            else
                put_row(b, c, &v[c][row]);
        }
        if ((at_once ? tl_column_rows_done(b, n, &e) : tl_column_row_done(b, &e)) < 0)
            fail(&e);
    }
    if (tl_parquet_write(w, b, &e) < 0)
        fail(&e);
}

int main(int argc, char **argv)
{
    tl_error e = {0};
    tl_output *out;
    tl_parquet *w;
    tl_column_batch b;
    if (argc != 2 || tl_output_open(&out, argv[1], true, TL_PLAIN, 0, &e) < 0)
        fail(&e);
    const uint32_t n = (uint32_t)number(4);
    tl_stored_as *as = room(n, sizeof *as);
    for (uint32_t i = 0; i < n; i++) {
        as[i].store = (tl_store)number(1);
        const unsigned flags = (unsigned)number(1);
        as[i].is_required = flags & 1;
        as[i].is_json = flags & 2;
        as[i].is_utc = flags & 4;
        as[i].unit = as[i].is_utc ? "utc" : NULL;
        as[i].name = text((size_t)number(2));
    }
    if (tl_column_batch_init(&b, as, n, &e) < 0 || tl_parquet_open(&w, out, as, n, 0, &e) < 0)
        fail(&e);
    while (number(1) == 1)
        put_batch(w, &b);
    if (tl_parquet_finish(w, &e) < 0 || tl_output_finish(out, &e) < 0)
        fail(&e);
    tl_parquet_close(w);
    tl_column_batch_fini(&b);
    tl_output_close(out);
    return 0;
}

/* Fuzz target: the writer of Parquet. An input says which columns there are, and how the values of each batch are made;
 * the file is read again, and must have these values.
 *
 *   u8            columns, 1 .. 8; for each: u8 lowest three bits: how it is stored, then: required, UTC, JSON
 *   batches       u8 rows (a table); for each column: u8 how its values are made, u8 how many are null, i64 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/columnar/parquet_write.h"
#include "base/compiler.h"
#include "base/endian.h"
#include "parquet_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COLUMNS = 8, ROWS = 8000, PAGES = CHECK_PAGES - 1, TEXT = 300 };

typedef struct input {
    const uint8_t *p, *end;
} input;

static uint64_t next(input *in, unsigned n)
{
    uint8_t word[8] = {0};
    const size_t left = (size_t)(in->end - in->p), some = left < n ? left : n;
    if (some > 0)
        memcpy(word, in->p, some);
    in->p += some;
    return tl_load64(word, false);
}

/* How the values of a column are made in a batch. */
typedef struct maker {
    unsigned how, nulls;
    uint64_t word, i;
} maker;

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

/* false: null. */
static bool make_word(maker *m, input *in, uint64_t *word)
{
    const uint64_t i = m->i++;
    switch (m->how & 7) {
    case 0: /* one value */
        *word = m->word;
        break;
    case 1: /* ascending, mostly */
        *word = m->word + i * (m->word >> 48 & 1023);
        break;
    case 2: /* falling */
        *word = m->word - i;
        break;
    case 3: /* few different ones */
        *word = mixed(m->word) % (1 + (m->word & 255)) + mixed(m->word + i) % (1 + (m->word & 15));
        break;
    case 4: /* all different, of some bits */
        *word = mixed(m->word + i) >> (m->word & 63);
        break;
    case 5: /* runs */
        *word = i / (1 + (m->word & 31));
        break;
    case 6: /* bytes of the input */
        *word = next(in, 1);
        break;
    default: /* words of the input */
        *word = next(in, 8);
    }
    switch (m->nulls & 3) {
    case 0:
        return true;
    case 1:
        return i % (2 + (m->nulls >> 2)) != 0;
    case 2:
        return mixed(i + m->nulls) & 1;
    default:
        return i < (unsigned)(m->nulls >> 2) * 8u;
    }
}

/* Text of a word: digits, repeated as often as its length says. */
static uint32_t make_text(uint64_t word, uint8_t text[static TEXT])
{
    const uint32_t n = (uint32_t)(word % (word & 64 ? TEXT : 20));
    for (uint32_t i = 0; i < n; i++)
        text[i] = (uint8_t)('0' + (word >> i % 50 & 31));
    return n;
}

/* A batch of rows, which are noted in cell[column]; of text its word. */
static void put_batch(tl_column_batch *b, input *in, checked_cell *const *cell, uint32_t row, uint32_t rows)
{
    maker m[COLUMNS];
    for (uint32_t c = 0; c < b->n; c++) {
        m[c] = (maker){.how = (unsigned)next(in, 1), .nulls = (unsigned)next(in, 1)};
        m[c].word = next(in, 8);
    }
    tl_column_batch_clear(b);
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t c = 0; c < b->n; c++) {
            const tl_store store = b->as[c].store;
            uint8_t text[TEXT];
            uint64_t word;
            const bool is_there = make_word(&m[c], in, &word);
            word = store == TL_STORE_BOOL ? word & 1 : word;
            cell[c][row + i] = (checked_cell){.is_null = !is_there, .word = word};
            if (!is_there)
                tl_column_put_null(b, c);
            else if (tl_column_is_text(store))
                tl_column_put_bytes(b, c, text, make_text(word, text));
            else
                tl_column_put_word(b, c, word);
        }
        promise(tl_column_row_done(b, NULL) == 0, "memory suffices");
    }
}

static bool is_refused(const tl_column_batch *b)
{
    bool is = false;
    for (uint32_t c = 0; c < b->n; c++)
        is = is || (b->as[c].is_required && b->column[c].nulls > 0);
    return is;
}

static bool is_same(tl_store store, const checked_cell *read, const checked_cell *put)
{
    uint8_t text[TEXT];
    if (read->is_null || put->is_null)
        return read->is_null == put->is_null;
    if (!tl_column_is_text(store))
        return read->word == put->word;
    const uint32_t n = make_text(put->word, text);
    return read->n == n && (n == 0 || memcmp(read->text, text, n) == 0);
}

static void check_file(const uint8_t *data, size_t size, const tl_stored_as *as, uint32_t n, checked_cell *const *cell,
                       uint32_t rows)
{
    static const unsigned type[] = {[TL_STORE_INT] = CHECK_INT64,
                                    [TL_STORE_REAL] = CHECK_DOUBLE,
                                    [TL_STORE_BOOL] = CHECK_BOOLEAN,
                                    [TL_STORE_TEXT] = CHECK_BYTE_ARRAY,
                                    [TL_STORE_BLOB] = CHECK_BYTE_ARRAY};
    static checked_file f;
    checked_cell *read = calloc((size_t)rows + 1, sizeof *read);
    promise(read != NULL, "memory suffices");
    check_begin(&f, data, size);
    const uint32_t schema = member(&f.about, UINT32_MAX, 2), groups = member(&f.about, UINT32_MAX, 4);
    promise(number_of(&f.about, UINT32_MAX, 3) == rows, "the rows of the file");
    promise(f.about.node[schema].value == (int64_t)n + 1 && f.about.node[groups].value == (rows > 0),
            "columns, groups");
    for (uint32_t c = 0; c < n; c++) {
        const uint32_t about = member(&f.about, schema, (int32_t)c + 1);
        uint8_t *keep[CHECK_PAGES] = {NULL};
        promise(number_of(&f.about, about, 1) == type[as[c].store], "the type of a column");
        promise(number_of(&f.about, about, 3) == !as[c].is_required, "whether it can be null");
        if (rows > 0)
            check_column(&f, member(&f.about, groups, 0), c, as[c].is_required, read, rows, keep);
        for (uint32_t i = 0; i < rows; i++)
            promise(is_same(as[c].store, &read[i], &cell[c][i]), "a value is that which was written");
        memset(read, 0, rows * sizeof *read);
        for (unsigned i = 0; i < TL_COUNT(keep); i++)
            free(keep[i]);
    }
    check_end(&f, size);
    free(read);
}

static uint32_t choose_columns(input *in, tl_stored_as *as)
{
    static const char *const name[COLUMNS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    const uint32_t n = 1 + next(in, 1) % COLUMNS;
    for (uint32_t c = 0; c < n; c++) {
        const unsigned byte = (unsigned)next(in, 1);
        as[c] = (tl_stored_as){.name = name[c], .store = (tl_store)((byte & 7) % 5), .is_required = byte >> 3 & 1};
        as[c].is_utc = as[c].store == TL_STORE_INT && byte >> 4 & 1;
        as[c].is_json = as[c].store == TL_STORE_TEXT && byte >> 5 & 1;
        as[c].unit = as[c].is_utc ? "utc" : NULL;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint16_t batch[] = {1, 2, 7, 8, 9, 17, 64, 255, 256, 257, 300, 2048, 2049, 2050, 3000, 5000};
    input in = {data, data + size};
    tl_stored_as as[COLUMNS];
    checked_cell *cell[COLUMNS];
    tl_output *out = NULL;
    tl_parquet *w = NULL;
    tl_column_batch b;
    const uint32_t n = choose_columns(&in, as);
    uint32_t rows = 0, pages = 0;
    int status = 0;
    for (uint32_t c = 0; c < n; c++)
        promise((cell[c] = calloc(ROWS, sizeof **cell)) != NULL, "memory suffices");
    promise(tl_output_open_memory(&out, TL_PLAIN, NULL) == 0 && tl_column_batch_init(&b, as, n, NULL) == 0 &&
                tl_parquet_open(&w, out, as, n, 0, NULL) == 0,
            "memory suffices");
    for (; in.p < in.end && status == 0 && pages < PAGES; pages++) {
        const uint32_t some = batch[next(&in, 1) % TL_COUNT(batch)];
        if (some > ROWS - rows)
            break;
        put_batch(&b, &in, cell, rows, some);
        tl_error e = {0};
        const bool refused = is_refused(&b);
        status = tl_parquet_write(w, &b, &e);
        promise(status == (refused ? TL_EINVAL : 0), "only nulls are refused");
        rows += some;
    }
    if (status == 0) {
        size_t written;
        promise(tl_parquet_finish(w, NULL) == 0 && tl_output_finish(out, NULL) == 0, "a file has its end");
        uint8_t *file = tl_output_take_memory(out, &written);
        check_file(file, written, as, n, cell, rows);
        free(file);
    }
    tl_parquet_close(w);
    tl_column_batch_fini(&b);
    tl_output_close(out);
    for (uint32_t c = 0; c < n; c++)
        free(cell[c]);
    return 0;
}

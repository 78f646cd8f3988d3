/* Rows that are collected as columns. */
#include "base/columnar/column_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/text/utf8.h"

int tl_column_batch_init(tl_column_batch *b, const tl_stored_as *as, uint32_t n, tl_error *e)
{
    *b = (tl_column_batch){.as = as, .n = n, .full_rows = TL_COLUMN_ROWS, .full_size = TL_COLUMN_BYTES};
    b->column = calloc((size_t)n + 1, sizeof *b->column);
    return b->column ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for columns");
}

void tl_column_data_fini(tl_column_data *c)
{
    free(c->word);
    free(c->offset);
    free(c->bytes);
    free(c->valid);
    free(c->alike);
}

void tl_column_batch_fini(tl_column_batch *b)
{
    for (uint32_t i = 0; b->column && i < b->n; i++)
        tl_column_data_fini(&b->column[i]);
    free(b->column);
    *b = (tl_column_batch){0};
}

void tl_column_batch_clear(tl_column_batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        b->column[i].rows = b->column[i].nulls = b->column[i].alikes = 0;
        b->column[i].size = 0;
    }
    b->rows = 0;
    b->size = 0;
}

/* Room for the bit of one more row, which becomes `valid`. */
static bool put_valid(tl_column_batch *b, tl_column_data *c, bool valid)
{
    const uint32_t at = c->rows / 8;
    if (!TL_GROW(c->valid, at, 1, c->valid_room))
        return false;
    if (c->rows % 8 == 0) {
        c->valid[at] = 0;
        b->size++;
    }
    c->valid[at] = (uint8_t)(c->valid[at] | valid << c->rows % 8);
    c->nulls += !valid;
    return true;
}

static void put(tl_column_batch *b, tl_column_data *c, bool valid, uint64_t word)
{
    if (TL_UNLIKELY(!TL_GROW(c->word, c->rows, 1, c->words_room) || !put_valid(b, c, valid))) {
        b->failed = true;
        return;
    }
    c->word[c->rows++] = word;
    b->size += sizeof word;
}

static void put_end(tl_column_batch *b, tl_column_data *c, bool valid)
{
    if (TL_UNLIKELY(!TL_GROW(c->offset, c->rows, 2, c->offsets_room) || !put_valid(b, c, valid))) {
        b->failed = true;
        return;
    }
    c->offset[0] = 0;
    c->offset[++c->rows] = (int32_t)c->size;
    b->size += sizeof *c->offset;
}

void tl_column_put_word(tl_column_batch *b, uint32_t column, uint64_t word)
{
    put(b, &b->column[column], true, word);
}

/* Room for n more bytes. */
static bool has_room(tl_column_batch *b, tl_column_data *c, size_t n)
{
    if (n > (size_t)INT32_MAX - c->size)
        b->is_too_long = true;
    else if (!TL_GROW(c->bytes, c->size, n, c->bytes_room))
        b->failed = true;
    else
        return true;
    return false;
}

void tl_column_put_bytes(tl_column_batch *b, uint32_t column, const void *bytes, size_t n)
{
    tl_column_data *c = &b->column[column];
    if (TL_UNLIKELY(!has_room(b, c, n)))
        return;
    if (n > 0)
        memcpy(c->bytes + c->size, bytes, n);
    c->size += n;
    b->size += n;
    put_end(b, c, true);
}

static bool is_utf8(const char *s, size_t n)
{
    size_t length = 1;
    for (uint64_t word; n >= sizeof word; s += sizeof word, n -= sizeof word) {
        memcpy(&word, s, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    for (; n > 0 && length > 0; s += length, n -= length)
        length = tl_utf8_length(s, n);
    return length > 0;
}

/* Bytes of a text, repaired if they are not UTF-8. */
static bool add_text(tl_column_batch *b, tl_column_data *c, const char *text, size_t n)
{
    size_t more = n;
    if (TL_LIKELY(is_utf8(text, n))) {
        if (!has_room(b, c, n))
            return false;
        if (n > 0)
            memcpy(c->bytes + c->size, text, n);
    } else {
        b->is_too_long = b->is_too_long || n > INT32_MAX / 2;
        if (b->is_too_long || !has_room(b, c, 2 * n))
            return false;
        more = tl_utf8_repair((char *)c->bytes + c->size, text, n);
    }
    c->size += more;
    b->size += more;
    return true;
}

void tl_column_put_text(tl_column_batch *b, uint32_t column, const char *text, size_t n)
{
    tl_column_data *c = &b->column[column];
    if (TL_LIKELY(add_text(b, c, text, n)))
        put_end(b, c, true);
}

void tl_column_put_null(tl_column_batch *b, uint32_t column)
{
    if (tl_column_is_text(b->as[column].store))
        put_end(b, &b->column[column], false);
    else
        put(b, &b->column[column], false, 0);
}

/* -- many rows ------------------------------------------------------------------------------------------------------
 */

/* Bits of 8 rows: the lowest is that of the first row. */
static unsigned eight_valids(const uint8_t *is_null, uint32_t *nulls)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), word = tl_load64(is_null, false) & ones;
    *nulls += (uint32_t)(word * ones >> 56);
    return (unsigned)((word ^ ones) * UINT64_C(0x0102040810204080) >> 56);
}

/* Bits of n more rows. */
static bool put_valids(tl_column_batch *b, tl_column_data *c, const uint8_t *is_null, uint32_t n)
{
    const uint32_t from = (c->rows + 7) / 8, to = (c->rows + n + 7) / 8;
    if (!TL_GROW(c->valid, from, to - from, c->valid_room))
        return false;
    b->size += to - from;
    uint32_t at = c->rows / 8, have = c->rows % 8, i = 0;
    unsigned bits = have > 0 ? c->valid[at] : 0;
    for (; n - i >= 8; i += 8) {
        bits |= eight_valids(is_null + i, &c->nulls) << have;
        c->valid[at++] = (uint8_t)bits;
        bits >>= 8;
    }
    for (; i < n; i++) {
        bits |= (unsigned)!is_null[i] << have++;
        c->nulls += is_null[i];
        if (have == 8) {
            c->valid[at++] = (uint8_t)bits;
            bits = have = 0;
        }
    }
    if (have > 0)
        c->valid[at] = (uint8_t)bits;
    return true;
}

void tl_column_put_words(tl_column_batch *b, uint32_t column, const uint64_t *word, const uint8_t *is_null, uint32_t n)
{
    tl_column_data *c = &b->column[column];
    if (TL_UNLIKELY(!TL_GROW(c->word, c->rows, n, c->words_room) || !put_valids(b, c, is_null, n))) {
        b->failed = true;
        return;
    }
    memcpy(c->word + c->rows, word, n * sizeof *word);
    c->rows += n;
    b->size += n * sizeof *word;
}

/* Texts that were put by a call: names of threads, functions and the like are often at the same address. */
enum { SEEN = 256 };
typedef struct seen {
    const char *text;
    uint32_t row, number; /* of the first; among those that are not null */
} seen;

/* Where an address has its place; two may have one, and then take turns. */
static seen *seen_at(seen all[SEEN], const char *text)
{
    const uintptr_t at = (uintptr_t)text;
    return &all[(at >> 3 ^ at >> 11) % SEEN];
}

/* The text of an earlier row once more. */
static bool add_again(tl_column_batch *b, tl_column_data *c, uint32_t row)
{
    const size_t from = (size_t)c->offset[row], n = (size_t)c->offset[row + 1] - from;
    if (!has_room(b, c, n))
        return false;
    if (n > 0)
        memcpy(c->bytes + c->size, c->bytes + from, n);
    c->size += n;
    b->size += n;
    return true;
}

void tl_column_put_texts(tl_column_batch *b, uint32_t column, const char *const *text, const uint8_t *is_null,
                         uint32_t n)
{
    tl_column_data *c = &b->column[column];
    seen all[SEEN] = {0};
    const bool notes = c->alikes == c->rows;
    uint32_t number = c->rows - c->nulls;
    if (!TL_GROW(c->offset, c->rows, n + 1, c->offsets_room) ||
        (notes && !TL_GROW(c->alike, c->rows, n, c->alike_room)) || !put_valids(b, c, is_null, n)) {
        b->failed = true;
        return;
    }
    c->offset[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t alike = number;
        if (!is_null[i]) {
            seen *before = seen_at(all, text[i]);
            const bool again = before->text == text[i];
            if (!(again ? add_again(b, c, before->row) : add_text(b, c, text[i], strlen(text[i]))))
                return;
            if (again)
                alike = before->number;
            else
                *before = (seen){text[i], c->rows, number};
            number++;
        }
        if (notes)
            c->alike[c->rows] = alike;
        c->offset[++c->rows] = (int32_t)c->size;
    }
    b->size += n * sizeof *c->offset;
    c->alikes = notes ? c->rows : c->alikes;
}

int tl_column_row_done(tl_column_batch *b, tl_error *e)
{
    return tl_column_rows_done(b, 1, e);
}

int tl_column_rows_done(tl_column_batch *b, uint32_t n, tl_error *e)
{
    if (TL_UNLIKELY(b->failed))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for columns");
    if (TL_UNLIKELY(b->is_too_long))
        return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "the values of a column have more than 2 GiB");
    b->rows += n;
    return 0;
}

/* Pages of Parquet.
 *
 *   page    header (thrift); compressed: u32 bytes of the levels, the levels, the values that are not null
 *   level   1: the row has a value; 0: it is null. RLE with one bit
 *
 * Whole numbers are differences (DELTA_BINARY_PACKED) where they ascend or a dictionary is not shorter; text and real
 * numbers are in a dictionary as long as it is small, else as they are (PLAIN). */
#include "base/columnar/parquet_chunk.h"

#include <stdlib.h>
#include <string.h>

#include "base/columnar/parquet_encode.h"
#include "base/columnar/thrift_write.h"
#include "base/endian.h"
#include "base/grow.h"

enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };

/* A dictionary is shared by pages: the first need not bear it alone. */
enum { PAGES_OF_A_DICTIONARY = 8 };

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a page");
}

int tl_parquet_room_init(tl_parquet_room *r, unsigned level, tl_error *e)
{
    r->word = tl_alloc(TL_COLUMN_ROWS, sizeof *r->word);
    r->index = tl_alloc(TL_COLUMN_ROWS, sizeof *r->index);
    return r->word && r->index ? tl_page_packer_new(&r->packer, level, e) : no_memory(e);
}

void tl_parquet_room_fini(tl_parquet_room *r)
{
    free(r->word);
    free(r->index);
    tl_page_packer_free(r->packer);
    tl_pb_fini(&r->page);
    tl_pb_fini(&r->trial);
    tl_pb_fini(&r->header);
    tl_pb_fini(&r->packed);
}

/* -- statistics -----------------------------------------------------------------------------------------------------
 */

static void set_bounds(tl_parquet_bounds *b, const void *low, const void *high, uint32_t n)
{
    b->n = b->n_high = n;
    memcpy(b->low, low, n);
    memcpy(b->high, high, n);
    b->is_there = true;
}

static void bound_ints(tl_parquet_bounds *b, const uint64_t *v, uint32_t n)
{
    int64_t low = b->is_there ? (int64_t)tl_load64(b->low, false) : INT64_MAX;
    int64_t high = b->is_there ? (int64_t)tl_load64(b->high, false) : INT64_MIN;
    uint8_t bytes[2][8];
    for (uint32_t i = 0; i < n; i++) {
        low = (int64_t)v[i] < low ? (int64_t)v[i] : low;
        high = (int64_t)v[i] > high ? (int64_t)v[i] : high;
    }
    tl_store64(bytes[0], (uint64_t)low, false);
    tl_store64(bytes[1], (uint64_t)high, false);
    if (n > 0)
        set_bounds(b, bytes[0], bytes[1], 8);
}

static double real_of(uint64_t word)
{
    double v;
    memcpy(&v, &word, sizeof v);
    return v;
}

static uint64_t word_of(double v)
{
    uint64_t word;
    memcpy(&word, &v, sizeof word);
    return word;
}

/* NaN is no bound; a low of 0 is -0, and a high one +0. */
static void bound_reals(tl_parquet_bounds *b, const uint64_t *v, uint32_t n)
{
    double low = b->is_there ? real_of(tl_load64(b->low, false)) : 0;
    double high = b->is_there ? real_of(tl_load64(b->high, false)) : 0;
    bool any = b->is_there;
    uint8_t bytes[2][8];
    for (uint32_t i = 0; i < n; i++) {
        const double x = real_of(v[i]);
        if (x != x)
            continue;
        low = !any || x < low ? x : low;
        high = !any || x > high ? x : high;
        any = true;
    }
    if (!any)
        return;
    tl_store64(bytes[0], word_of(low == 0 ? -0.0 : low), false);
    tl_store64(bytes[1], word_of(high == 0 ? 0.0 : high), false);
    set_bounds(b, bytes[0], bytes[1], 8);
}

static void bound_bits(tl_parquet_bounds *b, const uint64_t *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t x = v[i] != 0;
        const uint8_t low = b->is_there && b->low[0] < x ? b->low[0] : x;
        const uint8_t high = b->is_there && b->high[0] > x ? b->high[0] : x;
        set_bounds(b, &low, &high, 1);
    }
}

static int compare(const uint8_t *a, uint32_t n, const uint8_t *b, uint32_t m)
{
    const uint32_t shorter = n < m ? n : m;
    const int order = shorter ? memcmp(a, b, shorter) : 0;
    return order ? order : TL_COMPARE(n, m);
}

static void bound_text(tl_parquet_bounds *b, const uint8_t *text, uint32_t n)
{
    if (n > TL_PARQUET_BOUND)
        b->is_absent = true;
    if (b->is_absent)
        return;
    if (!b->is_there || compare(text, n, b->low, b->n) < 0) {
        b->n = n;
        if (n > 0)
            memcpy(b->low, text, n);
    }
    if (!b->is_there || compare(text, n, b->high, b->n_high) > 0) {
        b->n_high = n;
        if (n > 0)
            memcpy(b->high, text, n);
    }
    b->is_there = true;
}

/* -- values ---------------------------------------------------------------------------------------------------------
 */

/* The words of rows that are not null. */
static const uint64_t *dense(const tl_parquet_room *r, const tl_column_data *d)
{
    uint32_t k = 0;
    if (d->nulls == 0)
        return d->word;
    for (uint32_t i = 0; i < d->rows; i++) {
        r->word[k] = d->word[i];
        k += tl_column_is_valid(d, i);
    }
    return r->word;
}

static void put_plain_words(tl_pb *out, const uint64_t *v, uint32_t n)
{
    if (out->failed || !TL_GROW(out->data, out->n, (size_t)n * 8, out->capacity)) {
        out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        tl_store64(out->data + out->n + (size_t)i * 8, v[i], false);
    out->n += (size_t)n * 8;
}

static void put_plain_bits(tl_pb *out, const uint64_t *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += 8) {
        uint8_t byte = 0;
        for (uint32_t k = i; k < n && k < i + 8; k++)
            byte = (uint8_t)(byte | (v[k] != 0) << (k - i));
        tl_pb_raw(out, &byte, 1);
    }
}

static void put_plain_texts(tl_pb *out, const tl_column_data *d)
{
    for (uint32_t i = 0; i < d->rows; i++) {
        uint32_t n;
        const uint8_t *text = tl_column_text(d, i, &n);
        uint8_t size[4];
        if (d->nulls > 0 && !tl_column_is_valid(d, i))
            continue;
        tl_store32(size, n, false);
        tl_pb_raw(out, size, sizeof size);
        tl_pb_raw(out, text, n);
    }
}

static bool ascends(const uint64_t *v, uint32_t n)
{
    uint32_t i = 1;
    while (i < n && (int64_t)v[i] >= (int64_t)v[i - 1])
        i++;
    return i >= n;
}

/* Before the bounds of the page are known. */
static void see_order(tl_parquet_chunk *c, const uint64_t *v, uint32_t n)
{
    c->descends = c->descends || (c->bounds.is_there && (int64_t)v[0] < (int64_t)c->last) || !ascends(v, n);
    c->last = v[n - 1];
}

static void put_indices(tl_parquet_chunk *c, tl_parquet_room *r, uint32_t n)
{
    const unsigned bits = tl_bits_of(c->dictionary.n - 1), width = bits ? bits : 1;
    const uint8_t byte = (uint8_t)width;
    tl_pb_raw(&r->page, &byte, 1);
    tl_parquet_put_runs(&r->page, r->index, n, width);
    c->has_dictionary = true;
}

static tl_lookup look_up(tl_parquet_chunk *c, tl_parquet_room *r, const tl_column_data *d, const uint64_t *v,
                         uint32_t n, uint32_t most)
{
    const uint32_t before = c->dictionary.n;
    const tl_lookup found = tl_column_is_text(c->store) ? tl_dictionary_texts(&c->dictionary, d, most, r->index)
                                                        : tl_dictionary_words(&c->dictionary, v, n, most, r->index);
    for (uint32_t i = before; tl_column_is_text(c->store) && i < c->dictionary.n; i++) {
        uint32_t size;
        const uint8_t *text = tl_dictionary_text(&c->dictionary, i, &size);
        bound_text(&c->bounds, text, size);
    }
    for (uint32_t i = before; c->store == TL_STORE_INT && found == TL_LOOKUP_DONE && i < c->dictionary.n; i++) {
        const uint64_t word = tl_load64(c->dictionary.plain.data + (size_t)i * 8, false);
        bound_ints(&c->bounds, &word, 1);
    }
    return found;
}

/* Replaces the indices in the page by differences, if both pages are smaller compressed so. */
static int choose_smaller(tl_parquet_chunk *c, tl_parquet_room *r, size_t begin, const uint64_t *v, uint32_t n,
                          tl_error *e)
{
    tl_pb_clear(&r->trial);
    tl_parquet_put_deltas(&r->trial, v, n);
    if (r->trial.failed || r->page.failed)
        return no_memory(e);
    int status = tl_page_pack(r->packer, r->trial.data, r->trial.n, &r->packed, e);
    const size_t differences = r->packed.n;
    if (status == 0)
        status = tl_page_pack(r->packer, r->page.data + begin, r->page.n - begin, &r->packed, e);
    const size_t indices = r->packed.n;
    if (status == 0)
        status = tl_page_pack(r->packer, c->dictionary.plain.data, c->dictionary.plain.n, &r->packed, e);
    if (status < 0 || differences >= indices + r->packed.n / PAGES_OF_A_DICTIONARY)
        return status;
    r->page.n = begin;
    tl_pb_raw(&r->page, r->trial.data, r->trial.n);
    c->has_dictionary = false;
    return 0;
}

/* Whole numbers: the first page decides between a dictionary and differences. */
static int put_ints(tl_parquet_chunk *c, tl_parquet_room *r, const uint64_t *v, uint32_t n, uint32_t most,
                    int *encoding, tl_error *e)
{
    const size_t begin = r->page.n;
    bool differs = c->is_decided ? !c->takes_dictionary : ascends(v, n);
    int status = 0;
    if (!differs) {
        const tl_lookup found = look_up(c, r, NULL, v, n, c->is_decided || n / 2 > most ? most : n / 2 + 1);
        if (found == TL_LOOKUP_FAILED)
            return no_memory(e);
        differs = found == TL_LOOKUP_FULL;
    }
    if (differs) {
        bound_ints(&c->bounds, v, n);
        tl_parquet_put_deltas(&r->page, v, n);
    } else {
        put_indices(c, r, n);
        status = c->is_decided ? 0 : choose_smaller(c, r, begin, v, n, e);
        differs = !c->has_dictionary;
    }
    c->takes_dictionary = !differs;
    if (!c->has_dictionary)
        tl_dictionary_fini(&c->dictionary);
    *encoding = differs ? TL_PARQUET_DELTA : TL_PARQUET_RLE_DICTIONARY;
    return status;
}

/* Text and real numbers: a dictionary, unless more than half of the values of the first page are different. */
static int put_others(tl_parquet_chunk *c, tl_parquet_room *r, const tl_column_data *d, const uint64_t *v, uint32_t n,
                      uint32_t most, int *encoding, tl_error *e)
{
    bool plain = c->is_decided && !c->takes_dictionary;
    if (!plain) {
        const tl_lookup found = look_up(c, r, d, v, n, c->is_decided || n / 2 > most ? most : n / 2 + 1);
        if (found == TL_LOOKUP_FAILED)
            return no_memory(e);
        plain = found == TL_LOOKUP_FULL;
    }
    c->takes_dictionary = !plain;
    if (!plain) {
        put_indices(c, r, n);
        *encoding = TL_PARQUET_RLE_DICTIONARY;
        return 0;
    }
    if (tl_column_is_text(c->store))
        put_plain_texts(&r->page, d);
    else
        put_plain_words(&r->page, v, n);
    for (uint32_t i = 0; tl_column_is_text(c->store) && !c->bounds.is_absent && i < d->rows; i++) {
        uint32_t size;
        const uint8_t *text = tl_column_text(d, i, &size);
        if (tl_column_is_valid(d, i))
            bound_text(&c->bounds, text, size);
    }
    if (!c->has_dictionary)
        tl_dictionary_fini(&c->dictionary);
    return 0;
}

/* The values of a page, and what is known of them. */
static int put_values(tl_parquet_chunk *c, tl_parquet_room *r, const tl_column_data *d, uint32_t most, int *encoding,
                      tl_error *e)
{
    const uint32_t n = d->rows - d->nulls;
    const uint64_t *v = tl_column_is_text(c->store) ? NULL : dense(r, d);
    *encoding = TL_PARQUET_PLAIN;
    if (n == 0)
        return 0;
    switch (c->store) {
    case TL_STORE_INT:
        see_order(c, v, n);
        return put_ints(c, r, v, n, most, encoding, e);
    case TL_STORE_BOOL:
        bound_bits(&c->bounds, v, n);
        put_plain_bits(&r->page, v, n);
        return 0;
    case TL_STORE_REAL:
        bound_reals(&c->bounds, v, n);
        break;
    default:
        break;
    }
    return put_others(c, r, d, v, n, most, encoding, e);
}

/* -- pages ----------------------------------------------------------------------------------------------------------
 */

static void begin_header(tl_thrift *t, tl_parquet_room *r, int32_t type)
{
    tl_pb_clear(&r->header);
    t->out = &r->header;
    tl_thrift_i32(t, 1, type);
    tl_thrift_i32(t, 2, (int32_t)r->page.n);
    tl_thrift_i32(t, 3, (int32_t)r->packed.n);
}

/* Compresses r->page. */
static int pack(tl_parquet_room *r, tl_error *e)
{
    if (r->page.failed || r->trial.failed)
        return no_memory(e);
    if (r->page.n > INT32_MAX)
        return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "the values of a column have more than 2 GiB");
    return tl_page_pack(r->packer, r->page.data, r->page.n, &r->packed, e);
}

/* Which rows are null. */
static int put_levels(tl_parquet_room *r, const tl_column_data *d, tl_error *e)
{
    uint8_t size[4] = {0};
    tl_pb_raw(&r->page, size, sizeof size);
    tl_parquet_put_bit_runs(&r->page, d->valid, d->rows);
    if (r->page.failed)
        return no_memory(e);
    tl_store32(r->page.data, (uint32_t)(r->page.n - sizeof size), false);
    return 0;
}

static int refuse_nulls(const tl_column_data *d, tl_error *e)
{
    return d->nulls > 0 ? tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "a column that has a value in each row has a null") : 0;
}

int tl_parquet_chunk_add(tl_parquet_chunk *c, tl_parquet_room *r, const tl_column_data *d, uint32_t most, tl_error *e)
{
    tl_pb_clear(&r->page);
    tl_pb_clear(&r->trial);
    int encoding = TL_PARQUET_PLAIN, status = c->is_required ? refuse_nulls(d, e) : put_levels(r, d, e);
    c->descends = c->descends || d->nulls > 0;
    if (status == 0)
        status = put_values(c, r, d, most, &encoding, e);
    if (status == 0)
        status = pack(r, e);
    if (status < 0)
        return status;
    tl_thrift t = {0};
    begin_header(&t, r, DATA_PAGE);
    tl_thrift_begin(&t, 5);
    tl_thrift_i32(&t, 1, (int32_t)d->rows);
    tl_thrift_i32(&t, 2, encoding);
    tl_thrift_i32(&t, 3, TL_PARQUET_RLE);
    tl_thrift_i32(&t, 4, TL_PARQUET_RLE);
    tl_thrift_end(&t);
    tl_thrift_stop(&t);
    tl_pb_raw(&c->pages, r->header.data, r->header.n);
    tl_pb_raw(&c->pages, r->packed.data, r->packed.n);
    if (r->header.failed || c->pages.failed)
        return no_memory(e);
    c->plain_size += r->header.n + r->page.n;
    c->values += d->rows;
    c->nulls += d->nulls;
    c->used |= 1u << encoding;
    c->is_decided = c->is_decided || d->nulls < d->rows;
    return 0;
}

int tl_parquet_chunk_dictionary(tl_parquet_chunk *c, tl_parquet_room *r, tl_error *e)
{
    tl_pb_clear(&r->page);
    tl_pb_clear(&r->trial);
    tl_pb_raw(&r->page, c->dictionary.plain.data, c->dictionary.plain.n);
    const int status = pack(r, e);
    if (status < 0)
        return status;
    tl_thrift t = {0};
    begin_header(&t, r, DICTIONARY_PAGE);
    tl_thrift_begin(&t, 7);
    tl_thrift_i32(&t, 1, (int32_t)c->dictionary.n);
    tl_thrift_i32(&t, 2, TL_PARQUET_PLAIN);
    tl_thrift_end(&t);
    tl_thrift_stop(&t);
    c->plain_size += r->header.n + r->page.n;
    c->used |= 1u << TL_PARQUET_PLAIN;
    return r->header.failed ? no_memory(e) : 0;
}

void tl_parquet_chunk_clear(tl_parquet_chunk *c)
{
    tl_dictionary_fini(&c->dictionary);
    tl_pb_clear(&c->pages);
    *c = (tl_parquet_chunk){.store = c->store, .is_required = c->is_required, .pages = c->pages};
}

void tl_parquet_chunk_fini(tl_parquet_chunk *c)
{
    tl_dictionary_fini(&c->dictionary);
    tl_pb_fini(&c->pages);
}

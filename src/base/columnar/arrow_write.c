/* A stream of Arrow.
 *
 *   message   u32 ffffffff; u32 bytes of what describes it (a FlatBuffer), with zeros up to a multiple of 8; that; the
 *             body
 *   stream    a message with the schema, one for each batch, u32 ffffffff, u32 0
 *   body      of each column: bits of the rows that are not null, unless all are; of text where each begins; values.
 *             Each at a multiple of 8 */
#include "base/columnar/arrow_write.h"

#include <string.h>

#include "base/columnar/flat_write.h"
#include "base/endian.h"
#include "base/grow.h"

enum { V5 = 4, SCHEMA = 1, RECORD_BATCH = 3 };
enum { INT = 2, FLOATING_POINT = 3, BINARY = 4, UTF8 = 5, BOOL = 6, TIMESTAMP = 10 };
enum { BITS = 64, DOUBLE = 2, NANOSECOND = 3, LITTLE = 0 };

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for Arrow");
}

/* Begins a message; returns the place of the reference to its header. */
static size_t begin_message(tl_arrow *w, unsigned kind, uint64_t body)
{
    const tl_flat_field field[] = {{2, V5}, {1, kind}, TL_FLAT_REFERENCE, {8, body}};
    const uint8_t root[4] = {0};
    tl_pb_clear(&w->message);
    tl_pb_raw(&w->message, root, sizeof root);
    return tl_flat_put_table(&w->message, 0, field, TL_COUNT(field)).field[2];
}

static int end_message(tl_arrow *w, tl_error *e)
{
    uint8_t head[8];
    tl_flat_align(&w->message, 8);
    if (w->message.failed)
        return no_memory(e);
    tl_store32(head, UINT32_MAX, false);
    tl_store32(head + 4, (uint32_t)w->message.n, false);
    tl_output_write(w->out, head, sizeof head);
    tl_output_write(w->out, w->message.data, w->message.n);
    return 0;
}

/* -- the schema -----------------------------------------------------------------------------------------------------
 */

static unsigned type_of(const tl_stored_as *as)
{
    static const uint8_t type[] = {[TL_STORE_INT] = INT,
                                   [TL_STORE_REAL] = FLOATING_POINT,
                                   [TL_STORE_BOOL] = BOOL,
                                   [TL_STORE_TEXT] = UTF8,
                                   [TL_STORE_BLOB] = BINARY};
    return as->is_utc ? TIMESTAMP : type[as->store];
}

static void put_type(tl_pb *b, size_t from, const tl_stored_as *as)
{
    static const tl_flat_field whole[] = {{4, BITS}, {1, true}}, real[] = {{2, DOUBLE}},
                               utc[] = {{2, NANOSECOND}, TL_FLAT_REFERENCE};
    if (as->is_utc)
        tl_flat_put_text(b, tl_flat_put_table(b, from, utc, TL_COUNT(utc)).field[1], "UTC");
    else if (as->store == TL_STORE_INT)
        tl_flat_put_table(b, from, whole, TL_COUNT(whole));
    else if (as->store == TL_STORE_REAL)
        tl_flat_put_table(b, from, real, TL_COUNT(real));
    else
        tl_flat_put_table(b, from, NULL, 0);
}

static void put_unit(tl_pb *b, size_t from, const char *unit)
{
    static const tl_flat_field pair[] = {TL_FLAT_REFERENCE, TL_FLAT_REFERENCE};
    const size_t first = tl_flat_put_list(b, from, 1);
    const tl_flat_table t = tl_flat_put_table(b, first, pair, TL_COUNT(pair));
    tl_flat_put_text(b, t.field[0], "traceloom.unit");
    tl_flat_put_text(b, t.field[1], unit);
}

static void put_field(tl_pb *b, size_t from, const tl_stored_as *as)
{
    enum { NAME, NULLABLE, TYPE_TYPE, TYPE, DICTIONARY, CHILDREN, METADATA, N };
    tl_flat_field field[N] = {[NAME] = TL_FLAT_REFERENCE,
                              [NULLABLE] = {1, !as->is_required},
                              [TYPE_TYPE] = {1, type_of(as)},
                              [TYPE] = TL_FLAT_REFERENCE,
                              [CHILDREN] = TL_FLAT_REFERENCE};
    if (as->unit)
        field[METADATA] = TL_FLAT_REFERENCE;
    const tl_flat_table t = tl_flat_put_table(b, from, field, N);
    tl_flat_put_text(b, t.field[NAME], as->name);
    put_type(b, t.field[TYPE], as);
    tl_flat_put_list(b, t.field[CHILDREN], 0);
    if (as->unit)
        put_unit(b, t.field[METADATA], as->unit);
}

int tl_arrow_begin(tl_arrow *w, tl_output *out, const tl_stored_as *as, uint32_t n, tl_error *e)
{
    static const tl_flat_field schema[] = {{2, LITTLE}, TL_FLAT_REFERENCE};
    *w = (tl_arrow){.out = out, .as = as, .n = n};
    const size_t header = begin_message(w, SCHEMA, 0);
    const tl_flat_table t = tl_flat_put_table(&w->message, header, schema, TL_COUNT(schema));
    const size_t first = tl_flat_put_list(&w->message, t.field[1], n);
    for (uint32_t i = 0; i < n; i++)
        put_field(&w->message, first + (size_t)i * 4, &as[i]);
    return end_message(w, e);
}

/* -- batches --------------------------------------------------------------------------------------------------------
 */

enum { VALID, OFFSETS, VALUES, BUFFERS };

static uint64_t padded(uint64_t size)
{
    return (size + 7) / 8 * 8;
}

/* Bytes of the buffers of a column. */
static void sizes_of(const tl_column_data *c, tl_store s, uint64_t size[BUFFERS])
{
    size[VALID] = c->nulls ? (c->rows + 7u) / 8 : 0;
    size[OFFSETS] = tl_column_is_text(s) ? ((uint64_t)c->rows + 1) * 4 : 0;
    size[VALUES] = tl_column_is_text(s) ? c->size : s == TL_STORE_BOOL ? (c->rows + 7u) / 8 : (uint64_t)c->rows * 8;
}

static uint64_t body_of(const tl_arrow *w, const tl_column_batch *b)
{
    uint64_t all = 0, size[BUFFERS];
    for (uint32_t i = 0; i < w->n; i++) {
        sizes_of(&b->column[i], w->as[i].store, size);
        all += padded(size[VALID]) + padded(size[OFFSETS]) + padded(size[VALUES]);
    }
    return all;
}

static void describe_buffers(tl_arrow *w, const tl_column_batch *b, size_t from)
{
    uint64_t at = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++)
        n += tl_column_is_text(w->as[i].store) ? BUFFERS : BUFFERS - 1;
    tl_flat_put_pairs(&w->message, from, n);
    for (uint32_t i = 0; i < w->n; i++) {
        const tl_store s = w->as[i].store;
        uint64_t size[BUFFERS];
        sizes_of(&b->column[i], s, size);
        for (unsigned k = 0; k < BUFFERS; k++) {
            if (k == OFFSETS && !tl_column_is_text(s))
                continue;
            tl_flat_put_u64(&w->message, at);
            tl_flat_put_u64(&w->message, size[k]);
            at += padded(size[k]);
        }
    }
}

/* The zeros behind n bytes. */
static void pad(tl_arrow *w, uint64_t n)
{
    static const uint8_t zeros[8];
    tl_output_write(w->out, zeros, (size_t)(padded(n) - n));
}

static void write_padded(tl_arrow *w, const void *data, uint64_t n)
{
    if (n > 0)
        tl_output_write(w->out, data, (size_t)n);
    pad(w, n);
}

/* Numbers of `width` bytes, little-endian. */
static void write_numbers(tl_arrow *w, const void *data, uint64_t n, size_t width)
{
    enum { PIECE = 512 };
    const uint8_t *from = data;
    if (!TL_HOST_BIG) {
        write_padded(w, data, n);
        return;
    }
    for (uint64_t done = 0; done < n;) {
        uint8_t bytes[PIECE];
        size_t k = 0;
        for (; k < PIECE && done < n; k += width, done += width)
            for (size_t i = 0; i < width; i++)
                bytes[k + i] = from[done + width - 1 - i];
        tl_output_write(w->out, bytes, k);
    }
    pad(w, n);
}

static void write_bits(tl_arrow *w, const tl_column_data *c)
{
    tl_pb_clear(&w->scratch);
    for (uint32_t i = 0; i < c->rows; i += 8) {
        uint8_t byte = 0;
        for (uint32_t k = i; k < c->rows && k < i + 8; k++)
            byte = (uint8_t)(byte | (c->word[k] != 0) << (k - i));
        tl_pb_raw(&w->scratch, &byte, 1);
    }
    if (!w->scratch.failed)
        write_padded(w, w->scratch.data, w->scratch.n);
}

int tl_arrow_write(tl_arrow *w, const tl_column_batch *b, tl_error *e)
{
    const tl_flat_field field[] = {{8, b->rows}, TL_FLAT_REFERENCE, TL_FLAT_REFERENCE};
    const size_t header = begin_message(w, RECORD_BATCH, body_of(w, b));
    const tl_flat_table t = tl_flat_put_table(&w->message, header, field, TL_COUNT(field));
    tl_flat_put_pairs(&w->message, t.field[1], w->n);
    for (uint32_t i = 0; i < w->n; i++) {
        tl_flat_put_u64(&w->message, b->column[i].rows);
        tl_flat_put_u64(&w->message, b->column[i].nulls);
    }
    describe_buffers(w, b, t.field[2]);
    const int status = end_message(w, e);
    for (uint32_t i = 0; status == 0 && i < w->n; i++) {
        const tl_column_data *c = &b->column[i];
        uint64_t size[BUFFERS];
        sizes_of(c, w->as[i].store, size);
        write_padded(w, c->valid, size[VALID]);
        if (tl_column_is_text(w->as[i].store)) {
            write_numbers(w, c->offset, size[OFFSETS], sizeof *c->offset);
            write_padded(w, c->bytes, size[VALUES]);
        } else if (w->as[i].store == TL_STORE_BOOL) {
            write_bits(w, c);
        } else {
            write_numbers(w, c->word, size[VALUES], sizeof *c->word);
        }
    }
    return w->scratch.failed ? no_memory(e) : status;
}

void tl_arrow_end(tl_arrow *w)
{
    uint8_t end[8] = {0};
    tl_store32(end, UINT32_MAX, false);
    tl_output_write(w->out, end, sizeof end);
}

void tl_arrow_fini(tl_arrow *w)
{
    tl_pb_fini(&w->message);
    tl_pb_fini(&w->scratch);
}

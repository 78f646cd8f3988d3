/* A file of Parquet: "PAR1", row groups, a description of all (thrift), its size as u32, "PAR1". */
#include "base/columnar/parquet_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/columnar/parquet_chunk.h"
#include "base/columnar/thrift_write.h"
#include "base/endian.h"
#include "traceloom/format.h"

enum { VERSION = 2, UNCOMPRESSED = 0, ZSTD = 6, REQUIRED = 0, OPTIONAL = 1, UTF8 = 0, JSON = 19 };

static const char magic[4] = {'P', 'A', 'R', '1'};

struct tl_parquet {
    tl_output *out;
    const tl_stored_as *as; /* [n] */
    uint32_t n;
    tl_parquet_chunk *chunk; /* [n] of the row group that is collected */
    uint64_t begin;          /* of the file in the output */
    uint64_t rows, size;     /* of the row group */
    uint64_t all_rows;
    uint32_t groups;
    tl_pb described; /* the row groups that are written */
    tl_parquet_room room;
    const char *key[TL_PARQUET_NOTES], *value[TL_PARQUET_NOTES];
    uint32_t notes;
};

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for Parquet");
}

int tl_parquet_open(tl_parquet **out, tl_output *to, const tl_stored_as *as, uint32_t n, unsigned level, tl_error *e)
{
    tl_parquet *w = calloc(1, sizeof *w);
    if (!w)
        return no_memory(e);
    *w = (tl_parquet){.out = to, .as = as, .n = n, .begin = tl_output_bytes(to)};
    w->chunk = calloc((size_t)n + 1, sizeof *w->chunk);
    const int status = w->chunk ? tl_parquet_room_init(&w->room, level, e) : no_memory(e);
    if (status < 0) {
        tl_parquet_close(w);
        return status;
    }
    for (uint32_t i = 0; i < n; i++) {
        w->chunk[i].store = as[i].store;
        w->chunk[i].is_required = as[i].is_required;
    }
    tl_output_write(to, magic, sizeof magic);
    *out = w;
    return 0;
}

void tl_parquet_close(tl_parquet *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; w->chunk && i < w->n; i++)
        tl_parquet_chunk_fini(&w->chunk[i]);
    free(w->chunk);
    tl_parquet_room_fini(&w->room);
    tl_pb_fini(&w->described);
    free(w);
}

void tl_parquet_note(tl_parquet *w, const char *key, const char *value)
{
    w->key[w->notes] = key;
    w->value[w->notes++] = value;
}

static uint64_t written(const tl_parquet *w)
{
    return tl_output_bytes(w->out) - w->begin;
}

static int32_t type_of(tl_store s)
{
    static const int32_t type[] = {[TL_STORE_INT] = TL_PARQUET_INT64,
                                   [TL_STORE_REAL] = TL_PARQUET_DOUBLE,
                                   [TL_STORE_BOOL] = TL_PARQUET_BOOLEAN,
                                   [TL_STORE_TEXT] = TL_PARQUET_BYTE_ARRAY,
                                   [TL_STORE_BLOB] = TL_PARQUET_BYTE_ARRAY};
    return type[s];
}

/* -- row groups -----------------------------------------------------------------------------------------------------
 */

static void describe_bounds(tl_thrift *t, const tl_parquet_chunk *c)
{
    const tl_parquet_bounds *b = &c->bounds;
    tl_thrift_begin(t, 12);
    tl_thrift_i64(t, 3, (int64_t)c->nulls);
    if (b->is_there && !b->is_absent) {
        tl_thrift_binary(t, 5, b->high, b->n_high);
        tl_thrift_binary(t, 6, b->low, b->n);
    }
    tl_thrift_end(t);
}

static void describe_chunk(tl_thrift *t, const tl_stored_as *as, const tl_parquet_chunk *c, uint64_t begin,
                           uint64_t pages, uint64_t end)
{
    uint32_t encodings = c->used | 1u << TL_PARQUET_RLE;
    tl_thrift_item(t);
    tl_thrift_i64(t, 2, (int64_t)begin);
    tl_thrift_begin(t, 3);
    tl_thrift_i32(t, 1, type_of(as->store));
    tl_thrift_list(t, 2, TL_THRIFT_I32, (uint32_t)__builtin_popcount(encodings));
    for (int32_t i = 0; encodings; i++, encodings >>= 1)
        if (encodings & 1)
            tl_thrift_item_i32(t, i);
    tl_thrift_list(t, 3, TL_THRIFT_BINARY, 1);
    tl_thrift_item_text(t, as->name);
    tl_thrift_i32(t, 4, tl_page_packer_is_there() ? ZSTD : UNCOMPRESSED);
    tl_thrift_i64(t, 5, (int64_t)c->values);
    tl_thrift_i64(t, 6, (int64_t)c->plain_size);
    tl_thrift_i64(t, 7, (int64_t)(end - begin));
    tl_thrift_i64(t, 9, (int64_t)pages);
    if (c->has_dictionary)
        tl_thrift_i64(t, 11, (int64_t)begin);
    describe_bounds(t, c);
    tl_thrift_end(t);
    tl_thrift_end(t);
}

static int write_chunk(tl_parquet *w, uint32_t i, tl_thrift *t, uint64_t *plain, tl_error *e)
{
    tl_parquet_chunk *c = &w->chunk[i];
    const uint64_t begin = written(w);
    if (c->has_dictionary) {
        const int status = tl_parquet_chunk_dictionary(c, &w->room, e);
        if (status < 0)
            return status;
        tl_output_write(w->out, w->room.header.data, w->room.header.n);
        tl_output_write(w->out, w->room.packed.data, w->room.packed.n);
    }
    const uint64_t pages = written(w);
    tl_output_write(w->out, c->pages.data, c->pages.n);
    describe_chunk(t, &w->as[i], c, begin, pages, written(w));
    *plain += c->plain_size;
    tl_parquet_chunk_clear(c);
    return 0;
}

static bool is_time(const tl_stored_as *as)
{
    return as->unit && (strcmp(as->unit, "ns") == 0 || strcmp(as->unit, "ticks") == 0);
}

/* The column by which the rows of the group are sorted: of times, if there is one. n: none. */
static uint32_t find_order(const tl_parquet *w)
{
    uint32_t found = w->n;
    for (uint32_t i = 0; i < w->n; i++)
        if (tl_parquet_chunk_is_sorted(&w->chunk[i]) &&
            (found == w->n || (is_time(&w->as[i]) && !is_time(&w->as[found]))))
            found = i;
    return found;
}

static void describe_order(tl_thrift *t, uint32_t column)
{
    tl_thrift_list(t, 4, TL_THRIFT_STRUCT, 1);
    tl_thrift_item(t);
    tl_thrift_i32(t, 1, (int32_t)column);
    tl_thrift_bool(t, 2, false); /* descending */
    tl_thrift_bool(t, 3, false); /* nulls first: there are none */
    tl_thrift_end(t);
}

static int end_group(tl_parquet *w, tl_error *e)
{
    const uint64_t begin = written(w);
    const uint32_t order = find_order(w);
    uint64_t plain = 0;
    tl_thrift t = {.out = &w->described};
    if (w->rows == 0)
        return 0;
    tl_thrift_list(&t, 1, TL_THRIFT_STRUCT, w->n);
    for (uint32_t i = 0; i < w->n; i++) {
        const int status = write_chunk(w, i, &t, &plain, e);
        if (status < 0)
            return status;
    }
    tl_thrift_i64(&t, 2, (int64_t)plain);
    tl_thrift_i64(&t, 3, (int64_t)w->rows);
    if (order < w->n)
        describe_order(&t, order);
    tl_thrift_i64(&t, 5, (int64_t)begin);
    tl_thrift_i64(&t, 6, (int64_t)(written(w) - begin));
    tl_thrift_stop(&t);
    w->all_rows += w->rows;
    w->groups++;
    w->rows = w->size = 0;
    return w->described.failed ? no_memory(e) : 0;
}

int tl_parquet_write(tl_parquet *w, const tl_column_batch *b, tl_error *e)
{
    uint32_t values = 0;
    for (uint32_t i = 0; i < w->n; i++)
        values += w->chunk[i].dictionary.n;
    for (uint32_t i = 0; i < w->n && b->rows > 0; i++) {
        const uint32_t own = w->chunk[i].dictionary.n;
        const int status = tl_parquet_chunk_add(&w->chunk[i], &w->room, &b->column[i],
                                                own + (values < TL_PARQUET_VALUES ? TL_PARQUET_VALUES - values : 0), e);
        if (status < 0)
            return status;
        values += w->chunk[i].dictionary.n - own;
    }
    w->rows += b->rows;
    w->size += b->size;
    return w->rows >= TL_PARQUET_ROWS || w->size >= TL_PARQUET_BYTES ? end_group(w, e) : 0;
}

/* -- the description ------------------------------------------------------------------------------------------------
 */

static void describe_logical(tl_thrift *t, const tl_stored_as *as)
{
    enum { STRING = 1, TIMESTAMP = 8, JSON_TYPE = 12, NANOS = 3 };
    if (as->store == TL_STORE_TEXT) {
        tl_thrift_i32(t, 6, as->is_json ? JSON : UTF8);
        tl_thrift_begin(t, 10);
        tl_thrift_begin(t, as->is_json ? JSON_TYPE : STRING);
        tl_thrift_end(t);
        tl_thrift_end(t);
    } else if (as->is_utc) {
        tl_thrift_begin(t, 10);
        tl_thrift_begin(t, TIMESTAMP);
        tl_thrift_bool(t, 1, true); /* adjusted to UTC */
        tl_thrift_begin(t, 2);
        tl_thrift_begin(t, NANOS);
        tl_thrift_end(t);
        tl_thrift_end(t);
        tl_thrift_end(t);
        tl_thrift_end(t);
    }
}

static void describe_columns(tl_thrift *t, const tl_parquet *w)
{
    tl_thrift_list(t, 2, TL_THRIFT_STRUCT, w->n + 1);
    tl_thrift_item(t);
    tl_thrift_text(t, 4, "schema");
    tl_thrift_i32(t, 5, (int32_t)w->n);
    tl_thrift_end(t);
    for (uint32_t i = 0; i < w->n; i++) {
        tl_thrift_item(t);
        tl_thrift_i32(t, 1, type_of(w->as[i].store));
        tl_thrift_i32(t, 3, w->as[i].is_required ? REQUIRED : OPTIONAL);
        tl_thrift_text(t, 4, w->as[i].name);
        describe_logical(t, &w->as[i]);
        tl_thrift_end(t);
    }
}

static void describe_note(tl_thrift *t, const char *key, const char *more, const char *value)
{
    tl_pb whole = {0};
    tl_thrift_item(t);
    tl_pb_text(&whole, key);
    tl_pb_text(&whole, more);
    tl_thrift_binary(t, 1, whole.data, whole.n);
    t->out->failed = t->out->failed || whole.failed;
    tl_thrift_text(t, 2, value);
    tl_thrift_end(t);
    tl_pb_fini(&whole);
}

static void describe_notes(tl_thrift *t, const tl_parquet *w)
{
    uint32_t n = w->notes;
    for (uint32_t i = 0; i < w->n; i++)
        n += w->as[i].unit != NULL;
    if (n == 0)
        return;
    tl_thrift_list(t, 5, TL_THRIFT_STRUCT, n);
    for (uint32_t i = 0; i < w->notes; i++)
        describe_note(t, w->key[i], "", w->value[i]);
    for (uint32_t i = 0; i < w->n; i++)
        if (w->as[i].unit)
            describe_note(t, "traceloom.unit.", w->as[i].name, w->as[i].unit);
}

/* In the form by which readers know of faults of a version. */
static void describe_maker(tl_thrift *t)
{
    tl_pb text = {0};
    tl_pb_text(&text, "traceloom version ");
    tl_pb_text(&text, tl_version());
    t->out->failed = t->out->failed || text.failed;
    tl_thrift_binary(t, 6, text.data, text.n);
    tl_pb_fini(&text);
}

int tl_parquet_finish(tl_parquet *w, tl_error *e)
{
    const int status = end_group(w, e);
    tl_pb all = {0};
    tl_thrift t = {.out = &all};
    uint8_t size[4];
    if (status < 0)
        return status;
    tl_thrift_i32(&t, 1, VERSION);
    describe_columns(&t, w);
    tl_thrift_i64(&t, 3, (int64_t)w->all_rows);
    tl_thrift_list(&t, 4, TL_THRIFT_STRUCT, w->groups);
    tl_pb_raw(&all, w->described.data, w->described.n);
    describe_notes(&t, w);
    describe_maker(&t);
    tl_thrift_list(&t, 7, TL_THRIFT_STRUCT, w->n);
    for (uint32_t i = 0; i < w->n; i++) { /* bounds are in the order of the type */
        tl_thrift_item(&t);
        tl_thrift_begin(&t, 1);
        tl_thrift_end(&t);
        tl_thrift_end(&t);
    }
    tl_thrift_stop(&t);
    const bool failed = all.failed, is_long = all.n > INT32_MAX;
    if (!failed && !is_long) {
        tl_output_write(w->out, all.data, all.n);
        tl_store32(size, (uint32_t)all.n, false);
        tl_output_write(w->out, size, sizeof size);
        tl_output_write(w->out, magic, sizeof magic);
    }
    tl_pb_fini(&all);
    if (is_long)
        return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "the description of the row groups has more than 2 GiB");
    return failed ? no_memory(e) : 0;
}

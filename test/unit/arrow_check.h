/* Reads structs of Arrow as any consumer would, and compares them with the values of SQL. */
#ifndef TL_TEST_ARROW_CHECK_H
#define TL_TEST_ARROW_CHECK_H

#include <traceloom/query.h>

#include "check.h"

static inline bool arrow_bit(const void *bits, int64_t i)
{
    return ((const uint8_t *)bits)[i / 8] >> i % 8 & 1;
}

/* The value of a row of a column whose type the schema says: text borrows from the array. */
static inline tl_sql_value arrow_value(const struct ArrowSchema *schema, const struct ArrowArray *a, int64_t row)
{
    tl_sql_value v = {.kind = TL_VALUE_NULL};
    const bool is_text = schema->format[0] == 'u' || schema->format[0] == 'z';
    assert_int_equal(a->n_buffers, is_text ? 3 : 2);
    assert_int_equal(a->offset, 0);
    assert_int_equal(a->n_children, 0);
    if (a->buffers[0] && !arrow_bit(a->buffers[0], row))
        return v;
    if (is_text) {
        const int32_t *offset = a->buffers[1];
        v.kind = schema->format[0] == 'u' ? TL_VALUE_TEXT : TL_VALUE_BLOB;
        v.text = (const char *)a->buffers[2] + offset[row];
        v.size = (size_t)(offset[row + 1] - offset[row]);
    } else if (schema->format[0] == 'g') {
        v.kind = TL_VALUE_REAL;
        v.real = ((const double *)a->buffers[1])[row];
    } else {
        assert_true(strchr("lbt", schema->format[0]) != NULL);
        v.kind = TL_VALUE_INTEGER;
        v.i64 = schema->format[0] == 'b' ? arrow_bit(a->buffers[1], row) : ((const int64_t *)a->buffers[1])[row];
    }
    return v;
}

static inline void same_value(const tl_sql_value *a, const tl_sql_value *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_true(a->i64 == b->i64);
    assert_memory_equal(&a->real, &b->real, sizeof a->real);
    assert_int_equal(a->size, b->size);
    assert_true(a->size == 0 || memcmp(a->text, b->text, a->size) == 0);
}

/* The rows of a batch are the next ones of a statement. */
static inline void same_rows(const struct ArrowSchema *schema, const struct ArrowArray *batch, tl_statement *s)
{
    tl_error e = {0};
    assert_int_equal(batch->n_children, schema->n_children);
    assert_int_equal(batch->null_count, 0);
    for (int64_t row = 0; row < batch->length; row++) {
        assert_int_equal(tl_statement_step(s, &e), 1);
        for (int64_t i = 0; i < schema->n_children; i++) {
            const tl_sql_value v = arrow_value(schema->children[i], batch->children[i], row);
            assert_int_equal(batch->children[i]->length, batch->length);
            same_value(&v, tl_statement_value(s, (uint32_t)i));
        }
    }
}

/* All rows of a stream, which is released, are those of a statement, which is closed; how many. */
static inline int64_t same_stream(struct ArrowArrayStream *stream, tl_statement *s)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    tl_error e = {0};
    int64_t rows = 0;
    assert_int_equal(stream->get_schema(stream, &schema), 0);
    assert_string_equal(schema.format, "+s");
    assert_int_equal(schema.n_children, tl_statement_columns(s));
    for (int64_t i = 0; i < schema.n_children; i++)
        assert_string_equal(schema.children[i]->name, tl_statement_column(s, (uint32_t)i)->name);
    for (;;) {
        assert_int_equal(stream->get_next(stream, &batch), 0);
        if (!batch.release)
            break;
        same_rows(&schema, &batch, s);
        rows += batch.length;
        batch.release(&batch);
        assert_null(batch.release);
    }
    assert_int_equal(tl_statement_step(s, &e), 0);
    assert_int_equal(stream->get_next(stream, &batch), 0); /* the end stays the end */
    assert_null(batch.release);
    stream->release(stream);
    assert_null(stream->release);
    schema.release(&schema);
    assert_null(schema.release);
    tl_statement_close(s);
    return rows;
}

#endif

/* Blocks of ClickHouse's format Native. */
#include "base/columnar/native_block.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "base/grow.h"

static const struct {
    const char *name;
    bool nullable;
} types[] = {[TL_NATIVE_UINT32] = {"UInt32", false},
             [TL_NATIVE_UINT64] = {"UInt64", false},
             [TL_NATIVE_INT64] = {"Int64", false},
             [TL_NATIVE_TEXT] = {"String", false},
             [TL_NATIVE_MAYBE_INT64] = {"Nullable(Int64)", true},
             [TL_NATIVE_MAYBE_FLOAT64] = {"Nullable(Float64)", true},
             [TL_NATIVE_MAYBE_TEXT] = {"Nullable(String)", true}};

const char *tl_native_type_name(tl_native_type type)
{
    return types[type].name;
}

static void put_name(tl_pb *b, const char *name)
{
    tl_pb_varint(b, strlen(name));
    tl_pb_text(b, name);
}

bool tl_native_add(tl_native_block *b, const char *name, tl_native_type type)
{
    if (b->n == b->room) {
        if (!TL_RESIZE(b->column, (size_t)b->n + 1))
            return false;
        b->column[b->room++] = (tl_native_column){0};
    }
    tl_native_column *c = &b->column[b->n++];
    c->name = name;
    c->type = type;
    put_name(&c->head, name);
    put_name(&c->head, types[type].name);
    return !c->head.failed;
}

void tl_native_fini(tl_native_block *b)
{
    for (uint32_t i = 0; i < b->room; i++) {
        tl_pb_fini(&b->column[i].head);
        tl_pb_fini(&b->column[i].null);
        tl_pb_fini(&b->column[i].data);
    }
    tl_pb_fini(&b->head);
    free(b->column);
    *b = (tl_native_block){0};
}

void tl_native_restart(tl_native_block *b, size_t most)
{
    size_t kept = 0;
    for (uint32_t i = 0; i < b->room; i++)
        kept += b->column[i].null.capacity + b->column[i].data.capacity;
    if (kept > most)
        tl_native_fini(b);
    tl_pb_clear(&b->head);
    for (uint32_t i = 0; i < b->room; i++) {
        tl_pb_clear(&b->column[i].head);
        tl_pb_clear(&b->column[i].null);
        tl_pb_clear(&b->column[i].data);
    }
    b->n = 0;
}

static void put_nulls(tl_native_column *c, const uint8_t *is_null, uint32_t n)
{
    if (types[c->type].nullable)
        tl_pb_raw(&c->null, is_null, n);
}

void tl_native_put_int(tl_native_block *b, uint32_t column, const int64_t *v, const uint8_t *is_null, uint32_t n)
{
    tl_native_column *c = &b->column[column];
    put_nulls(c, is_null, n);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    tl_pb_raw(&c->data, v, n * sizeof *v);
#else
    uint8_t *to = tl_pb_space(&c->data, n * sizeof *v);
    for (uint32_t i = 0; to && i < n; i++)
        tl_store64(to + i * sizeof *v, (uint64_t)v[i], false);
#endif
}

void tl_native_put_real(tl_native_block *b, uint32_t column, const double *v, const uint8_t *is_null, uint32_t n)
{
    tl_native_column *c = &b->column[column];
    put_nulls(c, is_null, n);
    uint8_t *to = tl_pb_space(&c->data, n * sizeof *v);
    for (uint32_t i = 0; to && i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        tl_store64(to + i * sizeof *v, bits, false);
    }
}

void tl_native_put_text(tl_native_block *b, uint32_t column, const char *const *v, const uint32_t *length,
                        const uint8_t *is_null, uint32_t n)
{
    tl_native_column *c = &b->column[column];
    put_nulls(c, is_null, n);
    for (uint32_t i = 0; i < n; i++) {
        tl_pb_varint(&c->data, length[i]);
        tl_pb_raw(&c->data, v[i], length[i]);
    }
}

/* Numbers from v on, `step` more for each row. */
static void put_steps(tl_native_column *c, uint64_t v, uint64_t step, uint32_t n)
{
    const size_t size = c->type == TL_NATIVE_UINT32 ? 4 : 8;
    uint8_t *to = tl_pb_space(&c->data, n * size);
    for (uint32_t i = 0; to && i < n; i++, v += step, to += size)
        if (size == 4)
            tl_store32(to, (uint32_t)v, false);
        else
            tl_store64(to, v, false);
}

void tl_native_put_same(tl_native_block *b, uint32_t column, uint64_t v, uint32_t n)
{
    put_steps(&b->column[column], v, 0, n);
}

void tl_native_put_count(tl_native_block *b, uint32_t column, uint64_t first, uint32_t n)
{
    put_steps(&b->column[column], first, 1, n);
}

size_t tl_native_text_size(size_t n)
{
    size_t length = 1;
    for (size_t left = n; left > 127; left >>= 7)
        length++;
    return n + length;
}

int tl_native_end(tl_native_block *b, uint32_t rows, tl_error *e)
{
    tl_pb_varint(&b->head, b->n);
    tl_pb_varint(&b->head, rows);
    bool failed = b->head.failed;
    for (uint32_t i = 0; i < b->n; i++)
        failed = failed || b->column[i].null.failed || b->column[i].data.failed;
    return failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a block of rows") : 0;
}

/* The pieces of a block, in their order: its head, then three of each column. */
static const tl_pb *piece(const tl_native_block *b, uint32_t i)
{
    if (i == 0)
        return &b->head;
    const tl_native_column *c = &b->column[(i - 1) / 3];
    return (i - 1) % 3 == 0 ? &c->head : (i - 1) % 3 == 1 ? &c->null : &c->data;
}

uint64_t tl_native_size(const tl_native_block *b)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i <= 3 * b->n; i++)
        n += piece(b, i)->n;
    return n;
}

size_t tl_native_read(const tl_native_block *b, uint64_t at, void *to, size_t n)
{
    size_t done = 0;
    for (uint32_t i = 0; i <= 3 * b->n && done < n; i++) {
        const tl_pb *p = piece(b, i);
        if (at >= p->n) {
            at -= p->n;
            continue;
        }
        const size_t left = p->n - (size_t)at, part = left < n - done ? left : n - done;
        memcpy((uint8_t *)to + done, p->data + (size_t)at, part);
        done += part;
        at = 0;
    }
    return done;
}

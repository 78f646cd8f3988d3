/* Results as columns. */
#include "query/result_columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/float_text.h"
#include "base/text/number.h"
#include "model/stored_column.h"

enum { FIRST_ROWS = 10000, FIRST_CELLS = 1 << 18, FIRST_BYTES = 16 << 20 };

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for columns");
}

/* -- types ----------------------------------------------------------------------------------------------------------
 */

/* A store by the values that were seen (bits 1 << tl_value_kind) and, where that is open, by the declaration. */
static tl_store choose(const tl_column_info *info, unsigned seen)
{
    const unsigned real = 1u << TL_VALUE_REAL, text = 1u << TL_VALUE_TEXT, blob = 1u << TL_VALUE_BLOB;
    seen &= ~(1u << TL_VALUE_NULL);
    if (seen & blob)
        return TL_STORE_BLOB;
    if (seen & text)
        return TL_STORE_TEXT;
    if (seen & real)
        return TL_STORE_REAL;
    return seen && info->type == TL_TEXT ? TL_STORE_INT : tl_store_of(info);
}

static int describe(tl_result_columns *c, bool is_compound, tl_error *e)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const tl_column_info *info = c->from->column(c->from, i);
        unsigned seen = 0;
        for (uint32_t row = 0; row < c->nheld; row++)
            seen |= 1u << c->held[(size_t)row * c->n + i].kind;
        if (!tl_stored_describe(&c->arena, c->as, i, info, choose(info, seen), c->from->is_ns, is_compound))
            return no_memory(e);
    }
    return tl_column_batch_init(&c->batch, c->as, c->n, e);
}

/* -- the first rows -------------------------------------------------------------------------------------------------
 */

static bool hold(tl_result_columns *c, size_t *room)
{
    if (!TL_GROW(c->held, (size_t)c->nheld * c->n, c->n, *room))
        return false;
    for (uint32_t i = 0; i < c->n; i++) {
        tl_sql_value v = *c->from->value(c->from, i);
        if (v.kind >= TL_VALUE_TEXT && !(v.text = tl_arena_strndup(&c->arena, v.text, v.size)))
            return false;
        c->held[(size_t)c->nheld * c->n + i] = v;
    }
    c->nheld++;
    return true;
}

int tl_result_columns_init(tl_result_columns *c, tl_result *from, bool is_compound, tl_error *e)
{
    size_t room = 0;
    *c = (tl_result_columns){.from = from, .n = from->columns, .after = 1};
    c->as = calloc((size_t)c->n + 1, sizeof *c->as);
    if (!c->as)
        return no_memory(e);
    while (c->nheld < FIRST_ROWS && (uint64_t)c->nheld * c->n < FIRST_CELLS && c->arena.total < FIRST_BYTES &&
           (c->after = from->next(from, e)) > 0)
        if (!hold(c, &room))
            return no_memory(e);
    return c->after < 0 ? c->after : describe(c, is_compound, e);
}

void tl_result_columns_fini(tl_result_columns *c)
{
    tl_column_batch_fini(&c->batch);
    tl_arena_fini(&c->arena);
    free(c->held);
    free(c->as);
    *c = (tl_result_columns){0};
}

/* -- values ---------------------------------------------------------------------------------------------------------
 */

static int does_not_fit(const tl_result_columns *c, uint32_t i, const tl_sql_value *v, tl_error *e)
{
    static const char *const values[] = {[TL_VALUE_INTEGER] = "a whole number",
                                         [TL_VALUE_REAL] = "a real number",
                                         [TL_VALUE_TEXT] = "text",
                                         [TL_VALUE_BLOB] = "bytes"};
    static const char *const stores[] = {[TL_STORE_INT] = "whole numbers",
                                         [TL_STORE_REAL] = "real numbers",
                                         [TL_STORE_BOOL] = "truth values",
                                         [TL_STORE_TEXT] = "text",
                                         [TL_STORE_BLOB] = "bytes"};
    return tl_fail(e, TL_EINVAL, TL_NO_OFFSET,
                   "row %" PRIu64 " has %s in column %s, and those before have %s: CAST(... AS TEXT) makes them alike",
                   c->rows + 1, values[v->kind], c->as[i].name, stores[c->as[i].store]);
}

/* A number among text, as in CSV. */
static void put_number_text(tl_result_columns *c, uint32_t i, const tl_sql_value *v)
{
    char text[TL_FLOAT_TEXT_MAX];
    const char *end = v->kind == TL_VALUE_INTEGER ? tl_put_i64(text, v->i64) : tl_put_real(text, v->real, false);
    tl_column_put_bytes(&c->batch, i, text, (size_t)(end - text));
}

static void put_real(tl_result_columns *c, uint32_t i, double v)
{
    uint64_t word;
    memcpy(&word, &v, sizeof word);
    tl_column_put_word(&c->batch, i, word);
}

static bool put_value(tl_result_columns *c, uint32_t i, const tl_sql_value *v)
{
    const int64_t exact = INT64_C(1) << 53;
    if (v->kind == TL_VALUE_NULL) {
        tl_column_put_null(&c->batch, i);
        return true;
    }
    switch (c->as[i].store) {
    case TL_STORE_INT:
    case TL_STORE_BOOL:
        if (v->kind != TL_VALUE_INTEGER)
            return false;
        tl_column_put_int(&c->batch, i, c->as[i].store == TL_STORE_BOOL ? v->i64 != 0 : v->i64);
        return true;
    case TL_STORE_REAL:
        if (v->kind == TL_VALUE_INTEGER && v->i64 >= -exact && v->i64 <= exact)
            put_real(c, i, (double)v->i64);
        else if (v->kind == TL_VALUE_REAL)
            put_real(c, i, v->real);
        else
            return false;
        return true;
    case TL_STORE_TEXT:
        if (v->kind == TL_VALUE_BLOB)
            return false;
        if (v->kind == TL_VALUE_TEXT)
            tl_column_put_text(&c->batch, i, v->text, v->size);
        else
            put_number_text(c, i, v);
        return true;
    case TL_STORE_BLOB:
        if (v->kind >= TL_VALUE_TEXT)
            tl_column_put_bytes(&c->batch, i, v->text, v->size);
        else
            put_number_text(c, i, v);
        return true;
    }
    return false;
}

static int put_row(tl_result_columns *c, const tl_sql_value *held, tl_error *e)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const tl_sql_value *v = held ? &held[i] : c->from->value(c->from, i);
        if (!put_value(c, i, v))
            return does_not_fit(c, i, v, e);
    }
    c->rows++;
    return tl_column_row_done(&c->batch, e);
}

int tl_result_columns_next(tl_result_columns *c, tl_error *e)
{
    int status = 0;
    tl_column_batch_clear(&c->batch);
    for (; status >= 0 && c->given < c->nheld && !tl_column_batch_is_full(&c->batch); c->given++)
        status = put_row(c, c->held + (size_t)c->given * c->n, e);
    if (c->held && c->given == c->nheld) {
        free(c->held);
        c->held = NULL;
    }
    while (status >= 0 && c->after > 0 && !tl_column_batch_is_full(&c->batch)) {
        c->after = c->from->next(c->from, e);
        status = c->after > 0 ? put_row(c, NULL, e) : c->after;
    }
    return status < 0 ? status : c->batch.rows > 0;
}

/* Values of vectors as those of SQL here: whole numbers of 64 bits, real ones, text, bytes. */
#ifdef TL_HAVE_SQLITE

#include <string.h>

#include "query/duckdb/duckdb_impl.h"

bool tl_duckdb_column_of(const tl_duckdb_api *api, duck_vector *v, tl_duckdb_column *out)
{
    duck_type *t = api->vector_get_column_type(v);
    *out = (tl_duckdb_column){.type = api->get_type_id(t), .scale = 1};
    if (out->type == DUCK_DECIMAL) {
        out->of = api->decimal_internal_type(t);
        for (unsigned n = api->decimal_scale(t); n > 0; n--)
            out->scale *= 10;
    }
    api->destroy_logical_type(&t);
    out->data = api->vector_get_data(v);
    out->validity = api->vector_get_validity(v);
    return (out->type >= DUCK_BOOLEAN && out->type <= DUCK_DOUBLE) || out->type == DUCK_HUGEINT ||
           out->type == DUCK_UHUGEINT || out->type == DUCK_VARCHAR || out->type == DUCK_BLOB ||
           out->type == DUCK_DECIMAL || out->type == DUCK_NULL;
}

/* Its digits, at the end of `room`. */
static const char *digits_of(uint64_t low, uint64_t high, bool negative, char room[static TL_DUCKDB_DIGITS], size_t *n)
{
    uint32_t part[4] = {(uint32_t)(high >> 32), (uint32_t)high, (uint32_t)(low >> 32), (uint32_t)low};
    char *p = room + TL_DUCKDB_DIGITS;
    do {
        uint64_t rest = 0;
        for (unsigned i = 0; i < 4; i++) {
            rest = rest << 32 | part[i];
            part[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        *--p = (char)('0' + rest);
    } while (part[0] | part[1] | part[2] | part[3]);
    if (negative)
        *--p = '-';
    *n = (size_t)(room + TL_DUCKDB_DIGITS - p);
    return p;
}

static void give_int(tl_sql_value *out, int64_t v)
{
    out->kind = TL_VALUE_INTEGER;
    out->i64 = v;
}

static void give_real(tl_sql_value *out, double v)
{
    out->kind = v == v ? TL_VALUE_REAL : TL_VALUE_NULL; /* as SQLite: no NaN */
    out->real = v;
}

/* A number of 128 bits, or beyond INT64_MAX. */
static void give_huge(tl_sql_value *out, uint64_t low, uint64_t high, bool is_signed,
                      char room[static TL_DUCKDB_DIGITS])
{
    const bool negative = is_signed && high >> 63;
    if ((high == 0 && low <= INT64_MAX) || (negative && high == UINT64_MAX && low > INT64_MAX)) {
        give_int(out, (int64_t)low);
        return;
    }
    if (negative) {
        high = ~high + (low == 0);
        low = -low;
    }
    out->kind = TL_VALUE_TEXT;
    out->text = digits_of(low, high, negative, room, &out->size);
}

static int64_t whole(const void *data, int type, uint64_t row)
{
    switch (type) {
    case DUCK_BOOLEAN:
        return ((const uint8_t *)data)[row] != 0;
    case DUCK_TINYINT:
        return ((const int8_t *)data)[row];
    case DUCK_SMALLINT:
        return ((const int16_t *)data)[row];
    case DUCK_INTEGER:
        return ((const int32_t *)data)[row];
    case DUCK_UTINYINT:
        return ((const uint8_t *)data)[row];
    case DUCK_USMALLINT:
        return ((const uint16_t *)data)[row];
    case DUCK_UINTEGER:
        return ((const uint32_t *)data)[row];
    default:
        return ((const int64_t *)data)[row];
    }
}

void tl_duckdb_value(const tl_duckdb_column *c, uint64_t row, char room[static TL_DUCKDB_DIGITS], tl_sql_value *out)
{
    *out = (tl_sql_value){.kind = TL_VALUE_NULL};
    if ((c->validity && !(c->validity[row / 64] >> row % 64 & 1)) || c->type == DUCK_NULL)
        return;
    if (c->type == DUCK_VARCHAR || c->type == DUCK_BLOB) {
        const duck_string *s = (const duck_string *)c->data + row;
        out->kind = c->type == DUCK_BLOB ? TL_VALUE_BLOB : TL_VALUE_TEXT;
        out->size = s->n;
        out->text = s->n <= DUCK_STRING_IN_PLACE ? s->prefix : s->p;
    } else if (c->type == DUCK_FLOAT) {
        give_real(out, ((const float *)c->data)[row]);
    } else if (c->type == DUCK_DOUBLE) {
        give_real(out, ((const double *)c->data)[row]);
    } else if (c->type == DUCK_HUGEINT || c->type == DUCK_UHUGEINT) {
        const duck_huge *h = (const duck_huge *)c->data + row;
        give_huge(out, h->low, (uint64_t)h->high, c->type == DUCK_HUGEINT, room);
    } else if (c->type == DUCK_UBIGINT) {
        give_huge(out, ((const uint64_t *)c->data)[row], 0, false, room);
    } else if (c->type == DUCK_DECIMAL && c->of == DUCK_HUGEINT) {
        const duck_huge *h = (const duck_huge *)c->data + row;
        give_real(out, ((double)h->high * 18446744073709551616.0 + (double)h->low) / c->scale);
    } else if (c->type == DUCK_DECIMAL) {
        give_real(out, (double)whole(c->data, c->of, row) / c->scale);
    } else {
        give_int(out, whole(c->data, c->type, row));
    }
}

#endif

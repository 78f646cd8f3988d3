/* Columns of blocks into vectors. */
#ifdef TL_HAVE_SQLITE

#include <string.h>

#include "query/duckdb/duckdb_impl.h"

#define NAMED_TEXTS 64u /* texts of a block that are remembered: a power of two */

int tl_duckdb_type_of(const tl_column_info *c)
{
    return c->unit == TL_UNIT_BLOB ? DUCK_BLOB
           : c->type == TL_INTEGER ? DUCK_BIGINT
           : c->type == TL_REAL    ? DUCK_DOUBLE
                                   : DUCK_VARCHAR;
}

static void put_nulls(const tl_duckdb_api *api, duck_vector *v, const uint8_t *is_null, uint32_t n, duck_size to)
{
    if (is_null && !memchr(is_null, 1, n))
        return;
    api->vector_ensure_validity_writable(v);
    uint64_t *valid = api->vector_get_validity(v);
    for (uint32_t i = 0; i < n; i++)
        if (!is_null || is_null[i])
            valid[(to + i) / 64] &= ~(UINT64_C(1) << (to + i) % 64);
}

static unsigned digit_of(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* A column of TL_UNIT_BLOB: pairs of digits. */
static bool put_blobs(const tl_duckdb_api *api, duck_vector *v, const tl_block_column *c, uint32_t at, uint32_t n,
                      duck_size to)
{
    tl_pb bytes = {0};
    for (uint32_t i = 0; i < n; i++) {
        const char *hex = c->text[at + i];
        if (c->is_null[at + i])
            continue;
        tl_pb_clear(&bytes);
        for (; *hex; hex += 2) {
            const uint8_t byte = (uint8_t)(digit_of(hex[0]) << 4 | digit_of(hex[1]));
            tl_pb_raw(&bytes, &byte, 1);
        }
        if (!bytes.failed)
            api->vector_assign_string_element_len(v, to + i, bytes.n ? (const char *)bytes.data : "", bytes.n);
    }
    const bool ok = !bytes.failed;
    tl_pb_fini(&bytes);
    return ok;
}

/* A text that rows of a block have in common is put once: names are the same pointers. */
static void put_texts(const tl_duckdb_api *api, duck_vector *v, const tl_block_column *c, uint32_t at, uint32_t n,
                      duck_size to)
{
    const char *text[NAMED_TEXTS] = {0};
    uint32_t row[NAMED_TEXTS];
    duck_string *put = (duck_string *)api->vector_get_data(v) + to;
    for (uint32_t i = 0; i < n; i++) {
        const char *p = c->text[at + i];
        if (c->is_null[at + i])
            continue;
        const unsigned k = (unsigned)(((uintptr_t)p >> 3 ^ (uintptr_t)p >> 9) & (NAMED_TEXTS - 1));
        if (text[k] == p) {
            put[i] = put[row[k]];
            continue;
        }
        api->vector_assign_string_element_len(v, to + i, p, strlen(p));
        text[k] = p;
        row[k] = i;
    }
}

bool tl_duckdb_put(const tl_duckdb_api *api, duck_vector *v, const tl_column_info *info, const tl_block_column *c,
                   uint32_t at, uint32_t n, duck_size to)
{
    put_nulls(api, v, c->is_null ? c->is_null + at : NULL, n, to);
    if (!c->is_null)
        return true;
    if (c->i64)
        memcpy((int64_t *)api->vector_get_data(v) + to, c->i64 + at, n * sizeof *c->i64);
    else if (c->real)
        memcpy((double *)api->vector_get_data(v) + to, c->real + at, n * sizeof *c->real);
    else if (info->unit == TL_UNIT_BLOB)
        return put_blobs(api, v, c, at, n, to);
    else
        put_texts(api, v, c, at, n, to);
    return true;
}

#endif

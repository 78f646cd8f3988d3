/* Columns in the structs of the Arrow C data interface. Whoever gets a struct may move its members out and release them
 * on their own, in any order, so that each owns what it needs. */
#include "base/columnar/arrow_c.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for Arrow");
}

/* -- the schema -----------------------------------------------------------------------------------------------------
 */

typedef struct members {
    struct ArrowSchema *schema; /* [n] */
    struct ArrowSchema **at;    /* [n] */
} members;

/* A column: its texts are one block. */
static void release_column(struct ArrowSchema *s)
{
    free(s->private_data);
    s->release = NULL;
}

static void release_schema(struct ArrowSchema *s)
{
    members *m = s->private_data;
    for (int64_t i = 0; i < s->n_children; i++)
        if (m->schema[i].release)
            m->schema[i].release(&m->schema[i]);
    free(m->schema);
    free(m->at);
    free(m);
    s->release = NULL;
}

static const char *format_of(const tl_stored_as *as)
{
    static const char *const format[] = {[TL_STORE_INT] = "l",
                                         [TL_STORE_REAL] = "g",
                                         [TL_STORE_BOOL] = "b",
                                         [TL_STORE_TEXT] = "u",
                                         [TL_STORE_BLOB] = "z"};
    return as->is_utc ? "tsn:UTC" : format[as->store];
}

static char *put_number(char *to, size_t n)
{
    const int32_t number = (int32_t)n;
    memcpy(to, &number, sizeof number);
    return to + sizeof number;
}

static char *put_text(char *to, const char *text, size_t n)
{
    to = put_number(to, n);
    memcpy(to, text, n);
    return to + n;
}

/* One pair: the unit. Numbers are in the order of the host. */
static bool fill_column(struct ArrowSchema *s, const tl_stored_as *as)
{
    static const char key[] = "traceloom.unit";
    const size_t name = strlen(as->name) + 1, unit = as->unit ? strlen(as->unit) : 0,
                 metadata = 3 * sizeof(int32_t) + sizeof key - 1 + unit;
    char *text = unit < INT32_MAX && name < SIZE_MAX - metadata ? malloc(name + metadata) : NULL;
    if (!text)
        return false;
    memcpy(text, as->name, name);
    if (as->unit)
        put_text(put_text(put_number(text + name, 1), key, sizeof key - 1), as->unit, unit);
    *s = (struct ArrowSchema){.format = format_of(as),
                              .name = text,
                              .metadata = as->unit ? text + name : NULL,
                              .flags = ARROW_FLAG_NULLABLE,
                              .release = release_column,
                              .private_data = text};
    return true;
}

int tl_arrow_c_schema(struct ArrowSchema *out, const tl_stored_as *as, uint32_t n, tl_error *e)
{
    members *m = calloc(1, sizeof *m);
    if (!m)
        return no_memory(e);
    m->schema = calloc((size_t)n + 1, sizeof *m->schema);
    m->at = calloc((size_t)n + 1, sizeof *m->at);
    struct ArrowSchema schema = {
        .format = "+s", .name = "", .children = m->at, .release = release_schema, .private_data = m};
    bool ok = m->schema && m->at;
    for (uint32_t i = 0; ok && i < n; i++) {
        m->at[i] = &m->schema[i];
        ok = fill_column(&m->schema[i], &as[i]);
        schema.n_children += ok;
    }
    if (!ok) {
        release_schema(&schema);
        return no_memory(e);
    }
    *out = schema;
    return 0;
}

/* -- rows -----------------------------------------------------------------------------------------------------------
 */

typedef struct rows {
    struct ArrowArray *array; /* [n] */
    struct ArrowArray **at;   /* [n] */
    const void *none[1];      /* the bits of rows that are not null: all */
} rows;

enum { VALID, VALUES, TEXT = 2 };

/* What a column owns. */
typedef struct column {
    tl_column_data data;
    const void *buffer[3];
} column;

static void release_values(struct ArrowArray *a)
{
    column *c = a->private_data;
    tl_column_data_fini(&c->data);
    free(c);
    a->release = NULL;
}

static void release_rows(struct ArrowArray *a)
{
    rows *r = a->private_data;
    for (int64_t i = 0; i < a->n_children; i++)
        if (r->array[i].release)
            r->array[i].release(&r->array[i]);
    free(r->array);
    free(r->at);
    free(r);
    a->release = NULL;
}

/* Truth values are bits here: they are written over the words that they are made of. */
static void pack_bits(tl_column_data *d)
{
    uint8_t *bits = (uint8_t *)d->word;
    for (uint32_t i = 0; i < d->rows; i++) {
        const uint8_t bit = d->word[i] != 0;
        bits[i / 8] = (uint8_t)((i % 8 ? bits[i / 8] : 0) | bit << i % 8);
    }
}

static bool fill_rows(struct ArrowArray *a, tl_column_data *d, tl_store store)
{
    column *c = malloc(sizeof *c);
    if (!c)
        return false;
    c->data = *d;
    *d = (tl_column_data){0};
    if (store == TL_STORE_BOOL)
        pack_bits(&c->data);
    const bool is_text = tl_column_is_text(store);
    c->buffer[VALID] = c->data.nulls ? c->data.valid : NULL;
    c->buffer[VALUES] = is_text ? (const void *)c->data.offset : c->data.word;
    c->buffer[TEXT] = c->data.bytes;
    *a = (struct ArrowArray){.length = c->data.rows,
                             .null_count = c->data.nulls,
                             .n_buffers = is_text ? 3 : 2,
                             .buffers = c->buffer,
                             .release = release_values,
                             .private_data = c};
    return true;
}

int tl_arrow_c_array(struct ArrowArray *out, tl_column_batch *b, tl_error *e)
{
    rows *r = calloc(1, sizeof *r);
    if (!r)
        return no_memory(e);
    r->array = calloc((size_t)b->n + 1, sizeof *r->array);
    r->at = calloc((size_t)b->n + 1, sizeof *r->at);
    struct ArrowArray array = {.length = b->rows,
                               .n_buffers = 1,
                               .buffers = r->none,
                               .children = r->at,
                               .release = release_rows,
                               .private_data = r};
    bool ok = r->array && r->at;
    for (uint32_t i = 0; ok && i < b->n; i++) {
        r->at[i] = &r->array[i];
        ok = fill_rows(&r->array[i], &b->column[i], b->as[i].store);
        array.n_children += ok;
    }
    tl_column_batch_clear(b);
    if (!ok) {
        release_rows(&array);
        return no_memory(e);
    }
    *out = array;
    return 0;
}

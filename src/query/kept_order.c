/* Puts kept rows into the order of a column. Where it has few different values, rows are counted by value; then each
 * column is moved, from one end to the other, to as many places as there are values. */
#include "query/kept_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/stop_sort.h"

/* Null first, then by value, then as they came. */
static int compare(const tl_scan_array *c, uint32_t a, uint32_t b)
{
    int order = c->is_null[b] - c->is_null[a];
    if (order == 0 && !c->is_null[a])
        order = c->i64 ? (c->i64[a] > c->i64[b]) - (c->i64[a] < c->i64[b]) : strcmp(c->text[a], c->text[b]);
    return order ? order : (a > b) - (a < b);
}

static int compare_rows(const void *a, const void *b, void *column)
{
    return compare(column, *(const uint32_t *)a, *(const uint32_t *)b);
}

int tl_kept_rows_fail(int status, tl_error *e)
{
    if (status == 0)
        return 0;
    return status == TL_ELIMIT ? tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "interrupted")
                               : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows");
}

/* The different values of the key, while rows are counted. */
typedef struct values {
    tl_hash index;  /* value, or address of the text, -> number */
    uint32_t *row;  /* [n] a row that has it */
    uint32_t *rows; /* [n] how many have it; later where the next of them goes */
    uint32_t n, capacity, rows_capacity;
    uint32_t *of; /* [rows of the table] the number of its value */
} values;

/* More different values are sorted one by one. */
#define DIFFERENT_MOST (1u << 18)

/* Finds the different values; null is number 0. TL_ELIMIT: stopped; TL_ENOMEM: there are too many, or memory ran out.
 */
static int find_values(values *v, const tl_kept_rows *k, tl_kept_stop stop)
{
    const uint8_t *is_null = k->array[k->key].is_null;
    v->of = tl_alloc((size_t)k->n + 1, sizeof *v->of);
    if (!v->of || !TL_GROW(v->row, v->n, 1, v->capacity) || !TL_GROW(v->rows, v->n, 1, v->rows_capacity))
        return TL_ENOMEM;
    v->row[v->n] = UINT32_MAX;
    v->rows[v->n++] = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        if (tl_kept_stopped(stop, i))
            return TL_ELIMIT;
        uint32_t number = is_null[i] ? 0 : tl_hash_get(&v->index, tl_kept_value(k, k->key, i));
        if (number == TL_HASH_NONE) {
            if (v->n == DIFFERENT_MOST || !TL_GROW(v->row, v->n, 1, v->capacity) ||
                !TL_GROW(v->rows, v->n, 1, v->rows_capacity) ||
                !tl_hash_put(&v->index, tl_kept_value(k, k->key, i), v->n))
                return TL_ENOMEM;
            number = v->n;
            v->row[v->n] = i;
            v->rows[v->n++] = 0;
        }
        v->rows[number]++;
        v->of[i] = number;
    }
    return 0;
}

/* A stable counting sort: v->of becomes the place of each row. */
static int find_places(tl_kept_rows *k, values *v, tl_kept_stop stop)
{
    uint32_t at = v->rows[0];
    v->rows[0] = 0;
    /* Rows that stand for their values are sorted; the values then take their places in that order. */
    const int status =
        tl_stop_sort(v->row + 1, v->n - 1, sizeof *v->row, compare_rows, &k->array[k->key], stop.stop, stop.arg);
    if (status < 0)
        return status;
    for (uint32_t i = 1; i < v->n; i++) {
        const uint32_t value = v->of[v->row[i]], rows = v->rows[value];
        v->rows[value] = at;
        at += rows;
    }
    for (uint32_t i = 0; i < k->n; i++) {
        if (tl_kept_stopped(stop, i))
            return TL_ELIMIT;
        v->of[i] = v->rows[v->of[i]]++;
    }
    return 0;
}

/* The same where there are too many different values to count them. */
static int sort_places(tl_kept_rows *k, values *v, tl_kept_stop stop)
{
    uint32_t *order = tl_alloc((size_t)k->n + 1, sizeof *order);
    if (!order || !v->of) {
        free(order);
        return TL_ENOMEM;
    }
    for (uint32_t i = 0; i < k->n; i++)
        order[i] = i;
    const int status = tl_stop_sort(order, k->n, sizeof *order, compare_rows, &k->array[k->key], stop.stop, stop.arg);
    for (uint32_t i = 0; i < k->n && status == 0; i++)
        v->of[order[i]] = i;
    free(order);
    return status;
}

TL_ALWAYS_INLINE void move_some(char *to, const char *from, size_t size, const uint32_t *place, uint32_t i, uint32_t n)
{
    for (; i < n; i++)
        memcpy(to + place[i] * size, from + i * size, size);
}

/* Moves the values of a column, of `size` bytes, to their places. Returns the array that takes the place of the old
 * one, which it is if *status becomes negative. */
static void *moved(void *array, size_t size, const uint32_t *place, uint32_t n, tl_kept_stop stop, int *status)
{
    char *to = tl_alloc((size_t)n + 1, size);
    *status = to ? 0 : TL_ENOMEM;
    for (uint32_t i = 0, end; i < n && *status == 0; i = end) {
        end = n - i < TL_KEPT_ROWS_AT_ONCE ? n : i + TL_KEPT_ROWS_AT_ONCE;
        if (tl_kept_stopped(stop, i))
            *status = TL_ELIMIT;
        else if (size == sizeof(int64_t))
            move_some(to, array, sizeof(int64_t), place, i, end);
        else
            move_some(to, array, size, place, i, end);
    }
    free(*status < 0 ? to : array);
    return *status < 0 ? array : to;
}

/* Puts all rows into their places, a column at a time. */
static int move_rows(tl_kept_rows *k, const uint32_t *place, tl_kept_stop stop)
{
    int status = 0;
    k->capacity = k->n;
    for (uint32_t c = 0; c < k->table->ncolumn; c++) {
        tl_scan_array *a = &k->array[c];
        if (a->is_null && memchr(a->is_null, 1, k->n))
            a->is_null = moved(a->is_null, sizeof *a->is_null, place, k->n, stop, &status);
        if (a->i64 && status == 0)
            a->i64 = moved(a->i64, sizeof *a->i64, place, k->n, stop, &status);
        if (a->real && status == 0)
            a->real = moved(a->real, sizeof *a->real, place, k->n, stop, &status);
        if (a->text && status == 0)
            a->text = moved(a->text, sizeof *a->text, place, k->n, stop, &status);
        if (status < 0)
            break;
    }
    tl_kept_rows_show(k);
    return status;
}

int tl_kept_rows_order(tl_kept_rows *k, uint32_t column, tl_kept_stop stop, tl_error *e)
{
    values v = {0};
    k->key = column;
    int status = find_values(&v, k, stop);
    if (status == 0)
        status = find_places(k, &v, stop);
    else if (status == TL_ENOMEM)
        status = sort_places(k, &v, stop);
    if (status == 0)
        status = move_rows(k, v.of, stop);
    k->is_sorted = status == 0;
    tl_hash_fini(&v.index);
    free(v.row);
    free(v.rows);
    free(v.of);
    return tl_kept_rows_fail(status, e);
}

/* Do all rows of the range have the same key? */
static bool is_one_key(const tl_kept_rows *k, const tl_kept_range *r)
{
    const tl_scan_array *c = &k->array[k->key];
    const uint32_t a = r->at, b = r->to - 1;
    return c->is_null[a] == c->is_null[b] &&
           (c->is_null[a] || (c->i64 ? c->i64[a] == c->i64[b] : strcmp(c->text[a], c->text[b]) == 0));
}

int tl_kept_rows_arrange(const tl_kept_rows *k, const tl_kept_range *r, uint32_t column, bool is_read_so,
                         uint32_t **row, uint32_t *n, tl_kept_stop stop, tl_error *e)
{
    *row = NULL;
    *n = 0;
    /* Rows of one key are as they were read. */
    if (r->at == r->to || (k->is_sorted && k->key == column) || (is_read_so && (!k->is_sorted || is_one_key(k, r))))
        return 0;
    uint32_t *found = tl_alloc((size_t)(r->to - r->at), sizeof *found);
    if (!found)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows");
    for (uint32_t at = r->at; at < r->to;) {
        found[(*n)++] = at++;
        if (r->late != INT64_MIN)
            at = tl_kept_rows_late(k, at, r->to, r->late);
    }
    const int status = tl_stop_sort(found, *n, sizeof *found, compare_rows, &k->array[column], stop.stop, stop.arg);
    if (status < 0) {
        free(found);
        return tl_kept_rows_fail(status, e);
    }
    *row = found;
    return 0;
}

/* Rows that are read once and found by a column. */
#include "query/kept_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "query/kept_order.h"

/* Grows the arrays of all columns; their bytes are counted first. */
static int grow(tl_kept_rows *k, uint32_t more, tl_error *e)
{
    uint64_t width = sizeof(uint32_t) + sizeof *k->latest; /* that ordering needs */
    if (more <= k->capacity - k->n)
        return 0;
    for (uint32_t c = 0; c < k->table->ncolumn; c++)
        width += k->array[c].is_null ? 9 : 0;
    const uint64_t room = tl_grow_room(k->n, more, k->capacity, UINT32_MAX, 1);
    if (room == 0 || room * width + k->text.arena.total > k->most)
        return tl_fail(
            e, TL_ELIMIT, TL_NO_OFFSET,
            "%s is sorted, or read for each row of another table, and its rows need more memory than --memory "
            "allows: select fewer, by time or name",
            k->table->info.name);
    bool ok = true;
    for (uint32_t c = 0; c < k->table->ncolumn && ok; c++) {
        tl_scan_array *a = &k->array[c];
        if (!a->is_null)
            continue;
        ok = TL_RESIZE(a->is_null, (size_t)room) && (!a->i64 || TL_RESIZE(a->i64, (size_t)room)) &&
             (!a->real || TL_RESIZE(a->real, (size_t)room)) && (!a->text || TL_RESIZE(a->text, (size_t)room));
    }
    if (!ok)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows");
    k->capacity = (uint32_t)room;
    return 0;
}

/* Begins the arrays with one element each, so that the type is known. */
static bool begin(tl_kept_rows *k, const uint8_t *used)
{
    bool ok = true;
    k->array = calloc((size_t)k->table->ncolumn + 1, sizeof *k->array);
    for (uint32_t c = 0; k->array && ok && c < k->table->ncolumn; c++) {
        tl_scan_array *a = &k->array[c];
        const tl_column_type type = k->table->column[c].type;
        if (used && !used[c])
            continue;
        a->is_null = malloc(1);
        a->i64 = type == TL_INTEGER ? malloc(sizeof *a->i64) : NULL;
        a->real = type == TL_REAL ? malloc(sizeof *a->real) : NULL;
        a->text = type == TL_TEXT ? malloc(sizeof *a->text) : NULL;
        ok = a->is_null && (a->i64 || a->real || a->text);
    }
    k->capacity = 1;
    k->column = calloc((size_t)k->table->ncolumn + 1, sizeof *k->column);
    return k->array && k->column && ok;
}

static bool copy_text(tl_kept_rows *k, tl_scan_array *a, const tl_block_column *from, uint32_t n)
{
    const char *last = NULL, *kept = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const char *text = from->is_null[i] ? NULL : from->text[i];
        if (text && text != last) {
            kept = tl_strings_get(&k->text, text, strlen(text));
            last = text;
            if (!kept)
                return false;
        }
        a->text[k->n + i] = text ? kept : NULL;
    }
    return true;
}

static bool copy(tl_kept_rows *k, const tl_block *b)
{
    bool ok = true;
    for (uint32_t c = 0; c < k->table->ncolumn && ok; c++) {
        tl_scan_array *a = &k->array[c];
        const tl_block_column *from = &b->column[c];
        if (!a->is_null)
            continue;
        memcpy(a->is_null + k->n, from->is_null, b->rows);
        if (a->i64)
            memcpy(a->i64 + k->n, from->i64, b->rows * sizeof *a->i64);
        else if (a->real)
            memcpy(a->real + k->n, from->real, b->rows * sizeof *a->real);
        else
            ok = copy_text(k, a, from, b->rows);
    }
    k->n += b->rows;
    return ok;
}

void tl_kept_rows_show(tl_kept_rows *k)
{
    for (uint32_t c = 0; c < k->table->ncolumn; c++) {
        const tl_scan_array *a = &k->array[c];
        k->column[c] = (tl_block_column){.i64 = a->i64, .real = a->real, .text = a->text, .is_null = a->is_null};
    }
}

int tl_kept_rows_read(tl_kept_rows *k, const tl_scan_table *t, const uint8_t *used, tl_scan *scan, uint64_t most,
                      tl_kept_stop stop, tl_error *e)
{
    tl_block block;
    int status;
    k->table = t;
    k->most = most;
    if (!begin(k, used))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows");
    while ((status = tl_scan_next(scan, &block, e)) > 0) {
        if (stop.stop && stop.stop(stop.arg)) /* a block may have megabytes */
            return tl_fail(e, TL_ELIMIT, TL_NO_OFFSET, "interrupted");
        status = grow(k, block.rows, e);
        if (status == 0 && !copy(k, &block))
            status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows");
        if (status < 0)
            return status;
    }
    tl_kept_rows_show(k);
    return status;
}

void tl_kept_rows_fini(tl_kept_rows *k)
{
    for (uint32_t c = 0; k->array && c < k->table->ncolumn; c++) {
        free(k->array[c].is_null);
        free(k->array[c].i64);
        free(k->array[c].real);
        free(k->array[c].text);
    }
    free(k->array);
    free(k->column);
    free(k->latest);
    tl_strings_fini(&k->text);
    *k = (tl_kept_rows){0};
}

/* -- order ----------------------------------------------------------------------------------------------------------
 */

static bool is_range(tl_term_op op)
{
    return op == TL_TERM_BELOW || op == TL_TERM_AT_MOST || op == TL_TERM_ABOVE || op == TL_TERM_AT_LEAST;
}

static bool can_sort(const tl_kept_rows *k, uint32_t column)
{
    return k->array[column].i64 || k->array[column].text;
}

/* How many different values a column has in a sample of the rows. */
static uint32_t variety(const tl_kept_rows *k, uint32_t column)
{
    enum { SAMPLE = 1024 };
    tl_hash seen = {0};
    const uint32_t step = k->n / SAMPLE + 1;
    uint32_t n = 0;
    for (uint32_t row = 0; row < k->n; row += step)
        if (!k->array[column].is_null[row] && tl_hash_get(&seen, tl_kept_value(k, column, row)) == TL_HASH_NONE &&
            tl_hash_put(&seen, tl_kept_value(k, column, row), n))
            n++;
    tl_hash_fini(&seen);
    return n;
}

/* The column to find rows by: of an equality, of several the one with most values; else with an upper bound, else with
 * any. */
static uint32_t choose_key(const tl_kept_rows *k, const tl_term *term, uint32_t nterm)
{
    enum { EQUAL = 3 };
    uint32_t best = UINT32_MAX, worth = 0;
    for (uint32_t i = 0; i < nterm; i++) {
        const tl_term_op op = term[i].op;
        const uint32_t w = op == TL_TERM_IS                               ? EQUAL + variety(k, term[i].column)
                           : op == TL_TERM_BELOW || op == TL_TERM_AT_MOST ? 2
                           : is_range(op)                                 ? 1
                                                                          : 0;
        const bool is_number = k->array[term[i].column].i64 != NULL;
        if (w > worth && can_sort(k, term[i].column) && (op == TL_TERM_IS || is_number)) {
            best = term[i].column;
            worth = w;
        }
    }
    return best;
}

/* The column with a lower bound, beside a key with an upper one: the ends of intervals. */
static uint32_t choose_end(const tl_kept_rows *k, const tl_term *term, uint32_t nterm)
{
    for (uint32_t i = 0; i < nterm; i++)
        if (term[i].column != k->key && k->array[term[i].column].i64 &&
            (term[i].op == TL_TERM_ABOVE || term[i].op == TL_TERM_AT_LEAST))
            return term[i].column;
    return UINT32_MAX;
}

#define LEAF 16u /* rows of a leaf of the tree */

/* When a row ends; one without an end is never found by it. */
static int64_t end_of(const tl_kept_rows *k, uint32_t row)
{
    const tl_scan_array *a = &k->array[k->end];
    return a->is_null[row] ? INT64_MIN : a->i64[row];
}

static int note_latest(tl_kept_rows *k, tl_kept_stop stop)
{
    k->leaves = 1;
    while ((uint64_t)k->leaves * LEAF < k->n)
        k->leaves *= 2;
    k->latest = tl_alloc(2 * (size_t)k->leaves, sizeof *k->latest);
    if (!k->latest)
        return TL_ENOMEM;
    for (uint32_t i = 0; i < 2 * k->leaves; i++)
        k->latest[i] = INT64_MIN;
    for (uint32_t i = 0; i < k->n; i++) {
        if (tl_kept_stopped(stop, i))
            return TL_ELIMIT;
        int64_t *leaf = &k->latest[k->leaves + i / LEAF];
        *leaf = end_of(k, i) > *leaf ? end_of(k, i) : *leaf;
    }
    for (uint32_t i = k->leaves; i-- > 1;)
        k->latest[i] = k->latest[2 * i] > k->latest[2 * i + 1] ? k->latest[2 * i] : k->latest[2 * i + 1];
    return 0;
}

int tl_kept_rows_sort(tl_kept_rows *k, const tl_term *term, uint32_t nterm, tl_kept_stop stop, tl_error *e)
{
    const uint32_t key = choose_key(k, term, nterm);
    if (key == UINT32_MAX)
        return 0;
    const int status = tl_kept_rows_order(k, key, stop, e);
    if (status < 0)
        return status;
    k->end = choose_end(k, term, nterm);
    return k->end == UINT32_MAX ? 0 : tl_kept_rows_fail(note_latest(k, stop), e);
}

/* -- lookup ---------------------------------------------------------------------------------------------------------
 */

/* Compares a row's key with a value of the same type: < 0, 0, > 0; null is below all. */
static int compare_key(const tl_kept_rows *k, uint32_t row, const tl_cell *v)
{
    const tl_scan_array *c = &k->array[k->key];
    if (c->is_null[row])
        return -1;
    if (c->text)
        return strcmp(c->text[row], v->text);
    if (v->kind == TL_CELL_REAL)
        return ((double)c->i64[row] > v->real) - ((double)c->i64[row] < v->real);
    return (c->i64[row] > v->i64) - (c->i64[row] < v->i64);
}

/* The first place whose key is at or, if `above`, above the value. */
static uint32_t place_of(const tl_kept_rows *k, const tl_cell *v, bool above)
{
    uint32_t low = 0, high = k->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = compare_key(k, middle, v);
        if (order < 0 || (above && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first leaf after this one in which something ends at or after `late`; the number of leaves: none. */
static uint32_t late_leaf(const tl_kept_rows *k, uint32_t leaf, int64_t late)
{
    uint32_t node = k->leaves + leaf;
    do {
        while (node & 1) /* up to where a right neighbour has the same parent */
            node >>= 1;
        if (node == 0)
            return k->leaves;
        node++;
    } while (k->latest[node] < late);
    while (node < k->leaves)
        node = 2 * node + (k->latest[2 * node] < late);
    return node - k->leaves;
}

uint32_t tl_kept_rows_late(const tl_kept_rows *k, uint32_t at, uint32_t to, int64_t late)
{
    while (at < to && end_of(k, at) < late) {
        at++;
        if (at % LEAF == 0 && at < to && k->latest[k->leaves + at / LEAF] < late)
            at = LEAF * late_leaf(k, at / LEAF, late);
    }
    return at < to ? at : to;
}

static bool is_comparable(const tl_kept_rows *k, const tl_term *t)
{
    const tl_cell_kind kind = t->value[0].kind;
    if (t->n == 1 && kind == TL_CELL_REAL && !(t->value[0].real > -9e15 && t->value[0].real < 9e15))
        return false; /* whole numbers are not exact as doubles there */
    return t->n == 1 && (k->array[t->column].text ? kind == TL_CELL_TEXT : kind == TL_CELL_INT || kind == TL_CELL_REAL);
}

tl_kept_range tl_kept_rows_find(const tl_kept_rows *k, const tl_term *term, uint32_t nterm)
{
    tl_kept_range r = {.at = 0, .to = k->n, .late = INT64_MIN};
    for (uint32_t i = 0; i < nterm && k->is_sorted; i++) {
        const tl_term *t = &term[i];
        const bool is_low = t->op == TL_TERM_AT_LEAST || t->op == TL_TERM_ABOVE,
                   is_high = t->op == TL_TERM_AT_MOST || t->op == TL_TERM_BELOW;
        if (!is_comparable(k, t))
            continue;
        if (t->column == k->key && (t->op == TL_TERM_IS || is_low)) {
            const uint32_t place = place_of(k, &t->value[0], t->op == TL_TERM_ABOVE);
            r.at = place > r.at ? place : r.at;
        }
        if (t->column == k->key && (t->op == TL_TERM_IS || is_high)) {
            const uint32_t place = place_of(k, &t->value[0], t->op != TL_TERM_BELOW);
            r.to = place < r.to ? place : r.to;
        }
        if (k->latest && t->column == k->end && is_low) {
            const tl_cell *v = &t->value[0];
            const int64_t late = v->kind == TL_CELL_REAL ? (int64_t)v->real - 1 : v->i64;
            r.late = late > r.late ? late : r.late;
        }
    }
    r.at = r.at > r.to ? r.to : r.late == INT64_MIN ? r.at : tl_kept_rows_late(k, r.at, r.to, r.late);
    return r;
}

/* Tables with arguments. */
#include "op/scan/made_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define MADE_KEPT 4u /* results of a table: those that were used last */

/* The rows for some values of the arguments. */
typedef struct made_rows {
    uint32_t uses;
    tl_cell argument[TL_MADE_ARGUMENTS]; /* text is in the arena */
    tl_arena arena;
    void **rows; /* [sources] NULL: none */
} made_rows;

typedef struct tl_made_cache {
    made_rows *made[MADE_KEPT]; /* used last first; NULL at the end */
} tl_made_cache;

typedef struct made_scan {
    tl_scan scan;
    const tl_made_table *table;
    made_rows *made;
    uint32_t source;
    uint64_t at; /* the next row of the source */
    tl_scan_block block;
} made_scan;

/* ---- results ---- */

static void drop(const tl_made_table *t, made_rows *m)
{
    if (!m || --m->uses > 0)
        return;
    for (uint32_t i = 0; m->rows && i < t->dataset->n; i++)
        if (m->rows[i])
            t->kind->free_rows(m->rows[i]);
    free(m->rows);
    tl_arena_fini(&m->arena);
    free(m);
}

static bool same_cell(const tl_cell *a, const tl_cell *b)
{
    return a->kind == b->kind && (a->kind == TL_CELL_TEXT  ? strcmp(a->text, b->text) == 0
                                  : a->kind == TL_CELL_INT ? a->i64 == b->i64
                                                           : true);
}

static bool is_of(const made_rows *m, const tl_made_kind *kind, const tl_cell *argument)
{
    bool same = true;
    for (uint32_t i = 0; i < kind->nargument && same; i++)
        same = same_cell(&m->argument[i], &argument[i]);
    return same;
}

/* Puts a result first. */
static void keep(const tl_made_table *t, made_rows *m)
{
    tl_made_cache *c = t->cache;
    uint32_t at = 0;
    while (at < MADE_KEPT && c->made[at] && c->made[at] != m)
        at++;
    if (at == MADE_KEPT)
        drop(t, c->made[--at]);
    m->uses += c->made[at] != m;
    memmove(c->made + 1, c->made, at * sizeof *c->made);
    c->made[0] = m;
}

/* A whole number that fits, or text; REAL becomes an integer if it is one. */
static int check_argument(const tl_made_kind *kind, uint32_t i, tl_cell *v, tl_error *e)
{
    const tl_column_info *c = &kind->column[kind->ncolumn - kind->nargument + i];
    if (c->type == TL_INTEGER && v->kind == TL_CELL_REAL && v->real > -9e15 && v->real < 9e15 &&
        (double)(int64_t)v->real == v->real)
        *v = (tl_cell){.kind = TL_CELL_INT, .i64 = (int64_t)v->real};
    if (v->kind == TL_CELL_NULL || v->kind == (c->type == TL_TEXT ? TL_CELL_TEXT : TL_CELL_INT))
        return 0;
    return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s: argument %" PRIu32 ", %s, is not %s", kind->info.name, i + 1,
                   c->name,
                   c->unit == TL_UNIT_BLOB ? "a BLOB, or too long"
                   : c->type == TL_TEXT    ? "a string, or too long"
                                           : "a whole number; ns('1s') makes one of a time");
}

static int make(made_rows *m, const tl_made_table *t, tl_error *e)
{
    const tl_dataset *d = t->dataset;
    m->rows = calloc((size_t)d->n + 1, sizeof *m->rows);
    for (uint32_t i = 0; i < t->kind->nargument; i++)
        if (m->argument[i].kind == TL_CELL_TEXT) {
            const char *text = m->argument[i].text;
            m->argument[i].text = tl_arena_strndup(&m->arena, text, strlen(text));
            if (!m->argument[i].text)
                return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table");
        }
    if (!m->rows)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table");
    int status = 0;
    for (uint32_t i = 0; i < d->n && status == 0; i++)
        if (t->kind->of_any || !tl_source_is_profile(d->source[i]))
            status = t->kind->make(&m->rows[i], t, i, m->argument, e);
    return status;
}

/* The result for these arguments, with one use that is the caller's. */
static int get(made_rows **out, const tl_made_table *t, const tl_cell *argument, tl_error *e)
{
    tl_cell checked[TL_MADE_ARGUMENTS] = {{0}};
    for (uint32_t i = 0; i < t->kind->nargument; i++) {
        checked[i] = argument ? argument[i] : (tl_cell){.kind = TL_CELL_NULL};
        const int status = check_argument(t->kind, i, &checked[i], e);
        if (status < 0)
            return status;
    }
    made_rows *m = NULL;
    for (uint32_t i = 0; i < MADE_KEPT && !m && t->cache->made[i]; i++)
        if (is_of(t->cache->made[i], t->kind, checked))
            m = t->cache->made[i];
    if (!m) {
        m = calloc(1, sizeof *m);
        if (!m)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table");
        memcpy(m->argument, checked, sizeof checked);
        const int status = make(m, t, e);
        if (status < 0) {
            m->uses = 1;
            drop(t, m);
            return status;
        }
    }
    keep(t, m);
    m->uses++;
    *out = m;
    return 0;
}

/* ---- the scan ---- */

static void put_arguments(made_scan *s, uint32_t row)
{
    const tl_made_kind *kind = s->table->kind;
    for (uint32_t i = 0; i < kind->nargument; i++) {
        const tl_cell *v = &s->made->argument[i];
        const uint32_t column = kind->ncolumn - kind->nargument + i;
        if (kind->column[column].type == TL_TEXT)
            tl_list_text(&s->block, column, row, v->kind == TL_CELL_TEXT ? v->text : NULL);
        else
            tl_list_int(&s->block, column, row, v->kind == TL_CELL_INT, v->i64);
    }
}

static int next_block(tl_scan *scan, tl_block *block, tl_error *e)
{
    made_scan *s = (made_scan *)scan;
    const tl_made_table *t = s->table;
    uint32_t rows = 0;
    tl_scan_block_begin(&s->block);
    while (s->source < t->dataset->n && !tl_scan_block_is_full(&s->block, rows)) {
        const void *made = s->made->rows[s->source];
        if (made && s->at < t->kind->count(made)) {
            t->kind->put(t, made, s->source, s->at++, &s->block, rows);
            put_arguments(s, rows++);
        } else {
            s->source++;
            s->at = 0;
        }
    }
    return rows == 0 ? 0 : tl_scan_block_done(&s->block, rows, block, e);
}

static void close_scan(tl_scan *scan)
{
    made_scan *s = (made_scan *)scan;
    drop(s->table, s->made);
    tl_scan_block_fini(&s->block);
    free(s);
}

static int open_scan(tl_scan **out, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask, tl_error *e)
{
    (void)d;
    made_scan *s = calloc(1, sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a scan");
    s->scan = (tl_scan){next_block, close_scan};
    s->table = t->arg;
    int status = tl_scan_block_init(&s->block, t->column, t->ncolumn, ask->used, e);
    if (status == 0)
        status = get(&s->made, s->table, ask->argument, e);
    return tl_scan_opened(out, &s->scan, status);
}

int tl_made_table_init(tl_made_table *t, tl_scan_table *out, tl_error *e)
{
    *out = (tl_scan_table){.info = t->kind->info,
                           .column = t->kind->column,
                           .ncolumn = t->kind->ncolumn,
                           .nargument = t->kind->nargument,
                           .order = TL_NO_ORDER,
                           .rows = 1000,
                           .arg = t,
                           .keeps = tl_scan_keeps_all,
                           .open = open_scan};
    t->cache = calloc(1, sizeof *t->cache);
    return t->cache ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table");
}

void tl_made_table_fini(tl_made_table *t)
{
    for (uint32_t i = 0; t->cache && i < MADE_KEPT; i++)
        drop(t, t->cache->made[i]);
    free(t->cache);
    t->cache = NULL;
}

/* ---- arguments ---- */

bool tl_made_words(const tl_cell *argument, const char *table, const char *const *word, uint32_t n, unsigned *out,
                   tl_error *e)
{
    static const char between[] = " ,";
    *out = 0;
    const char *p = argument->kind == TL_CELL_TEXT ? argument->text : "";
    for (p += strspn(p, between); *p; p += strspn(p, between)) {
        const size_t size = strcspn(p, between);
        uint32_t i = 0;
        while (i < n && (strlen(word[i]) != size || memcmp(word[i], p, size) != 0))
            i++;
        if (i == n) {
            char all[100] = "";
            for (uint32_t k = 0; k < n; k++)
                snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", k ? ", " : "", word[k]);
            tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s: there is no key %.40s; keys are %s", table, p, all);
            return false;
        }
        *out |= 1u << i;
        p += size;
    }
    return true;
}

bool tl_made_step(const tl_cell *argument, const char *table, uint64_t *out, tl_error *e)
{
    *out = argument->kind == TL_CELL_INT && argument->i64 > 0 ? (uint64_t)argument->i64 : 0;
    if (argument->kind != TL_CELL_INT || argument->i64 > 0)
        return true;
    tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s: the step is not above 0", table);
    return false;
}

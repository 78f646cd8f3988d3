/* Relations for users of the library: rows in blocks of columns. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function/profile_answer.h"
#include "analysis/rows_part.h"
#include "analysis/table_run.h"
#include "base/text/words.h"
#include "op/source_impl.h"
#include "op/symbols/code_map.h"
#include "traceloom/relation.h"

/* The arrays of one column of a block. */
typedef struct store {
    int64_t i64[TL_BLOCK_ROWS];
    double real[TL_BLOCK_ROWS];
    const char *text[TL_BLOCK_ROWS];
    uint8_t is_null[TL_BLOCK_ROWS];
} store;

struct tl_rows {
    const tl_part *part; /* NULL: none */
    uint32_t *column;    /* [ncolumn] the part's columns for programs; room for those of the widest part */
    uint32_t ncolumn;
    uint64_t at;
    store *store;           /* [ncolumn] */
    tl_block_column *block; /* [ncolumn] */
    tl_answer answer;
    /* The source of the answer. */
    tl_table_run run;
    tl_profile_table table;
    tl_profile *profile, *grouped;
    tl_code_map *code; /* for the names of functions in tables of instructions; or NULL */
};

size_t tl_tables(void)
{
    size_t n;
    tl_table_kinds(&n);
    return n;
}

const tl_table_info *tl_table_at(size_t i)
{
    size_t n;
    const tl_table_kind *const *kind = tl_table_kinds(&n);
    return i < n ? &kind[i]->info : NULL;
}

static int read_profile(tl_rows *r, const tl_table_kind *kind, tl_source *const *source, size_t n,
                        const tl_rows_options *o, tl_error *e)
{
    const tl_profile_options options = {.flat = !(kind->profile & TL_PROFILE_TREE),
                                        .per_thread = kind->profile & TL_PROFILE_PER_THREAD,
                                        .lines = kind->profile & TL_PROFILE_LINES,
                                        .weight = o->weight,
                                        .threads = o->threads,
                                        .select = o->select};
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++) {
        tl_profile *p = NULL;
        status = tl_table_fits(kind, source[i], NULL, e);
        if (status == 0)
            status = tl_profile_from_source(&p, source[i], &options, e);
        if (status == 0)
            status = tl_table_fits(kind, source[i], p, e);
        if (status == 0)
            status = tl_profile_sorts(p, o->sort, e);
        if (status == 0 && r->profile)
            status = tl_profile_merge(r->profile, p, e);
        if (r->profile || status < 0)
            tl_profile_free(p);
        else
            r->profile = p;
    }
    r->table.profile = r->profile;
    return status < 0 ? status : tl_profile_group(kind, &r->table, false, n > 1, &r->grouped, e);
}

static tl_table_options table_options(const tl_rows_options *o)
{
    return (tl_table_options){.interval = o->interval,
                              .sample = o->sample,
                              .line_size = o->line_size,
                              .cache = o->cache,
                              .predictor = o->predictor,
                              .calls = o->calls};
}

static int read_events(tl_rows *r, const tl_table_kind *kind, tl_source *const *source, size_t n,
                       const tl_rows_options *o, tl_error *e)
{
    tl_table_options options = table_options(o);
    options.several = n > 1;
    options.no_demangle = source[0]->no_demangle;
    int status = kind->pass && source[0]->exe ? tl_code_map_open(&r->code, source[0]->exe, e) : 0;
    options.code = r->code;
    if (n > 1 && !tl_table_adds_up(kind))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s is of one trace: several cannot be added up", kind->info.name);
    if (status == 0)
        status = tl_table_run_init(&r->run, kind, &options, e);
    for (size_t i = 0; i < n && status == 0; i++) {
        status = tl_table_fits(kind, source[i], NULL, e);
        if (status == 0)
            status = tl_table_run_add(&r->run, source[i], o->select, o->threads, e);
    }
    return status;
}

static const tl_part *part_at(const tl_rows *r, uint32_t i)
{
    const tl_part *p = r->answer.first;
    while (p && (!p->for_programs || i--))
        p = p->next;
    return p;
}

const tl_part *tl_rows_current(const tl_rows *rows)
{
    return rows->part;
}

uint32_t tl_rows_parts(const tl_rows *rows)
{
    uint32_t n = 0;
    while (part_at(rows, n))
        n++;
    return n;
}

const char *tl_rows_part(const tl_rows *rows, uint32_t part)
{
    const tl_part *p = part_at(rows, part);
    return !p ? NULL : p->key ? p->key : "facts";
}

static void choose(tl_rows *r, const tl_part *part)
{
    r->part = part;
    r->at = 0;
    r->ncolumn = 0;
    for (uint32_t i = 0; part && i < part->ncolumn; i++)
        if (part->column[i].info.name)
            r->column[r->ncolumn++] = i;
    for (uint32_t i = 0; i < r->ncolumn; i++) {
        const tl_column_type type = tl_rows_column(r, i)->type;
        store *s = &r->store[i];
        r->block[i] = (tl_block_column){.i64 = type == TL_INTEGER ? s->i64 : NULL,
                                        .real = type == TL_REAL ? s->real : NULL,
                                        .text = type == TL_TEXT ? s->text : NULL,
                                        .is_null = s->is_null};
    }
}

int tl_rows_choose(tl_rows *rows, uint32_t part, tl_error *e)
{
    const tl_part *p = part_at(rows, part);
    if (!p)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "no relation %" PRIu32 ": there are %" PRIu32, part,
                       tl_rows_parts(rows));
    choose(rows, p);
    return 0;
}

/* Makes the answer, and the arrays of a block. */
static int make_answer(tl_rows *r, const tl_table_kind *kind, const tl_rows_options *o, tl_error *e)
{
    const tl_ask ask = {.for_programs = true, .has_top = o->top != 0, .top = o->top, .sort = o->sort};
    const int status = kind->profile ? tl_profile_answer(kind, &r->table, &ask, "", &r->answer, e)
                                     : tl_table_run_answer(&r->run, &ask, "", &r->answer, e);
    if (status < 0)
        return status;
    size_t most = 1;
    for (const tl_part *p = r->answer.first; p; p = p->next)
        most = p->ncolumn > most ? p->ncolumn : most;
    r->column = calloc(most, sizeof *r->column);
    r->store = calloc(most, sizeof *r->store);
    r->block = calloc(most, sizeof *r->block);
    if (!r->column || !r->store || !r->block)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows");
    choose(r, tl_answer_main(&r->answer));
    return 0;
}

int tl_rows_open(tl_rows **out, const char *table, tl_source *const *source, size_t nsource,
                 const tl_rows_options *options, tl_error *e)
{
    const tl_rows_options none = {0}, *o = options ? options : &none;
    const tl_table_kind *kind = tl_table_find(table, nsource ? tl_source_trace(source[0]) : NULL);
    *out = NULL;
    if (!kind || nsource == 0)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, nsource ? "no relation is called %s" : "no traces to make %s of",
                       table);
    if (o->sort && tl_word_place(o->sort, kind->sorts ? kind->sorts : "") < 0)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s cannot be sorted by %s", table, o->sort);
    const tl_table_options given = table_options(o);
    const char *stray = tl_table_stray_option(kind, &given);
    if (stray)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "%s has no option %s", table, stray);
    tl_rows *r = calloc(1, sizeof *r);
    if (!r)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows");
    int status = (kind->profile ? read_profile : read_events)(r, kind, source, nsource, o, e);
    if (status == 0)
        status = make_answer(r, kind, o, e);
    if (status < 0) {
        tl_rows_close(r);
        return status;
    }
    *out = r;
    return 0;
}

uint32_t tl_rows_columns(const tl_rows *rows)
{
    return rows->ncolumn;
}

const tl_column_info *tl_rows_column(const tl_rows *rows, uint32_t column)
{
    return &rows->part->column[rows->column[column]].info;
}

uint64_t tl_rows_count(const tl_rows *rows)
{
    return rows->part ? rows->part->n : 0;
}

const char *tl_rows_unit(const tl_rows *rows)
{
    return rows->run.kind ? rows->run.unit : rows->answer.unit;
}

/* Numbers that are not amounts, of which nothing may be lost. */
static bool has_all_bits(const tl_column_info *c)
{
    return c->unit == TL_UNIT_HEX || c->unit == TL_UNIT_NONE;
}

void tl_rows_label(tl_rows *rows)
{
    rows->answer.labels = true;
}

int64_t tl_rows_integer(const tl_column_info *c, const tl_cell *v)
{
    if (v->kind == TL_CELL_SUM && (v->sum.high || v->sum.low > INT64_MAX))
        return v->negative ? INT64_MIN : INT64_MAX;
    if (v->kind == TL_CELL_SUM)
        return v->negative ? -(int64_t)v->sum.low : (int64_t)v->sum.low;
    return v->kind == TL_CELL_UINT && v->u64 > INT64_MAX && !has_all_bits(c) ? INT64_MAX : v->i64; /* same bits */
}

static void put_cell(store *s, uint32_t at, const tl_column_info *c, const tl_cell *v)
{
    s->is_null[at] = v->kind == TL_CELL_NULL || v->kind == TL_CELL_ROWS;
    if (c->type == TL_INTEGER)
        s->i64[at] = s->is_null[at] ? 0 : tl_rows_integer(c, v);
    else if (c->type == TL_REAL)
        s->real[at] = v->kind == TL_CELL_REAL ? v->real : 0;
    else
        s->text[at] = v->kind == TL_CELL_TEXT ? v->text : NULL;
}

int tl_rows_next(tl_rows *rows, tl_block *block, tl_error *e)
{
    const uint64_t left = tl_rows_count(rows) - rows->at;
    *block = (tl_block){.rows = left < TL_BLOCK_ROWS ? (uint32_t)left : TL_BLOCK_ROWS, .column = rows->block};
    if (left == 0)
        return 0;
    tl_arena_reset(&rows->answer.scratch);
    for (uint32_t k = 0; k < rows->ncolumn; k++) {
        const tl_column_info *c = tl_rows_column(rows, k);
        for (uint32_t i = 0; i < block->rows; i++) {
            tl_cell v;
            tl_part_cell(rows->part, rows->at + i, rows->column[k], &v);
            put_cell(&rows->store[k], i, c, &v);
        }
    }
    rows->at += block->rows;
    return rows->answer.failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows") : 1;
}

void tl_rows_close(tl_rows *rows)
{
    if (!rows)
        return;
    tl_answer_fini(&rows->answer);
    if (rows->run.kind)
        tl_table_run_fini(&rows->run);
    tl_code_map_close(rows->code);
    tl_profile_free(rows->grouped);
    tl_profile_free(rows->profile);
    free(rows->column);
    free(rows->store);
    free(rows->block);
    free(rows);
}

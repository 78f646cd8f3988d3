/* Tables with arguments whose rows are those of one part of a table of `report` with some of its options. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/rows_part.h"
#include "analysis/table_kind.h"
#include "query/analysis_kinds.h"

#define COLUMN_PLACES 24u

/* tl_made_kind.arg */
typedef struct report_kind {
    const char *table, *part; /* of report; part NULL: its main one */
    /* Puts the arguments into the options of report. */
    int (*set)(tl_rows_options *o, const tl_cell *argument, tl_error *e);
    const char *name, *name_there; /* of a column that has another name in report; or NULL */
} report_kind;

/* The rows of a source. */
typedef struct report_rows {
    tl_rows *rows;
    const tl_part *part;
    uint32_t place[COLUMN_PLACES]; /* of each column after `trace` in the part, or UINT32_MAX */
} report_rows;

static void free_rows(void *rows)
{
    report_rows *r = rows;
    tl_rows_close(r->rows);
    free(r);
}

/* Names that end with * are those of several columns, of which the first counts. */
static bool is_name(const char *pattern, const char *name)
{
    const size_t n = strcspn(pattern, "*");
    return name && strncmp(pattern, name, n) == 0 && (pattern[n] || strlen(name) == n);
}

static int find_part(report_rows *r, const tl_made_kind *made, tl_error *e)
{
    const report_kind *kind = made->arg;
    uint32_t i = 0;
    const char *name;
    while (kind->part && (name = tl_rows_part(r->rows, i)) && strcmp(name, kind->part) != 0)
        i++;
    const int status = kind->part ? tl_rows_choose(r->rows, i, e) : 0;
    if (status < 0)
        return status;
    r->part = tl_rows_current(r->rows);
    for (uint32_t c = 1; c < made->ncolumn - made->nargument; c++) {
        const char *own = made->column[c].name;
        const bool other = kind->name && strcmp(own, kind->name) == 0;
        r->place[c] = UINT32_MAX;
        for (uint32_t k = r->part->ncolumn; k-- > 0;)
            if (is_name(other ? kind->name_there : own, r->part->column[k].info.name))
                r->place[c] = k;
    }
    return 0;
}

static int make(void **out, const tl_made_table *t, uint32_t source, const tl_cell *argument, tl_error *e)
{
    const report_kind *kind = t->kind->arg;
    const tl_dataset *d = t->dataset;
    tl_rows_options o = {.select = d->select, .threads = d->threads};
    tl_error why = {0};
    int status = kind->set(&o, argument, e);
    if (status < 0)
        return status;
    report_rows *r = calloc(1, sizeof *r);
    if (!r)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table");
    status = tl_rows_open(&r->rows, kind->table, d->source + source, 1, &o, &why);
    if (status == 0)
        status = find_part(r, t->kind, &why);
    if (status == 0)
        *out = r;
    else
        free_rows(r);
    if (status < 0 && status != TL_EUNSUPPORTED && e) /* else such a trace has no rows of it */
        *e = why;
    return status == TL_EUNSUPPORTED ? 0 : status;
}

static uint64_t count(const void *rows)
{
    return ((const report_rows *)rows)->part->n;
}

static void put(const tl_made_table *t, const void *rows, uint32_t source, uint64_t i, tl_scan_block *b, uint32_t row)
{
    const report_rows *r = rows;
    const tl_made_kind *kind = t->kind;
    tl_list_int(b, 0, row, true, source + 1);
    for (uint32_t c = 1; c < kind->ncolumn - kind->nargument; c++) {
        tl_cell v = {.kind = TL_CELL_NULL};
        if (!tl_scan_has(b, c))
            continue;
        if (r->place[c] != UINT32_MAX)
            tl_part_cell(r->part, i, r->place[c], &v);
        if (v.kind == TL_CELL_TEXT && kind->column[c].type == TL_TEXT)
            tl_scan_put_copy(b, c, row, v.text, strlen(v.text));
        else if (v.kind != TL_CELL_NULL && v.kind != TL_CELL_TEXT && kind->column[c].type == TL_INTEGER)
            tl_scan_put_int(b, c, row, tl_rows_integer(&kind->column[c], &v));
        else
            tl_scan_put_null(b, c, row);
        b->failed = b->failed || r->part->answer->failed;
    }
    tl_arena_reset(&r->part->answer->scratch);
}

#define TRACE_COLUMN                                                                                                   \
    {                                                                                                                  \
        "trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"                                  \
    }
#define FUNCTION_COLUMN                                                                                                \
    {                                                                                                                  \
        "function_name", "function_name", TL_TEXT, TL_UNIT_NONE, "its function; null: not known"                       \
    }
#define OFFSET_COLUMN                                                                                                  \
    {                                                                                                                  \
        "offset", "offset", TL_INTEGER, TL_UNIT_BYTES, "where in that"                                                 \
    }
#define ROWS(table_columns)                                                                                            \
    .column = (table_columns), .ncolumn = TL_COUNT(table_columns), .nargument = 1, .make = make,                       \
    .free_rows = free_rows, .count = count, .put = put

/* ---- cache_misses ---- */

static const tl_column_info cache_columns[] = {
    TRACE_COLUMN,
    {"pc", "pc", TL_INTEGER, TL_UNIT_HEX, "an instruction whose accesses missed"},
    FUNCTION_COLUMN,
    OFFSET_COLUMN,
    {"loads", "loads", TL_INTEGER, TL_UNIT_COUNT, "its loads that missed the first cache"},
    {"stores", "stores", TL_INTEGER, TL_UNIT_COUNT, "its stores that did"},
    {"l2", "l2", TL_INTEGER, TL_UNIT_COUNT, "both, of the second cache"},
    {"cache", "cache", TL_TEXT, TL_UNIT_NONE, "argument 1: the caches, as --cache of report; null: its usual ones"},
};

static int set_cache(tl_rows_options *o, const tl_cell *argument, tl_error *e)
{
    (void)e;
    o->cache = argument[0].kind == TL_CELL_TEXT ? argument[0].text : NULL;
    return 0;
}

static const report_kind cache = {"cache", "misses_by_pc", set_cache, NULL, NULL};

const tl_made_kind tl_cache_misses_kind = {
    .info = {"cache_misses", "instructions that miss simulated caches: cache_misses(cache)", TL_NEEDS_INSNS},
    .arg = &cache,
    ROWS(cache_columns)};

/* ---- predictions ---- */

static const tl_column_info branch_columns[] = {
    TRACE_COLUMN,
    {"pc", "pc", TL_INTEGER, TL_UNIT_HEX, "a branch"},
    {"kind", "kind", TL_TEXT, TL_UNIT_NONE, "what it is: branch.cond, branch.return ..."},
    FUNCTION_COLUMN,
    OFFSET_COLUMN,
    {"taken", "taken", TL_INTEGER, TL_UNIT_COUNT, "times it was taken"},
    {"not_taken", "not_taken", TL_INTEGER, TL_UNIT_COUNT, "times it was not"},
    {"misses", "misses", TL_INTEGER, TL_UNIT_COUNT, "times it was predicted wrongly; null: not one of the predictor's"},
    {"predictor", "predictor", TL_TEXT, TL_UNIT_NONE,
     "argument 1: one predictor, as --predictor of report; null: gshare"},
};

static int set_predictor(tl_rows_options *o, const tl_cell *argument, tl_error *e)
{
    o->predictor = argument[0].kind == TL_CELL_TEXT ? argument[0].text : "gshare";
    if (strchr(o->predictor, ','))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "predictions: more than one predictor");
    return 0;
}

static const report_kind predictions = {"branch", "branches", set_predictor, "misses", "misses_*"};

const tl_made_kind tl_predictions_kind = {
    .info = {"predictions", "branches that a simulated predictor misses: predictions(predictor)", TL_NEEDS_INSNS},
    .arg = &predictions,
    ROWS(branch_columns)};

_Static_assert(TL_COUNT(cache_columns) <= COLUMN_PLACES && TL_COUNT(branch_columns) <= COLUMN_PLACES, "have a place");

/* ---- page_intervals ---- */

static const tl_column_info interval_columns[] = {
    TRACE_COLUMN,
    {"thread", "thread", TL_TEXT, TL_UNIT_NONE, "its thread or processor"},
    {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "instructions that it had executed when the interval began"},
    {"end_ts", "end_ts", TL_INTEGER, TL_UNIT_TIME, "and when it ended"},
    {"code_pages", "code_pages", TL_INTEGER, TL_UNIT_COUNT, "pages that it executed code from"},
    {"data_pages", "data_pages", TL_INTEGER, TL_UNIT_COUNT, "pages that it loaded from or stored to"},
    {"new_pages", "new_pages", TL_INTEGER, TL_UNIT_COUNT, "pages that it had not used before"},
    {"step_length", "step_length", TL_INTEGER, TL_UNIT_TIME, "argument 1: the length of an interval; null: 1,000,000"},
};

static int set_interval(tl_rows_options *o, const tl_cell *argument, tl_error *e)
{
    enum { USUAL = 1000000 };
    if (!tl_made_step(argument, "page_intervals", &o->interval, e))
        return TL_EINVAL;
    o->interval = argument[0].kind == TL_CELL_INT ? o->interval : USUAL;
    return 0;
}

static const report_kind intervals = {"page", "working_set", set_interval, NULL, NULL};

const tl_made_kind tl_page_intervals_kind = {
    .info = {"page_intervals", "pages of memory in use over time: page_intervals(step)", TL_NEEDS_INSNS},
    .arg = &intervals,
    ROWS(interval_columns)};

/* ---- tables of report, with their options as arguments ---- */

static const tl_column_info reuse_arguments[] = {
    {"line_size", "line_size", TL_INTEGER, TL_UNIT_BYTES, "argument 1: a power of two up to 65536; null: 64"},
    {"sample", "sample", TL_INTEGER, TL_UNIT_COUNT,
     "argument 2: a power of two: one line in so many is examined; null: all"},
};

/* A number of 32 or 64 bits that report checks; 0 is no such number, null is. */
static bool take_number(const tl_cell *v, int64_t most, uint64_t *out)
{
    *out = v->kind == TL_CELL_INT ? (uint64_t)v->i64 : 0;
    return v->kind == TL_CELL_NULL || (v->i64 > 0 && v->i64 <= most);
}

static int set_reuse(tl_rows_options *o, const tl_cell *argument, tl_error *e)
{
    uint64_t line_size;
    if (!take_number(&argument[0], UINT32_MAX, &line_size) || !take_number(&argument[1], INT64_MAX, &o->sample))
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "reuse: an argument is not a power of two");
    o->line_size = (uint32_t)line_size;
    return 0;
}

static const report_kind levels = {"cache", NULL, set_cache, NULL, NULL},
                         reuse = {"reuse", NULL, set_reuse, NULL, NULL};

static const struct {
    const tl_table_kind *of;
    const report_kind *kind;
    const char *summary;
    const tl_column_info *argument;
    uint32_t nargument;
} with_arguments[] = {
    {&tl_table_cache, &levels, "hits and misses of simulated caches: cache_levels(cache)",
     &cache_columns[TL_COUNT(cache_columns) - 1], 1},
    {&tl_table_reuse, &reuse,
     "how many other lines of memory are used before one is used again: reuse(line_size, sample)", reuse_arguments,
     TL_COUNT(reuse_arguments)},
};

bool tl_report_has_arguments(const tl_table_kind *of)
{
    for (size_t i = 0; i < TL_COUNT(with_arguments); i++)
        if (with_arguments[i].of == of)
            return true;
    return false;
}

bool tl_report_made_kind(tl_made_kind *out, const tl_table_kind *of, tl_arena *arena)
{
    size_t i = 0;
    while (with_arguments[i].of != of)
        i++;
    const uint32_t nargument = with_arguments[i].nargument;
    tl_column_info *column = tl_arena_alloc(arena, ((size_t)1 + of->ncolumn + nargument) * sizeof *column);
    uint32_t n = 0;
    if (!column)
        return false;
    column[n++] = (tl_column_info)TRACE_COLUMN;
    for (uint32_t k = 0; k < of->ncolumn; k++)
        if (of->column[k].info.name)
            column[n++] = of->column[k].info;
    for (uint32_t k = 0; k < nargument; k++)
        column[n++] = with_arguments[i].argument[k];
    assert(n <= COLUMN_PLACES);
    *out = (tl_made_kind){.info = {of->sql, with_arguments[i].summary, of->info.needs},
                          .column = column,
                          .ncolumn = n,
                          .nargument = nargument,
                          .arg = with_arguments[i].kind,
                          .make = make,
                          .free_rows = free_rows,
                          .count = count,
                          .put = put};
    return true;
}

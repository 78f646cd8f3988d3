/* The tables of a session as virtual tables of SQLite: xBestIndex turns a statement's constraints into the terms of a
 * scan, xColumn reads the blocks of the scan.
 *
 * A plan is the number of xFilter's arguments and a text: "<used columns in hex> <ordered> <column> <op> ...", a column
 * and tl_term_op for each argument. SQLite tests every constraint again (`omit` is never set), so a scan that leaves
 * out too few rows is only slower. */
#ifdef TL_HAVE_SQLITE

#include "query/sqlite/sqlite_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/protobuf.h"
#include "query/kept_rows.h"
#include "query/sql_type.h"

#define MOST_TERMS     32u
#define USES_OF_OTHERS 4u  /* a plan that so many cursors use is one of a subquery that runs for each row */
#define USED_BITS      63u /* colUsed: a column each; the last bit is for all others */

typedef struct table {
    sqlite3_vtab base;
    tl_sql_table *table;
} table;

/* A plan of a table, and its rows once a statement has asked for them often. */
typedef struct tl_kept_plan {
    char *plan;
    uint32_t uses; /* by cursors that had not used it before */
    bool is_there, too_large;
    tl_kept_rows rows;
    struct tl_kept_plan *next;
} tl_kept_plan;

typedef struct cursor {
    sqlite3_vtab_cursor base;
    tl_scan *scan;
    const tl_kept_rows *kept; /* in place of a scan: rows at .. to-1 */
    tl_kept_rows sorted;      /* of its own */
    uint32_t to;
    bool was_used;
    tl_block block;
    uint32_t at;
    sqlite3_int64 row;
    bool ended;
} cursor;

int tl_sqlite_keep_error(tl_query *q, const tl_error *e)
{
    if (!q->has_error) {
        q->error = *e;
        q->has_error = true;
    }
    return e->code == TL_ENOMEM ? SQLITE_NOMEM : e->code == TL_ELIMIT ? SQLITE_INTERRUPT : SQLITE_ERROR;
}

/* CREATE TABLE x("trace" INTEGER, ...) */
static void put_declaration(const tl_scan_table *t, tl_pb *sql)
{
    tl_pb_text(sql, "CREATE TABLE x(");
    for (uint32_t i = 0; i < t->ncolumn; i++) {
        tl_pb_text(sql, i ? ",\"" : "\"");
        for (const char *p = t->column[i].name; *p; p++)
            tl_pb_raw(sql, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
        tl_pb_text(sql, "\" ");
        tl_pb_text(sql, tl_sql_type(&t->column[i]));
    }
    tl_pb_raw(sql, ")", 2); /* with its NUL */
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
    (void)argc;
    (void)argv;
    tl_sql_table *t = aux;
    tl_error e = {0};
    tl_pb sql = {0};
    if (tl_query_table_open(t, &e) < 0) {
        *message = sqlite3_mprintf("%s", e.message);
        return tl_sqlite_keep_error(t->query, &e);
    }
    put_declaration(t->table, &sql);
    table *v = sqlite3_malloc(sizeof *v);
    int status = SQLITE_NOMEM;
    if (v && !sql.failed) {
        t->query->is_opening_table = true;
        status = sqlite3_declare_vtab(db, (const char *)sql.data);
        t->query->is_opening_table = false;
    }
    tl_pb_fini(&sql);
    if (status != SQLITE_OK) {
        sqlite3_free(v);
        return status;
    }
    *v = (table){.table = t};
    *out = &v->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *v)
{
    sqlite3_free(v);
    return SQLITE_OK;
}

static bool term_of(unsigned char op, tl_term_op *out)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        *out = TL_TERM_IS;
        return true;
    case SQLITE_INDEX_CONSTRAINT_GT:
        *out = TL_TERM_ABOVE;
        return true;
    case SQLITE_INDEX_CONSTRAINT_GE:
        *out = TL_TERM_AT_LEAST;
        return true;
    case SQLITE_INDEX_CONSTRAINT_LT:
        *out = TL_TERM_BELOW;
        return true;
    case SQLITE_INDEX_CONSTRAINT_LE:
        *out = TL_TERM_AT_MOST;
        return true;
    case SQLITE_INDEX_CONSTRAINT_GLOB:
        *out = TL_TERM_GLOB;
        return true;
    default:
        return false;
    }
}

/* What a constraint is worth. */
typedef struct worth {
    tl_term_op op;
    double keeps; /* the part of the rows that it leaves */
    bool inner;   /* its value is that of another table's row: rows are kept, and found by it */
} worth;

static bool takes(const tl_sql_table *t, sqlite3_index_info *info, int i, worth *w)
{
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    sqlite3_value *constant = NULL;
    if (!c->usable || c->iColumn < 0 || (uint32_t)c->iColumn >= t->table->ncolumn || !term_of(c->op, &w->op))
        return false;
    const bool is_text = t->table->column[c->iColumn].type == TL_TEXT;
    if (is_text && sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
        return false;
    w->keeps = t->table->keeps(t->table, (uint32_t)c->iColumn, w->op);
    w->inner = sqlite3_vtab_rhs_value(info, i, &constant) != SQLITE_OK && w->op != TL_TERM_GLOB &&
               t->table->column[c->iColumn].type != TL_REAL && (!is_text || w->op == TL_TERM_IS);
    if (w->inner) {
        const double found = w->op == TL_TERM_IS ? 0.001 : 0.1;
        w->keeps = found < w->keeps ? found : w->keeps;
    }
    return w->keeps < 1;
}

/* How a scan gives rows in the order that ORDER BY or GROUP BY asks for. */
typedef enum order {
    UNORDERED,
    BY_SCAN,   /* it reads them so */
    BY_SORTING /* they are collected and sorted: less than what SQLite's own sorting costs */
} order;

/* One column, ascending. Sorting is for the few different values of groups, and only for what fits into memory. */
static order order_of(const tl_sql_table *t, const sqlite3_index_info *info, double rows)
{
    enum { BYTES_OF_A_VALUE = 9, BYTES_OF_A_ROW = 16 };
    const tl_scan_table *s = t->table;
    uint64_t columns = 0;
    if (info->nOrderBy != 1 || info->aOrderBy[0].desc || info->aOrderBy[0].iColumn < 0)
        return UNORDERED;
    const uint32_t column = (uint32_t)info->aOrderBy[0].iColumn;
    if (column == s->order)
        return BY_SCAN;
    if (!s->is_large || s->column[column].type == TL_REAL || s->column[column].unit == TL_UNIT_TIME ||
        s->column[column].unit == TL_UNIT_UTC || s->column[column].unit == TL_UNIT_JSON)
        return UNORDERED;
    for (uint64_t bits = info->colUsed; bits; bits &= bits - 1)
        columns++;
    return rows * (double)(columns * BYTES_OF_A_VALUE + BYTES_OF_A_ROW) < (double)tl_query_memory(t->query) ? BY_SORTING
                                                                                                            : UNORDERED;
}

/* Columns that the statement looks at, and those of terms, which kept rows are found by. */
static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    tl_sql_table *t = ((table *)vtab)->table;
    const tl_scan_table *s = t->table;
    double rows = (double)s->rows, cost = rows + 100;
    char terms[MOST_TERMS * 16] = "";
    size_t at = 0;
    int n = 0;
    bool inner = false;
    t->is_used = true;
    if (t->place < USED_BITS)
        t->wants_places = t->wants_places || info->colUsed >> t->place || t->place == 0;
    for (int i = 0; i < info->nConstraint && n < (int)MOST_TERMS; i++) {
        worth w;
        if (!takes(t, info, i, &w))
            continue;
        if (w.op == TL_TERM_IS && sqlite3_vtab_in(info, i, -1))
            sqlite3_vtab_in(info, i, 1);
        info->aConstraintUsage[i].argvIndex = ++n;
        at += (size_t)snprintf(terms + at, sizeof terms - at, " %d %d", info->aConstraint[i].iColumn, (int)w.op);
        rows *= w.keeps;
        cost *= w.keeps < 0.5 ? 0.5 : 1;
        inner = inner || w.inner;
    }
    const order by = inner ? UNORDERED : order_of(t, info, rows);
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
    info->estimatedCost = inner ? rows + 20 : cost;
    info->orderByConsumed = by != UNORDERED;
    info->idxStr = sqlite3_mprintf("%llx %d %d%s", (unsigned long long)info->colUsed, (int)by,
                                   info->nOrderBy > 0 ? info->aOrderBy[0].iColumn : 0, terms);
    info->needToFreeIdxStr = 1;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
    (void)v;
    cursor *c = sqlite3_malloc(sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    *c = (cursor){.ended = true};
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    cursor *c = (cursor *)base;
    tl_scan_close(c->scan);
    tl_kept_rows_fini(&c->sorted);
    sqlite3_free(c);
    return SQLITE_OK;
}

/* A value of a constraint; others than numbers and text are TL_CELL_NULL, which scans do not use. */
static tl_cell cell_of(sqlite3_value *v)
{
    switch (sqlite3_value_type(v)) {
    case SQLITE_INTEGER:
        return (tl_cell){.kind = TL_CELL_INT, .i64 = sqlite3_value_int64(v)};
    case SQLITE_FLOAT:
        return (tl_cell){.kind = TL_CELL_REAL, .real = sqlite3_value_double(v)};
    case SQLITE_TEXT:
        return (tl_cell){.kind = TL_CELL_TEXT, .text = (const char *)sqlite3_value_text(v)};
    default:
        return (tl_cell){.kind = TL_CELL_NULL};
    }
}

static bool glob(const char *pattern, const char *text)
{
    return sqlite3_strglob(pattern, text) == 0;
}

/* The values of an argument: one, or those of IN. Copied to the arena. */
static int values_of(tl_arena *a, sqlite3_value *arg, tl_term *t)
{
    sqlite3_value *v = NULL;
    uint32_t n = 0;
    int status;
    tl_cell *cell = tl_arena_alloc(a, sizeof *cell);
    if (!cell)
        return SQLITE_NOMEM;
    t->value = cell;
    t->n = 1;
    *cell = cell_of(arg);
    if (t->op != TL_TERM_IS || sqlite3_vtab_in_first(arg, &v) != SQLITE_OK)
        return SQLITE_OK;
    for (status = SQLITE_OK; status == SQLITE_OK && v; status = sqlite3_vtab_in_next(arg, &v))
        n++;
    cell = tl_arena_alloc(a, ((size_t)n + 1) * sizeof *cell);
    if (!cell)
        return SQLITE_NOMEM;
    t->value = cell;
    t->n = 0;
    for (status = sqlite3_vtab_in_first(arg, &v); status == SQLITE_OK && v && t->n < n;
         status = sqlite3_vtab_in_next(arg, &v)) {
        cell[t->n] = cell_of(v);
        if (cell[t->n].kind == TL_CELL_TEXT)
            cell[t->n].text = tl_arena_strndup(a, cell[t->n].text, strlen(cell[t->n].text));
        if (cell[t->n].kind == TL_CELL_TEXT && !cell[t->n].text)
            return SQLITE_NOMEM;
        t->n++;
    }
    return SQLITE_OK;
}

/* A term says something only if its values are of the column's type: others are converted before they are compared. */
static bool is_of_type(const tl_term *t, const tl_column_info *c)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const tl_cell_kind kind = t->value[i].kind;
        if (c->type == TL_TEXT ? kind != TL_CELL_TEXT : kind != TL_CELL_INT && kind != TL_CELL_REAL)
            return false;
    }
    return t->n > 0;
}

/* What a plan and its arguments stand for. */
typedef struct request {
    tl_scan_ask ask;
    order by;
    uint32_t column; /* to sort by */
    tl_term *all;    /* [nall] also those whose values say nothing */
    uint32_t nall;
    bool never; /* one of them is compared with null: no row fulfils that */
    tl_arena arena;
} request;

static int read_plan(const tl_scan_table *s, const char *plan, int argc, sqlite3_value **argv, request *r)
{
    tl_arena *a = &r->arena;
    tl_scan_ask *ask = &r->ask;
    char *end;
    const uint64_t bits = strtoull(plan, &end, 16);
    uint8_t *used = tl_arena_zalloc(a, (size_t)s->ncolumn + 1);
    tl_term *term = tl_arena_zalloc(a, ((size_t)argc + 1) * sizeof *term);
    r->all = tl_arena_zalloc(a, ((size_t)argc + 1) * sizeof *r->all);
    if (!used || !term || !r->all)
        return SQLITE_NOMEM;
    for (uint32_t i = 0; i < s->ncolumn; i++)
        used[i] = bits >> (i < USED_BITS ? i : USED_BITS) & 1;
    ask->used = used;
    ask->term = term;
    r->by = (order)strtoul(end, &end, 10);
    r->column = (uint32_t)strtoul(end, &end, 10);
    ask->ordered = r->by == BY_SCAN;
    if (r->by != UNORDERED)
        used[r->column] = 1;
    for (int i = 0; i < argc; i++) {
        tl_term *t = &term[ask->nterm];
        t->column = (uint32_t)strtoul(end, &end, 10);
        t->op = (tl_term_op)strtoul(end, &end, 10);
        const int status = values_of(a, argv[i], t);
        if (status != SQLITE_OK)
            return status;
        used[t->column] = 1;
        r->all[r->nall++] = *t;
        r->never = r->never || (t->n == 1 && t->value[0].kind == TL_CELL_NULL && /* a list of IN looks like null */
                                sqlite3_value_type(argv[i]) == SQLITE_NULL);
        ask->nterm += is_of_type(t, &s->column[t->column]);
    }
    return SQLITE_OK;
}

static int read_block(cursor *c)
{
    tl_query *q = ((table *)c->base.pVtab)->table->query;
    tl_error e = {0};
    const int status = tl_scan_next(c->scan, &c->block, &e);
    c->at = 0;
    c->ended = status <= 0;
    return status < 0 ? tl_sqlite_keep_error(q, &e) : SQLITE_OK;
}

static tl_kept_plan *kept_plan(tl_sql_table *t, const char *plan)
{
    for (tl_kept_plan *p = t->kept; p; p = p->next)
        if (strcmp(p->plan, plan) == 0)
            return p;
    tl_kept_plan *p = calloc(1, sizeof *p);
    if (p && !(p->plan = strdup(plan))) {
        free(p);
        p = NULL;
    }
    if (p) {
        p->next = t->kept;
        t->kept = p;
    }
    return p;
}

void tl_sqlite_drop_kept(tl_query *q)
{
    for (uint32_t i = 0; i < q->ntable; i++)
        for (tl_kept_plan *p; (p = q->table[i].kept);) {
            q->table[i].kept = p->next;
            tl_kept_rows_fini(&p->rows);
            free(p->plan);
            free(p);
        }
}

/* Reads the rows of a plan, without its terms, whose values change. */
static int keep_rows(tl_sql_table *t, tl_kept_plan *p, const request *r, tl_error *e)
{
    tl_query *q = t->query;
    tl_scan *scan = NULL;
    tl_scan_ask ask = r->ask;
    ask.nterm = 0;
    int status = tl_scan_open(&scan, t->table, &q->dataset, &ask, e);
    if (status == 0)
        status = tl_kept_rows_read(&p->rows, t->table, r->ask.used, scan, tl_query_memory(q), e);
    tl_scan_close(scan);
    if (status == 0)
        status = tl_kept_rows_sort(&p->rows, r->all, r->nall, e);
    p->is_there = status == 0;
    if (status < 0)
        tl_kept_rows_fini(&p->rows);
    return status;
}

/* Gives the cursor kept rows, if it is in an inner loop. 1: it has them; 0: it has to scan; < 0: error. */
static int use_kept(cursor *c, tl_sql_table *t, const char *plan, const request *r, tl_error *e)
{
    tl_kept_plan *p = kept_plan(t, plan);
    if (!p)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows");
    p->uses += !c->was_used;
    const bool again = c->was_used;
    c->was_used = true;
    if (!p->is_there && !again && (p->uses < USES_OF_OTHERS || p->too_large))
        return 0;
    if (!p->is_there) {
        const int status = keep_rows(t, p, r, e);
        if (status == TL_ELIMIT && !again && !t->query->limit) {
            p->too_large = true;
            return 0;
        }
        if (status < 0)
            return status;
    }
    c->kept = &p->rows;
    tl_kept_rows_find(c->kept, r->ask.term, r->ask.nterm, &c->at, &c->to);
    c->ended = c->at == c->to;
    return 1;
}

/* Reads all rows, and sorts them. */
static int sort_rows(cursor *c, tl_sql_table *t, const request *r, tl_error *e)
{
    tl_query *q = t->query;
    tl_scan *scan = NULL;
    int status = tl_scan_open(&scan, t->table, &q->dataset, &r->ask, e);
    if (status == 0)
        status = tl_kept_rows_read(&c->sorted, t->table, r->ask.used, scan, tl_query_memory(q), e);
    tl_scan_close(scan);
    if (status == 0)
        status = tl_kept_rows_order(&c->sorted, r->column, e);
    c->kept = &c->sorted;
    c->at = 0;
    c->to = c->sorted.n;
    c->ended = c->to == 0;
    return status < 0 ? status : 1;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc, sqlite3_value **argv)
{
    (void)number;
    cursor *c = (cursor *)base;
    tl_sql_table *t = ((table *)base->pVtab)->table;
    tl_query *q = t->query;
    tl_error e = {0};
    request r = {.ask = {.glob = glob, .stop = tl_query_stopped, .stop_arg = q}};
    tl_scan_close(c->scan);
    tl_kept_rows_fini(&c->sorted);
    c->scan = NULL;
    c->kept = NULL;
    c->row = 0;
    c->ended = true;
    int status = read_plan(t->table, plan, argc, argv, &r), kept = 0;
    if (status == SQLITE_OK && t->origin == TL_TABLE_ROWS && tl_rows_table_make(&t->rows, &e) < 0)
        status = tl_sqlite_keep_error(q, &e);
    if (status == SQLITE_OK && !r.never) {
        kept = r.by == BY_SORTING ? sort_rows(c, t, &r, &e) : use_kept(c, t, plan, &r, &e);
        if (kept < 0 || (kept == 0 && tl_scan_open(&c->scan, t->table, &q->dataset, &r.ask, &e) < 0))
            status = tl_sqlite_keep_error(q, &e);
        else if (kept == 0)
            status = read_block(c);
    }
    tl_arena_fini(&r.arena);
    return status;
}

static int next_row(sqlite3_vtab_cursor *base)
{
    cursor *c = (cursor *)base;
    c->row++;
    c->at++;
    if (c->kept) {
        c->ended = c->at == c->to;
        return SQLITE_OK;
    }
    return TL_LIKELY(c->at < c->block.rows) ? SQLITE_OK : read_block(c);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    return ((cursor *)base)->ended;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int index)
{
    const cursor *c = (cursor *)base;
    tl_block_column b;
    uint32_t row = c->at;
    if (c->kept) {
        const tl_scan_array *a = &c->kept->array[index];
        b = (tl_block_column){.i64 = a->i64, .real = a->real, .text = a->text, .is_null = a->is_null};
        row = tl_kept_row(c->kept, row);
    } else {
        b = c->block.column[index];
    }
    if (!b.is_null || b.is_null[row])
        sqlite3_result_null(context);
    else if (b.i64)
        sqlite3_result_int64(context, b.i64[row]);
    else if (b.real)
        sqlite3_result_double(context, b.real[row]);
    else
        sqlite3_result_text(context, b.text[row], -1, SQLITE_TRANSIENT);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = ((cursor *)base)->row;
    return SQLITE_OK;
}

/* xCreate is NULL: a table is there without CREATE. */
static const sqlite3_module module = {.iVersion = 0,
                                      .xConnect = connect,
                                      .xBestIndex = best_index,
                                      .xDisconnect = disconnect,
                                      .xOpen = open_cursor,
                                      .xClose = close_cursor,
                                      .xFilter = filter,
                                      .xNext = next_row,
                                      .xEof = is_at_end,
                                      .xColumn = column,
                                      .xRowid = rowid};

int tl_sqlite_add_tables(tl_query *q, tl_error *e)
{
    for (uint32_t i = 0; i < q->ntable; i++)
        if (sqlite3_create_module_v2(q->db, q->table[i].table->info.name, &module, &q->table[i], NULL) != SQLITE_OK)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for tables");
    return 0;
}

#endif

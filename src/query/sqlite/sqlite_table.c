/* The tables of a session as virtual tables of SQLite: a cursor reads the blocks of a scan, or rows that were kept. */
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
#include "query/sqlite/sqlite_plan.h"
#include "query/sqlite/sqlite_row_number.h"

#define USES_OF_OTHERS     4u /* a plan that so many cursors use is one of a subquery that runs for each row */
#define PLANS_OF_ARGUMENTS 16u

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
    const tl_kept_rows *kept;    /* in place of a scan */
    tl_kept_rows sorted;         /* of its own */
    int64_t late;                /* INT64_MIN; else some of the kept rows are passed over, as in tl_kept_range */
    const tl_kept_plan *plan;    /* used last */
    const tl_block_column *cell; /* [ncolumn] of the block or of kept rows */
    uint32_t at, rows;           /* in there */
    uint32_t *row;               /* [nrow] kept rows that were found and sorted; NULL: they have the right order */
    uint32_t nrow, place;        /* of the current one in there */
    uint64_t used;               /* columns that the statement looks at, as in sqlite3_index_info.colUsed */
    tl_row_numbers numbers;
    sqlite3_int64 number; /* of the row, if it has one already */
    bool has_number, ended;
} cursor;

int tl_sqlite_keep_error(tl_query *q, const tl_error *e)
{
    if (!q->has_error) {
        q->error = *e;
        q->has_error = true;
    }
    /* A limit of a table has a message of its own; that of the statement is known. */
    return e->code == TL_ENOMEM ? SQLITE_NOMEM : e->code == TL_ELIMIT && q->limit ? SQLITE_INTERRUPT : SQLITE_ERROR;
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
        if (i >= t->ncolumn - t->nargument)
            tl_pb_text(sql, " HIDDEN"); /* an argument */
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

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
    return tl_sqlite_plan(((table *)v)->table, info);
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
    free(c->row);
    tl_row_numbers_fini(&c->numbers);
    sqlite3_free(c);
    return SQLITE_OK;
}

static int read_block(cursor *c)
{
    tl_query *q = ((table *)c->base.pVtab)->table->query;
    tl_error e = {0};
    tl_block block = {0};
    /* SQLite looks after some thousand rows, which are megabytes each where stacks are deep. */
    const int status =
        tl_query_stopped(q) ? tl_fail(&e, TL_ELIMIT, TL_NO_OFFSET, "stopped") : tl_scan_next(c->scan, &block, &e);
    c->cell = block.column;
    c->rows = block.rows;
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
static int keep_rows(tl_sql_table *t, tl_kept_plan *p, const tl_sqlite_request *r, tl_error *e)
{
    tl_query *q = t->query;
    tl_scan *scan = NULL;
    tl_scan_ask ask = r->ask;
    ask.nterm = 0;
    int status = tl_scan_open(&scan, t->table, &q->dataset, &ask, e);
    if (status == 0)
        status = tl_kept_rows_read(&p->rows, t->table, r->ask.used, scan, tl_query_memory(q),
                                   (tl_kept_stop){r->ask.stop, q}, e);
    tl_scan_close(scan);
    if (status == 0)
        status = tl_kept_rows_sort(&p->rows, r->all, r->nall, (tl_kept_stop){r->ask.stop, q}, e);
    p->is_there = status == 0;
    if (status < 0)
        tl_kept_rows_fini(&p->rows);
    return status;
}

/* A table with arguments has a plan for each of their values: a few of them are remembered. */
static bool is_one_too_many(const tl_sql_table *t, const char *plan)
{
    uint32_t n = 0;
    for (const tl_kept_plan *p = t->kept; p && t->table->nargument; p = p->next, n++)
        if (strcmp(p->plan, plan) == 0)
            return false;
    return n >= PLANS_OF_ARGUMENTS;
}

/* Goes to the first of the kept rows that may fulfil the terms. */
static void start_kept(cursor *c, const tl_kept_rows *rows, const tl_term *term, uint32_t nterm)
{
    const tl_kept_range range = tl_kept_rows_find(rows, term, nterm);
    c->kept = rows;
    c->cell = rows->column;
    c->at = range.at;
    c->rows = range.to;
    c->late = range.late;
    c->ended = c->at == c->rows;
}

/* Goes to the rows that fulfil the terms, in the order that was promised. */
static int start_ordered(cursor *c, const tl_kept_rows *rows, const tl_sqlite_request *r, tl_error *e)
{
    start_kept(c, rows, r->ask.term, r->ask.nterm);
    if (r->by == TL_UNORDERED)
        return 0;
    const tl_kept_range range = {.at = c->at, .to = c->rows, .late = c->late};
    const int status = tl_kept_rows_arrange(rows, &range, r->column, r->by == TL_BY_SCAN, &c->row, &c->nrow,
                                            (tl_kept_stop){r->ask.stop, r->ask.stop_arg}, e);
    c->place = 0;
    if (c->row)
        c->at = c->row[0];
    return status;
}

/* Gives the cursor kept rows, if it is in an inner loop. 1: it has them; 0: it has to scan; < 0: error. */
static int use_kept(cursor *c, tl_sql_table *t, const char *plan, const tl_sqlite_request *r, tl_error *e)
{
    if (is_one_too_many(t, plan)) {
        c->plan = NULL;
        return 0;
    }
    tl_kept_plan *p = kept_plan(t, plan);
    if (!p)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for rows");
    p->uses += c->plan != p;
    const bool again = c->plan == p;
    c->plan = p;
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
    const int status = start_ordered(c, &p->rows, r, e);
    return status < 0 ? status : 1;
}

/* Reads all rows, and sorts them. */
static int sort_rows(cursor *c, tl_sql_table *t, const tl_sqlite_request *r, tl_error *e)
{
    tl_query *q = t->query;
    tl_scan *scan = NULL;
    int status = tl_scan_open(&scan, t->table, &q->dataset, &r->ask, e);
    if (status == 0)
        status = tl_kept_rows_read(&c->sorted, t->table, r->ask.used, scan, tl_query_memory(q),
                                   (tl_kept_stop){r->ask.stop, q}, e);
    tl_scan_close(scan);
    if (status == 0)
        status = tl_kept_rows_order(&c->sorted, r->column, (tl_kept_stop){r->ask.stop, q}, e);
    if (status == 0)
        start_kept(c, &c->sorted, NULL, 0);
    return status < 0 ? status : 1;
}

bool tl_query_glob(const char *pattern, const char *text)
{
    return sqlite3_strglob(pattern, text) == 0;
}

/* The plan and the values of arguments, which it depends on. NULL when memory runs out. */
static const char *with_arguments(const char *plan, const tl_scan_table *t, tl_sqlite_request *r)
{
    tl_pb key = {0};
    tl_pb_text(&key, plan);
    for (uint32_t i = 0; i < t->nargument; i++) {
        const tl_cell *v = &r->ask.argument[i];
        tl_pb_text(&key, v->kind == TL_CELL_NULL ? " n" : v->kind == TL_CELL_INT ? " i" : " t");
        if (v->kind == TL_CELL_INT)
            tl_pb_text_i64(&key, v->i64);
        if (v->kind != TL_CELL_TEXT)
            continue;
        tl_pb_text_u64(&key, strlen(v->text));
        tl_pb_text(&key, ":");
        tl_pb_text(&key, v->text);
    }
    const char *text = key.failed ? NULL : tl_arena_strndup(&r->arena, (const char *)key.data, key.n);
    tl_pb_fini(&key);
    return text;
}

/* Passes over sources that arguments ask for count as part of the statement. */
static int open_scan(cursor *c, const tl_sql_table *t, const tl_sqlite_request *r, tl_error *e)
{
    tl_query *q = t->query;
    atomic_store(&q->pass_deadline, q->deadline);
    const int status = tl_scan_open(&c->scan, t->table, &q->dataset, &r->ask, e);
    atomic_store(&q->pass_deadline, 0);
    if (status == TL_ELIMIT)
        (void)tl_query_stopped(q);
    return status;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc, sqlite3_value **argv)
{
    (void)number;
    cursor *c = (cursor *)base;
    tl_sql_table *t = ((table *)base->pVtab)->table;
    tl_query *q = t->query;
    tl_error e = {0};
    tl_sqlite_request r = {.ask = {.glob = tl_query_glob, .stop = tl_query_stopped, .stop_arg = q}};
    tl_scan_close(c->scan);
    tl_kept_rows_fini(&c->sorted);
    free(c->row);
    c->row = NULL;
    c->scan = NULL;
    c->kept = NULL;
    c->late = INT64_MIN;
    c->used = strtoull(plan, NULL, 16);
    c->has_number = false;
    c->ended = true;
    tl_row_numbers_fini(&c->numbers);
    int status = tl_sqlite_read_plan(t->table, plan, argc, argv, &r), kept = 0;
    if (status == SQLITE_OK && t->origin == TL_TABLE_ROWS && tl_rows_table_make(&t->rows, &e) < 0)
        status = tl_sqlite_keep_error(q, &e);
    if (status == SQLITE_OK && t->table->nargument && !(plan = with_arguments(plan, t->table, &r)))
        status = SQLITE_NOMEM;
    if (status == SQLITE_OK && !r.never) {
        kept = r.by != TL_BY_SORTING || r.may_repeat ? use_kept(c, t, plan, &r, &e) : 0;
        if (kept == 0 && r.by == TL_BY_SORTING)
            kept = sort_rows(c, t, &r, &e);
        if (kept < 0 || (kept == 0 && open_scan(c, t, &r, &e) < 0))
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
    c->has_number = false;
    if (TL_UNLIKELY(c->row)) {
        c->ended = ++c->place == c->nrow;
        c->at = c->ended ? c->at : c->row[c->place];
        return SQLITE_OK;
    }
    c->at++;
    if (TL_UNLIKELY(c->late != INT64_MIN))
        c->at = tl_kept_rows_late(c->kept, c->at, c->rows, c->late);
    if (TL_LIKELY(c->at < c->rows))
        return SQLITE_OK;
    c->ended = c->kept != NULL;
    return c->ended ? SQLITE_OK : read_block(c);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    return ((cursor *)base)->ended;
}

static unsigned digit_of(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The bytes of a column of TL_UNIT_BLOB. */
static void give_bytes(sqlite3_context *context, const char *hex)
{
    const size_t n = strlen(hex) / 2;
    uint8_t *bytes = sqlite3_malloc64(n + 1);
    if (!bytes) {
        sqlite3_result_error_nomem(context);
        return;
    }
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(digit_of(hex[2 * i]) << 4 | digit_of(hex[2 * i + 1]));
    sqlite3_result_blob64(context, bytes, n, sqlite3_free);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int index)
{
    const cursor *c = (cursor *)base;
    const tl_block_column *b = &c->cell[index];
    const uint32_t row = c->at;
    if (!b->is_null || b->is_null[row])
        sqlite3_result_null(context);
    else if (b->i64)
        sqlite3_result_int64(context, b->i64[row]);
    else if (b->real)
        sqlite3_result_double(context, b->real[row]);
    else if (TL_UNLIKELY(((table *)base->pVtab)->table->table->column[index].unit == TL_UNIT_BLOB))
        give_bytes(context, b->text[row]);
    else
        sqlite3_result_text(context, b->text[row], -1, SQLITE_TRANSIENT);
    return SQLITE_OK;
}

/* Adds a column of the row. */
static void add_cell(tl_hasher *h, const cursor *c, uint32_t index)
{
    const tl_block_column *b = &c->cell[index];
    const uint32_t row = c->at;
    const bool has = b->is_null && !b->is_null[row];
    uint64_t bits = has && b->i64 ? (uint64_t)b->i64[row] : 0;
    if (has && b->real)
        memcpy(&bits, &b->real[row], sizeof bits);
    tl_hasher_add(h, has);
    if (has && b->text)
        tl_hasher_text(h, b->text[row]);
    else
        tl_hasher_add(h, bits);
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    enum { LAST = 63 }; /* the bit of columns from here on */
    cursor *c = (cursor *)base;
    const tl_sql_table *t = ((table *)base->pVtab)->table;
    int64_t number = c->number;
    if (!c->has_number) {
        tl_hasher content = tl_hasher_begin();
        for (uint32_t i = 0; i < t->table->ncolumn; i++)
            if (c->used >> (i < LAST ? i : LAST) & 1)
                add_cell(&content, c, i);
        if (!tl_row_number(&c->numbers, &content, tl_query_memory(t->query), &number))
            return SQLITE_NOMEM;
        c->number = number;
        c->has_number = true;
    }
    *out = c->number;
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

/* How a table is read for a statement. */
#ifdef TL_HAVE_SQLITE

#include "query/sqlite/sqlite_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TERMS 32u
#define TEXT_BYTES 4096      /* of an argument of a table; results are found by them */
#define BLOB_BYTES (1 << 18) /* the same: more than any histogram has */
#define USED_BITS  63u       /* colUsed: a column each; the last bit is for all others */

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

/* Join terms of all tables are known now. Was an order not claimed that can be? */
static bool know_joins(tl_query *q)
{
    bool lost = false;
    for (uint32_t i = 0; i < q->ntable; i++) {
        tl_join_terms *j = &q->table[i].joins;
        j->are_known = !j->too_many;
        lost = lost || (j->lost_order && j->are_known);
    }
    return lost;
}

int tl_sqlite_prepare(tl_query *q, const char *sql, sqlite3_stmt **out, const char **tail)
{
    for (uint32_t i = 0; i < q->ntable; i++)
        q->table[i].joins = (tl_join_terms){.n = 0};
    const int status = sqlite3_prepare_v2(q->db, sql, -1, out, tail);
    if (status != SQLITE_OK || !know_joins(q))
        return status;
    sqlite3_finalize(*out);
    return sqlite3_prepare_v2(q->db, sql, -1, out, tail);
}

static bool is_of_join(const tl_join_terms *j, int number)
{
    uint32_t i = 0;
    while (i < j->n && j->number[i] != number)
        i++;
    return i < j->n;
}

/* Notes the constraints that cannot be used in a plan. */
static void note_joins(tl_join_terms *j, const sqlite3_index_info *info)
{
    for (int i = 0; i < info->nConstraint && !j->too_many; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (c->usable || is_of_join(j, c->iTermOffset))
            continue;
        j->too_many = j->n == TL_COUNT(j->number);
        if (!j->too_many)
            j->number[j->n++] = c->iTermOffset;
    }
}

/* What a constraint is worth. */
typedef struct worth {
    tl_term_op op;
    double keeps;  /* the part of the rows that it leaves */
    double always; /* the same if its value were a constant */
    bool inner;    /* it may be of another table's row: rows are kept, and found by it */
    bool of_join;  /* it is of one of the same FROM, or not known whether it is */
} worth;

static bool takes(const tl_sql_table *t, sqlite3_index_info *info, int i, worth *w)
{
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    sqlite3_value *constant = NULL;
    if (!c->usable || c->iColumn < 0 || (uint32_t)c->iColumn >= t->table->ncolumn - t->table->nargument ||
        !term_of(c->op, &w->op) || t->table->column[c->iColumn].unit == TL_UNIT_BLOB)
        return false;
    const bool is_text = t->table->column[c->iColumn].type == TL_TEXT;
    if (is_text && sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
        return false;
    w->keeps = w->always = t->table->keeps(t->table, (uint32_t)c->iColumn, w->op);
    w->inner = sqlite3_vtab_rhs_value(info, i, &constant) != SQLITE_OK && w->op != TL_TERM_GLOB &&
               t->table->column[c->iColumn].type != TL_REAL && (!is_text || w->op == TL_TERM_IS);
    w->of_join = w->inner && (!t->joins.are_known || is_of_join(&t->joins, c->iTermOffset));
    if (w->inner) {
        const double found = w->op == TL_TERM_IS ? 0.001 : 0.1;
        w->keeps = found < w->keeps ? found : w->keeps;
    }
    return w->keeps < 1;
}

/* One column, ascending. Sorting is for the few different values of groups, and only for what fits into memory. */
static tl_sqlite_order order_of(const tl_sql_table *t, const sqlite3_index_info *info, double rows)
{
    enum { BYTES_OF_A_VALUE = 9, BYTES_OF_A_ROW = 16 };
    const tl_scan_table *s = t->table;
    uint64_t columns = 0;
    if (info->nOrderBy != 1 || info->aOrderBy[0].desc || info->aOrderBy[0].iColumn < 0)
        return TL_UNORDERED;
    const uint32_t column = (uint32_t)info->aOrderBy[0].iColumn;
    if (column == s->order)
        return TL_BY_SCAN;
    if (!s->is_large || s->column[column].type == TL_REAL || s->column[column].unit == TL_UNIT_TIME ||
        s->column[column].unit == TL_UNIT_UTC || s->column[column].unit == TL_UNIT_JSON)
        return TL_UNORDERED;
    for (uint64_t bits = info->colUsed; bits; bits &= bits - 1)
        columns++;
    return rows * (double)(columns * BYTES_OF_A_VALUE + BYTES_OF_A_ROW) < (double)tl_query_memory(t->query)
               ? TL_BY_SORTING
               : TL_UNORDERED;
}

/* Whether the table is of places, or its first argument may name places: it does, or its value is not known yet. */
static bool may_name_places(const tl_sql_table *t, sqlite3_index_info *info)
{
    const uint32_t first = t->table->ncolumn - t->table->nargument;
    const char *word = t->table->nargument ? t->made.kind->word_of_places : NULL;
    bool may = t->table->nargument && t->made.kind->of_places;
    for (int i = 0; i < info->nConstraint && word && !may; i++) {
        sqlite3_value *v = NULL;
        if (info->aConstraint[i].iColumn != (int)first || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        const char *text =
            sqlite3_vtab_rhs_value(info, i, &v) == SQLITE_OK ? (const char *)sqlite3_value_text(v) : word;
        may = text && strstr(text, word);
    }
    return may;
}

/* The value of an argument, which SQLite need not test again: it need not be what a row has. 1: it is one; 0: it is
 * not; -1: its value is known only in another plan. */
static int takes_argument(const tl_scan_table *s, const sqlite3_index_info *info, int i, uint32_t *taken)
{
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    const uint32_t first = s->ncolumn - s->nargument;
    if (c->op != SQLITE_INDEX_CONSTRAINT_EQ || c->iColumn < (int)first)
        return 0;
    if (!c->usable)
        return -1;
    const uint32_t bit = 1u << ((uint32_t)c->iColumn - first);
    const bool is_first = !(*taken & bit);
    *taken |= bit;
    return is_first;
}

/* Columns that the statement looks at, and those of terms, which kept rows are found by. */
int tl_sqlite_plan(tl_sql_table *t, sqlite3_index_info *info)
{
    const tl_scan_table *s = t->table;
    double rows = (double)s->rows, cost = rows + 100, found = 1, read = rows;
    char terms[MOST_TERMS * 16] = "";
    size_t at = 0;
    int n = 0;
    uint32_t arguments = 0;
    bool inner = false, of_join = false;
    t->is_used = t->is_used || !t->query->only_plans;
    note_joins(&t->joins, info);
    t->wants_places = t->wants_places || may_name_places(t, info);
    if (t->place < USED_BITS)
        t->wants_places = t->wants_places || info->colUsed >> t->place || t->place == 0;
    for (int i = 0; i < info->nConstraint && s->nargument; i++) {
        const int argument = takes_argument(s, info, i, &arguments);
        if (argument < 0)
            return SQLITE_CONSTRAINT;
        if (argument == 0)
            continue;
        info->aConstraintUsage[i].omit = 1;
        info->aConstraintUsage[i].argvIndex = ++n;
        at += (size_t)snprintf(terms + at, sizeof terms - at, " %d %d", info->aConstraint[i].iColumn, TL_TERM_IS);
    }
    for (int i = 0; i < info->nConstraint && n < (int)MOST_TERMS; i++) {
        worth w;
        if (!takes(t, info, i, &w))
            continue;
        if (w.op == TL_TERM_IS && sqlite3_vtab_in(info, i, -1))
            sqlite3_vtab_in(info, i, 1);
        info->aConstraintUsage[i].argvIndex = ++n;
        at += (size_t)snprintf(terms + at, sizeof terms - at, " %d %d", info->aConstraint[i].iColumn, (int)w.op);
        cost *= w.keeps < 0.5 ? 0.5 : 1;
        inner = inner || w.inner;
        of_join = of_join || w.of_join;
        read *= w.always;
        if (w.inner)
            found = w.keeps < found ? w.keeps : found; /* rows are found by one column */
        else
            rows *= w.keeps;
    }
    rows *= found;
    tl_sqlite_order by = order_of(t, info, read);
    if (of_join) {
        t->joins.lost_order = t->joins.lost_order || by != TL_UNORDERED;
        by = TL_UNORDERED;
    }
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
    /* Keeping the rows of a large table takes time and memory: another one is better inside. */
    info->estimatedCost = !inner ? cost : rows + (s->is_large ? (double)s->rows / 4 : 20);
    info->orderByConsumed = by != TL_UNORDERED;
    info->idxStr = sqlite3_mprintf("%llx %d %d %d%s", (unsigned long long)info->colUsed, (int)by,
                                   info->nOrderBy > 0 ? info->aOrderBy[0].iColumn : 0, inner, terms);
    info->needToFreeIdxStr = 1;
    info->idxNum = (int)(t - t->query->table);
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
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

/* The same of an argument of a table. What it cannot have is TL_CELL_ROWS, and not null. */
static int argument_of(tl_arena *a, const tl_column_info *c, sqlite3_value *v, tl_cell *out)
{
    static const char digit[] = "0123456789abcdef";
    const bool is_blob = sqlite3_value_type(v) == SQLITE_BLOB;
    *out = cell_of(v);
    if ((is_blob != (c->unit == TL_UNIT_BLOB) && sqlite3_value_type(v) != SQLITE_NULL) ||
        ((is_blob || out->kind == TL_CELL_TEXT) && sqlite3_value_bytes(v) > (is_blob ? BLOB_BYTES : TEXT_BYTES)))
        *out = (tl_cell){.kind = TL_CELL_ROWS};
    if (!is_blob || out->kind == TL_CELL_ROWS)
        return SQLITE_OK;
    const uint8_t *bytes = sqlite3_value_blob(v);
    const size_t n = (size_t)sqlite3_value_bytes(v);
    char *text = tl_arena_alloc(a, 2 * n + 1);
    if (!text)
        return SQLITE_NOMEM;
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digit[bytes[i] >> 4];
        text[2 * i + 1] = digit[bytes[i] & 15];
    }
    text[2 * n] = '\0';
    *out = (tl_cell){.kind = TL_CELL_TEXT, .text = text};
    return SQLITE_OK;
}

/* The values of an argument of xFilter: one, or those of IN. Copied to the arena. */
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

int tl_sqlite_read_plan(const tl_scan_table *s, const char *plan, int argc, sqlite3_value **argv, tl_sqlite_request *r)
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
    tl_cell *argument = tl_arena_zalloc(a, ((size_t)s->nargument + 1) * sizeof *argument);
    if (!argument)
        return SQLITE_NOMEM;
    for (uint32_t i = 0; i < s->nargument; i++)
        argument[i].kind = TL_CELL_NULL;
    ask->used = used;
    ask->term = term;
    ask->argument = argument;
    r->by = (tl_sqlite_order)strtoul(end, &end, 10);
    r->column = (uint32_t)strtoul(end, &end, 10);
    r->may_repeat = strtoul(end, &end, 10) != 0;
    ask->ordered = r->by == TL_BY_SCAN;
    if (r->by != TL_UNORDERED)
        used[r->column] = 1;
    for (int i = 0; i < argc; i++) {
        tl_term *t = &term[ask->nterm];
        t->column = (uint32_t)strtoul(end, &end, 10);
        t->op = (tl_term_op)strtoul(end, &end, 10);
        const bool is_argument = t->column >= s->ncolumn - s->nargument;
        const int status = is_argument ? argument_of(a, &s->column[t->column], argv[i],
                                                     &argument[t->column + s->nargument - s->ncolumn])
                                       : values_of(a, argv[i], t);
        if (status != SQLITE_OK)
            return status;
        if (is_argument)
            continue;
        used[t->column] = 1;
        r->all[r->nall++] = *t;
        r->never = r->never || (t->n == 1 && t->value[0].kind == TL_CELL_NULL && /* a list of IN looks like null */
                                sqlite3_value_type(argv[i]) == SQLITE_NULL);
        ask->nterm += is_of_type(t, &s->column[t->column]);
    }
    return SQLITE_OK;
}

#endif

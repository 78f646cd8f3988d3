/* How a statement would be run, in words: SQLite's own account of it (EXPLAIN QUERY PLAN), whose lines about our tables
 * have the plans of sqlite_plan.c. */
#ifdef TL_HAVE_SQLITE

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text/words.h"
#include "query/sqlite/sqlite_guard.h"
#include "query/sqlite/sqlite_plan.h"

#define TEXT_ROOM 512u
#define NODES     256u /* of SQLite's account that are shown; more are rare */

/* A line of SQLite's account. */
typedef struct node {
    int id;
    unsigned depth;
    unsigned loops;  /* tables that were read directly below it so far */
    bool correlated; /* it is run for each row outside */
} node;

typedef struct account {
    tl_query *query;
    node node[NODES];
    size_t n;
    void (*line)(void *arg, const char *text);
    void *arg;
} account;

static void say(const account *a, unsigned depth, const char *text)
{
    enum { INDENT = 2, DEEPEST = 16 };
    char line[TEXT_ROOM + INDENT * DEEPEST + 1];
    snprintf(line, sizeof line, "%*s%.*s", (int)(INDENT * (depth < DEEPEST ? depth : DEEPEST)), "", (int)TEXT_ROOM,
             text);
    a->line(a->arg, line);
}

/* -- our tables -----------------------------------------------------------------------------------------------------
 */

/* A plan taken apart. */
typedef struct plan {
    const tl_sql_table *table;
    uint64_t used;
    tl_sqlite_order by;
    uint32_t column;
    const char *terms; /* the rest of the text */
} plan;

/* Of "... VIRTUAL TABLE INDEX 3:1f 0 0 0 4 0"; false: it is a table of SQLite. */
static bool read_plan(plan *p, const tl_query *q, const char *detail)
{
    static const char index[] = " VIRTUAL TABLE INDEX ";
    const char *at = strstr(detail, index);
    char *end;
    if (!at)
        return false;
    const unsigned long number = strtoul(at + sizeof index - 1, &end, 10);
    if (*end != ':' || !end[1] || end[1] == ' ' || number >= q->ntable)
        return false;
    p->table = &q->table[number];
    p->used = strtoull(end + 1, &end, 16);
    p->by = (tl_sqlite_order)strtoul(end, &end, 10);
    p->column = (uint32_t)strtoul(end, &end, 10);
    (void)strtoul(end, &end, 10); /* may repeat */
    p->terms = end;
    return p->column < p->table->table->ncolumn;
}

/* "name =, ts >="; empty: none. */
static void list_terms(const plan *p, char text[static TEXT_ROOM])
{
    static const char *const op[] = {[TL_TERM_IS] = "=",    [TL_TERM_BELOW] = "<",     [TL_TERM_AT_MOST] = "<=",
                                     [TL_TERM_ABOVE] = ">", [TL_TERM_AT_LEAST] = ">=", [TL_TERM_GLOB] = "GLOB"};
    const tl_scan_table *s = p->table->table;
    size_t at = 0;
    const char *rest = p->terms;
    char *end;
    text[0] = '\0';
    while (rest[0] == ' ' && rest[1] >= '0' && rest[1] <= '9') {
        char word[TEXT_ROOM];
        const unsigned long column = strtoul(rest, &end, 10), number = strtoul(end, &end, 10);
        rest = end;
        if (column >= s->ncolumn || number >= TL_COUNT(op))
            return;
        snprintf(word, sizeof word, "%s %s", s->column[column].name, op[number]);
        tl_words_add(text, TEXT_ROOM, &at, ", ", word);
    }
}

static void list_columns(const plan *p, char text[static TEXT_ROOM])
{
    const tl_scan_table *s = p->table->table;
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < s->ncolumn && i < 63; i++)
        if (p->used >> i & 1)
            tl_words_add(text, TEXT_ROOM, &at, ", ", s->column[i].name);
    if (p->used >> 63)
        tl_words_add(text, TEXT_ROOM, &at, ", ", "others");
}

static const char *times_of(const node *parent)
{
    return parent->loops > 0 ? "for each row of the table above" : parent->correlated ? "for each row outside" : "once";
}

/* "calls AS c" of "SCAN c VIRTUAL TABLE ...". */
static void name_of(const plan *p, const char *detail, char text[static TEXT_ROOM])
{
    const char *name = p->table->table->info.name, *word = strchr(detail, ' ');
    const size_t n = word ? strcspn(word + 1, " ") : 0;
    if (word && (strlen(name) != n || memcmp(name, word + 1, n) != 0))
        snprintf(text, TEXT_ROOM, "%.200s AS %.*s", name, (int)(n < 200 ? n : 200), word + 1);
    else
        snprintf(text, TEXT_ROOM, "%.200s", name);
}

static void say_table(account *a, const node *parent, const plan *p, unsigned depth, const char *detail)
{
    const tl_scan_table *s = p->table->table;
    const bool repeated = parent->loops > 0 || parent->correlated;
    char name[TEXT_ROOM], list[TEXT_ROOM], line[TEXT_ROOM + 64], rows[64] = "";
    name_of(p, detail, name);
    if (s->is_large)
        snprintf(rows, sizeof rows, ", about %" PRIu64 " rows", s->rows);
    snprintf(line, sizeof line, "%.400s: read %s%s", name, times_of(parent), rows);
    say(a, depth, line);
    if (p->table->origin == TL_TABLE_ROWS)
        say(a, depth + 1, "made first, by reading the traces, unless an earlier statement did");
    else if (p->table->place < s->ncolumn && (p->table->place == 0 || p->used >> p->table->place))
        say(a, depth + 1, "the places of all calls are made first, by reading the traces, unless an earlier one did");
    list_columns(p, list);
    snprintf(line, sizeof line, "columns: %s", list[0] ? list : "none, rows are counted");
    say(a, depth + 1, line);
    list_terms(p, list);
    snprintf(line, sizeof line, "conditions for the reader: %s", list[0] ? list : "none, all rows are read");
    say(a, depth + 1, line);
    if (p->by != TL_UNORDERED) {
        snprintf(line, sizeof line,
                 p->by == TL_BY_SCAN ? "rows are read in the order of %s"
                                     : "rows are collected and sorted by %s in memory, before SQLite sees them",
                 s->column[p->column].name);
        say(a, depth + 1, line);
    }
    if (repeated && p->by != TL_BY_SORTING)
        say(a, depth + 1,
            list[0] ? "kept: rows are read once, stay in memory, and are found by these conditions"
                    : "kept: rows are read once, and stay in memory");
}

/* -- what SQLite does -----------------------------------------------------------------------------------------------
 */

/* Its words, and ours. */
static const struct {
    const char *begin, *ours;
} words[] = {{"USE TEMP B-TREE FOR ", "SQLite collects and sorts rows, for "},
             {"MATERIALIZE ", "computed once, and kept by SQLite: "},
             {"CO-ROUTINE ", "computed row by row: "},
             {"CORRELATED SCALAR SUBQUERY ", "for each row outside: subquery "},
             {"CORRELATED LIST SUBQUERY ", "for each row outside: list of subquery "},
             {"SCALAR SUBQUERY ", "once: subquery "},
             {"LIST SUBQUERY ", "once, and kept by SQLite: list of subquery "},
             {"SCAN CONSTANT ROW", "one row without a table"},
             {"SETUP", "begin of the recursion"},
             {"RECURSIVE STEP", "each step of the recursion"},
             {"COMPOUND QUERY", "one after another"},
             {"LEFT-MOST SUBQUERY", "first"},
             {"SCAN ", "rows of "},
             {"SEARCH ", "rows, found by a key, of "}};

static void say_engine(const account *a, unsigned depth, const char *detail)
{
    char line[TEXT_ROOM];
    snprintf(line, sizeof line, "%.500s", detail);
    for (size_t i = 0; i < TL_COUNT(words); i++) {
        const size_t n = strlen(words[i].begin);
        if (strncmp(detail, words[i].begin, n) == 0) {
            const char *index = strstr(detail + n, " VIRTUAL TABLE");
            const size_t length = index ? (size_t)(index - detail) - n : strlen(detail + n);
            snprintf(line, sizeof line, "%s%.*s", words[i].ours, (int)(length < 400 ? length : 400), detail + n);
            break;
        }
    }
    say(a, depth, line);
}

static void add(account *a, int id, int parent_id, const char *detail)
{
    static const node top = {0};
    node *parent = NULL;
    plan p = {0};
    for (size_t i = a->n; i > 0 && !parent; i--)
        if (a->node[i - 1].id == parent_id)
            parent = &a->node[i - 1];
    if (a->n == NODES)
        return;
    const node *above = parent ? parent : &top;
    node *n = &a->node[a->n++];
    *n = (node){.id = id,
                .depth = above->depth + 1,
                .correlated = above->correlated || strncmp(detail, "CORRELATED ", 11) == 0};
    if (read_plan(&p, a->query, detail))
        say_table(a, above, &p, n->depth - 1, detail);
    else
        say_engine(a, n->depth - 1, detail);
    if (parent)
        parent->loops += strncmp(detail, "SCAN ", 5) == 0 || strncmp(detail, "SEARCH ", 7) == 0;
}

/* Asks SQLite about the statement `sql` .. `end`. */
static int explain(tl_query *q, const char *sql, const char *end, account *a, tl_error *e)
{
    sqlite3_stmt *stmt = NULL;
    char *text = sqlite3_mprintf("EXPLAIN QUERY PLAN %.*s", (int)(end - sql), sql);
    int status = text ? sqlite3_prepare_v2(q->db, text, -1, &stmt, NULL) : SQLITE_NOMEM;
    a->node[0] = (node){0}; /* the statement: its parts are below id 0 */
    a->n = 1;
    while (status == SQLITE_OK && (status = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(stmt, 3);
        add(a, sqlite3_column_int(stmt, 0), sqlite3_column_int(stmt, 1), detail ? detail : "");
        status = SQLITE_OK;
    }
    sqlite3_free(text);
    status = status == SQLITE_DONE ? 0
             : text                ? tl_sqlite_fail(q, TL_EINVAL, NULL, e)
                                   : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement");
    sqlite3_finalize(stmt);
    return status;
}

int tl_sqlite_explain(tl_query *q, const char *sql, const char **rest, void (*line)(void *arg, const char *text),
                      void *arg, tl_error *e)
{
    sqlite3_stmt *stmt = NULL;
    const char *tail = NULL;
    q->has_error = false;
    q->limit = NULL;
    if (tl_sqlite_prepare(q, sql, &stmt, &tail) != SQLITE_OK)
        return tl_sqlite_fail(q, TL_ESYNTAX, sql, e);
    const bool any = stmt != NULL;
    sqlite3_finalize(stmt);
    *rest = tail;
    account *a = any ? calloc(1, sizeof *a) : NULL;
    if (!a)
        return any ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a statement") : 0;
    a->query = q;
    a->line = line;
    a->arg = arg;
    const int status = explain(q, sql, tail, a, e);
    free(a);
    return status;
}

#endif

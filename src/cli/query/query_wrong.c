/* What is wrong with a statement, for people: the place, and for a name that is not there the one that was meant. */
#include "cli/query/query_wrong.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text/words.h"
#include "cli/message.h"
#include "cli/nearest.h"
#include "query/query_names.h"

#define NAMES_ROOM  4096u /* that are compared with a name */
#define TEXT_SIZE   512u
#define BOTH_SIZE   8192u
#define LIST_SIZE   256u /* room for all columns in a message ... */
#define LIST_LENGTH 200u /* ... which is at most this long */

/* Names of functions of ours. */
static const char *const functions[] = {
#define TL_SQL_FUNCTION(name, returns, texts, call, arguments, what) #name,
#define TL_SQL_AGGREGATE(name, returns, call, arguments, what)       #name,
#include "query/sql_functions.def"
#undef TL_SQL_FUNCTION
#undef TL_SQL_AGGREGATE
};

/* What may stand where a name is. */
typedef struct names {
    const char *name[NAMES_ROOM];
    size_t n;
    const char *table; /* the one that has them all; NULL: several have */
} names;

/* Is it in double quotes there? */
static bool is_quoted(const char *sql, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = sql; (p = strchr(p, '"')); p++)
        if (strncmp(p + 1, word, n) == 0 && p[n + 1] == '"')
            return true;
    return false;
}

static void add_columns(names *all, tl_query *q, uint32_t table)
{
    uint32_t n;
    const tl_column_info *c = tl_query_table_columns(q, table, &n);
    for (uint32_t i = 0; c && i < n && all->n < NAMES_ROOM; i++)
        all->name[all->n++] = c[i].name;
}

/* Names of tables; or the columns of those that the SQL mentions. */
static void collect(names *all, tl_query *q, const char *sql, bool columns)
{
    unsigned tables = 0;
    all->n = 0;
    all->table = NULL;
    for (uint32_t i = 0; i < tl_query_tables(q) && all->n < NAMES_ROOM; i++) {
        const char *name = tl_query_table(q, i)->name;
        if (!columns) {
            all->name[all->n++] = name;
        } else if (tl_sql_mentions(sql, name)) {
            add_columns(all, q, i);
            all->table = name;
            tables++;
        }
    }
    if (tables != 1)
        all->table = NULL;
}

static const char *meant(const names *all, const char *word)
{
    const char *other = tl_column_of_others(word);
    for (size_t i = 0; other && i < all->n; i++)
        if (strcmp(all->name[i], other) == 0)
            return other;
    return tl_nearest(word, all->name, all->n);
}

/* "trace, id, ts", or nothing if that is long. */
static const char *list_of(const names *all, char *text)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < all->n && at <= LIST_LENGTH; i++)
        tl_words_add(text, LIST_SIZE, &at, ", ", all->name[i]);
    return all->n == 0 || at > LIST_LENGTH ? NULL : text;
}

/* A name that is not there: what it should be. */
static void explain(char *text, tl_query *q, const char *sql, bool columns, const char *word)
{
    char list[LIST_SIZE];
    names *all = malloc(sizeof *all);
    const char *plain = columns && strrchr(word, '.') ? strrchr(word, '.') + 1 : word;
    const char *kind = columns ? "column" : "table", *near, *some;
    if (!all) {
        snprintf(text, TEXT_SIZE, "no %s %s", kind, word);
        return;
    }
    collect(all, q, sql, columns);
    const bool quoted = columns && is_quoted(sql, word);
    const char *in = all->table ? " in " : "", *table = all->table ? all->table : "";
    if (quoted)
        snprintf(text, TEXT_SIZE, "no %s %s%s%s; text is in single quotes: '%s'", kind, word, in, table, word);
    else if ((near = meant(all, plain)))
        snprintf(text, TEXT_SIZE, "no %s %s%s%s; did you mean %s?", kind, word, in, table, near);
    else if (columns && all->table && (some = list_of(all, list)))
        snprintf(text, TEXT_SIZE, "no %s %s in %s, which has %s", kind, word, table, some);
    else
        snprintf(text, TEXT_SIZE, "no %s %s%s%s; --schema lists them", kind, word, in, table);
    free(all);
}

static void explain_function(char *text, const char *word)
{
    const char *near = tl_nearest(word, functions, TL_COUNT(functions));
    snprintf(text, TEXT_SIZE, near ? "no function %s; did you mean %s?" : "no function %s; man 5 %s lists ours", word,
             near ? near : "traceloom-schema");
}

/* What the engine said, in our words. */
static void reword(char *text, tl_query *q, const char *sql, const char *message)
{
    static const char column[] = "no such column: ", table[] = "no such table: ", function[] = "no such function: ";
    if (strncmp(message, column, sizeof column - 1) == 0)
        explain(text, q, sql, true, message + sizeof column - 1);
    else if (strncmp(message, table, sizeof table - 1) == 0)
        explain(text, q, sql, false, message + sizeof table - 1);
    else if (strncmp(message, function, sizeof function - 1) == 0)
        explain_function(text, message + sizeof function - 1);
    else if (sql[strspn(sql, " \t\r\n")] == '.')
        snprintf(text, TEXT_SIZE, "commands with a dot are those of the sqlite3 shell; --schema lists tables");
    else
        snprintf(text, TEXT_SIZE, "%s", message);
}

int tl_query_say_wrong(tl_query *q, const char *trace, const char *name, const char *all, const char *sql,
                       const tl_error *e)
{
    char text[TEXT_SIZE], both[BOTH_SIZE];
    if (trace && name)
        snprintf(both, sizeof both, "%s: %s", tl_path_name(trace), name);
    name = trace && name ? both : trace ? trace : name;
    if (e->code == TL_ELIMIT) {
        tl_say_error(name, "%s%s", e->message, strstr(e->message, "more memory") ? "; --memory SIZE allows more" : "");
        return TL_EXIT_LIMIT;
    }
    if (e->code != TL_ESYNTAX)
        return tl_say_failure(trace, e);
    reword(text, q, sql, e->message);
    if (e->offset == TL_NO_OFFSET) {
        tl_say_error(name, "%s", text);
        return TL_EXIT_USAGE;
    }
    size_t line = 1, column = 1;
    for (const char *p = all; *p && p < sql + e->offset; p++) {
        line += *p == '\n';
        column = *p == '\n' ? 1 : column + (((unsigned char)*p & 0xc0) != 0x80);
    }
    tl_say_error(name, "line %zu, column %zu: %s", line, column, text);
    return TL_EXIT_USAGE;
}

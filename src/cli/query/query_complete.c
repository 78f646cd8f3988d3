/* Completion of words in the shell of `query`. */
#include "cli/query/query_complete.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "cli/query/query_print.h"
#include "cli/query/query_shell.h"
#include "query/query_names.h"

#define WORDS_SHOWN 100u
#define LINE_WIDTH  78u

static const char *const keywords[] = {
    "ALL",    "AND",      "AS",        "ASC",    "BETWEEN", "BY",        "CASE",      "CAST",   "COLLATE", "CROSS",
    "DESC",   "DISTINCT", "ELSE",      "END",    "EXCEPT",  "EXISTS",    "FILTER",    "FROM",   "GLOB",    "GROUP",
    "HAVING", "IN",       "INTERSECT", "IS",     "JOIN",    "LEFT",      "LIKE",      "LIMIT",  "NOT",     "NULL",
    "OFFSET", "ON",       "OR",        "ORDER",  "OVER",    "PARTITION", "RECURSIVE", "REGEXP", "ROWS",    "SELECT",
    "THEN",   "UNION",    "USING",     "VALUES", "WHEN",    "WHERE",     "WINDOW",    "WITH"};

/* Those that a statement begins with. */
static const char *const first[] = {"SELECT", "VALUES", "WITH"};

/* Ours, and those of SQLite that queries of traces need. */
static const char *const functions[] = {
#define TL_SQL_FUNCTION(name, returns, texts, call, arguments, what) #name,
#define TL_SQL_AGGREGATE(name, returns, call, arguments, what)       #name,
#include "query/sql_functions.def"
#undef TL_SQL_FUNCTION
#undef TL_SQL_AGGREGATE
    "abs",        "avg",          "coalesce", "count", "group_concat", "ifnull", "iif",
    "instr",      "json_extract", "lag",      "lead",  "lower",        "max",    "min",
    "row_number", "replace",      "round",    "sum",   "substr",       "total",  "upper",
};

static void add(tl_completion *c, const char *word)
{
    if (strncasecmp(word, c->typed, strlen(c->typed)) != 0)
        return;
    if (!TL_GROW(c->word, c->n, 1, c->capacity))
        c->failed = true;
    else
        c->word[c->n++] = word;
}

static void add_all(tl_completion *c, const char *const *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(c, word[i]);
}

static void add_tables(tl_completion *c, const tl_query *q)
{
    for (uint32_t i = 0; i < tl_query_tables(q); i++)
        add(c, tl_query_table(q, i)->name);
}

static bool is_name(const char *word)
{
    for (; *word; word++)
        if (!tl_sql_is_word(*word))
            return false;
    return true;
}

/* Columns of the tables that a text mentions; false: it mentions none. */
static bool add_columns(tl_completion *c, tl_query *q, const char *text)
{
    bool any = false;
    for (uint32_t i = 0; i < tl_query_tables(q); i++) {
        uint32_t n;
        if (!tl_sql_mentions(text, tl_query_table(q, i)->name))
            continue;
        const tl_column_info *column = tl_query_table_columns(q, i, &n);
        for (uint32_t k = 0; column && k < n; k++)
            if (is_name(column[k].name)) /* others need quotes */
                add(c, column[k].name);
        any = true;
    }
    return any;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Each once, in order. */
static void finish(tl_completion *c)
{
    size_t n = 0;
    if (c->n > 1)
        qsort(c->word, c->n, sizeof *c->word, by_name);
    for (size_t i = 0; i < c->n; i++)
        if (n == 0 || strcmp(c->word[n - 1], c->word[i]) != 0)
            c->word[n++] = c->word[i];
    c->n = n;
}

/* A line that begins with a dot: the command, or its argument. */
static void complete_command(tl_completion *c, tl_query *q, const char *before)
{
    const size_t n = strcspn(before, " ");
    if (!before[n]) {
        c->typed = before;
        for (const tl_shell_command *k = tl_shell_commands; k->name; k++)
            add(c, k->name);
    } else if (strncmp(before, ".run", n) == 0) {
        for (uint32_t i = 0; i < tl_recipes(); i++)
            add(c, tl_recipe_name(i));
    } else if (strncmp(before, ".format", n) == 0) {
        for (const tl_result_form *f = tl_result_forms; f->name; f++)
            add(c, f->name);
    } else if (strncmp(before, ".tables", n) == 0 || strncmp(before, ".schema", n) == 0) {
        add_tables(c, q);
    }
}

/* Is there nothing but blanks before the word? */
static bool is_first(const char *begun, const char *before, const char *typed)
{
    return !begun[strspn(begun, " \t\n")] && before + strspn(before, " \t") >= typed;
}

/* Does the text end with FROM or JOIN, and blanks, before the word? */
static bool wants_table(const char *before, const char *typed)
{
    const char *end = typed;
    while (end > before && end[-1] == ' ')
        end--;
    return end < typed && end - before >= 4 &&
           (strncasecmp(end - 4, "FROM", 4) == 0 || strncasecmp(end - 4, "JOIN", 4) == 0);
}

static void complete_sql(tl_completion *c, tl_query *q, const char *begun, const char *before)
{
    char *all = NULL;
    if (is_first(begun, before, c->typed)) {
        add_all(c, first, TL_COUNT(first));
        return;
    }
    if (wants_table(before, c->typed)) {
        add_tables(c, q);
        return;
    }
    if (asprintf(&all, "%s %s", begun, before) < 0) {
        c->failed = true;
        return;
    }
    const bool any = add_columns(c, q, all), after_dot = c->typed > before && c->typed[-1] == '.';
    free(all);
    if (after_dot)
        return;
    if (!any && *c->typed) /* the columns come before the tables */
        for (uint32_t i = 0; i < tl_query_tables(q); i++)
            add_columns(c, q, tl_query_table(q, i)->name);
    add_tables(c, q);
    add_all(c, functions, TL_COUNT(functions));
    add_all(c, keywords, TL_COUNT(keywords));
}

void tl_query_complete(tl_completion *c, tl_query *q, const char *begun, const char *before)
{
    const char *typed = before + strlen(before);
    const bool is_command = !*begun && before[0] == '.' && strncmp(before, ".explain ", 9) != 0;
    while (typed > before && (is_command ? typed[-1] != ' ' : tl_sql_is_word(typed[-1])))
        typed--;
    c->typed = typed;
    if (is_command)
        complete_command(c, q, before);
    else
        complete_sql(c, q, begun, before);
    finish(c);
}

char *tl_completion_common(const tl_completion *c)
{
    const size_t typed = strlen(c->typed);
    if (c->n == 0)
        return strdup("");
    size_t n = strlen(c->word[0]);
    for (size_t i = 1; i < c->n; i++)
        while (n > typed && strncasecmp(c->word[0], c->word[i], n) != 0)
            n--;
    char *more = malloc(n - typed + 2);
    if (!more)
        return NULL;
    /* Keywords are completed in the case that was begun. */
    const bool small =
        typed > 0 && memcmp(c->word[0], c->typed, typed) != 0 && islower((unsigned char)c->typed[typed - 1]);
    for (size_t i = typed; i < n; i++)
        more[i - typed] = (char)(small ? tolower((unsigned char)c->word[0][i]) : c->word[0][i]);
    snprintf(more + (n - typed), 2, "%s", c->n == 1 ? " " : "");
    return more;
}

void tl_completion_print(const tl_completion *c, FILE *out)
{
    size_t width = 0, at = 0;
    const size_t shown = c->n < WORDS_SHOWN ? c->n : WORDS_SHOWN;
    for (size_t i = 0; i < shown; i++)
        width = strlen(c->word[i]) > width ? strlen(c->word[i]) : width;
    for (size_t i = 0; i < shown; i++) {
        const bool last = at + 2 * (width + 2) > LINE_WIDTH || i + 1 == shown;
        fprintf(out, "%-*s%s", last ? 0 : (int)width + 2, c->word[i], last ? "\n" : "");
        at = last ? 0 : at + width + 2;
    }
    if (shown < c->n)
        fprintf(out, "... %zu more\n", c->n - shown);
}

void tl_completion_fini(tl_completion *c)
{
    free(c->word);
    *c = (tl_completion){0};
}

/* Tables, columns and functions of SQL: as traceloom-schema(5), and as docs/schema.md. */
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "cli/manual/manpage.h"
#include "cli/verbs.h"
#include "query/query_schema.h"
#include "query/sql_type.h"

static const struct {
    const char *call, *what;
} functions[] = {
#define TL_SQL_FUNCTION(name, returns, texts, call, arguments, what) {call, what},
#define TL_SQL_AGGREGATE(name, returns, call, arguments, what)       {call, what},
#include "query/sql_functions.def"
#undef TL_SQL_FUNCTION
#undef TL_SQL_AGGREGATE
};

/* What holds for all tables; a paragraph each. */
static const char *const rules[] = {
    "ts is the time from the begin of the trace, in nanoseconds. Clocks without a frequency, and instruction traces, "
    "count ticks or instructions instead.",
    "dur is end_ts - ts. Both are null if the end is not in the trace.",
    "utc is nanoseconds since 1970, and null if the trace does not say when it began.",
    "trace is the number of the input, from 1. Columns of one name mean the same in all tables, so that USING (trace, "
    "function_id) joins them.",
    "A function whose name is not known is its number, #8 or 0x401000, in tables of calls and of samples; in events "
    "and "
    "functions its name is null.",
    "Names of columns may be in double quotes, text is in single quotes.",
    "Integers are signed, with 64 bits: an address from 2^63 on is negative, and u64() and hex64() show it.",
    "The word behind INTEGER or TEXT is the unit: NS, UTC, BYTES, HEX, BOOL, JSON. Results as a table show such "
    "columns for people (1.50 ms) if they are selected as they are; all other results are plain numbers.",
    "Rows come stream by stream; for another order use ORDER BY.",
    "A table that these traces cannot have is empty, and a message says so."};

/* The tables of classes. */
static const char *const class_rules[] = {
    "Each class of events has a table, event_ and its name in lower case, with _ for all that is neither letter nor "
    "digit: event_sched_switch, event_app_rich of app:rich. classes.table_name has it, and query --schema lists "
    "them. Classes of one name in several traces are one table.",
    "Its columns are trace, id, ts, utc, track_id, thread and cpu, as in events, and of events that have a function "
    "function_id and function_name; then one for each field, with its name, contexts first. A name that is taken gets "
    "_2.",
    ("Members of a struct are columns, outer_inner. Lists, variants and stacks are JSON. An enumeration has two "
     "columns: col, its number, and col_label, its name. Bytes are text in hexadecimal.")};

/* ---- Markdown ---- */

/* Text, with \ before what Markdown takes for markup. */
static void print_text(const char *text)
{
    for (; *text; text++) {
        if (strchr("_*|<>", *text))
            putchar('\\');
        putchar(*text);
    }
}

static void print_list(const char *const *rule, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fputs("* ", stdout);
        print_text(rule[i]);
        puts("");
    }
    puts("");
}

static void print_table(const tl_table_info *t, const tl_column_info *c, uint32_t n)
{
    printf("## %s\n\nFrom ", t->name);
    print_text(t->needs);
    fputs(": ", stdout);
    print_text(t->summary);
    puts(".\n\n| column | type | |\n|---|---|---|");
    for (uint32_t i = 0; i < n; i++) {
        printf("| `%s` | %s | ", c[i].name, tl_sql_type(&c[i]));
        print_text(c[i].what);
        puts(" |");
    }
    puts("");
}

static void print_markdown(tl_query *q)
{
    puts("# Tables of SQL\n\n"
         "What `traceloom query` and [traceloom/query.h](../include/traceloom/query.h) offer. Made by `traceloom help "
         "--schema markdown`.\nThe SQL is [SQLite's](https://www.sqlite.org/lang_select.html).\n");
    print_list(rules, TL_COUNT(rules));
    for (uint32_t i = 0, n; i < tl_query_tables(q); i++) {
        const tl_column_info *c = tl_query_table_columns(q, i, &n);
        print_table(tl_query_table(q, i), c, n);
    }
    puts("## event\\_CLASS\n");
    print_list(class_rules, TL_COUNT(class_rules));
    puts("## Functions\n\nBeside those of SQLite:\n\n| function | gives |\n|---|---|");
    for (size_t i = 0; i < TL_COUNT(functions); i++) {
        printf("| `%s` | ", functions[i].call);
        print_text(functions[i].what);
        puts(" |");
    }
}

/* ---- mdoc ---- */

/* A line of text, in which \\ is itself. */
static void put_escaped(FILE *f, const char *text)
{
    for (; *text; text++)
        fputs(*text == '\\' ? "\\e" : (char[]){*text, '\0'}, f);
    fputc('\n', f);
}

/* Sentences, each on a line of its own. */
static void put_paragraph(FILE *f, const char *text)
{
    char line[1024];
    for (const char *end; *text; text = end) {
        for (end = text; *end && !(end[0] == '.' && end[1] == ' ' && end[2] >= 'A' && end[2] <= 'Z'); end++)
            ;
        end += *end == '.';
        snprintf(line, sizeof line, "%.*s\n", (int)(end - text), text);
        tl_put_mdoc(f, line);
        end += *end == ' ';
    }
}

static void put_rules(FILE *f, const char *const *rule, size_t n)
{
    fputs(".Bl -bullet -compact\n", f);
    for (size_t i = 0; i < n; i++) {
        fputs(".It\n", f);
        put_paragraph(f, rule[i]);
    }
    fputs(".El\n", f);
}

void tl_put_schema_page(FILE *f)
{
    tl_query *q = tl_query_schema_open();
    fputs(".Sh NAME\n.Nm traceloom-schema\n.Nd tables, columns and functions of traceloom query\n"
          ".Sh DESCRIPTION\nThe tables that\n.Xr traceloom-query 1\noffers.\n"
          "The SQL is that of SQLite.\n",
          f);
    put_rules(f, rules, TL_COUNT(rules));
    for (uint32_t i = 0, n; q && i < tl_query_tables(q); i++) {
        const tl_table_info *t = tl_query_table(q, i);
        const tl_column_info *c = tl_query_table_columns(q, i, &n);
        fprintf(f, ".Ss %s\n", t->name);
        tl_put_summary(f, t->summary);
        fprintf(f, "Needs %s.\n.Bl -tag -width function_id\n", t->needs);
        for (uint32_t k = 0; k < n; k++) {
            fprintf(f, ".It Va %s Pq %s\n", c[k].name, tl_sql_type(&c[k]));
            put_paragraph(f, c[k].what);
        }
        fputs(".El\n", f);
    }
    fputs(".Ss event_CLASS\n", f);
    put_rules(f, class_rules, TL_COUNT(class_rules));
    fputs(".Ss Functions\nBeside those of SQLite:\n.Bl -tag -width function_id\n", f);
    for (size_t i = 0; i < TL_COUNT(functions); i++) {
        fprintf(f, ".It Li %s\n", functions[i].call);
        put_escaped(f, functions[i].what);
    }
    fputs(".El\n.Sh SEE ALSO\n.Xr traceloom-query 1\n", f);
    tl_query_schema_close(q);
}

bool tl_print_schema_as(const char *what)
{
    tl_query *q = strcmp(what, "markdown") == 0 ? tl_query_schema_open() : NULL;
    if (q)
        print_markdown(q);
    tl_query_schema_close(q);
    return q != NULL;
}

/* The recipes that ship; the tables of SQL over a trace, with their columns; or which of them a statement finds empty,
 * and why.
 *     cc list_tables.c $(pkg-config --cflags --libs traceloom) && ./a.out [TRACE [SQL]] */
#include <stdio.h>
#include <string.h>
#include <traceloom/traceloom.h>

/* Each with the first line of its SQL, which is a comment. */
static void print_recipes(void)
{
    for (uint32_t i = 0; i < tl_recipes(); i++) {
        const char *sql = tl_recipe_sql(tl_recipe_name(i));
        printf("%s %.*s\n", tl_recipe_name(i), (int)strcspn(sql, "\n"), sql);
    }
}

static void print_tables(tl_query *q)
{
    for (uint32_t i = 0; i < tl_query_tables(q); i++) {
        const tl_table_info *t = tl_query_table(q, i);
        uint32_t n;
        const tl_column_info *column = tl_query_table_columns(q, i, &n);
        printf("%s: %s\n", t->name, t->summary);
        for (uint32_t k = 0; k < n; k++)
            printf("%s%s", k ? ", " : "    ", column[k].name);
        printf("\n");
    }
}

/* A statement is prepared, but not run. */
static int print_notes(tl_query *q, const char *sql, tl_error *error)
{
    tl_statement *s = NULL;
    const int status = tl_query_prepare(&s, q, sql, NULL, error);
    for (uint32_t i = 0; status == 0 && i < tl_query_tables(q); i++)
        if (tl_query_table_note(q, i))
            printf("%s\n", tl_query_table_note(q, i));
    tl_statement_close(s);
    return status;
}

int main(int argc, char **argv)
{
    const tl_open_options options = {.want = {.fields = true, .cpu = true}};
    tl_source *source = NULL;
    tl_query *q = NULL;
    tl_error error = {0};
    if (argc < 2) {
        print_recipes();
        return 0;
    }
    int status = tl_source_open(&source, argv[1], &options, &error);
    if (status == 0)
        status = tl_query_open(&q, &source, 1, NULL, &error);
    if (status == 0 && argc > 2)
        status = print_notes(q, argv[2], &error);
    else if (status == 0)
        print_tables(q);
    if (status < 0)
        fprintf(stderr, "list_tables: %s\n", error.message);
    tl_query_close(q);
    tl_source_close(source);
    return status < 0;
}

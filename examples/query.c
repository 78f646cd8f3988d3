/* The rows of one statement of SQL over any trace, with tabs between the values.
 *     cc query.c $(pkg-config --cflags --libs traceloom) && ./a.out TRACE SQL [BINARY] */
#include <inttypes.h>
#include <stdio.h>
#include <traceloom/traceloom.h>

static void print_value(const tl_sql_value *v)
{
    switch (v->kind) {
    case TL_VALUE_NULL:
        printf("-");
        break;
    case TL_VALUE_INTEGER:
        printf("%" PRId64, v->i64);
        break;
    case TL_VALUE_REAL:
        printf("%g", v->real);
        break;
    case TL_VALUE_TEXT:
        printf("%s", v->text);
        break;
    case TL_VALUE_BLOB:
        printf("%zu bytes", v->size);
        break;
    }
}

static int print_rows(tl_statement *s, tl_error *error)
{
    const uint32_t n = tl_statement_columns(s);
    int status;
    for (uint32_t i = 0; i < n; i++)
        printf("%s%s", tl_statement_column(s, i)->name, i + 1 < n ? "\t" : "\n");
    while ((status = tl_statement_step(s, error)) > 0)
        for (uint32_t i = 0; i < n; i++) {
            print_value(tl_statement_value(s, i));
            printf("%s", i + 1 < n ? "\t" : "\n");
        }
    return status;
}

int main(int argc, char **argv)
{
    const tl_open_options options = {.exe = argc > 3 ? argv[3] : NULL, .want = {.fields = true, .cpu = true}};
    tl_source *source = NULL;
    tl_query *q = NULL;
    tl_statement *s = NULL;
    tl_error error = {0};
    if (argc < 3) {
        fprintf(stderr, "usage: query TRACE SQL [BINARY]\n");
        return 2;
    }
    int status = tl_source_open(&source, argv[1], &options, &error);
    if (status == 0)
        status = tl_query_open(&q, &source, 1, NULL, &error);
    if (status == 0)
        status = tl_query_prepare(&s, q, argv[2], NULL, &error);
    if (status == 0 && s)
        status = print_rows(s, &error);
    if (status < 0)
        fprintf(stderr, "query: %s\n", error.message);
    tl_statement_close(s);
    tl_query_close(q);
    tl_source_close(source);
    return status < 0;
}

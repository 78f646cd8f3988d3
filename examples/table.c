/* Any table of any trace, with all of its relations, as lines of values with tabs between them.
 *     cc table.c $(pkg-config --cflags --libs traceloom) && ./a.out TABLE TRACE [BINARY] */
#include <inttypes.h>
#include <stdio.h>
#include <traceloom/traceloom.h>

static void print_row(const tl_rows *rows, const tl_block *b, uint32_t row)
{
    for (uint32_t i = 0; i < tl_rows_columns(rows); i++) {
        const tl_block_column *c = &b->column[i];
        const char *between = i ? "\t" : "";
        if (c->is_null[row])
            printf("%s-", between);
        else if (c->i64)
            printf("%s%" PRId64, between, c->i64[row]);
        else if (c->real)
            printf("%s%g", between, c->real[row]);
        else
            printf("%s%s", between, c->text[row]);
    }
    printf("\n");
}

/* The relation that was chosen. */
static int print_rows(tl_rows *rows, tl_error *error)
{
    tl_block block;
    int status;
    for (uint32_t i = 0; i < tl_rows_columns(rows); i++)
        printf("%s%s", tl_rows_column(rows, i)->name, i + 1 < tl_rows_columns(rows) ? "\t" : "\n");
    while ((status = tl_rows_next(rows, &block, error)) > 0)
        for (uint32_t i = 0; i < block.rows; i++)
            print_row(rows, &block, i);
    return status;
}

int main(int argc, char **argv)
{
    const tl_open_options options = {.exe = argc > 3 ? argv[3] : NULL, .want.fields = true};
    tl_source *source = NULL;
    tl_rows *rows = NULL;
    tl_error error = {0};
    if (argc < 3) {
        for (size_t i = 0; i < tl_tables(); i++)
            printf("%-10s %s (needs %s)\n", tl_table_at(i)->name, tl_table_at(i)->summary, tl_table_at(i)->needs);
        return 0;
    }
    int status = tl_source_open(&source, argv[2], &options, &error);
    if (status == 0)
        status = tl_rows_open(&rows, argv[1], &source, 1, &(tl_rows_options){.threads = 1}, &error);
    for (uint32_t i = 0; status == 0 && i < tl_rows_parts(rows); i++) {
        status = tl_rows_choose(rows, i, &error);
        printf("%s: %" PRIu64 " rows, times in %s\n", tl_rows_part(rows, i), tl_rows_count(rows), tl_rows_unit(rows));
        if (status == 0)
            status = print_rows(rows, &error);
    }
    if (status < 0)
        fprintf(stderr, "table: %s\n", error.message);
    tl_rows_close(rows);
    tl_source_close(source);
    return status < 0;
}

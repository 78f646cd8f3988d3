/* The events of any trace as columns of Arrow: how many each class has, and how many bytes of text; and the longest
 * calls, from SQL.
 *     cc arrow_columns.c $(pkg-config --cflags --libs traceloom) && ./a.out TRACE [BINARY] */
#include <inttypes.h>
#include <stdio.h>
#include <traceloom/traceloom.h>

/* Bytes of text in the columns of a batch. */
static int64_t text_of(const struct ArrowSchema *schema, const struct ArrowArray *batch)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < batch->n_children; i++)
        if (schema->children[i]->format[0] == 'u')
            bytes += ((const int32_t *)batch->children[i]->buffers[1])[batch->length];
    return bytes;
}

static int print_classes(tl_query *q, tl_error *error)
{
    const tl_arrow_options options = {.rows = UINT64_MAX}; /* all at once */
    tl_arrow_events *events;
    const uint32_t *table;
    uint32_t n, of;
    int status = tl_arrow_events_open(&events, q, &options, error);
    if (status < 0)
        return status;
    while ((status = tl_arrow_events_next(events, &table, &n, error)) > 0)
        for (struct ArrowArray rows; (status = tl_arrow_events_take(events, &of, &rows, error)) > 0;) {
            const char *name = tl_query_table(q, of)->name;
            struct ArrowArrayStream stream;
            struct ArrowSchema schema;
            if ((status = tl_query_table_arrow(&stream, q, name, NULL, error)) < 0)
                break;
            if (stream.get_schema(&stream, &schema) == 0) {
                printf("%s: %" PRId64 " events, %" PRId64 " bytes of text\n", name, rows.length,
                       text_of(&schema, &rows));
                schema.release(&schema);
            }
            stream.release(&stream);
            rows.release(&rows);
        }
    tl_arrow_events_close(events);
    return status;
}

static int print_calls(tl_query *q, tl_error *error)
{
    tl_statement *s = NULL;
    struct ArrowArrayStream stream;
    int status = tl_query_prepare(&s, q, "SELECT dur FROM calls ORDER BY dur DESC LIMIT 3", NULL, error);
    if (status == 0)
        status = tl_query_arrow(&stream, s, NULL, error);
    if (status < 0) {
        tl_statement_close(s);
        return status;
    }
    for (struct ArrowArray rows; (status = stream.get_next(&stream, &rows)) == 0 && rows.release; rows.release(&rows))
        for (int64_t i = 0; i < rows.length; i++)
            printf("a call of %" PRId64 "\n", ((const int64_t *)rows.children[0]->buffers[1])[i]);
    if (status != 0)
        *error = *tl_arrow_error(&stream);
    stream.release(&stream);
    return status == 0 ? 0 : error->code;
}

int main(int argc, char **argv)
{
    const tl_open_options options = {.exe = argc > 2 ? argv[2] : NULL, .want = {.fields = true, .cpu = true}};
    tl_source *source = NULL;
    tl_query *q = NULL;
    tl_error error = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: arrow_columns TRACE [BINARY]\n");
        return 2;
    }
    int status = tl_source_open(&source, argv[1], &options, &error);
    if (status == 0)
        status = tl_query_open(&q, &source, 1, NULL, &error);
    if (status == 0)
        status = print_classes(q, &error);
    if (status == 0)
        status = print_calls(q, &error);
    if (status < 0)
        fprintf(stderr, "arrow_columns: %s\n", error.message);
    tl_query_close(q);
    tl_source_close(source);
    return status < 0;
}

/* Several statements, one after another, with a value for the parameter :top; and a limit on their time and memory.
 * Ctrl-C ends a statement.
 *     cc query_top.c $(pkg-config --cflags --libs traceloom) && ./a.out TOP TRACE... */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceloom/traceloom.h>

enum { MOST = 8 };

static const char script[] =
    "SELECT name, count(*) AS n FROM events GROUP BY name ORDER BY n DESC, name LIMIT :top;"
    "SELECT thread, count(*) AS n FROM events GROUP BY thread ORDER BY n DESC, thread LIMIT :top;";

static tl_query *running;

static void interrupt(int signal)
{
    (void)signal;
    tl_query_interrupt(running);
}

static int bind_top(tl_statement *s, int64_t top, tl_error *error)
{
    const tl_sql_value value = {.kind = TL_VALUE_INTEGER, .i64 = top};
    for (uint32_t i = 0; i < tl_statement_parameters(s); i++) {
        const char *name = tl_statement_parameter(s, i);
        if (name && strcmp(name, "top") == 0)
            return tl_statement_bind(s, i, &value, error);
    }
    return 0;
}

static int run(tl_query *q, int64_t top, tl_error *error)
{
    int status = 0;
    for (const char *sql = script, *rest; status == 0 && *sql; sql = rest) {
        tl_statement *s = NULL;
        status = tl_query_prepare(&s, q, sql, &rest, error);
        if (status < 0 || !s)
            break;
        status = bind_top(s, top, error);
        if (status == 0)
            while ((status = tl_statement_step(s, error)) > 0) {
                printf("%s\t", tl_statement_value(s, 0)->text);
                printf("%" PRId64 "\n", tl_statement_value(s, 1)->i64);
            }
        tl_statement_close(s);
    }
    return status;
}

int main(int argc, char **argv)
{
    const tl_open_options options = {.want = {.fields = true, .cpu = true}};
    const tl_query_options limits = {.timeout_ns = 60 * UINT64_C(1000000000), .memory = 64 << 20};
    tl_source *source[MOST] = {NULL};
    tl_query *q = NULL;
    tl_error error = {0};
    uint32_t n = 0;
    int status = 0;
    if (argc < 3 || argc > MOST + 2) {
        fprintf(stderr, "usage: query_top TOP TRACE...\n");
        return 2;
    }
    for (; status == 0 && n < (uint32_t)argc - 2; n += status == 0)
        status = tl_source_open(&source[n], argv[n + 2], &options, &error);
    if (status == 0)
        status = tl_query_open(&q, source, n, &limits, &error);
    if (status == 0) {
        running = q;
        signal(SIGINT, interrupt);
        status = run(q, strtoll(argv[1], NULL, 10), &error);
        signal(SIGINT, SIG_DFL);
    }
    if (status < 0)
        fprintf(stderr, "query_top: %s%s\n", status == TL_ELIMIT ? "limit: " : "", error.message);
    tl_query_close(q);
    for (uint32_t i = 0; i < n; i++)
        tl_source_close(source[i]);
    return status < 0;
}

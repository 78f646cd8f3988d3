/* What programs share that read traces in several ways: PROGRAM NUMBER THREADS PATH..., where THREADS decode ahead.
 * Each trace that can be opened gets a line with its format and numbers of events; failures have lines of their own. */
#ifndef TL_TEST_TRACE_CHECK_H
#define TL_TEST_TRACE_CHECK_H

#include "op/source_impl.h"

#include "event_digest.h"

typedef struct trace_check {
    const char *path;
    tl_source *source;
    uint64_t number; /* of ranges, rounds: the first argument */
    uint64_t random;
    uint64_t read, all; /* events, for the line */
    bool failed;
} trace_check;

/* Reads a stream alone; want and limit may be NULL. */
static inline int read_stream(tl_source *s, uint32_t stream, const tl_want *want, const tl_limit *limit, digests *out,
                              tl_error *e)
{
    tl_cursor *cursor = NULL;
    const tl_batch *b;
    int status = tl_cursor_open_want(&cursor, s, stream, want, limit, e);
    digests_clear(out);
    while (status == 0 && (status = tl_cursor_next(cursor, &b, e)) > 0) {
        digests_add(out, b, 0, b->n);
        status = 0;
    }
    tl_cursor_close(cursor);
    return status;
}

/* The main function, of programs that check one trace by `one`. Fields and processors are wanted in turns. */
static inline int check_traces(int argc, char **argv, int (*one)(trace_check *c, tl_error *e))
{
    bool failed = false;
    if (argc < 4)
        return 2;
    for (int i = 3; i < argc; i++) {
        trace_check c = {.path = argv[i], .random = (uint64_t)i, .number = strtoull(argv[1], NULL, 10)};
        const tl_open_options options = {
            .no_names = true, .want = {.fields = i % 3 > 0, .cpu = i % 2, .threads = (unsigned)atoi(argv[2])}};
        tl_error e;
        if (tl_source_open(&c.source, c.path, &options, &e) < 0)
            continue; /* nothing of it can be read */
        if (one(&c, &e) < 0) {
            printf("%s: %s\n", c.path, e.message);
            c.failed = true;
        }
        printf("%s: %s: %llu of %llu events\n", c.path, tl_trace_format(tl_source_trace(c.source)),
               (unsigned long long)c.read, (unsigned long long)c.all);
        failed = failed || c.failed;
        tl_source_close(c.source);
    }
    return failed;
}

#endif

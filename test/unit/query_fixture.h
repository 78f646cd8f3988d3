/* Shared by tests of SQL: a session over a small trace, and rows as text. */
#ifndef TL_TEST_QUERY_FIXTURE_H
#define TL_TEST_QUERY_FIXTURE_H

#include <inttypes.h>
#include <traceloom/query.h>

#include "check.h"

typedef struct query_fixture {
    tl_source *source;
    tl_query *query;
    uint8_t *log;    /* the source reads it */
    char text[4096]; /* of the last answer */
} query_fixture;

/* Enough events for several blocks of rows. */
#define QUERY_CALLS 3000u

/* A session over a log, which the fixture frees; its name says which format it has. */
static inline void query_open_log(query_fixture *q, const tl_query_options *o, const char *name, uint8_t *log, size_t n)
{
    const tl_open_options options = {.no_names = true, .want = {.fields = true, .cpu = true}};
    tl_error e = {0};
    *q = (query_fixture){.log = log};
    must(tl_source_open_memory(&q->source, log, n, name, &options, &e), &e);
    const int status = tl_query_open(&q->query, &q->source, 1, o, &e);
    if (status == TL_EUNSUPPORTED) {
        tl_source_close(q->source);
        free(log);
        skip_because("this build has no SQL");
    }
    must(status, &e);
}

/* A basic log of threads 7 and 8, which call function 1 at 0, 20, 40 ... ns for 10 ns. */
static inline void query_open(query_fixture *q, const tl_query_options *o)
{
    size_t n = 0;
    uint8_t *log = calloc(32 + 2 * (size_t)QUERY_CALLS, 32);
    assert_non_null(log);
    const uint8_t head[] = {1, 0, 0, 0, 3, 0, 0, 0, 0, 0xca, 0x9a, 0x3b}; /* version 1, 1 GHz */
    memcpy(log, head, sizeof head);
    n = 32;
    for (uint32_t i = 0; i < 2 * QUERY_CALLS; i++, n += 32) {
        const uint32_t function = 1, tid = 7 + (i / 2) % 2;
        const uint64_t ts = 1000 + 10 * (uint64_t)i;
        log[n + 3] = i % 2;
        memcpy(log + n + 4, &function, 4);
        memcpy(log + n + 8, &ts, 8);
        memcpy(log + n + 16, &tid, 4);
    }
    query_open_log(q, o, "a.xray", log, n);
}

static inline void query_close(query_fixture *q)
{
    tl_query_close(q->query);
    tl_source_close(q->source);
    free(q->log);
}

static inline void query_put(query_fixture *q, const char *text)
{
    const size_t n = strlen(q->text);
    snprintf(q->text + n, sizeof q->text - n, "%s", text);
}

static inline void query_put_value(query_fixture *q, const tl_sql_value *v)
{
    char text[64];
    switch (v->kind) {
    case TL_VALUE_NULL:
        query_put(q, "null");
        break;
    case TL_VALUE_INTEGER:
        snprintf(text, sizeof text, "%" PRId64, v->i64);
        query_put(q, text);
        break;
    case TL_VALUE_REAL:
        snprintf(text, sizeof text, "%.6g", v->real);
        query_put(q, text);
        break;
    case TL_VALUE_TEXT:
        query_put(q, v->text);
        break;
    case TL_VALUE_BLOB:
        snprintf(text, sizeof text, "%zu bytes", v->size);
        query_put(q, text);
        break;
    }
}

/* "1,a;2,b" of all statements; "error: ..." after the rows that came before. */
static inline const char *query_ask(query_fixture *q, const char *sql)
{
    tl_error e = {0};
    q->text[0] = '\0';
    while (*sql) {
        tl_statement *s = NULL;
        int status = tl_query_prepare(&s, q->query, sql, &sql, &e);
        while (status >= 0 && s && (status = tl_statement_step(s, &e)) > 0) {
            query_put(q, q->text[0] ? ";" : "");
            for (uint32_t i = 0; i < tl_statement_columns(s); i++) {
                query_put(q, i ? "," : "");
                query_put_value(q, tl_statement_value(s, i));
            }
        }
        tl_statement_close(s);
        if (status < 0) {
            query_put(q, "error: ");
            query_put(q, e.message);
            break;
        }
    }
    return q->text;
}

#endif

/* What fuzz targets of SQL share: statements over an open source, with little memory and time. */
#ifndef TL_FUZZ_QUERY_H
#define TL_FUZZ_QUERY_H

#include <string.h>

#include "fuzz_source.h"
#include "traceloom/query.h"

/* Rows are read up to this many: more show nothing new. */
enum { FUZZ_QUERY_ROWS = 2000 };

/* Reads every value of a row. */
static inline size_t fuzz_query_row(tl_statement *s)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < tl_statement_columns(s); i++) {
        const tl_sql_value *v = tl_statement_value(s, i);
        promise(tl_statement_column(s, i) != NULL, "each column has a name");
        if (v->kind == TL_VALUE_TEXT)
            promise(v->text != NULL && v->text[v->size] == '\0', "text ends with a NUL");
        for (size_t k = 0; v->kind >= TL_VALUE_TEXT && k < v->size; k += 64)
            bytes += (uint8_t)v->text[k];
    }
    return bytes;
}

/* Runs all statements of a text; ends at the first error. */
static inline void fuzz_query_text(tl_query *q, const char *sql)
{
    int status = 0;
    volatile size_t bytes = 0;
    while (status >= 0 && *sql) {
        tl_error e = {0};
        tl_statement *s = NULL;
        const char *rest = NULL;
        status = tl_query_prepare(&s, q, sql, &rest, &e);
        promise(status >= 0 || (e.code == status && e.message[0]), "an error carries its code and says what is wrong");
        promise(status < 0 || (rest && rest > sql), "a statement has an end");
        for (uint32_t i = 0; s && i < tl_statement_parameters(s); i++)
            (void)tl_statement_bind(s, i, &(tl_sql_value){.kind = TL_VALUE_INTEGER, .i64 = i}, &e);
        for (int rows = 0; s && status >= 0 && rows < FUZZ_QUERY_ROWS; rows++) {
            status = tl_statement_step(s, &e);
            promise(status >= 0 || e.code == status, "an error carries its code");
            if (status <= 0)
                break;
            bytes += fuzz_query_row(s);
        }
        tl_statement_close(s);
        sql = rest;
    }
    (void)bytes;
}

/* A session over a source, or NULL: the build has no SQL. */
static inline tl_query *fuzz_query_open(tl_source **source)
{
    const tl_query_options options = {.threads = 1, .memory = 16 << 20, .timeout_ns = 1000000000};
    tl_query *q = NULL;
    tl_error e = {0};
    const int status = tl_query_open(&q, source, 1, &options, &e);
    promise(status >= 0 || e.code == status, "an error carries the code that is returned");
    return status < 0 ? NULL : q;
}

#endif

/* Sessions in a build without SQLite: opening one says so, and none exists. */
#ifndef TL_HAVE_SQLITE

#include "query/query_control.h"
#include "query/query_impl.h"
#include "query/query_sharing.h"

static const char absent[] = "this build has no SQL: it was made without SQLite";

int tl_query_open_engine(tl_query **out, tl_source *const *source, uint32_t n, const tl_query_options *options,
                         const char *engine, tl_error *e)
{
    (void)out;
    (void)source;
    (void)n;
    (void)options;
    (void)engine;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, absent);
}

int tl_query_open(tl_query **out, tl_source *const *source, uint32_t n, const tl_query_options *options, tl_error *e)
{
    return tl_query_open_engine(out, source, n, options, NULL, e);
}

bool tl_query_glob(const char *pattern, const char *text)
{
    (void)pattern;
    (void)text;
    return false;
}

void tl_query_free(tl_query *q)
{
    (void)q;
}

void tl_query_interrupt(tl_query *q)
{
    (void)q;
}

bool tl_query_stopped(void *query)
{
    (void)query;
    return true;
}

int tl_query_prepare(tl_statement **out, tl_query *q, const char *sql, const char **rest, tl_error *e)
{
    (void)out;
    (void)q;
    (void)sql;
    (void)rest;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, absent);
}

void tl_query_delay(tl_query *q, uint64_t ns)
{
    (void)q;
    (void)ns;
}

void tl_query_watch(tl_query *q, bool (*stop)(void *arg), void *arg)
{
    (void)q;
    (void)stop;
    (void)arg;
}

void tl_query_resume(tl_query *q)
{
    (void)q;
}

int tl_query_explain(tl_query *q, const char *sql, const char **rest, void (*line)(void *arg, const char *text),
                     void *arg, tl_error *e)
{
    (void)q;
    (void)sql;
    (void)rest;
    (void)line;
    (void)arg;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, absent);
}

void tl_statement_close(tl_statement *s)
{
    (void)s;
}

uint32_t tl_statement_parameters(const tl_statement *s)
{
    (void)s;
    return 0;
}

const char *tl_statement_parameter(const tl_statement *s, uint32_t i)
{
    (void)s;
    (void)i;
    return NULL;
}

int tl_statement_bind(tl_statement *s, uint32_t i, const tl_sql_value *value, tl_error *e)
{
    (void)s;
    (void)i;
    (void)value;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, absent);
}

int tl_statement_step(tl_statement *s, tl_error *e)
{
    (void)s;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, absent);
}

uint32_t tl_statement_columns(const tl_statement *s)
{
    (void)s;
    return 0;
}

const tl_column_info *tl_statement_column(const tl_statement *s, uint32_t i)
{
    (void)s;
    (void)i;
    return NULL;
}

void tl_statement_free(tl_statement *s)
{
    (void)s;
}

tl_query *tl_statement_query(const tl_statement *s)
{
    (void)s;
    return NULL;
}

const char *tl_statement_sql(const tl_statement *s)
{
    (void)s;
    return "";
}

int tl_query_begin(tl_query *q, tl_error *e)
{
    (void)q;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, absent);
}

int tl_query_limited(tl_query *q, tl_error *e)
{
    return tl_query_begin(q, e);
}

const tl_sql_value *tl_statement_value(tl_statement *s, uint32_t i)
{
    static const tl_sql_value null = {.kind = TL_VALUE_NULL};
    (void)s;
    (void)i;
    return &null;
}

#endif

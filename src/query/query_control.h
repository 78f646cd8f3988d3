/* What the command needs of a session besides the public interface. */
#ifndef TL_QUERY_QUERY_CONTROL_H
#define TL_QUERY_QUERY_CONTROL_H

#include "traceloom/query.h"

/* tl_query_open() with an engine other than the usual one, "sqlite": "duckdb". NULL: the usual one. Errors: also
 * TL_EINVAL (there is no such engine). */
int tl_query_open_engine(tl_query **out, tl_source *const *source, uint32_t n, const tl_query_options *options,
                         const char *engine, tl_error *e);

/* Explains the first statement of `sql`, line by line, without running it or reading a trace: which tables are read and
 * how often, which conditions they get, what is sorted and kept. *rest becomes what follows it. Lines are borrowed for
 * the call. Errors: those of tl_query_prepare(). */
int tl_query_explain(tl_query *q, const char *sql, const char **rest, void (*line)(void *arg, const char *text),
                     void *arg, tl_error *e);

/* Time that the caller spent between two steps of a statement does not count towards its limit. */
void tl_query_delay(tl_query *q, uint64_t ns);

/* Asks `stop`, from any thread that works on a statement, whether it has to end: with TL_ELIMIT, "interrupted". */
void tl_query_watch(tl_query *q, bool (*stop)(void *arg), void *arg);

/* Forgets an interrupt that no statement has seen; none runs. */
void tl_query_resume(tl_query *q);

#endif

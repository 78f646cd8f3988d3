/* What statements may do: read, and nothing else; with limits on their size, memory and time. */
#ifndef TL_QUERY_SQLITE_GUARD_H
#define TL_QUERY_SQLITE_GUARD_H

#include <sqlite3.h>

#include "query/query_impl.h"

/* Shuts the session's db in. */
int tl_sqlite_guard(tl_query *q, tl_error *e);
/* The failure of a statement: our own, or what SQLite says; `sql`, which SQLite's place is in, may be NULL. */
int tl_sqlite_fail(tl_query *q, tl_code usual, const char *sql, tl_error *e);
/* As tl_query_explain(). */
int tl_sqlite_explain(tl_query *q, const char *sql, const char **rest, void (*line)(void *arg, const char *text),
                      void *arg, tl_error *e);

#endif

/* The tables of a session as virtual tables of SQLite. */
#ifndef TL_QUERY_SQLITE_TABLE_H
#define TL_QUERY_SQLITE_TABLE_H

#include <sqlite3.h>

#include "query/query_impl.h"

/* Makes the session's tables known to its db; each is made when a statement first names it. */
int tl_sqlite_add_tables(tl_query *q, tl_error *e);
/* Frees rows that were kept for inner loops; no statement is open. */
void tl_sqlite_drop_kept(tl_query *q);
/* The result of a function of SQLite for a failure of ours, which is kept in q->error. */
int tl_sqlite_keep_error(tl_query *q, const tl_error *e);

#endif

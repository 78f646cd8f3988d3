/* The functions of sql_functions.def in SQLite. */
#ifndef TL_QUERY_SQLITE_FUNCTIONS_H
#define TL_QUERY_SQLITE_FUNCTIONS_H

#include <sqlite3.h>

#include "query/query_impl.h"

/* Makes them known to the session's db. */
int tl_sqlite_add_functions(tl_query *q, tl_error *e);

#endif

/* Functions of SQL that SQLite lacks. */
#ifndef TL_QUERY_SQLITE_FUNCTIONS_H
#define TL_QUERY_SQLITE_FUNCTIONS_H

#include <sqlite3.h>

#include "query/query_impl.h"

/* Makes them known to the session's db. */
int tl_sqlite_add_functions(tl_query *q, tl_error *e);

/* Those of sql_functions.def. */
#define TL_SQL_FUNCTION(name, call, arguments, what) void tl_sql_##name(sqlite3_context *c, int n, sqlite3_value **v);
#define TL_SQL_AGGREGATE(name, call, arguments, what)                                                                  \
    void tl_sql_##name##_add(sqlite3_context *c, int n, sqlite3_value **v);                                            \
    void tl_sql_##name##_give(sqlite3_context *c);
#include "query/sql_functions.def"
#undef TL_SQL_FUNCTION
#undef TL_SQL_AGGREGATE

#endif

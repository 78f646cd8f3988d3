/* SQL for a server of ClickHouse: statements one by one, with values in place of parameters. */
#ifndef TL_QUERY_SERVER_SQL_H
#define TL_QUERY_SERVER_SQL_H

#include "base/protobuf.h"
#include "traceloom/query.h"

/* The value of a parameter; `room` is for its text. NULL: it has none. */
typedef const tl_sql_value *(*tl_server_parameter)(void *arg, const char *name, tl_sql_value *room);

/* Adds the first statement of *sql, up to its semicolon, with each :name outside of texts, quoted names and comments
 * written as a literal, and glob(:name) as the regular expression that matches the same; *sql moves behind it. Adds
 * nothing if there is none. Errors: TL_ESYNTAX (a parameter without a value), TL_ENOMEM. */
int tl_server_sql(tl_pb *out, const char **sql, tl_server_parameter value, void *arg, tl_error *e);

/* Adds a value as a literal. */
void tl_server_put_value(tl_pb *sql, const tl_sql_value *v);

#endif

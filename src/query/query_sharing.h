/* Who uses a session: it stays as long as somebody does, and one thread at a time does. */
#ifndef TL_QUERY_QUERY_SHARING_H
#define TL_QUERY_QUERY_SHARING_H

#include "traceloom/query.h"

/* One more user, and one fewer: the last frees the session. */
void tl_query_hold(tl_query *q);
void tl_query_drop(tl_query *q);

/* Begins what one thread at a time may do; leave ends it. Errors: TL_EINVAL: another thread does. */
int tl_query_enter(tl_query *q, tl_error *e);
/* The same for what cannot fail: waits. */
void tl_query_wait(tl_query *q);
void tl_query_leave(tl_query *q);

/* Frees a session that nobody uses. */
void tl_query_free(tl_query *q);

/* Starts the time limit of a statement, and makes the rows of all tables of report that are used. */
int tl_query_begin(tl_query *q, tl_error *e);
/* The error of a statement that a limit ended. */
int tl_query_limited(tl_query *q, tl_error *e);
/* As tl_statement_close(), by the thread that entered. */
void tl_statement_free(tl_statement *s);
/* Its session, and its SQL. */
tl_query *tl_statement_query(const tl_statement *s);
const char *tl_statement_sql(const tl_statement *s);

#endif

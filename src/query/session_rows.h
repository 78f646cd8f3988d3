/* The rows of a table of a session, read without an engine. */
#ifndef TL_QUERY_SESSION_ROWS_H
#define TL_QUERY_SESSION_ROWS_H

#include "op/scan/scan.h"
#include "traceloom/query.h"

/* Begins to read a table, with all columns and without arguments, after making what it is made from. No statement is
 * open, and no other table is read meanwhile. *out is NULL if no trace of the session has what the table needs.
 * tl_scan_close() ends it. Errors: TL_ENOMEM, those of reading. */
int tl_session_rows_open(tl_scan **out, tl_query *q, uint32_t table, tl_error *e);
/* The same for what is asked; other tables may be read meanwhile, by the same thread. */
int tl_session_scan_open(tl_scan **out, tl_query *q, uint32_t table, const tl_scan_ask *ask, tl_error *e);
/* The arguments of a table: its last columns. */
uint32_t tl_table_arguments(const tl_query *q, uint32_t table);
/* Is it a table of one class of events, whose name a trace chose? */
bool tl_table_is_of_class(const tl_query *q, uint32_t table);

#endif

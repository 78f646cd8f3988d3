/* What is wrong with a statement, for people. */
#ifndef TL_CLI_QUERY_WRONG_H
#define TL_CLI_QUERY_WRONG_H

#include "cli/query/query_text.h"
#include "traceloom/query.h"

/* Says why a statement failed, which begins at `sql` in the text: where in the SQL, and which name was meant. `trace`
 * is the path of the trace that it failed with, or NULL; `name` the file that has the SQL, or NULL. Returns the exit
 * status. */
int tl_query_say_wrong(tl_query *q, const char *trace, const char *name, const char *all, const char *sql,
                       const tl_error *e);

#endif

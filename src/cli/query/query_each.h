/* `query --each`: the SQL once for each trace, and one result. */
#ifndef TL_CLI_QUERY_EACH_H
#define TL_CLI_QUERY_EACH_H

#include "cli/query/query_job.h"

/* Says what does not go with --each; a tl_exit. */
int tl_query_each_check(const tl_query_job *j);
/* Runs the text of the job over each of its inputs, which are not open, and prints the result. *is_useful: a part of
 * the inputs, at least, was answered, and nothing but inputs failed. Returns a tl_exit, after messages. */
int tl_query_each(tl_query_job *j, bool *is_useful);

#endif

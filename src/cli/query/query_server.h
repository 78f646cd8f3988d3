/* query --server: SQL runs on a server of ClickHouse, over the traces that `load` has put there. */
#ifndef TL_CLI_QUERY_SERVER_H
#define TL_CLI_QUERY_SERVER_H

#include "cli/query/query_job.h"

/* Do the options go together? In place of tl_query_job_open(). A tl_exit, after a message. */
int tl_query_server_check(tl_query_job *j);
/* Runs the statements of the text, and prints their results. A tl_exit, after a message. */
int tl_query_server_run(tl_query_job *j);

#endif

/* `query --export`: all tables, as a folder of files or as a database. */
#ifndef TL_CLI_QUERY_EXPORT_H
#define TL_CLI_QUERY_EXPORT_H

#include "cli/query/query_job.h"

/* Chooses the form of its files; says what does not go with it. A tl_exit. */
int tl_query_export_check(tl_query_job *j);
/* Writes the tables that the text names, or all. Returns a tl_exit, after a message. */
int tl_query_export(tl_query_job *j);

#endif

/* A worker of `query --each`: runs the SQL over one trace, in a process of its own. */
#ifndef TL_CLI_EACH_WORKER_H
#define TL_CLI_EACH_WORKER_H

#include "cli/query/query_text.h"

/* Runs the text, or explains it, over the input with this index, and sends everything to `fd`: what row_pipe.h says. */
void tl_each_work(const tl_cli *c, const tl_query_text *text, size_t index, unsigned threads, int fd);

#endif

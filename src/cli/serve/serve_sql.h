/* Questions of `serve` that SQL answers. */
#ifndef TL_CLI_SERVE_SQL_H
#define TL_CLI_SERVE_SQL_H

#include "cli/verbs.h"
#include "view/serve/request.h"

/* Runs the statements of the question, or those that its kind stands for, and writes their results as
 * `query --json` does. `ends` is asked whether to end early. Returns a tl_exit, after a message. */
int tl_serve_sql(const tl_cli *c, const tl_serve_request *r, bool (*ends)(void *arg), void *arg);

#endif

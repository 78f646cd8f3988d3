/* load --jobs: several files at once, each in a process of its own. */
#ifndef TL_CLI_LOAD_JOBS_H
#define TL_CLI_LOAD_JOBS_H

#include "cli/verbs.h"

/* Calls work(arg, i, threads) for i from 0 to n - 1, each in a child, up to `jobs` at once; a child's status is what it
 * returns. Returns the worst status, a tl_exit, after a message where a child was killed. */
int tl_load_jobs(const tl_cli *c, unsigned jobs, size_t n, int (*work)(void *arg, size_t i, unsigned threads),
                 void *arg);

#endif

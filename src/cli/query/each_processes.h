/* The processes of `query --each`: one for each input, some at a time, whose answers are read in the order of inputs.
 */
#ifndef TL_CLI_EACH_PROCESSES_H
#define TL_CLI_EACH_PROCESSES_H

#include <sys/types.h>

#include "cli/query/query_text.h"

#define EACH_AHEAD 4u /* answers that wait to be read, for each job: of small ones all processors get some */
#define EACH_SLOTS (TL_JOBS_MAX * EACH_AHEAD)

typedef struct tl_each_process {
    pid_t pid;    /* -1: it could not be made ... */
    int fd, why;  /* ... and the errno; fd: its answer */
    bool is_over; /* it has sent everything */
} tl_each_process;

typedef struct tl_each_processes {
    const tl_cli *cli;
    const tl_query_text *text;
    unsigned jobs;
    size_t first, begun; /* inputs [first .. begun] have a process, and are not forgotten; input i in slot i % slots */
    tl_each_process slot[EACH_SLOTS];
} tl_each_processes;

/* Before any thread is started: processes are made by fork. ^C ends them from here on. */
void tl_each_begin(tl_each_processes *p, const tl_cli *c, const tl_query_text *text, unsigned jobs);
/* Starts as many as may run. The process of input `first`, or NULL: there are no more. */
const tl_each_process *tl_each_first(tl_each_processes *p);
/* Is there something to read from it, or its end? Waits for that if `waits`, and starts others when some end. */
bool tl_each_ready(tl_each_processes *p, bool waits);
/* Goes on to the next input, after the process of this one has ended, or is killed. Returns its status, as of
 * waitpid().
 */
int tl_each_next(tl_each_processes *p, bool kills);
/* Kills all that run, and waits for them. */
void tl_each_end(tl_each_processes *p);

#endif

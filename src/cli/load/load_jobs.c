/* load --jobs. Processes, not threads: a trace that brings one down leaves the others alone, and each has its own
 * connections. Files are begun in their order. */
#include "cli/load/load_jobs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/inputs.h"
#include "cli/message.h"

typedef struct job {
    pid_t pid; /* 0: none */
    size_t i;
} job;

static void run_child(const tl_cli *c, pid_t parent, unsigned jobs, size_t i,
                      int (*work)(void *arg, size_t i, unsigned threads), void *arg)
{
    static char line[4096];
    const unsigned share = tl_threads(c) / jobs;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(TL_EXIT_DAMAGED);
    setvbuf(stderr, line, _IOLBF, sizeof line); /* lines of several processes stay whole */
    exit(work(arg, i, c->args->threads ? c->args->threads : share ? share : 1));
}

static int wait_for_one(const tl_cli *c, job *running, unsigned jobs)
{
    int status = 0;
    const pid_t pid = wait(&status);
    if (pid < 0)
        return errno == EINTR ? TL_EXIT_DONE : TL_EXIT_DAMAGED;
    for (unsigned k = 0; k < jobs; k++) {
        if (running[k].pid != pid)
            continue;
        running[k].pid = 0;
        if (WIFEXITED(status))
            return WEXITSTATUS(status);
        tl_say_error(tl_path_name(c->args->file.word[running[k].i]), "its process was ended by signal %d",
                     WTERMSIG(status));
        return TL_EXIT_DAMAGED;
    }
    return TL_EXIT_DONE;
}

int tl_load_jobs(const tl_cli *c, unsigned jobs, size_t n, int (*work)(void *arg, size_t i, unsigned threads),
                 void *arg)
{
    job running[TL_JOBS_MAX] = {{0}};
    const pid_t parent = getpid();
    int status = TL_EXIT_DONE;
    size_t begun = 0;
    unsigned most = jobs;
    for (unsigned busy = 0; begun < n || busy > 0;) {
        if (begun == n || busy >= most) {
            status = tl_exit_worse(status, wait_for_one(c, running, jobs));
            busy = 0;
            for (unsigned k = 0; k < jobs; k++)
                busy += running[k].pid != 0;
            continue;
        }
        unsigned k = 0;
        while (running[k].pid)
            k++;
        fflush(NULL); /* or the child would write it, too */
        const pid_t pid = fork();
        if (pid == 0)
            run_child(c, parent, jobs, begun, work, arg);
        if (pid < 0 && busy == 0) {
            tl_say_error(NULL, "--jobs: no process can be made: %s", strerror(errno));
            return TL_EXIT_DAMAGED;
        }
        if (pid < 0) {
            most = busy; /* as many as there can be */
            continue;
        }
        running[k] = (job){pid, begun++};
        busy++;
    }
    return status;
}

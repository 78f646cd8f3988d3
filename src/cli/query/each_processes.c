/* The processes of `query --each`. A process, not a thread, for each trace: SQLite's limit on memory is one of a
 * process, and a trace that brings one down leaves the others alone. */
#include "cli/query/each_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/inputs.h"
#include "cli/query/each_worker.h"
#include "cli/query/query_stop.h"

#define PIPE_SIZE (256 << 10) /* of an answer that waits to be read, in the system; larger ones wait to be written */

static volatile pid_t running[EACH_SLOTS]; /* for the handler of signals; 0: none */

static void kill_all(void)
{
    for (unsigned i = 0; i < EACH_SLOTS; i++)
        if (running[i] > 0)
            kill(running[i], SIGKILL);
}

void tl_each_begin(tl_each_processes *p, const tl_cli *c, const tl_query_text *text, unsigned jobs)
{
    *p = (tl_each_processes){.cli = c, .text = text, .jobs = jobs};
    tl_query_stop_workers(kill_all);
}

static unsigned slots(const tl_each_processes *p)
{
    return p->jobs * EACH_AHEAD;
}

static tl_each_process *slot_of(tl_each_processes *p, size_t input)
{
    return &p->slot[input % slots(p)];
}

/* The child of fork. */
static void work(tl_each_processes *p, pid_t parent, const sigset_t *mask, int fd)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}; /* a pager's handlers are not for us */
    const unsigned share = tl_threads(p->cli) / p->jobs;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(TL_EXIT_DAMAGED);
    for (size_t i = p->first; i < p->begun; i++)
        if (slot_of(p, i)->fd >= 0)
            close(slot_of(p, i)->fd);
    tl_each_work(p->cli, p->text, p->begun, p->cli->args->threads ? p->cli->args->threads : share ? share : 1, fd);
    exit(TL_EXIT_DONE);
}

/* Makes a process for the next input. False: not now, or there are no more. */
static bool start(tl_each_processes *p, bool is_needed)
{
    const pid_t parent = getpid();
    const size_t at = p->begun % slots(p);
    sigset_t interrupts, mask;
    int end[2] = {-1, -1}, why = 0;
    pid_t pid = -1;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    fflush(NULL); /* or the child would write it, too */
    sigprocmask(SIG_BLOCK, &interrupts, &mask);
    if (pipe2(end, O_CLOEXEC) != 0) {
        why = errno;
    } else {
        fcntl(end[1], F_SETPIPE_SZ, PIPE_SIZE); /* if it may */
        pid = fork();
        why = errno;
        if (pid == 0) {
            close(end[0]);
            work(p, parent, &mask, end[1]);
        }
        close(end[1]);
    }
    if (pid < 0 && end[0] >= 0)
        close(end[0]);
    running[at] = pid > 0 ? pid : 0;
    sigprocmask(SIG_SETMASK, &mask, NULL); /* a ^C meanwhile kills it, too */
    if (pid < 0 && !is_needed)
        return false;
    p->slot[at] = (tl_each_process){.pid = pid, .fd = pid > 0 ? end[0] : -1, .why = why, .is_over = pid < 0};
    p->begun++;
    return true;
}

static void start_all(tl_each_processes *p)
{
    unsigned busy = 0;
    for (size_t i = p->first; i < p->begun; i++)
        busy += !slot_of(p, i)->is_over;
    while (busy < p->jobs && p->begun < p->text->nfile && p->begun - p->first < slots(p) && !tl_query_is_stopped() &&
           start(p, p->begun == p->first))
        busy++;
}

const tl_each_process *tl_each_first(tl_each_processes *p)
{
    start_all(p);
    return p->first < p->begun ? slot_of(p, p->first) : NULL;
}

bool tl_each_ready(tl_each_processes *p, bool waits)
{
    struct pollfd ends[EACH_SLOTS];
    tl_each_process *of[EACH_SLOTS];
    do {
        nfds_t n = 0;
        start_all(p);
        for (size_t i = p->first; i < p->begun; i++) {
            tl_each_process *s = slot_of(p, i);
            if (i > p->first && s->is_over)
                continue;
            of[n] = s;
            ends[n++] = (struct pollfd){.fd = s->fd, .events = i == p->first ? POLLIN : 0};
        }
        if (n == 0 || ends[0].fd < 0)
            return true;
        if (poll(ends, n, waits ? -1 : 0) < 0)
            continue; /* a signal */
        for (nfds_t i = 0; i < n; i++)
            of[i]->is_over = of[i]->is_over || (ends[i].revents & ~POLLIN);
        if (ends[0].revents)
            return true;
    } while (waits && !tl_query_is_stopped());
    return false;
}

int tl_each_next(tl_each_processes *p, bool kills)
{
    tl_each_process *s = slot_of(p, p->first);
    const size_t at = p->first++ % slots(p);
    int status = 0;
    if (s->pid < 0)
        return 0;
    close(s->fd);
    if (kills)
        kill(s->pid, SIGKILL);
    running[at] = 0;
    while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

void tl_each_end(tl_each_processes *p)
{
    kill_all();
    while (p->first < p->begun)
        tl_each_next(p, true);
    tl_query_stop_workers(NULL);
}

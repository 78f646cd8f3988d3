/* ^C while a statement runs. */
#include "cli/query/query_stop.h"

#include <signal.h>
#include <stddef.h>

static tl_query *volatile running; /* for the handler of signals */
static void (*volatile end_workers)(void);
static volatile sig_atomic_t stopped;

static void interrupt(int signal_number)
{
    if (stopped && (running || end_workers)) {
        /* A statement that does not end: so does the process. */
        signal(signal_number, SIG_DFL);
        raise(signal_number);
        return;
    }
    stopped = 1;
    if (running)
        tl_query_interrupt(running);
    if (end_workers)
        end_workers();
}

void tl_query_stop_catch(tl_query *q)
{
    running = q;
    signal(SIGINT, interrupt);
}

void tl_query_stop_workers(void (*end)(void))
{
    end_workers = end;
    signal(SIGINT, interrupt);
}

bool tl_query_is_stopped(void)
{
    return stopped;
}

void tl_query_stop_forget(void)
{
    stopped = 0;
}

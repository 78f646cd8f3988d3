/* A handler that forks, often in the recorder; the child continues the interrupted code: rt_handlers_fork N */
#define FUNCTIONS(X) X(main) X(work) X(leaf)
#include "count.h"
#include "ticks.h"
#include "work.h"

#include <sys/wait.h>
#include <unistd.h>

enum { TICK_US = 500, CHILD_STATUS = 7 };

static volatile int forks, most, bad;
static pid_t parent;

UNTRACED static void on_tick(int number)
{
    (void)number;
    if (getpid() != parent || forks >= most)
        return;
    forks++;
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        tick(0);
        return;
    }
    while (waitpid(child, &status, 0) < 0)
        ;
    bad += !WIFEXITED(status) || WEXITSTATUS(status) != CHILD_STATUS;
}

TRACED int main(int argc, char **argv)
{
    CALLED(main);
    parent = getpid();
    most = argc > 1 ? atoi(argv[1]) : 50;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_tick;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    tick(TICK_US);
    while (getpid() == parent && forks < most)
        work();
    if (getpid() != parent) {
        work();
        exit(CHILD_STATUS);
    }
    tick(0);
    printf("forks %d bad %d\n", forks, bad);
    return 0;
}

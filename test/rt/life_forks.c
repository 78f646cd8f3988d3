/* Processes that make others: life_forks CASE */
#define FUNCTIONS(X) X(main) X(work) X(leaf) X(forker) X(in_child) X(endless) X(on_alarm)
#include "life.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

enum { TIMES = 20 };

static volatile unsigned sink;
static volatile int stop;

TRACED static void leaf(void)
{
    CALLED(leaf);
    sink++;
}

TRACED static void work(unsigned n)
{
    CALLED(work);
    while (n--)
        leaf();
    NO_TAIL();
}

TRACED static void in_child(unsigned n)
{
    CALLED(in_child);
    work(n);
    NO_TAIL();
}

/* Calls open at the fork begin again in a child. */
UNTRACED static void begin_child(void)
{
    forget_calls();
    CALLED(main);
    CALLED(forker);
}

UNTRACED __attribute__((noreturn)) static void end_child(const char *how)
{
    int quietly = strcmp(how, "_exit") == 0;
    tell(quietly ? "live" : "done", "open main 1\nopen forker 1\n");
    if (quietly)
        _exit(0);
    exit(0);
}

UNTRACED static void wait_for(pid_t pid)
{
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        exit(2);
}

TRACED static void forker(const char *how)
{
    CALLED(forker);
    pid_t pid;
    if (strcmp(how, "vfork") == 0) {
        pid = vfork();
        if (pid == 0) {
            leaf(); /* in the parent's memory: it counts as one of its calls */
            _exit(0);
        }
        wait_for(pid);
        work(7);
        return;
    }
    pid = fork();
    if (pid == 0) {
        begin_child();
        in_child(5);
        if (strcmp(how, "grandchild") == 0) {
            pid = fork();
            if (pid == 0) {
                begin_child();
                in_child(3);
                tell("done", "open main 1\nopen forker 1\n");
                exit(0);
            }
            wait_for(pid);
        }
        if (strcmp(how, "exec") == 0) {
            tell("live", "open main 1\nopen forker 1\n");
            execl("/proc/self/exe", "life_forks", "return", (char *)NULL);
        }
        end_child(how);
    }
    wait_for(pid);
    work(7);
    NO_TAIL();
}

TRACED static void *endless(void *unused)
{
    CALLED(endless);
    while (!stop)
        leaf();
    NO_TAIL();
    return unused;
}

/* Forks in a handler, which may have interrupted the recorder. */
TRACED static void on_alarm(int number)
{
    CALLED(on_alarm);
    sink += (unsigned)number;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    wait_for(pid);
}

UNTRACED static void spawn(void)
{
    extern char **environ;
    char *argv[] = {"true", NULL};
    pid_t pid;
    if (posix_spawnp(&pid, "true", NULL, NULL, argv, environ))
        exit(2);
    wait_for(pid);
    if (system("true"))
        exit(2);
}

TRACED int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    pthread_t thread[2];
    CALLED(main);
    work(100);
    if (strcmp(how, "threads") == 0) {
        for (unsigned i = 0; i < 2; i++)
            if (pthread_create(&thread[i], NULL, endless, NULL))
                exit(2);
        for (unsigned i = 0; i < TIMES; i++)
            forker(how);
        stop = 1;
        for (unsigned i = 0; i < 2; i++)
            pthread_join(thread[i], NULL);
    } else if (strcmp(how, "handler") == 0) {
        signal(SIGALRM, on_alarm);
        for (unsigned i = 0; i < TIMES; i++) {
            unsigned before = (unsigned)CALLS(on_alarm); /* before the alarm is set, which may come at once */
            ualarm(500 + 37 * i, 0);
            while (CALLS(on_alarm) == before)
                leaf();
        }
    } else if (strcmp(how, "spawn") == 0) {
        spawn();
    } else if (strcmp(how, "return") != 0) {
        forker(how);
    }
    work(1);
    tell("done", "");
    return 0;
}

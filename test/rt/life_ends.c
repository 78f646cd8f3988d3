/* The ways in which a process ends: life_ends CASE [MICROSECONDS] */
#define FUNCTIONS(X) X(main) X(work) X(leaf) X(ender) X(at_end) X(on_alarm) X(thread_body) X(endless)
#include "life.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

/* Threads that call leaf while the process ends. */
#define MANY "more leaf 1000000000\nopen leaf 4\nmore endless 4\nopen endless 4\n"

static volatile unsigned sink;

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

/* A handler of atexit and at_quick_exit: the last one to run. */
static const char *end_of_process = "done", *more = "open main 1\nopen ender 1\n";
TRACED static void at_end(void)
{
    CALLED(at_end);
    work(10);
    tell(end_of_process, more);
}

TRACED static void ender(const char *how)
{
    CALLED(ender);
    work(10);
    if (strcmp(how, "exit") == 0)
        exit(0);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(0);
    tell("live", more);
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "exec") == 0)
        execl("/proc/self/exe", "life_ends", "return", (char *)NULL);
    NO_TAIL();
}

TRACED static void *thread_body(void *how)
{
    CALLED(thread_body);
    work(1000);
    usleep(20000); /* the first thread has ended, or waits */
    work(1000);
    if (how)
        exit(0);
    NO_TAIL();
    return NULL;
}

TRACED static void *endless(void *unused)
{
    CALLED(endless);
    for (;;)
        leaf();
    return unused;
}

/* Usually comes while the recorder works. */
TRACED static void on_alarm(int number)
{
    CALLED(on_alarm);
    sink += (unsigned)number;
    leaf();
    exit(0);
}

UNTRACED static void start(void *(*body)(void *), void *arg)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, arg))
        exit(2);
    pthread_detach(thread);
}

UNTRACED static void wait_for_alarm(long us)
{
    struct itimerval t = {{0, 0}, {us / 1000000, us % 1000000}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &t, NULL);
    for (;;)
        leaf();
}

TRACED int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    CALLED(main);
    atexit(at_end);
    at_quick_exit(at_end);
    work(100);
    if (strcmp(how, "return") == 0)
        return 0;
    if (strcmp(how, "thread_exit") == 0) {
        more = "open main 1\nopen thread_body 1\n";
        start(thread_body, &sink);
        for (;;)
            pause();
    }
    if (strcmp(how, "main_leaves") == 0) {
        more = "open main 1\n";
        start(thread_body, NULL);
        pthread_exit(NULL);
    }
    if (strcmp(how, "threads_go_on") == 0) {
        more = MANY;
        for (int i = 0; i < 3; i++)
            start(endless, NULL);
        usleep(20000);
        return 0;
    }
    if (strcmp(how, "handler") == 0) {
        more = "open main 1\nopen on_alarm 1\nopen leaf 1\nmore leaf 1\n";
        wait_for_alarm(strtol(argv[2], NULL, 10));
    }
    ender(how);
    return 0;
}

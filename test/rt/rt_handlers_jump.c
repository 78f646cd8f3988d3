/* Handlers that leave with siglongjmp, whatever they interrupt, often the recorder.
 *
 * rt_handlers_jump [alternate | above] [ms]: on a stack of their own, which lies below the program's or above. */
#define FUNCTIONS(X) X(main) X(work) X(leaf) X(on_tick) X(in_tick)
#include "count.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

enum { TICK_US = 50, STACK = 256 << 10 };

static sigjmp_buf back;
static volatile int armed;
static volatile unsigned long jumps;

UNTRACED static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

TRACED static void in_tick(void)
{
    CALLED(in_tick);
    NO_TAIL();
}

TRACED static void leaf(void)
{
    CALLED(leaf);
    NO_TAIL();
}

TRACED static void work(void)
{
    CALLED(work);
    for (int i = 0; i < 20; i++)
        leaf();
    NO_TAIL();
}

TRACED static void on_tick(int number)
{
    CALLED(on_tick);
    (void)number;
    in_tick();
    if (armed) {
        armed = 0;
        jumps++;
        siglongjmp(back, 1);
    }
    NO_TAIL();
}

UNTRACED static void tick(int us)
{
    struct itimerval every = {{0, us}, {0, us}};
    setitimer(ITIMER_REAL, &every, NULL);
}

/* The handler may come at any time, but leaves only from here. */
UNTRACED static void spend(int milliseconds)
{
    int64_t end = now_ns() + milliseconds * INT64_C(1000000);
    for (volatile unsigned turn = 1; now_ns() < end; turn++) {
        if (sigsetjmp(back, 1))
            continue;
        armed = turn % 3 == 0;
        for (int i = 0; i < 5; i++)
            work();
        armed = 0;
    }
}

UNTRACED static void use_stack(void *memory)
{
    stack_t stack = {.ss_sp = memory, .ss_size = STACK};
    if (sigaltstack(&stack, NULL))
        exit(3);
}

static int milliseconds = 500;

/* Its stack is the lower end of a mapping, the handlers' the upper one. */
UNTRACED static void *worker(void *high)
{
    use_stack(high);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    tick(TICK_US);
    spend(milliseconds);
    tick(0);
    return NULL;
}

UNTRACED static void spend_in_thread(void)
{
    char *memory = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_attr_init(&attributes);
    if (memory == MAP_FAILED || pthread_attr_setstack(&attributes, memory, 1 << 20) ||
        pthread_create(&thread, &attributes, worker, memory + (2 << 20) - STACK))
        exit(3);
    pthread_join(thread, NULL);
}

TRACED int main(int argc, char **argv)
{
    CALLED(main);
    const char *how = argc > 1 ? argv[1] : "plain";
    if (argc > 2)
        milliseconds = atoi(argv[2]);
    static char low[STACK];
    bool above = !strcmp(how, "above"), alternate = !strcmp(how, "alternate");
    if (alternate)
        use_stack(low);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_tick;
    action.sa_flags = SA_RESTART | (alternate || above ? SA_ONSTACK : 0);
    sigaction(SIGALRM, &action, NULL);
    if (above) {
        spend_in_thread();
    } else {
        tick(TICK_US);
        spend(milliseconds);
        tick(0);
    }
    print_calls();
    printf("jumps %lu\n", jumps);
    return 0;
}

/* Handlers that leave with siglongjmp, whatever they interrupt, often the recorder: rt_handlers_jump [alternate] [ms]
 */
#define FUNCTIONS(X) X(main) X(work) X(leaf) X(on_tick) X(in_tick)
#include "count.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
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

TRACED int main(int argc, char **argv)
{
    CALLED(main);
    static char memory[STACK];
    int alternate = argc > 1 && !strcmp(argv[1], "alternate");
    stack_t stack = {.ss_sp = memory, .ss_size = STACK};
    if (alternate && sigaltstack(&stack, NULL))
        return 3;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_tick;
    action.sa_flags = SA_RESTART | (alternate ? SA_ONSTACK : 0);
    sigaction(SIGALRM, &action, NULL);
    tick(TICK_US);
    spend(argc > 2 ? atoi(argv[2]) : 500);
    tick(0);
    print_calls();
    printf("jumps %lu\n", jumps);
    return 0;
}

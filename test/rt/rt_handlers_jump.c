/* Handlers that leave with siglongjmp, whatever they interrupt, often the recorder.
 *
 * rt_handlers_jump [alternate | above] [ms]: on a stack of their own, which lies below the program's or above. */
#define FUNCTIONS(X) X(main) X(work) X(leaf) X(on_tick) X(in_tick)
#include "count.h"
#include "ticks.h"

#include <setjmp.h>
#include <stdbool.h>

enum { TICK_US = 50 };

static sigjmp_buf back;
static volatile int armed;
static volatile unsigned long jumps;

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

static int milliseconds = 500;

/* Its stack is the lower end of a mapping, the handlers' the upper one. */
UNTRACED static void *worker(void *high)
{
    use_stack(high);
    take_ticks();
    tick(TICK_US);
    spend(milliseconds);
    tick(0);
    return NULL;
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
        run_below(worker);
    } else {
        tick(TICK_US);
        spend(milliseconds);
        tick(0);
    }
    print_calls();
    printf("jumps %lu\n", jumps);
    return 0;
}

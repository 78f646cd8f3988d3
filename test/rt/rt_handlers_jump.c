/* Handlers that leave with siglongjmp whatever they interrupt, often the recorder.
 *
 * rt_handlers_jump [alternate | above | each] [ms]: on a stack of their own, below the program's or above. With each,
 * every handler leaves, but they come less often, so that much is recorded in between. */
#define FUNCTIONS(X) X(main) X(work) X(leaf) X(on_tick) X(in_tick)
#include "count.h"
#include "ticks.h"
#include "work.h"

#include <setjmp.h>
#include <stdbool.h>

enum { TICK_US = 50, EACH_US = 1000, EACH_CALLS = 200, CALLS = 5, ENOUGH = 20, LONGEST_MS = 20000 };

static sigjmp_buf back;
static bool each;
static int milliseconds = 500;
static volatile int armed;
static volatile unsigned long jumps;

TRACED static void in_tick(void)
{
    CALLED(in_tick);
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

/* The handler may come at any time, but leaves only from in here. */
UNTRACED static void spend(int milliseconds)
{
    int64_t begin = now_ns(), end = begin + LONGEST_MS * INT64_C(1000000);
    int64_t enough = begin + milliseconds * INT64_C(1000000);
    for (volatile unsigned turn = 1; now_ns() < (jumps < ENOUGH ? end : enough); turn++) {
        if (sigsetjmp(back, 1))
            continue;
        armed = each || turn % 3 == 0;
        for (int i = 0; i < (each ? EACH_CALLS : CALLS); i++)
            work();
        armed = 0;
    }
}

/* The thread's stack is the lower end of a mapping, the handlers' the upper one. */
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
    each = !strcmp(how, "each");
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
        tick(each ? EACH_US : TICK_US);
        spend(milliseconds);
        tick(0);
    }
    print_calls();
    printf("jumps %lu\n", jumps);
    return 0;
}

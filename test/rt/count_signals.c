/* A timer of 100 us interrupts the program anywhere, also in the recorder; the handlers are traced.
 *
 * count_signals [alternate | above | nested | storm] [ms]: handlers on an alternate stack, below the program's or
 * above; or two timers whose handlers interrupt each other. A storm ends after a number of signals, so that handlers
 * may take longer than 20 us. */
#define FUNCTIONS(X) X(main) X(work) X(leaf) X(on_tick) X(in_tick) X(on_other) X(worker)
#include "count.h"
#include "ticks.h"

enum { TICK_US = 100, OTHER_US = 77, STORM_US = 20, STORM_MOST = 10000 };

static volatile unsigned long sum;
static int milliseconds = 1000;
static timer_t other;

TRACED static void leaf(unsigned n)
{
    CALLED(leaf);
    for (volatile unsigned i = 0; i < n; i++)
        ;
}

TRACED static void work(void)
{
    CALLED(work);
    for (unsigned i = 0; i < 20; i++)
        leaf(500);
    NO_TAIL();
}

TRACED static void in_tick(void)
{
    CALLED(in_tick);
    sum++;
}

UNTRACED static void other_every(int us)
{
    struct itimerspec every = {{0, us * 1000L}, {0, us * 1000L}};
    timer_settime(other, 0, &every, NULL);
}

TRACED static void on_tick(int number)
{
    CALLED(on_tick);
    (void)number;
    in_tick();
    in_tick();
    if (CALLS(on_tick) == STORM_MOST)
        tick(0);
    NO_TAIL();
}

TRACED static void on_other(int number)
{
    CALLED(on_other);
    (void)number;
    in_tick();
    if (CALLS(on_other) == STORM_MOST)
        other_every(0);
    NO_TAIL();
}

UNTRACED static void spend(void)
{
    for (int64_t end = now_ns() + milliseconds * INT64_C(1000000); now_ns() < end;)
        work();
}

UNTRACED static void catch (int number, void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART | flags;
    sigaction(number, &action, NULL);
}

/* A thread whose stack is at the low end of a mapping and its alternate one at the high end; it alone takes the
 * signals. */
TRACED static void *worker(void *high)
{
    CALLED(worker);
    use_stack(high);
    take_ticks();
    tick(TICK_US);
    spend();
    tick(0);
    return NULL;
}

TRACED int main(int argc, char **argv)
{
    CALLED(main);
    const char *how = argc > 1 ? argv[1] : "plain";
    if (argc > 2)
        milliseconds = atoi(argv[2]);
    int above = !strcmp(how, "above"), storm = !strcmp(how, "storm"), nested = storm || !strcmp(how, "nested");
    static char low[STACK];
    if (!strcmp(how, "alternate"))
        use_stack(low);
    catch (SIGALRM, on_tick,
           (above || !strcmp(how, "alternate") ? SA_ONSTACK : 0) | (nested && !storm ? SA_NODEFER : 0));
    catch (SIGUSR2, on_other, storm ? 0 : SA_NODEFER);
    if (above) {
        run_below(worker);
    } else {
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
        if (nested && timer_create(CLOCK_MONOTONIC, &event, &other))
            exit(3);
        if (nested)
            other_every(storm ? STORM_US : OTHER_US);
        tick(storm ? STORM_US : TICK_US);
        spend();
        tick(0);
        if (nested)
            timer_delete(other);
    }
    EXPECT(in_tick, 2 * CALLS(on_tick) + CALLS(on_other));
    EXPECT(leaf, 20 * CALLS(work));
    print_calls();
    printf("edge on_tick in_tick %lu\nedge on_other in_tick %lu\nedge work leaf %lu\n", 2 * CALLS(on_tick),
           CALLS(on_other), CALLS(leaf));
    return 0;
}

/* Threads that are cancelled anywhere, often in the recorder; later threads get their lanes.
 *
 * rt_handlers_cancel [threads] */
#define FUNCTIONS(X) X(main) X(work) X(leaf) X(cleanup)
#include "count.h"
#include "ticks.h"
#include "work.h"

enum { LONGEST_US = 1500, AT_ONCE = 3 };

static volatile int running;

TRACED static void cleanup(void *unused)
{
    CALLED(cleanup);
    (void)unused;
    leaf();
    NO_TAIL();
}

UNTRACED static void *worker(void *unused)
{
    (void)unused;
    pthread_cleanup_push(cleanup, NULL);
    __atomic_fetch_add(&running, 1, __ATOMIC_RELAXED);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;)
        work();
    pthread_cleanup_pop(0);
}

TRACED int main(int argc, char **argv)
{
    CALLED(main);
    int rounds = argc > 1 ? atoi(argv[1]) / AT_ONCE : 60;
    unsigned random = 1;
    for (int i = 0; i < rounds; i++) {
        pthread_t thread[AT_ONCE];
        running = 0;
        for (int k = 0; k < AT_ONCE; k++)
            if (pthread_create(&thread[k], NULL, worker, NULL))
                exit(3);
        while (running < AT_ONCE)
            sched_yield();
        random = random * 1103515245 + 12345;
        struct timespec t = {0, (random >> 8) % LONGEST_US * 1000L};
        nanosleep(&t, NULL);
        for (int k = 0; k < AT_ONCE; k++)
            pthread_cancel(thread[k]);
        for (int k = 0; k < AT_ONCE; k++)
            pthread_join(thread[k], NULL);
    }
    EXPECT(cleanup, rounds * AT_ONCE);
    print_calls();
    printf("open work %d\nopen leaf %d\njumps %d\n", rounds * AT_ONCE, rounds * AT_ONCE, rounds * AT_ONCE);
    return 0;
}

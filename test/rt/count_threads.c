/* Eight threads at the same time, then many short ones one after another, and some that end inside calls. */
#define FUNCTIONS(X) X(main) X(worker) X(fib) X(leaf) X(short_worker) X(quitter) X(inner) X(innermost)
#include "count.h"

#include <pthread.h>

enum { THREADS = 8, SHORT = 300, QUITTERS = 20, ROUNDS = 20 };

TRACED static unsigned fib(unsigned n)
{
    CALLED(fib);
    unsigned r = n;
    if (n >= 2)
        r = fib(n - 1) + fib(n - 2);
    NO_TAIL();
    return r;
}

static _Thread_local volatile unsigned long mine;
TRACED static void leaf(unsigned n)
{
    CALLED(leaf);
    mine += n;
}

TRACED static void *worker(void *arg)
{
    CALLED(worker);
    for (unsigned i = 0; i < ROUNDS; i++) {
        mine += fib(12);
        for (unsigned j = 0; j < 100; j++)
            leaf(j);
    }
    return arg;
}

TRACED static void *short_worker(void *arg)
{
    CALLED(short_worker);
    leaf(1);
    return arg;
}

TRACED static void innermost(void)
{
    CALLED(innermost);
    pthread_exit(NULL);
}

TRACED static void inner(void)
{
    CALLED(inner);
    innermost();
    NO_TAIL();
}

TRACED static void *quitter(void *arg)
{
    CALLED(quitter);
    inner();
    return arg;
}

UNTRACED static void run(unsigned n, unsigned at_once, void *(*function)(void *))
{
    pthread_t thread[THREADS];
    for (unsigned i = 0; i < n; i += at_once) {
        for (unsigned j = 0; j < at_once; j++)
            if (pthread_create(&thread[j], NULL, function, NULL))
                exit(3);
        for (unsigned j = 0; j < at_once; j++)
            pthread_join(thread[j], NULL);
    }
}

TRACED int main(void)
{
    CALLED(main);
    run(THREADS, THREADS, worker);
    run(SHORT, 2, short_worker);
    run(QUITTERS, 1, quitter);
    EXPECT(fib, THREADS * ROUNDS * 465);
    EXPECT(leaf, THREADS * ROUNDS * 100 + SHORT);
    EXPECT(innermost, QUITTERS);
    print_calls();
    printf("open quitter %d\nopen inner %d\nopen innermost %d\n", QUITTERS, QUITTERS, QUITTERS);
    printf("edge worker leaf %d\nedge short_worker leaf %d\nedge worker fib %d\n", THREADS * ROUNDS * 100, SHORT,
           THREADS * ROUNDS);
    return 0;
}

/* After recording has begun, and before the first event, no file may grow any more. */
#define FUNCTIONS(X) X(main) X(worker) X(leaf)
#include "count.h"

#include <pthread.h>
#include <sys/resource.h>

enum { LARGEST = 2000, THREADS = 3, LEAVES = 100 };

__attribute__((constructor(200))) UNTRACED static void no_more(void)
{
    struct rlimit most = {LARGEST, LARGEST};
    if (setrlimit(RLIMIT_FSIZE, &most))
        exit(3);
}

TRACED static void leaf(void)
{
    CALLED(leaf);
    NO_TAIL();
}

TRACED static void *worker(void *unused)
{
    CALLED(worker);
    for (int i = 0; i < LEAVES; i++)
        leaf();
    NO_TAIL();
    return unused;
}

TRACED int main(void)
{
    CALLED(main);
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, worker, NULL))
            exit(3);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    print_calls();
    return 0;
}

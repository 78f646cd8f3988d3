/* Calls without end until it is killed: fault_kill PROGRESS [threads]
 *
 * After each call a thread stores its number of calls in PROGRESS, a mapped file: the recording must have at least
 * these, and at most one more for each thread. PROGRESS: two u64 for each thread, calls of leaf and of outer. */
#define FUNCTIONS(X) X(main) X(worker) X(outer) X(leaf)
#include "count.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 16 };
struct progress {
    uint64_t leaf, outer;
};

TRACED static void leaf(unsigned n)
{
    for (volatile unsigned i = 0; i < n; i++)
        ;
}

TRACED static void outer(struct progress *mine)
{
    for (unsigned i = 0; i < 10; i++) {
        leaf(1000);
        __atomic_store_n(&mine->leaf, mine->leaf + 1, __ATOMIC_RELEASE);
    }
}

TRACED static void *worker(void *mine)
{
    struct progress *p = mine;
    for (;;) {
        outer(p);
        __atomic_store_n(&p->outer, p->outer + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

TRACED int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    int threads = argc > 2 ? atoi(argv[2]) : 3;
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (fd < 0 || threads > MOST || ftruncate(fd, MOST * sizeof(struct progress)))
        return 3;
    struct progress *all = mmap(NULL, MOST * sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (all == MAP_FAILED)
        return 3;
    for (int i = 1; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker, &all[i]))
            return 3;
    }
    worker(&all[0]);
    return 0;
}

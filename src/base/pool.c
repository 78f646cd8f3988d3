/* Worker threads: a lock protects the next number; tasks are coarse, so its cost does not show. */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* More threads than this are a mistake. */
#define THREADS_MOST 1024u

typedef struct job {
    pthread_mutex_t lock;
    int (*task)(void *arg, unsigned worker, uint32_t i);
    void *arg;
    uint32_t next, n;
    uint32_t failed; /* lowest number of a failed task; n: none */
    int result;
} job;

typedef struct worker {
    job *job;
    unsigned index;
    pthread_t thread;
} worker;

unsigned tl_processors(void)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > (long)THREADS_MOST ? THREADS_MOST : (unsigned)n;
}

static bool take(job *j, uint32_t *i)
{
    pthread_mutex_lock(&j->lock);
    bool some = j->failed == j->n && j->next < j->n;
    if (some)
        *i = j->next++;
    pthread_mutex_unlock(&j->lock);
    return some;
}

/* All numbers below a failed one have been given out, and their tasks end before tl_parallel() returns: so timing does
 * not decide which failure is the lowest. */
static void fail(job *j, uint32_t i, int result)
{
    pthread_mutex_lock(&j->lock);
    if (i < j->failed) {
        j->failed = i;
        j->result = result;
    }
    pthread_mutex_unlock(&j->lock);
}

static void work(job *j, unsigned index)
{
    uint32_t i;
    while (take(j, &i)) {
        int result = j->task(j->arg, index, i);
        if (result < 0)
            fail(j, i, result);
    }
}

static void *worker_main(void *arg)
{
    worker *w = arg;
    work(w->job, w->index);
    return NULL;
}

/* Starts workers 1 .. threads-1 with all signals blocked (those are for the program's own threads); returns the number
 * of threads including the calling one. */
static unsigned start(job *j, worker *workers, unsigned threads)
{
    sigset_t all, before;
    unsigned n = 1;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return n;
    for (; n < threads; n++) {
        workers[n] = (worker){.job = j, .index = n};
        if (pthread_create(&workers[n].thread, NULL, worker_main, &workers[n]) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return n;
}

int tl_parallel(unsigned threads, uint32_t n, int (*task)(void *arg, unsigned worker, uint32_t i), void *arg)
{
    job j = {.task = task, .arg = arg, .n = n, .failed = n};
    worker *workers = NULL;
    unsigned started = 1;

    if (threads > n)
        threads = n;
    if (threads > THREADS_MOST)
        threads = THREADS_MOST;
    if (pthread_mutex_init(&j.lock, NULL) != 0) {
        /* Without a lock, the calling thread does everything. */
        for (uint32_t i = 0; i < n && j.result >= 0; i++)
            j.result = task(arg, 0, i);
        return j.result < 0 ? j.result : 0;
    }
    if (threads > 1)
        workers = calloc(threads, sizeof *workers);
    if (workers)
        started = start(&j, workers, threads);
    work(&j, 0);
    for (unsigned i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    free(workers);
    pthread_mutex_destroy(&j.lock);
    return j.result;
}

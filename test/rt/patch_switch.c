/* Threads that are in patched code all the time, for a test that switches it on and off: patch_switch THREADS [TIMES]
 *
 * Switches it so many times itself, as fast as it can; then runs until its input ends, prints how many calls of each
 * function there were, and waits for the end of the program by SIGTERM, so that its memory can be compared with its
 * file. The functions begin and end in many ways. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "traceloom/rt.h"

/* Of the recorder that is preloaded. */
#pragma weak tl_rt_record_start
#pragma weak tl_rt_record_stop

#define KEEP __attribute__((noipa))
enum { THREADS_MAX = 16 };

static volatile int over;
static _Thread_local volatile unsigned sink;
static unsigned long made[THREADS_MAX];

/* Entries of one, two, three and more bytes, at many alignments. */
#define WORKERS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define DEFINE(n)                                                                                                      \
    KEEP static unsigned leaf_##n(unsigned x)                                                                          \
    {                                                                                                                  \
        return x * (2 * n + 1) + n;                                                                                    \
    }                                                                                                                  \
    KEEP static unsigned tail_##n(unsigned x)                                                                          \
    {                                                                                                                  \
        return leaf_##n(x ^ n);                                                                                        \
    }                                                                                                                  \
    KEEP static unsigned saves_##n(unsigned x)                                                                         \
    {                                                                                                                  \
        unsigned a = leaf_##n(x), b = tail_##n(a), c = leaf_##n(b + n);                                                \
        sink = a + b;                                                                                                  \
        return a ^ b ^ c;                                                                                              \
    }                                                                                                                  \
    KEEP static unsigned deep_##n(unsigned x)                                                                          \
    {                                                                                                                  \
        return x % 8 == n % 8 ? x : deep_##n(x + 1) + 1;                                                               \
    }
WORKERS(DEFINE)

/* What a turn gives, which never changes. */
KEEP static unsigned turn(unsigned x)
{
#define USE(n) x = saves_##n(x) + deep_##n(x % 64);
    WORKERS(USE)
    return x;
}

static void *run(void *arg)
{
    unsigned long *count = arg;
    const unsigned right = turn(1);
    while (!over) {
        if (turn(1) != right)
            abort();
        ++*count;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS_MAX];
    int n = argc > 1 ? atoi(argv[1]) : 4, c;
    if (n < 1 || n > THREADS_MAX)
        return 2;
    for (int i = 0; i < n; i++)
        if (pthread_create(&thread[i], NULL, run, &made[i]))
            return 3;
    for (int i = argc > 2 ? atoi(argv[2]) : 0; i > 0; i--) {
        if (tl_rt_record_start() < 0)
            return 4;
        if (i % 8 == 0)
            usleep((useconds_t)i % 64);
        if (tl_rt_record_stop() < 0)
            return 5;
    }
    puts("ready");
    fflush(stdout);
    while ((c = getchar()) != EOF)
        ;
    over = 1;
    unsigned long turns = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(thread[i], NULL);
        turns += made[i] + 1;
    }
    printf("turns %lu\n", turns);
    fflush(stdout);
    for (;;)
        pause();
}

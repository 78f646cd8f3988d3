/* Timers and stacks for signal handlers, for programs that are interrupted all the time. Include after count.h. */
#ifndef TICKS_H
#define TICKS_H

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

enum { STACK = 256 << 10 };

UNTRACED static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* SIGALRM every `us` microseconds; 0: no more. */
UNTRACED static void tick(int us)
{
    struct itimerval every = {{0, us}, {0, us}};
    setitimer(ITIMER_REAL, &every, NULL);
}

UNTRACED static void use_stack(void *memory)
{
    stack_t stack = {.ss_sp = memory, .ss_size = STACK};
    if (sigaltstack(&stack, NULL))
        exit(3);
}

/* In the only thread that takes them. */
UNTRACED static void take_ticks(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Runs a thread whose stack is the lower end of a mapping, and passes it the upper one as a stack for handlers. This
 * thread alone takes the ticks. */
UNTRACED static void run_below(void *(*worker)(void *))
{
    char *memory = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_attr_init(&attributes);
    if (memory == MAP_FAILED || pthread_attr_setstack(&attributes, memory, 1 << 20) ||
        pthread_create(&thread, &attributes, worker, memory + (2 << 20) - STACK))
        exit(3);
    pthread_join(thread, NULL);
}

#endif

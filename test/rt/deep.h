/* Deep stacks. Include after count.h. */
#ifndef DEEP_H
#define DEEP_H

#include <pthread.h>

/* A function that calls another, or itself, until n are on the stack, and returns n. */
#define DOWN(name, next)                                                                                               \
    TRACED static unsigned name(unsigned n)                                                                            \
    {                                                                                                                  \
        CALLED(name);                                                                                                  \
        unsigned r = n > 1 ? next(n - 1) + 1 : 1;                                                                      \
        NO_TAIL();                                                                                                     \
        return r;                                                                                                      \
    }

/* Runs a thread with room for them. */
UNTRACED static void run_deep(void *(*thread)(void *))
{
    enum { STACK = 256 << 20 };
    pthread_t id;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, STACK) || pthread_create(&id, &attributes, thread, NULL) ||
        pthread_join(id, NULL))
        exit(3);
}

#endif

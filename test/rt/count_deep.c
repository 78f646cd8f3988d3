/* Stacks of 100,000 frames, of one function and of two in turns, in a thread with a large stack. */
#define FUNCTIONS(X) X(main) X(deep_thread) X(down) X(left) X(right) X(bottom)
#include "count.h"

#include <pthread.h>

enum { DEPTH = 100000, TIMES = 3, STACK = 256 << 20 };

static volatile unsigned reached;
TRACED static void bottom(void)
{
    CALLED(bottom);
    reached++;
}

TRACED static unsigned down(unsigned n)
{
    CALLED(down);
    unsigned r = 0;
    if (n > 1)
        r = down(n - 1) + 1;
    else
        bottom();
    NO_TAIL();
    return r;
}

TRACED static unsigned right(unsigned n);
TRACED static unsigned left(unsigned n)
{
    CALLED(left);
    unsigned r = n > 1 ? right(n - 1) + 1 : 0;
    NO_TAIL();
    return r;
}

TRACED static unsigned right(unsigned n)
{
    CALLED(right);
    unsigned r = n > 1 ? left(n - 1) + 1 : 0;
    NO_TAIL();
    return r;
}

TRACED static void *deep_thread(void *arg)
{
    CALLED(deep_thread);
    for (unsigned i = 0; i < TIMES; i++)
        reached += down(DEPTH) != DEPTH - 1;
    reached += left(DEPTH) != DEPTH - 1;
    return arg;
}

TRACED int main(void)
{
    CALLED(main);
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, STACK) || pthread_create(&thread, &attributes, deep_thread, NULL))
        exit(3);
    pthread_join(thread, NULL);
    EXPECT(down, DEPTH * TIMES);
    EXPECT(left, DEPTH / 2);
    EXPECT(right, DEPTH / 2);
    EXPECT(bottom, TIMES);
    print_calls();
    puts("flat");
    return reached != TIMES;
}

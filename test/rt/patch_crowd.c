/* A library of small functions that lie one behind the other; crowd_all() calls them, and prints how often. */
#include <stdio.h>

#define KEEP     __attribute__((noipa))
#define CROWD(X) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25)

static volatile unsigned sink;

#define DEFINE(n)                                                                                                      \
    KEEP static unsigned crowd_##n(unsigned x)                                                                         \
    {                                                                                                                  \
        return x + n;                                                                                                  \
    }
CROWD(DEFINE)

KEEP void crowd_all(void);
KEEP void crowd_all(void)
{
#define CALL(n)                                                                                                        \
    for (unsigned i = 0; i < n; i++)                                                                                   \
        sink += crowd_##n(i);                                                                                          \
    printf("call crowd_" #n " %u\n", n);
    CROWD(CALL)
    puts("call crowd_all 1");
}

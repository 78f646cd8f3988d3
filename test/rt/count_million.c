/* A million short calls, and as many of two functions that call each other. */
#define FUNCTIONS(X) X(main) X(leaf) X(outer) X(inner)
#include "count.h"

static volatile unsigned long sum;

TRACED static void leaf(unsigned long n)
{
    CALLED(leaf);
    sum += n;
}

TRACED static void inner(unsigned long n)
{
    CALLED(inner);
    sum += n;
}

TRACED static void outer(unsigned long n)
{
    CALLED(outer);
    inner(n);
    NO_TAIL();
}

TRACED int main(void)
{
    CALLED(main);
    for (unsigned long i = 0; i < 1000000; i++)
        leaf(i);
    for (unsigned long i = 0; i < 200000; i++)
        outer(i);
    EXPECT(leaf, 1000000);
    EXPECT(inner, 200000);
    print_calls();
    puts("edge main leaf 1000000\nedge outer inner 200000\nedge main outer 200000");
    return 0;
}

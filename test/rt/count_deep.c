/* Stacks of 100,000 frames, or of the number given, of one function and of two in turn; on a large stack. */
#define FUNCTIONS(X) X(main) X(deep_thread) X(down) X(left) X(right) X(bottom)
#include "count.h"
#include "deep.h"

enum { DEPTH = 100000, TIMES = 3 };

static unsigned depth = DEPTH;

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
DOWN(left, right)
DOWN(right, left)

TRACED static void *deep_thread(void *arg)
{
    CALLED(deep_thread);
    for (unsigned i = 0; i < TIMES; i++)
        reached += down(depth) != depth - 1;
    reached += left(depth) != depth;
    return arg;
}

TRACED int main(int argc, char **argv)
{
    CALLED(main);
    if (argc > 1)
        depth = (unsigned)strtoul(argv[1], NULL, 10);
    run_deep(deep_thread);
    EXPECT(down, depth * TIMES);
    EXPECT(left, depth / 2);
    EXPECT(right, depth / 2);
    EXPECT(bottom, TIMES);
    print_calls();
    puts("flat");
    return reached != TIMES;
}

/* Calls at the end of functions, which compilers turn into jumps: chains, two functions in turn, through a pointer. */
#define FUNCTIONS(X)                                                                                                   \
    X(main)                                                                                                            \
    X(step_a) X(step_b) X(step_c) X(ping) X(pong) X(chooser) X(choice_a) X(choice_b) X(must_ping) X(must_pong) X(into)
#include "count.h"

static volatile int sink;

TRACED static int step_c(int x)
{
    CALLED(step_c);
    return x + sink;
}

TRACED static int step_b(int x)
{
    CALLED(step_b);
    return step_c(x + 1);
}

TRACED static int step_a(int x)
{
    CALLED(step_a);
    return step_b(x + 1);
}

TRACED static int pong(int n);
TRACED static int ping(int n)
{
    CALLED(ping);
    return n ? pong(n - 1) : 1;
}

TRACED static int pong(int n)
{
    CALLED(pong);
    return n ? ping(n - 1) : 2;
}

TRACED static int choice_a(int x)
{
    CALLED(choice_a);
    return x;
}

TRACED static int choice_b(int x)
{
    CALLED(choice_b);
    return x + 1;
}

static int (*const volatile choice[2])(int) = {choice_a, choice_b};
TRACED static int chooser(int x)
{
    CALLED(chooser);
    return choice[x & 1](x);
}

#if defined(__clang__)
#define MUST_TAIL __attribute__((musttail))
#else
#define MUST_TAIL
#endif
/* Goes this deep only if the compiler promises jumps. */
TRACED static int must_pong(int n);
TRACED static int must_ping(int n)
{
    CALLED(must_ping);
    if (n == 0)
        return 1;
    MUST_TAIL return must_pong(n - 1);
}

TRACED static int must_pong(int n)
{
    CALLED(must_pong);
    if (n == 0)
        return 2;
    MUST_TAIL return must_ping(n - 1);
}

/* From an untraced function into a traced one. */
TRACED static int into(int x)
{
    CALLED(into);
    return x;
}

UNTRACED static int not_traced(int x)
{
    return into(x);
}

TRACED int main(void)
{
    CALLED(main);
    for (int i = 0; i < 1000; i++) {
        sink = step_a(i);
        sink = chooser(i);
        sink = not_traced(i);
    }
    for (int i = 0; i < 100; i++)
        sink = ping(i);
    sink = must_ping(1999);
    EXPECT(step_c, 1000);
    EXPECT(ping, 2550);
    EXPECT(pong, 2500);
    EXPECT(choice_b, 500);
    EXPECT(must_pong, 1000);
    print_calls();
    return 0;
}

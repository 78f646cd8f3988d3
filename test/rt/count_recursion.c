/* Recursion of one function, of two that call each other, and of one with a loop in it. */
#define FUNCTIONS(X) X(main) X(fib) X(is_even) X(is_odd) X(hanoi) X(move_disk) X(ackermann)
#include "count.h"

TRACED static unsigned fib(unsigned n)
{
    CALLED(fib);
    unsigned r = n;
    if (n >= 2)
        r = fib(n - 1) + fib(n - 2);
    NO_TAIL();
    return r;
}

TRACED static int is_odd(unsigned n);
TRACED static int is_even(unsigned n)
{
    CALLED(is_even);
    int yes = n == 0 || is_odd(n - 1);
    NO_TAIL();
    return yes;
}

TRACED static int is_odd(unsigned n)
{
    CALLED(is_odd);
    int yes = n != 0 && is_even(n - 1);
    NO_TAIL();
    return yes;
}

static volatile int moved;
TRACED static void move_disk(int from, int to)
{
    CALLED(move_disk);
    moved = from * 3 + to;
}

TRACED static void hanoi(int n, int from, int to)
{
    CALLED(hanoi);
    if (n == 0)
        return;
    hanoi(n - 1, from, 3 - from - to);
    move_disk(from, to);
    hanoi(n - 1, 3 - from - to, to);
    NO_TAIL();
}

TRACED static unsigned ackermann(unsigned m, unsigned n)
{
    CALLED(ackermann);
    unsigned r = n + 1;
    if (m)
        r = n ? ackermann(m - 1, ackermann(m, n - 1)) : ackermann(m - 1, 1);
    NO_TAIL();
    return r;
}

TRACED int main(void)
{
    CALLED(main);
    unsigned wrong = fib(20) != 6765;
    for (unsigned n = 0; n < 200; n++)
        wrong += is_even(n) != (n % 2 == 0);
    hanoi(10, 0, 2);
    wrong += ackermann(2, 3) != 9;
    EXPECT(fib, 21891);
    EXPECT(is_even, 10100);
    EXPECT(is_odd, 10000);
    EXPECT(hanoi, 2047);
    EXPECT(move_disk, 1023);
    EXPECT(ackermann, 44);
    print_calls();
    puts("edge main fib 1\nedge fib fib 21890\nedge main is_even 200\nedge is_even is_odd 10000\nedge is_odd is_even "
         "9900");
    puts("edge hanoi move_disk 1023\nedge hanoi hanoi 2046");
    return (int)wrong;
}

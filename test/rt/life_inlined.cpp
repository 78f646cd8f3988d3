/* Calls of inlined functions, which share the frame of the one that they are in, with exceptions in between: only for
 * -finstrument-functions, which sees them. What happens is drawn by lot, always the same one. */
#define FUNCTIONS(X) X(main) X(outer) X(again) X(catcher) X(both) X(room) X(pair) X(thrower)
#include "count.h"

#include <alloca.h>

enum { TIMES = 300 };
static volatile unsigned sink;
static unsigned seed = 12345;

UNTRACED static unsigned lot(unsigned n)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % n;
}

extern "C" {
inline void thrower(int n)
{
    CALLED(thrower);
    sink += (unsigned)n;
    if (lot(7) == 0)
        throw 1;
}

inline void pair(int n)
{
    CALLED(pair);
    thrower(n);
    sink++;
    thrower(n + 1);
}

/* Its stack pointer is lower at the end than at the begin. */
inline void room(int n)
{
    CALLED(room);
    volatile char *p = static_cast<volatile char *>(alloca(16 + static_cast<unsigned>(n) % 300));
    p[0] = 1;
    pair(n);
    sink += static_cast<unsigned>(p[0]);
}

void catcher(int n);

inline void both(int n)
{
    CALLED(both);
    try {
        room(n);
        pair(n);
        if (n > 0)
            catcher(n - 1);
    } catch (int) {
        sink++;
    }
    if (lot(5) == 0)
        throw 2;
}

__attribute__((noinline)) void catcher(int n)
{
    CALLED(catcher);
    for (int i = 0; i < 2; i++)
        try {
            both(n);
        } catch (int) {
            sink += 2;
        }
}

/* Inlined into itself by some compilers. */
inline void again(int n)
{
    CALLED(again);
    if (n > 0)
        again(n - 1);
    catcher(n % 6);
}

__attribute__((noinline)) void outer(int n)
{
    CALLED(outer);
    again(n);
}
}

int main()
{
    CALLED(main);
    for (int i = 0; i < TIMES; i++)
        outer(i % 9);
    EXPECT(outer, TIMES);
    print_calls();
}

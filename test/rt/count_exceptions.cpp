// Frames that are left by C++ exceptions: through several, from recursion, thrown again, and while destructors call.
#define FUNCTIONS(X)                                                                                                   \
    X(main)                                                                                                            \
    X(catcher)                                                                                                         \
    X(a)                                                                                                               \
    X(b)                                                                                                               \
    X(thrower)                                                                                                         \
    X(after) X(rethrower) X(with_guard) X(unwound) X(descend) X(tiny) X(thread_body) X(inside_catch) X(again)          \
        X(jumps_on)
#include "count.h"

#include <exception>
#include <pthread.h>
#include <stdexcept>

enum { TIMES = 200, BOTTOM = 60, TARGET = 20 };

static volatile unsigned sink;

// Not of the library, whose inline functions would be traced, too.
struct negative {
    int value;
};

extern "C" {
TRACED void unwound()
{
    CALLED(unwound);
    sink = sink + 1;
}

TRACED void thrower(int what)
{
    CALLED(thrower);
    if (what >= 0)
        throw what;
    throw negative{what};
}

TRACED void b(int what)
{
    CALLED(b);
    thrower(what);
    NO_TAIL();
}

TRACED void a(int what)
{
    CALLED(a);
    b(what);
    NO_TAIL();
}

TRACED void after()
{
    CALLED(after);
    sink = sink + 1;
}
}

namespace
{
// Calls while the stack is unwound, from frames in the middle of it.
struct guard {
    UNTRACED guard()
    {
    }
    UNTRACED ~guard()
    {
        unwound();
    }
};
} // namespace

// A name that is not what the linker calls it.
static unsigned long reads;
namespace net
{
struct reader {
    TRACED int read(int what)
    {
        __atomic_fetch_add(&reads, 1, __ATOMIC_RELAXED);
        a(what);
        return what;
    }
};
} // namespace net

extern "C" {
TRACED void with_guard(int what)
{
    CALLED(with_guard);
    guard outer;
    sink = sink + (unsigned)net::reader().read(what);
    NO_TAIL();
}

// Not from its own frame: the exception passes twice.
TRACED void rethrower(int what)
{
    CALLED(rethrower);
    try {
        with_guard(what);
    } catch (...) {
        sink = sink + 1;
        throw;
    }
}

TRACED void inside_catch(int what)
{
    CALLED(inside_catch);
    try {
        a(what);
    } catch (int) {
        // Another one while the first is being handled.
        try {
            a(-1);
        } catch (const negative &) {
            after();
        }
    }
}

TRACED void catcher(int what)
{
    CALLED(catcher);
    try {
        rethrower(what);
    } catch (int n) {
        sink = sink + (unsigned)n;
        after();
    } catch (const negative &) {
        after();
    }
    NO_TAIL();
}

TRACED void tiny()
{
    CALLED(tiny);
    sink = sink + 1;
}

// From frame BOTTOM of a recursion, caught in frame TARGET of it.
TRACED void descend(int level)
{
    CALLED(descend);
    if (level == BOTTOM)
        throw level;
    if (level == TARGET) {
        try {
            descend(level + 1);
        } catch (int) {
            tiny();
        }
    } else {
        descend(level + 1);
    }
    NO_TAIL();
}

// The same function throws and catches, and calls itself again at the same place.
TRACED void again(bool deep)
{
    CALLED(again);
    if (deep)
        throw 1;
    for (int i = 0; i < 10; i++) {
        try {
            again(true);
        } catch (int) {
        }
    }
}

// When it ends, with a jump, what the exception left is still thought to be open.
TRACED void jumps_on(int what)
{
    CALLED(jumps_on);
    try {
        thrower(what);
    } catch (int) {
        sink = sink + 1;
    }
    tiny();
}

TRACED void *thread_body(void *arg)
{
    CALLED(thread_body);
    try {
        with_guard(1);
    } catch (int) {
        after();
    }
    return arg;
}
}

TRACED int main()
{
    CALLED(main);
    for (int i = 0; i < TIMES; i++) {
        catcher(i % 2 ? i : -i - 1);
        inside_catch(i);
        descend(0);
        jumps_on(i);
    }
    again(false);
    pthread_t thread;
    if (pthread_create(&thread, nullptr, thread_body, nullptr))
        return 3;
    pthread_join(thread, nullptr);
    EXPECT(thrower, 4 * TIMES + 1);
    EXPECT(unwound, TIMES + 1);
    EXPECT(after, 2 * TIMES + 1);
    EXPECT(descend, TIMES * (BOTTOM + 1));
    EXPECT(again, 11);
    print_calls();
    printf("call net::reader::read(int) %lu\nedge with_guard net::reader::read(int) %lu\n", reads, reads);
    printf("edge main catcher %d\nedge main inside_catch %d\nedge main descend %d\n", TIMES, TIMES, TIMES);
    printf("edge catcher rethrower %d\nedge inside_catch a %d\nedge b thrower %d\n", TIMES, 2 * TIMES, 3 * TIMES + 1);
    printf("edge main jumps_on %d\nedge jumps_on thrower %d\n", TIMES, TIMES);
    printf("edge main again 1\nedge again again 10\nedge thread_body after 1\n");
    return 0;
}

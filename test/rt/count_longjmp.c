/* longjmp out of frames: nested ones, recursive ones, back into the same function, and out of a handler. */
#define FUNCTIONS(X) EARLY(X) LATE(X)
#define EARLY(X)     X(main) X(catcher) X(a) X(b) X(thrower) X(after) X(nothing_after)
#define LATE(X)      X(descend) X(tiny) X(again) X(loop) X(wide) X(handler_user) X(on_signal) X(in_handler)
#include "count.h"

#include <alloca.h>
#include <setjmp.h>
#include <signal.h>

enum { TIMES = 200, BOTTOM = 60, TARGET = 20 };

static jmp_buf back;
static sigjmp_buf back_of_handler;
static volatile unsigned sink;

TRACED static void thrower(void)
{
    CALLED(thrower);
    longjmp(back, 1);
}

TRACED static void b(void)
{
    CALLED(b);
    thrower();
    NO_TAIL();
}

TRACED static void a(void)
{
    CALLED(a);
    b();
    NO_TAIL();
}

TRACED static void after(void)
{
    CALLED(after);
    sink++;
}

/* The next event is a call from the frame jumped to. */
TRACED static void catcher(void)
{
    CALLED(catcher);
    if (setjmp(back) == 0)
        a();
    after();
    NO_TAIL();
}

/* The next event is that frame's own exit. */
TRACED static void nothing_after(void)
{
    CALLED(nothing_after);
    if (setjmp(back) == 0)
        a();
    NO_TAIL();
}

/* The frame jumped to has a larger stack than before: its next calls lie below the frames that were left. */
TRACED static void wide(unsigned size)
{
    CALLED(wide);
    if (setjmp(back) == 0)
        a();
    volatile char *room = alloca(size);
    room[0] = room[size - 1] = 1;
    after();
    NO_TAIL();
}

TRACED static void tiny(void)
{
    CALLED(tiny);
    sink++;
}

/* Jumps from frame BOTTOM of a recursion to its frame TARGET, which continues and returns. */
TRACED static void descend(unsigned level)
{
    CALLED(descend);
    if (level == BOTTOM)
        longjmp(back, 1);
    if (level == TARGET) {
        if (setjmp(back) == 0)
            descend(level + 1);
        tiny();
    } else {
        descend(level + 1);
    }
    NO_TAIL();
}

/* Jumps back into the same function, which then calls itself again: the next event has the same function, stack pointer
 * and parent as the call that was left. */
static volatile int rounds;
TRACED static void again(int deep)
{
    CALLED(again);
    if (deep)
        longjmp(back, 1);
    (void)setjmp(back);
    if (rounds++ < 10)
        again(1);
    NO_TAIL();
}

/* A thousand jumps without a return in between. */
TRACED static void loop(void)
{
    CALLED(loop);
    static volatile unsigned n;
    n = 0;
    (void)setjmp(back);
    if (n++ < 1000)
        a();
    NO_TAIL();
}

TRACED static void in_handler(void)
{
    CALLED(in_handler);
    siglongjmp(back_of_handler, 1);
}

TRACED static void on_signal(int number)
{
    CALLED(on_signal);
    sink += (unsigned)number;
    in_handler();
    NO_TAIL();
}

TRACED static void handler_user(void)
{
    CALLED(handler_user);
    if (sigsetjmp(back_of_handler, 1) == 0)
        raise(SIGUSR1);
    after();
    NO_TAIL();
}

TRACED int main(void)
{
    CALLED(main);
    signal(SIGUSR1, on_signal);
    for (volatile int i = 0; i < TIMES; i++) {
        catcher();
        nothing_after();
        descend(0);
        wide(64 + 8 * (unsigned)i);
        handler_user();
    }
    rounds = 0;
    again(0);
    loop();
    EXPECT(thrower, 3 * TIMES + 1000);
    EXPECT(after, 3 * TIMES);
    EXPECT(descend, TIMES * (BOTTOM + 1));
    EXPECT(again, 11);
    EXPECT(in_handler, TIMES);
    print_calls();
    printf("edge main catcher %d\nedge main nothing_after %d\nedge main descend %d\nedge main wide %d\n", TIMES, TIMES,
           TIMES, TIMES);
    printf("edge main handler_user %d\nedge handler_user after %d\n", TIMES, TIMES);
    printf("edge catcher a %d\nedge b thrower %d\nedge loop a 1000\nedge descend tiny %d\n", TIMES, 3 * TIMES + 1000,
           TIMES);
    printf("edge main again 1\nedge again again 10\nedge on_signal in_handler %d\n", TIMES);
    return 0;
}

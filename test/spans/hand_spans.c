/* Spans by hand in C: nested, with fields, left by return, goto, break and longjmp, in inlined functions, between
 * arrays of variable length, and around functions that are traced themselves. Prints its calls, as count.h says. */
#include <traceloom/rt.h>

#define FUNCTIONS(X) X(main) X(leaf)
#include "count.h"

#include <setjmp.h>
#include <string.h>

#define SPANS(X) X(outer) X(each) X(inner) X(left) X(array) X(first) X(second) X(inlined) X(jumped) X(around)
SPANS(COUNT_COUNTER)

static int evaluated;
static jmp_buf back;

TRACED static int leaf(int n)
{
    CALLED(leaf);
    NO_TAIL();
    return n + 1;
}

static inline __attribute__((always_inline)) int in_a_function(int n)
{
    TL_RT_SPAN("inlined");
    CALLED(inlined);
    return leaf(n);
}

static int nest(int depth)
{
    TL_RT_SPAN_F("inner", TL_RT_FIELD(i64, "depth", depth), TL_RT_FIELD(text, "kind", depth % 2 ? "odd" : "even"));
    CALLED(inner);
    TL_RT_COUNTER("depth", depth);
    return depth > 1 ? nest(depth - 1) + 1 : in_a_function(0);
}

static int leave(int how)
{
    for (int i = 0; i < 3; i++) {
        TL_RT_SPAN("left");
        CALLED(left);
        if (how == i)
            break;
        if (how == i + 3)
            goto out;
        if (how == i + 6)
            return i;
    }
out:
    return leaf(how);
}

static size_t between(size_t n)
{
    TL_RT_SPAN("array");
    CALLED(array);
    char room[n + 1];
    TL_RT_BEGIN(first, "first");
    CALLED(first);
    memset(room, 'x', n);
    room[n] = '\0';
    char more[n + 1];
    memcpy(more, room, n + 1);
    TL_RT_BEGIN_F(second, "second", TL_RT_FIELD(text, "room", room), TL_RT_FIELD(u64, "size", n),
                  TL_RT_FIELD(f64, "half", (double)n / 2));
    CALLED(second);
    size_t length = strlen(more);
    TL_RT_END(second);
    TL_RT_INSTANT("between");
    TL_RT_END(first);
    return length;
}

/* What longjmp leaves ends at the next event further out. */
static __attribute__((noinline)) void jump(int depth)
{
    TL_RT_SPAN("jumped");
    CALLED(jumped);
    leaf(depth);
    if (depth > 0)
        jump(depth - 1);
    else if (evaluated >= 0) /* always */
        longjmp(back, 1);
}

static __attribute__((noinline)) void go_around(void)
{
    TL_RT_SPAN("around");
    CALLED(around);
    if (setjmp(back) == 0)
        jump(4);
    TL_RT_INSTANT_F("landed", TL_RT_FIELD(i64, "evaluated", ++evaluated));
}

int main(int argc, char **argv)
{
    CALLED(main);
    int sum = 0;
    {
        TL_RT_SPAN("outer");
        CALLED(outer);
        for (int i = 0; i < 100; i++) {
            TL_RT_SPAN("each");
            CALLED(each);
            sum += nest(i % 7 + 1) + leave(i % 10) + (int)between((size_t)i);
            if (i % 5 == 0)
                go_around();
        }
    }
    (void)argv;
    print_calls();
    if (argc > 1) { /* nothing is recorded, and nothing may have been evaluated */
        printf("evaluated %d\n", evaluated);
        return 0;
    }
    SPANS(COUNT_LINE)
    printf("instant between 100\ninstant landed 20\ncounter depth %lu\n", CALLS(inner));
    return sum == 0;
}

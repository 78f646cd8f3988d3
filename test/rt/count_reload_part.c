/* The libraries of count_reload, each built with another NAME: NAME_work calls NAME_leaf three times, in NAME_span.
 *
 * Destructors with a priority run last, even after those of the compiler's start files. */
#include "traceloom/rt.h"

#if defined(__clang__)
#define TRACED __attribute__((noinline, xray_always_instrument, visibility("default")))
#else
#define TRACED __attribute__((noipa, visibility("default")))
#endif

#define JOIN(a, b)  a##b
#define NAMED(a, b) JOIN(a, b)
#define WORK        NAMED(NAME, _work)
#define LEAF        NAMED(NAME, _leaf)
#define EARLY       NAMED(NAME, _early)
#define LATE        NAMED(NAME, _late)
#define TEXT_OF(a)  #a
#define TEXT(a)     TEXT_OF(a)

static volatile unsigned long sum;

TRACED void LEAF(unsigned n);
void LEAF(unsigned n)
{
    sum += n;
}

TRACED void WORK(unsigned n);
void WORK(unsigned n)
{
    {
        TL_RT_SPAN(TEXT(NAME) "_span");
        for (unsigned i = 0; i < 3; i++)
            LEAF(n);
    }
    __asm__ volatile("" ::: "memory");
}

__attribute__((destructor)) TRACED void EARLY(void);
void EARLY(void)
{
    sum++;
}

__attribute__((destructor(200))) TRACED void LATE(void);
void LATE(void)
{
    sum++;
}

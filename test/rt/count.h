/* Shared by the counting programs: each traced function counts its own calls, and the program prints the sums.
 *
 *   #define FUNCTIONS(X) X(main) X(fib)      the traced functions; then #include "count.h"
 *   TRACED static int fib(int n) { CALLED(fib); ... }
 *
 * Lines that rt_matrix.py compares with the recording:
 *   call NAME N          NAME was called N times
 *   open NAME N          up to N of these may never have returned
 *   edge CALLER NAME N   CALLER itself made N of the calls of NAME
 *   flat                 too deep for a table of the tree */
#ifndef COUNT_H
#define COUNT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__clang__)
#define TRACED   __attribute__((noinline, xray_always_instrument))
#define UNTRACED __attribute__((noinline, xray_never_instrument, no_instrument_function))
#else
#define TRACED   __attribute__((noipa))
#define UNTRACED __attribute__((noipa, no_instrument_function))
#endif

#define COUNT_COUNTER(name) static unsigned long calls_of_##name;
FUNCTIONS(COUNT_COUNTER)

/* Signal handlers and threads count, too. With COUNT_SPANS a call is an explicit span. */
#if defined(COUNT_SPANS)
#include "traceloom/rt.h"
#define CALLED(name)                                                                                                   \
    TL_RT_SPAN(#name);                                                                                                 \
    (void)__atomic_fetch_add(&calls_of_##name, 1, __ATOMIC_RELAXED)
#else
#define CALLED(name) ((void)__atomic_fetch_add(&calls_of_##name, 1, __ATOMIC_RELAXED))
#endif
#define CALLS(name)      __atomic_load_n(&calls_of_##name, __ATOMIC_RELAXED)
#define COUNT_LINE(name) printf("call " #name " %lu\n", CALLS(name));

UNTRACED __attribute__((unused)) static void print_calls(void)
{
    FUNCTIONS(COUNT_LINE)
    fflush(stdout);
}

/* The value that a counter must have: a program that contradicts itself proves nothing. */
#define EXPECT(name, n)                                                                                                \
    do {                                                                                                               \
        if (CALLS(name) != (unsigned long)(n)) {                                                                       \
            fprintf(stderr, #name " was called %lu times, not %lu\n", CALLS(name), (unsigned long)(n));                \
            exit(2);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Keeps the compiler from turning a call at the end of a function into a jump or a loop. */
#define NO_TAIL() __asm__ volatile("" ::: "memory")

#endif

/* A program for lttng.sh: fires known events, and calls known functions for -finstrument-functions.
 *
 *     lttng_app ROUNDS        prints its process id; each round is a tick, numbers, texts, and 3 calls */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_app_events.h"

int inner(int n);
int outer(int n);

__attribute__((noinline)) int inner(int n)
{
    return n + 1;
}

__attribute__((noinline)) int outer(int n)
{
    return inner(n) + inner(n + 2);
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
    static const char *const words[4] = {"alpha", "beta\n\"two\"", "gr\xc3\xbc\xc3\x9f", "delta four"};
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    volatile int sum = 0;
    for (int i = 0; i < rounds; i++) {
        const int16_t list[5] = {(int16_t)i, -1, (int16_t)(7 * i), 300, 5};
        lttng_ust_tracepoint(shop, tick, (uint32_t)i);
        lttng_ust_tracepoint(shop, numbers, (int64_t)i * 1000003 - 500000000);
        lttng_ust_tracepoint(shop, texts, words[i % 4], (size_t)(1 + i % 4), i % 7, list);
        sum += outer(i);
    }
    printf("%d\n", (int)getpid());
    return 0;
}
